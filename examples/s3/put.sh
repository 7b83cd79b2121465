#!/bin/sh
# Puts stdin into the object at URL, unless somebody with a higher fence has. For S3, R2, MinIO and whatever else takes
# conditional requests: the fence lies in the object's metadata, and the store compares the object's ETag.
#
#   mutex run site -- examples/s3/put.sh https://bucket.s3.eu-central-1.amazonaws.com/index.html < index.html
#
# CURL_CONFIG names a file for curl -K, in which keys belong: aws-sigv4 = "aws:amz:eu-central-1:s3" and user = "ID:SECRET".
# Exit 76: your fence is lower, and the object is as it was.
set -eu
url=${1:?usage: put.sh URL} fence=${MUTEX_FENCE:?run this behind: mutex run TOPIC --}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cat > "$tmp/body"

request() { curl -sS ${CURL_CONFIG:+-K "$CURL_CONFIG"} -o /dev/null -w '%{http_code}' "$@" "$url"; }
header() { tr -d '\r' < "$tmp/head" | awk -v name="$1:" 'tolower($1) == name { print $2 }'; }

while :; do
	case $(request --head -D "$tmp/head") in
	200) condition="If-Match: $(header etag)" seen=$(header x-amz-meta-fence) ;;
	404) condition="If-None-Match: *" seen= ;;
	*) echo "put.sh: $(head -n 1 "$tmp/head")" >&2; exit 1 ;;
	esac
	test "${seen:-0}" -le "$fence" || { echo "put.sh: stale fence $fence: the object has $seen" >&2; exit 76; }

	case $(request -T "$tmp/body" -H "$condition" -H "x-amz-meta-fence: $fence") in
	2??) exit ;;
	409 | 412) ;; # somebody came in between: look again
	*) echo "put.sh: $url could not be written" >&2; exit 1 ;;
	esac
done
