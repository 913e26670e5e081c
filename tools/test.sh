#!/usr/bin/env bash
# Installs what is missing (Debian), builds, runs every test that this machine can run, and says which tests
# were skipped and why:  tools/test.sh [--browser] [--sanitize] [--changed[=COMMIT]] [--preset NAME]... [OPTION of ctest]...
# --browser: installs a browser too, for the tests of the pages.
# --sanitize: then the unit tests under sanitizers, the fuzzers, 10 s each (tools/fuzz.sh), and what has threads under the
#   thread sanitizer (tools/check_races.sh). Installs clang; without its libFuzzer there are no fuzzers.
# --changed: only the tests of the folders that changed since COMMIT, without the slow ones: by default since this branch
#   left main, or on main since the commit before the last. What is not committed counts too.
# --preset: `default` unless others are named; `asan` runs the unit tests under sanitizers.
# CI=true: warnings are errors, and where nvcc is found CUDA code is compiled for two kinds of GPUs (preset cuda).
# MNIST_KNN_DATA, MNIST_KNN_PHOTOS: folders that some tests need.
set -euo pipefail
# shellcheck source=tools/setup.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/setup.sh"

presets=() sanitize='' changed='' base='' rest=()
while (($#)); do
    case $1 in
    --browser) optional_packages+=("${browser_packages[@]}") ;;
    --sanitize) sanitize=yes ;;
    --changed) changed=yes ;;
    --changed=*) changed=yes base=${1#*=} ;;
    --preset=*) presets+=("${1#*=}") ;;
    --preset) presets+=("${2-}") && shift $(($# > 1)) ;;
    *)
        help_if_asked "$1"
        # ctest passes over what it does not know.
        [[ $1 != --* ]] || ! command -v ctest >/dev/null || ctest --help | grep -wF -e "${1%%=*}" >/dev/null ||
            refuse "$1: no such option; expected one of this script or of ctest"
        rest+=("$1")
        ;;
    esac
    shift
done
set -- "${rest[@]}"
check_options "$@"
for preset in "${presets[@]}"; do
    grep -qF "\"name\": \"$preset\"," "$root/CMakePresets.json" || refuse "--preset: '$preset' is none; expected one of CMakePresets.json"
done
((${#presets[@]})) || presets=(default)

# Seconds each, and what they try on many sizes or on all of MNIST, others try on few.
slow='MNIST|battery|test images as photos|hard enough to err|climbing the gradient|condense: what is kept|every instruction set|every transform|cpu::self: (the oracle|all pairs)'

# The tests that belong to a file: patterns of tests' sources, and the starts of names of tests that are scripts ("^tools: ").
tests_of() {  # FILE
    local name=${1##*/}
    name=${name%%.*}
    case $1 in
    tests/tools/* | tools/* | .ci/* | *.md | app/mnist-knn.*) echo '^tools: ' ;;
    CMakePresets.json | CMakeLists.txt | */CMakeLists.txt | tests/support/* | data/core/precompiled.h) echo 'tests/*' ;;
    python/* | tests/python/* | examples/python/*) echo '^python: ' ;;
    app/report/page/* | tests/app/page/*) echo '^page$' ;;
    tests/app/view/*.sh) printf '%s\n' '^window$' '^draw$' ;;
    tests/*_test.cpp | tests/*_test.cu) echo "$1" ;;
    tests/*) echo "${1%/*}/*" ;;
    app/*) printf '%s\n' "tests/${1%/*}/*" "tests/cli/$name*" ;;
    */*) echo "tests/${1%/*}/*" ;;
    esac
}

# A regular expression of the names of the tests of what changed; empty where there are none.
changed_tests() {  # PRESET
    local program pattern sources=() names=()
    while read -r pattern; do
        if [[ $pattern == ^* ]]; then names+=("$pattern"); else sources+=("*/$pattern"); fi
    done < <(
        cd "$root"
        { git diff --name-only "$base" && git ls-files --others --exclude-standard; } | sort -u |
            while read -r file; do tests_of "$file"; done | sort -u
    )
    if ((${#sources[@]})); then
        for program in "$root/build/$1/tests"/{unit_tests,cli_tests,faults/fault_tests}; do
            [[ ! -x $program ]] || while read -r pattern; do names+=("^$pattern\$"); done < <(
                "$program" --list-test-cases --source-file="$(IFS=, && echo "${sources[*]}")" |
                    sed '/^=====/d; /^\[doctest\]/d; s/[][\\.*+?^$|(){}]/\\&/g'
            )
        done
    fi
    (IFS='|' && echo "${names[*]}")
}

if [[ -n $changed && -z $base ]]; then
    base=$(git -C "$root" merge-base HEAD main 2>/dev/null) || base=HEAD
    [[ $(git -C "$root" rev-parse HEAD) != "$(git -C "$root" rev-parse "$base")" ]] || base=HEAD~1
fi
[[ -z $changed ]] || git -C "$root" rev-parse --quiet --verify "$base^{commit}" >/dev/null || die "$base: no such commit; expected one of git's names for a commit"

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
    selection=()
    if [[ -n $changed && $preset != @(asan|tsan|fuzz) ]]; then  # whose tests have no names of their own
        expression=$(changed_tests "$preset")
        [[ -n $expression ]] || { say "nothing changed since $base that has tests"; continue; }
        selection=(-R "$expression" -E "$slow")
    fi
    # One more than processors: some tests wait for most of their time.
    (cd "$root" && ctest --preset "$preset" --no-tests=error --parallel $(($(nproc) + 1)) \
        --output-junit "$root/build/$preset/tests.xml" "${selection[@]}" "$@") || status=$?
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
