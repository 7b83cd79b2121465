#!/usr/bin/env bash
# Runs every test once. No test is skipped in silence: a skip is a failure here, and what needs root is named where nobody
# is root.
set -euo pipefail
cd "$(dirname "$0")/.."

log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
go test -count=1 -timeout 15m "$@" -v ./... >"$log" 2>&1 || status=$?
# The rules against their model: a million steps.
go test -count=1 -v ./internal/lease -run TestModel -steps=1000000 >>"$log" 2>&1 || status=$?
grep -E '^(ok|FAIL|---? FAIL|panic:)' "$log" || true
if [ "$status" -ne 0 ]; then
	echo "--- the whole log of what failed ---"
	grep -vE '^(=== (RUN|PAUSE|CONT|NAME)|\s*--- PASS|PASS|\?  )' "$log" | tail -n 400
	exit "$status"
fi
passed=$(grep -cE '^\s*--- PASS' "$log" || true)
skipped=$(grep -cE '^\s*--- SKIP' "$log" || true)
excused=0
if [ "$(id -u)" -ne 0 ]; then
	excused=$(grep -cE '^\s+[a-z_]+_test\.go:[0-9]+: needs root' "$log" || true)
fi
if [ "$skipped" -gt 0 ]; then
	echo "skipped tests:"
	grep -E '^\s*--- SKIP' "$log"
	grep -E '^\s+[a-z_]+_test\.go:[0-9]+: needs root' "$log" || true
fi
echo "$passed passed, 0 failed, $skipped skipped"
[ "$skipped" -eq "$excused" ]
