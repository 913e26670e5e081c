#!/usr/bin/env bash
# Formats the tracked C++ and CUDA files in place:  tools/format.sh [--check]
# --check changes nothing and exits 1 where a file is not in the form of .clang-format.
set -euo pipefail
unset CDPATH  # with it, cd may go elsewhere
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
case ${1:-} in
'') mode=(-i) ;;
--check) mode=(--dry-run --Werror) ;;
*) echo "usage: tools/format.sh [--check]" >&2; exit 2 ;;
esac
command -v clang-format >/dev/null || { echo "format.sh: error: clang-format is not there (Debian: clang-format)" >&2; exit 1; }
git ls-files -z -- '*.cpp' '*.h' '*.hpp' '*.cu' '*.cuh' | xargs -0 -r clang-format "${mode[@]}"
