#!/usr/bin/env bash
# Compares all engines, kernels and selectors on random problems:  tools/fuzz_gpu.sh [SECONDS [SEED]]
# On a machine with a GPU; the seed of a difference makes it again with 0 seconds.
set -euo pipefail
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cmake --preset default
cmake --build build/default --target fuzz_gpu --parallel
build/default/tests/fuzz_gpu "${1:-300}" "${2:-1}"
