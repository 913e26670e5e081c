# shellcheck shell=bash
# Sourced by the tests of the scripts: a temporary folder, checks, and skipping.
set -euo pipefail
unset CDPATH  # with it, cd may go elsewhere, and prints where

# shellcheck disable=SC2034  # the tests read it
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
failures=0
skipped_exit=77 skipped=0  # SKIP_RETURN_CODE in tests/CMakeLists.txt
# shellcheck disable=SC2034  # the tests add what they started
children=()

finish() {
    local status=$?
    ((${#children[@]} == 0)) || kill "${children[@]}" 2>/dev/null || true
    rm -rf "$work"
    ((failures == 0)) || exit 1
    ((skipped || status != skipped_exit)) || exit 1  # curl knows this code too
    exit "$status"
}
trap finish EXIT

skip() { echo "[skipped] $*"; skipped=1; exit "$skipped_exit"; }

# check WHAT COMMAND...: the command must succeed; `! COMMAND` must fail.
check() {
    local what=$1
    shift
    if [[ $1 == '!' ]]; then
        shift
        if ! "$@"; then return; fi
    elif "$@"; then
        return
    fi
    echo "FAILED: $what: $*"
    failures=$((failures + 1))
}

contains() { [[ $1 == *"$2"* ]] || { printf 'in: %s\nthere is no: %s\n' "$1" "$2"; return 1; }; }
equal() { [[ $1 == "$2" ]] || { printf 'got:      %s\nexpected: %s\n' "$1" "$2"; return 1; }; }
