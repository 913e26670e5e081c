#!/usr/bin/env bash
# Installs what is missing (Debian), builds, runs every test that this machine can run, and says which tests
# were skipped and why:  tools/test.sh [--browser] [--fuzz] [--preset NAME]... [OPTION of ctest]...
# --browser: installs a browser too, for the test of the report's page.
# --fuzz: the fuzzers too, 20 s each (tools/fuzz.sh), where clang++ is there.
# --preset: `default` unless others are named; `asan` runs the unit tests under sanitizers.
# CI=true: warnings are errors, and CUDA code is built for two kinds of cards.
# MNIST_KNN_DATA, MNIST_KNN_PHOTOS: folders that some tests need.
set -euo pipefail
# shellcheck source=tools/setup.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/setup.sh"

case ${1:-} in
--help | -h) print_head; exit 0 ;;
esac
presets=() fuzz=
while [[ ${1:-} == --preset || ${1:-} == --browser || ${1:-} == --fuzz ]]; do
    if [[ $1 == --browser ]]; then
        optional_packages+=("${browser_packages[@]}")
    elif [[ $1 == --fuzz ]]; then
        fuzz=yes
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
# The oldest and the newest kind of card: all six take twice as long, and nothing runs there.
[[ ${CI:-} != true ]] || options+=(-DMNIST_KNN_WERROR=ON "-DCMAKE_CUDA_ARCHITECTURES=75-real;90a-real")
if [[ -z ${MNIST_KNN_DATA:-} ]] && holds_mnist "$root/data/mnist"; then
    export MNIST_KNN_DATA=$root/data/mnist
fi

status=0 total=0 failed=0 skipped=0 reasons=
for preset in "${presets[@]}"; do
    configure "$preset" "${options[@]}"
    build "$preset" all
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
if [[ -n $fuzz ]] && ! command -v clang++ >/dev/null; then
    say "the fuzzers were not run: clang++ is not there (Debian: clang, and libclang-rt-14-dev of its version)"
elif [[ -n $fuzz ]]; then
    "$root/tools/fuzz.sh" 20 || status=1
fi
exit "$status"
