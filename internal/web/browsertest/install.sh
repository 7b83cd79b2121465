#!/bin/sh
# Installs what the browser tests take from npm, the axe accessibility checker, once into a cache, so that later runs
# need no network. With "where" it only says where that is. MUTEX_AXE_CACHE chooses another place.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
cache=${MUTEX_AXE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/mutex/axe}

if [ "${1:-}" = where ]; then
	echo "$cache/node_modules/axe-core/axe.min.js"
	exit
fi
if ! command -v npm >/dev/null; then
	echo "internal/web/browsertest: npm is missing; install Node.js 20 or later" >&2
	exit 1
fi
if ! cmp -s "$here/package-lock.json" "$cache/installed.json"; then
	mkdir -p "$cache"
	cp "$here/package.json" "$here/package-lock.json" "$cache"
	(cd "$cache" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
	cp "$here/package-lock.json" "$cache/installed.json"
fi
