#!/bin/sh
# page_test.sh PAGE_SAMPLE: opens the report's page in headless Chromium and uses it as a reader would.
set -eu
skip() { echo "[skipped] $1"; exit 0; }
command -v node >/dev/null || skip "node was not found: install nodejs"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
  skip "no Chromium was found: install chromium"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" "$folder/index.html"
node "$(dirname "$0")/page_test.js" "$browser" "$folder/index.html"
