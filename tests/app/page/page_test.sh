#!/bin/sh
# page_test.sh PAGE_SAMPLE PROGRAM: opens the report's page, also of classes with names, one of `view` and one of `audit`, in headless Chromium and
# uses them as a reader would.
set -eu
skip() { echo "[skipped] $1"; exit 77; }
command -v node >/dev/null || skip "node was not found: install nodejs"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
  skip "no Chromium was found: install chromium"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" "$folder/index.html" "$folder/named.html"
"$2" view --device cpu --limit-train 300 --limit-test 200 --all -q --html "$folder/all.html"
"$2" audit --method raw --device cpu --limit-train 400 --plant 20 -q --html "$folder/audit.html"
node "$(dirname "$0")/page_test.js" "$browser" "$folder/index.html" "$folder/all.html" "$folder/audit.html" \
  "$folder/named.html"
