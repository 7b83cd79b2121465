#!/usr/bin/env bash
# Runs every fuzz target for FUZZTIME (30s each).
set -euo pipefail
cd "$(dirname "$0")/.."

for file in $(git grep -lE '^func Fuzz' -- '*_test.go'); do
	for target in $(sed -n 's/^func \(Fuzz[A-Za-z]*\).*/\1/p' "$file"); do
		echo "== $(dirname "$file") $target"
		go test "./$(dirname "$file")" -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-30s}" -fuzzminimizetime 1x
	done
done
