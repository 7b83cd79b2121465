#!/usr/bin/env bash
# A lock in mutex beside one in Redis with appendfsync always, in turns on the same disk. Needs redis-server (on Debian:
# apt-get install redis-server). Flags go to the program: -dir /a/disk, -c 64,1, -rounds 5, -duration 5s.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v redis-server >/dev/null || { echo "redis.sh: install redis-server first" >&2; exit 1; }
go build -o bin/ ./cmd/mutex
go run ./scripts/redis.go "$@"
