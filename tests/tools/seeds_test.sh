#!/usr/bin/env bash
# docs/seeds.md names commands, files and kernels that exist, and every published figure:  seeds_test.sh PROGRAM
# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

command -v python3 >/dev/null || skip "python3 was not found"
cd "$work"
check "claims of the reports" python3 "$repository/tests/tools/seeds.py" "$repository" "$1"
