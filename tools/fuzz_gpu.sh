#!/usr/bin/env bash
# Compares all engines, kernels and selectors on random problems:  tools/fuzz_gpu.sh [SECONDS [SEED]]
# On a machine with a GPU; the seed of a difference makes it again with 0 seconds.
set -euo pipefail
# shellcheck source=tools/setup.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/setup.sh"

help_if_asked "$@"
(($# <= 2)) || refuse "$# words; expected [SECONDS [SEED]]"
check_number SECONDS "${1:-300}"
check_number SEED "${2:-1}"
cd "$root"
cmake --preset default
cmake --build build/default --target fuzz_gpu --parallel
build/default/tests/fuzz_gpu "${1:-300}" "${2:-1}"
