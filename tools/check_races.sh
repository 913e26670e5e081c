#!/usr/bin/env bash
# Builds the tests of cpu/, classifier/ and data/set/ with the thread sanitizer, and runs those of small sizes:
#     tools/check_races.sh [OPTION of the tests]...
# The batteries of the CPU engine, which take minutes so, and what needs MNIST run with tools/test.sh --preset tsan.
set -euo pipefail
# shellcheck source=tools/setup.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/setup.sh"

help_if_asked "$@"
check_options "$@"
(cd "$root" && cmake --preset tsan && cmake --build build/tsan --target race_tests --parallel)
export TSAN_OPTIONS="halt_on_error=1 suppressions=$root/tests/support/thread_sanitizer.txt"
# The same addresses in each run: g++ 12's sanitizer does not start with all that the system may choose.
cases=(setarch -R "$root/build/tsan/tests/race_tests" '-tce=*battery*,*thousands of neighbors*,*MNIST*,*every instruction set*,*every transform*,cpu::self: the oracle*,cpu::self: all pairs*,condense: what is kept*,*the search itself chooses them*,*many small searches of one index*,*also searched with themselves*,*not pruned*' "$@")
count=$("${cases[@]}" --count | sed -n 's/^\[doctest\] unskipped test cases.*: //p')
((count > 0)) || refuse "$*: no test case has such a name"
# Four cases in a process, one process on each processor.
# shellcheck disable=SC2016  # the inner shell expands it
seq 1 4 "$count" | xargs -P "$(nproc)" -I{} bash -c '"$@" --first={} --last=$(({} + 3))' _ "${cases[@]}"
