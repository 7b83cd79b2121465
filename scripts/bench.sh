#!/usr/bin/env bash
# The figures of docs/benchmarks.md, and those of a directory without a server. For a quiet machine; takes some minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

go build -o bin/ ./cmd/mutex
bin/mutex bench cycles renew status -c 16,64 --self --floor
bin/mutex bench handoff -c 64 --self
bin/mutex bench park topics --self --floor
bin/mutex bench topics --self --serve-flag=--history=false
bin/mutex bench watchers --self
bin/mutex bench disk --self --floor -c 1,64
go test -run '^$' -bench . ./internal/lease ./registry
go test -run '^$' -bench 'Append|Boot' ./internal/journal
go test -run '^$' -bench Large -benchtime 20x ./internal/history
go test -run '^$' -bench . -benchtime 2s ./cmd/agentmutex
go test -run '^$' -bench Handoff -benchtime 3x ./internal/dirstore
