#!/bin/sh
# Commits what is staged in this clone onto BRANCH of REMOTE, unless somebody with a higher fence has.
#
#   git add . && mutex run release -- examples/git/commit.sh origin live "Release 1.8"
#
# Each commit says under which fence it was made. The remote moves the branch only from the commit that was looked at:
# --force-with-lease with its id is git's compare-and-swap (in one repository: git update-ref BRANCH NEW OLD).
# Exit 76: your fence is lower, and the branch is where it was.
set -eu
remote=${1:?usage: commit.sh REMOTE BRANCH MESSAGE} branch=refs/heads/${2:?BRANCH} message=${3:?MESSAGE}
fence=${MUTEX_FENCE:?run this behind: mutex run TOPIC --}

while :; do
	old=$(git ls-remote "$remote" "$branch" | cut -f 1)
	test -z "$old" || { git fetch -q "$remote" "$branch" && old=$(git rev-parse FETCH_HEAD); }
	seen=$(test -z "$old" || git log --format='%(trailers:key=Fence,valueonly)' "$old" | sed -n '/./{p;q;}')
	test "${seen:-0}" -le "$fence" || { echo "commit.sh: stale fence $fence: the branch has $seen" >&2; exit 76; }

	new=$(git commit-tree "$(git write-tree)" ${old:+-p "$old"} -m "$message" -m "Fence: $fence")
	said=$(LC_ALL=C git push -q --force-with-lease="$branch:$old" "$remote" "$new:$branch" 2>&1) && exit
	case $said in
	*"stale info"* | *"cannot lock ref"* | *"failed to update ref"*) ;; # somebody came in between: look again
	*) echo "$said" >&2; exit 1 ;;
	esac
done
