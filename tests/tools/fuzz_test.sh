#!/usr/bin/env bash
# The preset `fuzz` without a compiler that has libFuzzer: one line that says what to install; and what tools/fuzz.sh
# refuses.
# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

command -v cmake >/dev/null || skip "cmake was not found"
if said=$(cmake -S "$repository" --preset fuzz -B "$work/build" -DCMAKE_CXX_COMPILER=/bin/false 2>&1); then
    check "a compiler without libFuzzer is refused" false
fi
check "the message says what to install" contains "$said" "the preset fuzz needs clang++ and its libFuzzer; install Debian's clang and libclang-rt-"
check "nothing is configured" ! test -e "$work/build/build.ninja"

if said=$("$repository/tools/fuzz.sh" soon 2>&1); then
    check "seconds that are no number are refused" false
fi
check "the message says what was expected" contains "$said" "SECONDS: 'soon' is not a number; expected a whole number"
