#!/bin/sh
# Notes which VERSION runs on TARGET, in PostgreSQL, unless somebody with a higher fence has.
#
#   psql -f examples/postgres/schema.sql
#   mutex run deploy:staging -- examples/postgres/deploy.sh staging 1.8
#
# Exit 76: your fence is lower, and nothing was changed. In a transaction of several statements let this be the first:
# from then on the row is locked until the transaction ends.
set -eu
target=${1:?usage: deploy.sh TARGET VERSION} version=${2:?usage: deploy.sh TARGET VERSION}

written=$(psql -qXAt -v ON_ERROR_STOP=1 -v target="$target" -v version="$version" -v fence="$MUTEX_FENCE" <<'SQL'
INSERT INTO deploys AS d (target, version, fence) VALUES (:'target', :'version', :'fence')
    ON CONFLICT (target) DO UPDATE SET version = excluded.version, fence = excluded.fence
    WHERE d.fence <= excluded.fence
    RETURNING fence;
SQL
)
test -n "$written" || { echo "deploy.sh: stale fence $MUTEX_FENCE: somebody else has $target now" >&2; exit 76; }
