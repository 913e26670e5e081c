#!/usr/bin/env bash
# Builds the tests of cpu/, classifier/ and data/set/ with the thread sanitizer, and runs those of small sizes:
#     tools/check_races.sh [OPTION of the tests]...
# The batteries of the CPU engine, which take minutes so, and what needs MNIST run with tools/test.sh --preset tsan.
set -euo pipefail
unset CDPATH
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
case ${1:-} in
--help | -h) sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//; p}' "${BASH_SOURCE[0]}" && exit 0 ;;
esac
(cd "$root" && cmake --preset tsan && cmake --build build/tsan --target race_tests --parallel)
export TSAN_OPTIONS="halt_on_error=1 suppressions=$root/tests/support/thread_sanitizer.txt"
# The same addresses in each run: g++ 12's sanitizer does not start with all that the system may choose.
exec setarch -R "$root/build/tsan/tests/race_tests" -tce='*battery*,*thousands of neighbors*,*MNIST*,*every instruction set*,*every transform*,cpu::self: the oracle*,cpu::self: all pairs*,condense: what is kept*' "$@"
