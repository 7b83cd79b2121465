#!/bin/sh
# Runs COMMAND on one of three GPUs, whichever is free; a fourth waits in line.
#
#   mutex run gpu --capacity 3 -- examples/semaphore/train.sh DIR python train.py
#
# The slot says which GPU is yours. The next to get a slot has a higher fence, so each slot keeps one of its own in DIR: a
# job that slept through the end of its lease cannot wake up on a GPU that is another's. Exit 76: that was you.
set -eu
dir=${1:?usage: train.sh DIR COMMAND...}
shift

export CUDA_VISIBLE_DEVICES="${MUTEX_SLOT:?run this behind: mutex run gpu --capacity 3 --}"
exec mutex fence guard --file "$dir/gpu-$MUTEX_SLOT.fence" -- "$@"
