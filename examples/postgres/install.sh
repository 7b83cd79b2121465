#!/bin/sh
# Installs PostgreSQL, which the test of this example starts for itself, where it is missing.
set -eu

ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 && exit
command -v initdb >/dev/null && exit
as_root=
test "$(id -u)" -eq 0 || as_root="sudo -n"
if ! command -v apt-get >/dev/null || ! $as_root true 2>/dev/null; then
	echo "examples/postgres: PostgreSQL is missing; install the package postgresql" >&2
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
$as_root apt-get install -y -qq --no-install-recommends postgresql >/dev/null
