#!/usr/bin/env bash
# The scripts about features count as the program does, and say what they lack:  features_test.sh PROGRAM
# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

[[ -x /usr/bin/python3 ]] || skip "Debian's python3 was not found"
/usr/bin/python3 -c 'import numpy' 2>/dev/null || skip "python3-numpy was not found"
program=$1
table=$repository/tools/accuracy_table.py compare=$repository/tools/compare_features.py

"$program" info --write-synthetic "$work/data" >/dev/null
row=$("$table" --program "$program" --data "$work/data" deskew 2>/dev/null | tail -n 1)
wrong=$("$program" evaluate -q --data "$work/data" --transform deskew -k 3 --json - 2>/dev/null |
    grep -oE '"correct": [0-9]+' | grep -oE '[0-9]+')
check "the test errors at k = 3 are the program's" equal "$(cut -d '|' -f 5 <<<"$row" | sed 's/.* \/ //; s/ //g')" \
    "$((1000 - wrong))"
check "bytes a row" equal "$(cut -d '|' -f 3 <<<"$row" | tr -d ' ')" 784
check "no program" contains "$("$table" --program "$work/none" 2>&1)" "$work/none: not there"
check "a transform that is none" ! "$table" --program "$program" --data "$work/data" nothing >/dev/null 2>&1

/usr/bin/python3 -c 'import sklearn, skimage' 2>/dev/null || skip "python3-sklearn or python3-skimage was not found"
"$program" evaluate -q --data "$work/data" --transform hog --limit-test 20 >/dev/null 2>&1
rows=$("$compare" --program "$program" --data "$work/data" --limit-test 20 2>/dev/null)
for row in "mnist-knn --transform hog" "mnist-knn --method gradients" "scikit-learn"; do
    right=$(grep -F "| $row" <<<"$rows" | cut -d '|' -f 5 | tr -d ' %')
    check "most answers of $row are right" test "${right%.*}" -ge 80
done
