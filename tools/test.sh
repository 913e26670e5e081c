#!/usr/bin/env bash
# Installs what is missing (Debian), builds, runs every test that this machine can run, and says which tests
# were skipped and why:  tools/test.sh [--browser] [--sanitize] [--preset NAME]... [OPTION of ctest]...
# --browser: installs a browser too, for the test of the report's page.
# --sanitize: then the unit tests under sanitizers, the fuzzers, 10 s each (tools/fuzz.sh), and what has threads under the
#   thread sanitizer (tools/check_races.sh). Installs clang; without its libFuzzer there are no fuzzers.
# --preset: `default` unless others are named; `asan` runs the unit tests under sanitizers.
# CI=true: warnings are errors, and where nvcc is found CUDA code is compiled for two kinds of GPUs (preset cuda).
# MNIST_KNN_DATA, MNIST_KNN_PHOTOS: folders that some tests need.
set -euo pipefail
# shellcheck source=tools/setup.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/setup.sh"

case ${1:-} in
--help | -h) print_head; exit 0 ;;
esac
presets=() sanitize=
while [[ ${1:-} == --preset || ${1:-} == --browser || ${1:-} == --sanitize ]]; do
    if [[ $1 == --browser ]]; then
        optional_packages+=("${browser_packages[@]}")
    elif [[ $1 == --sanitize ]]; then
        sanitize=yes
    else
        presets+=("${2:?--preset needs a name}")
        shift
    fi
    shift
done
((${#presets[@]})) || presets=(default)

# The skipped tests of the last run and the reason that each printed, one a line.
skipped_tests() {  # PRESET
    awk '/^[0-9]+\/[0-9]+ Testing: / { name = $0; sub(/^[^:]*: /, "", name); why = "" }
         /\[skipped\]/ && why == "" { why = $0; sub(/.*\[skipped\] */, "", why) }
         /^Test Passed\.$/ && why != "" { print "  " name ": " why; why = "" }' \
        "$root/build/$1/Testing/Temporary/LastTest.log"
}

# A count in the head of ctest's report; 0 where there is no report.
counted() {  # PRESET ATTRIBUTE
    local count
    count=$(sed -n "s/^[[:space:]]*$2=\"\([0-9]*\)\".*/\1/p" "$root/build/$1/tests.xml" 2>/dev/null | head -n 1) || true
    echo "${count:-0}"
}

install_missing "${build_packages[@]}" "${test_packages[@]}"
(install_missing "${optional_packages[@]}") || say "going on: the tests that need them are skipped"
options=(-DBUILD_TESTING=ON)
if [[ -n $sanitize ]]; then
    (install_clang) || true
    # One build with clang has the unit tests and the fuzzers; g++ has the tests alone.
    if (configure fuzz "${options[@]}"); then
        presets+=(fuzz)
    else
        say "going on without fuzzers"
        presets+=(asan)
    fi
fi
if [[ -z ${MNIST_KNN_DATA:-} ]] && holds_mnist "$root/data/mnist"; then
    export MNIST_KNN_DATA=$root/data/mnist
fi

status=0 total=0 failed=0 skipped=0 reasons=
for preset in "${presets[@]}"; do
    configure "$preset" "${options[@]}"
    case $preset in
    asan | tsan | fuzz) build "$preset" unit_tests ;;  # all that these presets test
    *) build "$preset" all ;;
    esac
    rm -f "$root/build/$preset/tests.xml"
    (cd "$root" && ctest --preset "$preset" --no-tests=error --parallel "$(nproc)" \
        --output-junit "$root/build/$preset/tests.xml" "$@") || status=$?
    reasons+=$(skipped_tests "$preset")$'\n'
    total=$((total + $(counted "$preset" tests)))
    failed=$((failed + $(counted "$preset" failures)))
    skipped=$((skipped + $(counted "$preset" skipped)))
done

((skipped == 0)) || printf '\nSkipped, and why:\n%s' "$reasons"
printf '\n%d passed, %d failed, %d skipped\n' $((total - failed - skipped)) "$failed" "$skipped"
if [[ -n $sanitize ]]; then
    [[ ${presets[-1]} != fuzz ]] || "$root/tools/fuzz.sh" 10 || status=1
    "$root/tools/check_races.sh" || status=1
fi
find_nvcc
if [[ ${CI:-} == true && -n $nvcc ]]; then
    configure cuda "${options[@]}"
    say "compiling the CUDA code"
    (cd "$root" && logged build-cuda cmake --build --preset cuda)
fi
exit "$status"
