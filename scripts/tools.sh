#!/usr/bin/env bash
# Installs what the tests need beside Go: a browser for the pages, strace for the proof that no answer comes before its
# sync, and the JavaScript, Python and Java tools that hold openapi.yaml against others' opinions. Does nothing when all is
# there.
set -euo pipefail
cd "$(dirname "$0")/.."

need=()
want() { command -v "$1" >/dev/null 2>&1 || need+=("$2"); }
want chromium chromium
want strace strace
want node nodejs
want npm npm
want python3 python3-venv
want javac default-jdk-headless
want mvn maven
want curl curl
want git git
want javac default-jdk-headless
want mvn maven
# The module that makes virtual environments is a package of its own on Debian.
python3 -c 'import ensurepip' >/dev/null 2>&1 || need+=(python3-venv)

if [ ${#need[@]} -gt 0 ]; then
	run=()
	if [ "$(id -u)" -ne 0 ]; then
		if ! sudo -n true 2>/dev/null; then
			echo "tools: install these and run again: ${need[*]}" >&2
			exit 1
		fi
		run=(sudo -n)
	fi
	if ! command -v apt-get >/dev/null 2>&1; then
		echo "tools: install these and run again: ${need[*]} (only apt-get is known here)" >&2
		exit 1
	fi
	"${run[@]}" apt-get update -qq
	DEBIAN_FRONTEND=noninteractive "${run[@]}" apt-get install -y -qq --no-install-recommends "${need[@]}" >/dev/null
fi

for script in $(git ls-files '*/install.sh'); do
	"./$script"
done
