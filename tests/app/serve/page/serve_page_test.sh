#!/bin/sh
# serve_page_test.sh PROGRAM: starts `serve`, opens its page in headless Chromium and uses it as people would.
set -eu
skip() { echo "[skipped] $1"; exit 77; }
command -v node >/dev/null || skip "node was not found: install nodejs"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
  skip "no Chromium was found: install chromium"
folder=$(mktemp -d)
server=
trap 'test -z "$server" || kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
"$1" serve --port 0 --device cpu >"$folder/out" 2>"$folder/errors" &
server=$!
tries=0
until address=$(grep -ho 'http://127\.0\.0\.1:[0-9]*/' "$folder/out" "$folder/errors" | head -n 1) && test -n "$address"; do
  tries=$((tries + 1))
  if test "$tries" -gt 600 || ! kill -0 "$server" 2>/dev/null; then
    cat "$folder/out" "$folder/errors"
    echo "serve did not start"
    exit 1
  fi
  sleep 0.1
done
mkdir "$folder/files"
# The page asks again while the index opens; browsers report each such answer, which the test would count as a complaint.
tries=0
until node -e 'fetch(process.argv[1]).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))' "${address}readyz"; do
  tries=$((tries + 1))
  test "$tries" -le 200 && kill -0 "$server" 2>/dev/null || { cat "$folder/errors"; echo "serve did not get ready"; exit 1; }
  sleep 0.5
done
node "$(dirname "$0")/serve_page_test.js" "$browser" "$address" "$folder/files"
