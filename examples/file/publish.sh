#!/bin/sh
# Replaces FILE by stdin, as the only one who does. Keep it for what has nothing to compare a fence with.
#
#   ./build.sh | mutex run site -- examples/file/publish.sh /srv/site/index.html
#
# FILE.fence keeps the highest fence. Exit 76: yours is lower, and FILE is as it was.
set -eu
file=${1:?usage: publish.sh FILE}

exec mutex fence guard --file "$file.fence" -- sh -c 'cat > "$1.new" && mv "$1.new" "$1"' sh "$file"
