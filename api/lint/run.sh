#!/bin/sh
# Lints openapi.yaml with two public linters; any warning fails.
#
# Their pinned versions are installed once into a cache, so that later runs
# need no network. MUTEX_LINT_CACHE chooses another place for it.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
spec=$here/../../openapi.yaml
cache=${MUTEX_LINT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/mutex/lint}

if ! command -v npm >/dev/null; then
	echo "api/lint: npm is missing; install Node.js 20 or later" >&2
	exit 1
fi
if ! cmp -s "$here/package-lock.json" "$cache/installed.json"; then
	mkdir -p "$cache"
	cp "$here/package.json" "$here/package-lock.json" "$cache"
	(cd "$cache" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
	cp "$here/package-lock.json" "$cache/installed.json"
fi

export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true NODE_NO_WARNINGS=1
"$cache/node_modules/.bin/redocly" lint --max-problems=1000 --config "$here/redocly.yaml" "$spec"
"$cache/node_modules/.bin/spectral" lint --fail-severity=hint --ruleset "$here/spectral.yaml" "$spec"
