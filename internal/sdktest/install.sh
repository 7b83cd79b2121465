#!/bin/sh
# Installs the tools that openapi.yaml and the server are held to, pinned, once into a cache, so that later runs need no
# network: schemathesis and the generators of Python and Java clients (pip), those of TypeScript clients (npm), and what a
# Java client needs to run (mvn). With "where" it only says where that is. MUTEX_SDK_CACHE chooses another place.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
cache=${MUTEX_SDK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/mutex/sdk}

if [ "${1:-}" = where ]; then
	echo "$cache"
	exit
fi

# fresh FILE tells whether what FILE names is installed already; done_with FILE remembers that it is.
fresh() { cmp -s "$here/$1" "$cache/done/$1"; }
done_with() { cp "$here/$1" "$cache/done/$1"; }

want() {
	if ! command -v "$1" >/dev/null; then
		echo "internal/sdktest: $1 is missing; install $2" >&2
		exit 1
	fi
}

mkdir -p "$cache/python" "$cache/typescript" "$cache/java" "$cache/done/python" "$cache/done/typescript" "$cache/done/java"

# A virtual environment dies with the Python it was made with.
if ! fresh python/requirements.txt || ! "$cache/python/venv/bin/python" -c ''; then
	want python3 "Python 3.11 or later, with its venv module"
	python3 -m venv --clear "$cache/python/venv"
	"$cache/python/venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary :all: \
		-r "$here/python/requirements.txt"
	done_with python/requirements.txt
fi

cp "$here/typescript/tsconfig.json" "$cache/typescript" # openapi-ts looks for it above its own folder
if ! fresh typescript/package-lock.json; then
	want npm "Node.js 20 or later"
	cp "$here/typescript/package.json" "$here/typescript/package-lock.json" "$cache/typescript"
	(cd "$cache/typescript" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
	done_with typescript/package-lock.json
fi

if ! fresh java/pom.xml; then
	want javac "a JDK, 17 or later"
	want mvn "Maven"
	rm -rf "$cache/java/lib"
	mvn -q -B -Dstyle.color=never -f "$here/java/pom.xml" \
		org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory="$cache/java/lib"
	done_with java/pom.xml
fi
