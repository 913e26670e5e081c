#!/usr/bin/env bash
# Formats the tracked C++ and CUDA files in place:  tools/format.sh [--check]
# --check changes nothing and exits 1 where a file is not in the form of .clang-format.
set -euo pipefail
# shellcheck source=tools/setup.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/setup.sh"

help_if_asked "$@"
case $* in
'') mode=(-i) ;;
--check) mode=(--dry-run --Werror) ;;
*) refuse "$*: is no option; expected --check or nothing" ;;
esac
command -v clang-format >/dev/null || die "clang-format is not there (Debian: clang-format)"
cd "$root"
git ls-files -z -- '*.cpp' '*.h' '*.hpp' '*.cu' '*.cuh' | xargs -0 -r clang-format "${mode[@]}"
