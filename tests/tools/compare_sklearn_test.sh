#!/usr/bin/env bash
# Neighbors, distances, labels and ranges are those of scikit-learn on its own data sets:  compare_sklearn_test.sh PROGRAM
# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

compare=$repository/tools/compare_sklearn.py
[[ -x /usr/bin/python3 ]] || skip "Debian's python3 was not found"
/usr/bin/python3 -c 'import sklearn' 2>/dev/null || skip "python3-sklearn was not found"
table=$("$compare" --program "$1" 2>&1) || { echo "$table"; failures=1; }
check "eight rows" equal "$(grep -cE '^\| (iris|wine|breast cancer|digits) \| (yes|no) \|' <<<"$table")" 8
check "no program" contains "$("$compare" --program "$work/none" 2>&1)" "$work/none: not there"
