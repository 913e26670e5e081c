#!/usr/bin/env bash
# tools/simulate_scale.py computes what docs/scale.md says.
# shellcheck disable=SC2016  # the expressions are awk's
# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

command -v python3 >/dev/null || skip "python3 was not found"
script=$repository/tools/simulate_scale.py

csv=$("$script" --csv)
check "a head" equal "$(head -n 1 <<<"$csv")" "spread,gpus,seconds,efficiency"
check "all numbers of GPUs" equal "$(grep -c ^queries, <<<"$csv")" "11"
# One GPU: 2 · 784 · n² operations at 1,350 · 10¹² a second, and copies.
check "one GPU" awk -F, '$1 == "queries" && $2 == 1 { ok = $3 > 2 * 784 * 8.1e6 ^ 2 / 1350e12 && $3 < 77 } END { exit !ok }' <<<"$csv"
check "no efficiency above 1" awk -F, 'NR > 1 && $4 > 1 { exit 1 }' <<<"$csv"
check "the table of docs/scale.md" awk -F, '
    $1 == "queries" && $2 == 64 { a = $4 >= 0.8 } $1 == "queries" && $2 == 128 { b = $4 < 0.8 }
    $1 == "training" && $2 == 32 { c = $4 >= 0.8 } $1 == "training" && $2 == 64 { d = $4 < 0.8 }
    END { exit !(a && b && c && d) }' <<<"$csv"
check "a table for people" contains "$("$script")" "queries: below 0.8 from 128 GPUs on"
check "wrong sizes" ! "$script" --dim 0 2>/dev/null
