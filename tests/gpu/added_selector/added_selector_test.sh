#!/usr/bin/env bash
# A selector that was added with one file and one line is available everywhere:  added_selector_test.sh PROGRAM TESTS
# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../tools/support.sh"

program=$1 tests=$2
small=(--dim 8 --n-train 200 --n-query 30 --seconds 0.01 --only scan)

check "the table, in the help" contains "$("$program" evaluate --help=all | tr -s ' \n' ' ')" ", scan, "
check "the table, in info" contains "$("$program" info)" "  scan "
check "the command line takes it" contains "$("$program" evaluate --select sca 2>&1)" "did you mean scan?"
check "bench knows it" contains "$("$program" bench --only sca 2>&1)" "did you mean scan?"
"$program" bench "${small[@]}" --csv "$work/bench.csv" >"$work/bench.txt"
check "bench has a row of it" contains "$(cat "$work/bench.txt")" "scan"

status=0
answers=$("$tests" -tc='gpu: more rows than run at once' -s 2>&1) || status=$?
if ((status == skipped_exit)); then
    check "bench says why it did not run" contains "$(cat "$work/bench.txt")" "scan: it runs on a GPU"
    skip "its battery and its measurement: there is no GPU; help, command line and bench have it"
fi
check "the battery runs it" contains "$answers" "name := scan"
check "the battery passes" contains "$answers" "SUCCESS!"
check "bench measured it" contains "$(grep ,select,scan, "$work/bench.csv")" ",measured,"
