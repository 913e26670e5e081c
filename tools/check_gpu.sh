#!/usr/bin/env bash
# Checks the program on a machine with a GPU: all unit tests, the small cases under compute-sanitizer's four tools, and
# random problems on every engine; ends with a summary:  tools/check_gpu.sh [--bin DIR] [--seconds N] [--repeat N]
# --bin: a folder that holds unit_tests and fuzz_gpu, instead of a build (preset default).
# --seconds: of random problems (default 300). --repeat: of the small cases (default 1000).
# MNIST_KNN_DATA: the folder that some tests need.
set -euo pipefail
unset CDPATH
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
bin='' seconds=300 repeat=1000
while (($#)); do
    case $1 in
    --bin) bin=$(cd "${2:?--bin needs a folder}" && pwd) && shift ;;
    --seconds) seconds=${2:?--seconds needs a number} && shift ;;
    --repeat) repeat=${2:?--repeat needs a number} && shift ;;
    --help | -h) sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//; p}' "${BASH_SOURCE[0]}" && exit 0 ;;
    *) echo "check_gpu.sh: $1: unknown option; --help lists them" >&2 && exit 2 ;;
    esac
    shift
done
if [[ -z $bin ]]; then
    (cd "$root" && cmake --preset default && cmake --build build/default --target unit_tests fuzz_gpu --parallel)
    bin=$root/build/default/tests
fi

# A few images for every kernel and selector: racecheck makes kernels a thousand times slower.
small='gpu: small rows*,gpu: small matrix*,gpu: every selector reads*,gpu: re-ranking of stripes*,gpu: re-ranking takes*'
small+=',gpu: re-ranking refuses*,gpu: engines re-rank images*,gpu: quick roots*,gpu: a raw transform*'
more='gpu: small*,gpu: votes equal*,gpu: projections of long rows,gpu: transforms give the bytes that define them*'

summary=() failed=0
# step NAME COMMAND...: its output goes by; the last lines of a failure are the summary's.
step() {
    local name=$1 start=$SECONDS log status=0
    shift
    log=$(mktemp)
    echo "== $name"
    "$@" >"$log" 2>&1 || status=$?
    tail -n 4 "$log"
    local last
    last=$(grep -E 'test cases:|ERROR SUMMARY|RACECHECK SUMMARY|no difference' "$log" | tail -n 1 | tr -s ' ' || true)
    ((status == 0)) || { failed=1; tail -n 40 "$log"; }
    summary+=("$(printf '%-12s %-6s %4d s  %s' "$name" "$([[ $status == 0 ]] && echo ok || echo FAILED)" \
        $((SECONDS - start)) "$last")")
    rm -f "$log"
}

# shellcheck disable=SC2317  # step calls it
repeated() {
    for ((i = 0; i < repeat; ++i)); do
        "$bin/unit_tests" -tc='gpu: small rows*,gpu: small fused*' >/dev/null || return 1
    done
    echo "$repeat repeats, no difference"
}

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
step unit_tests "$bin/unit_tests" -tc='*gpu: *'
if command -v compute-sanitizer >/dev/null; then
    for tool in memcheck racecheck synccheck initcheck; do
        step "$tool" compute-sanitizer --tool "$tool" --error-exitcode 1 "$bin/unit_tests" -tc="$small"
    done
    step 'memcheck 2' compute-sanitizer --tool memcheck --error-exitcode 1 "$bin/unit_tests" -tc="$more"
else
    summary+=('compute-sanitizer was not found: not run') failed=1
fi
step repeats repeated
step fuzz "$bin/fuzz_gpu" "$seconds"
printf '\n%s\n' "Summary:"
printf '  %s\n' "${summary[@]}"
exit "$failed"
