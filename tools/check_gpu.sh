#!/usr/bin/env bash
# Checks the program on a machine with a GPU: all unit tests, the small cases under compute-sanitizer's four tools, and
# random problems on every engine, in four processes at once with small cases beside them; ends with a summary:
#     tools/check_gpu.sh [--bin DIR] [--seconds N] [--repeat N] [--faults PROGRAM]
# --bin: a folder that holds unit_tests and fuzz_gpu, instead of a build (preset default).
# --seconds: of random problems (default 300). --repeat: of the small cases (default 1000).
# --faults: a mnist-knn built with -DMNIST_KNN_GPU_FAULTS=ON, of which each CUDA call is made to fail once.
# MNIST_KNN_DATA: the folder that some tests need.
set -euo pipefail
# shellcheck source=tools/setup.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/setup.sh"

help_if_asked "$@"
bin='' seconds=300 repeat=1000 faults=''
while (($#)); do
    case $1 in
    --bin) [[ -x ${2-}/unit_tests ]] || refuse "--bin: '${2-}' has no unit_tests; expected their folder"; bin=$(cd "$2" && pwd) ;;
    --seconds) check_number "$1" "${2-}" && seconds=$2 ;;
    --repeat) check_number "$1" "${2-}" && repeat=$2 ;;
    --faults) [[ -f ${2-} && -x $2 ]] || refuse "--faults: '${2-}' is no program; expected one"; faults=$(readlink -f "$2") ;;
    *) refuse "$1: is no option; expected --bin, --seconds, --repeat or --faults" ;;
    esac
    shift 2
done
if [[ -z $bin ]]; then
    (cd "$root" && cmake --preset default && cmake --build build/default --target unit_tests fuzz_gpu --parallel)
    bin=$root/build/default/tests
fi

# A few images for every kernel and selector: racecheck makes kernels a thousand times slower.
small='gpu: small rows*,gpu: small matrix*,gpu: every selector reads*,gpu: re-ranking of stripes*,gpu: re-ranking takes*'
small+=',gpu: re-ranking refuses*,gpu: engines re-rank images*,gpu: quick roots*,gpu: a raw transform*,gpu: small fused*'
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

# Each call of the run fails once: an error of one line, no output, no hang. Calls whose failure nobody needs to notice
# leave the outputs as they are; 20 of them in a row are taken for the end.
# shellcheck disable=SC2317  # step calls it
every_call_fails() {
    local folder at unnoticed=0 reported=0 status
    folder=$(mktemp -d)
    local -a words=("$faults" evaluate -q --device gpu --limit-train 2000 --limit-test 100 --predictions)
    "${words[@]}" "$folder/expected" >/dev/null || return 1
    for ((at = 1; unnoticed < 20; ++at)); do
        status=0
        rm -f "$folder/p"
        MNIST_KNN_GPU_FAULT_AT=$at timeout 60 "${words[@]}" "$folder/p" >/dev/null 2>"$folder/errors" || status=$?
        if ((status == 0)) && cmp -s "$folder/p" "$folder/expected"; then
            unnoticed=$((unnoticed + 1))
        elif ((status == 1)) && [[ ! -e $folder/p && $(grep -c '^mnist-knn: error: ' "$folder/errors") == 1 ]]; then
            reported=$((reported + 1)) unnoticed=0
        else
            echo "call $at: exit $status" && cat "$folder/errors" && return 1
        fi
    done
    rm -r "$folder"
    echo "$((at - 1)) calls that failed, $reported errors, no difference"
    ((reported > 0))
}

# Random problems in four processes, and small cases again and again beside them: what a kernel does not wait for is late
# on a busy GPU.
# shellcheck disable=SC2317  # step calls it
fuzzed() {
    local folder seed process status=0 rounds=0
    local -a processes=()
    folder=$(mktemp -d)
    for seed in 1 1000001 2000001 3000001; do
        "$bin/fuzz_gpu" "$seconds" "$seed" >"$folder/$seed" 2>&1 &
        processes+=($!)
    done
    while kill -0 "${processes[@]}" 2>/dev/null && ((status == 0)); do
        "$bin/unit_tests" -tc="$small,$more" >"$folder/cases" 2>&1 || status=1
        rounds=$((rounds + 1))
    done
    ((status == 0)) || cat "$folder/cases"
    rm -f "$folder/cases"
    for process in "${processes[@]}"; do
        wait "$process" || status=1
    done
    cat "$folder"/*
    ((status == 0)) && awk -v rounds="$rounds" '/no difference/ { problems += $1; for (i = 2; i <= NF; ++i) if ($i ~ /^searches/) searches += $(i - 1) }
        END { print problems " problems, " searches " searches in four processes, and " rounds " times the small cases, no difference" }' "$folder"/*
    rm -r "$folder"
    return "$status"
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
if [[ -n $faults ]]; then
    step faults every_call_fails
else
    summary+=('faults: not run; --faults names the program')
fi
step fuzz fuzzed
printf '\n%s\n' "Summary:"
printf '  %s\n' "${summary[@]}"
exit "$failed"
