#!/usr/bin/env bash
# The comparison with other libraries counts right, and says what it lacks:  compare_cpu_test.sh PROGRAM
# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

[[ -x /usr/bin/python3 ]] || skip "Debian's python3 was not found"
compare=$repository/tools/compare_cpu.py
program=$1

check "--help" contains "$("$compare" --help)" "--limit-test"
check "unknown rival" contains "$("$compare" --against abacus 2>&1)" "no 'abacus'; expected some of faiss"
check "unknown rival fails" ! "$compare" --against abacus 2>/dev/null

/usr/bin/python3 -c 'import numpy' 2>/dev/null || skip "python3-numpy was not found"
check "no program" contains "$("$compare" --program "$work/none" 2>&1)" "$work/none: not there"
check "no data" contains "$("$compare" --program "$program" --data "$work/none" 2>&1)" "expected the MNIST files"

/usr/bin/python3 -c 'import sklearn' 2>/dev/null || skip "python3-sklearn was not found"
"$program" info --write-synthetic "$work/data" >/dev/null
table=$("$compare" --program "$program" --data "$work/data" --against sklearn --rounds 2 --limit-test 200 2>/dev/null)
right=$(grep -F '| mnist-knn |' <<<"$table" | cut -d '|' -f 5)
check "the answers of this program are counted" test "${right// /}" -gt 100
check "scikit-learn's are as many" equal "$(grep -F '| scikit-learn' <<<"$table" | cut -d '|' -f 5)" "$right"
