#!/usr/bin/env bash
# Installs what is missing (Debian), builds the fuzzers with clang's libFuzzer and runs them:  tools/fuzz.sh [SECONDS [NAME...]]
# SECONDS for each, by default 20. NAME: idx, report ... (tests/fuzz/), by default all. What they find is kept in
# build/fuzz/corpus/ for the next run; an input that fails is kept in build/fuzz/failed/ and named, and the exit code is 1.
set -euo pipefail
# shellcheck source=tools/setup.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/setup.sh"

help_if_asked "$@"
seconds=${1:-20}
check_number SECONDS "$seconds"
shift || true
for name; do grep -qs LLVMFuzzerTestOneInput "$root/tests/fuzz/$name.cpp" || refuse "$name: no such fuzzer; expected one of tests/fuzz/"; done

install_missing "${build_packages[@]}" "${test_packages[@]}" python3
install_clang
folder=$root/build/fuzz
configure fuzz
build fuzz fuzzers
rm -rf "$folder/seeds"
logged seeds-fuzz python3 "$root/tests/fuzz/seeds.py" "$folder/app/mnist-knn" "$folder/seeds"
mkdir -p "$folder/failed"
names=("$@")
if ((${#names[@]} == 0)); then
    for program in "$folder"/tests/fuzz_*; do
        [[ ! -f $program ]] || names+=("${program##*/fuzz_}")
    done
fi

# The last figure that libFuzzer printed after WORD, or of its line "stat::WORD:".
figure() {  # LOG WORD
    local found
    found=$(grep -oE "($2: |stat::$2: *)[0-9]+" "$1" | tail -n 1) || true
    echo "${found##* }"
}

# Continuous integration tries the same inputs again and again: what fails there does so for a change, not by chance.
seed=()
[[ ${CI:-} != true ]] || seed=(-seed=1)

# One fuzzer: prints its line, and where it failed the end of its log and the input.
fuzz() {  # NAME
    local program=$folder/tests/fuzz_$1 log=$folder/$1.log failed='' input
    mkdir -p "$folder/corpus/$1"
    # The names on a command line may be files: there are none in this folder.
    # A small quarantine of freed memory: buffers of 256 KiB in new pages each time would take most of the time.
    (export ASAN_OPTIONS=quarantine_size_mb=4 && cd "$folder/failed" && "$program" -max_total_time="$seconds" -timeout=300 -rss_limit_mb=4096 -print_final_stats=1 \
        "${seed[@]}" -dict="$folder/seeds/$1.dict" -artifact_prefix="$folder/failed/$1-" \
        "$folder/corpus/$1" "$folder/seeds/$1") >"$log" 2>&1 </dev/null || failed=yes
    printf '%-16s %12s %8s %9s\n' "$1" "$(figure "$log" number_of_executed_units)" "$(figure "$log" cov)" \
        "$(figure "$log" ft)"
    [[ -n $failed ]] || return 0
    tail -n 40 "$log" >&2
    input=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
    say "error: $1: failed on ${input:-no single input}; the whole log: $log"
    return 1
}

status=0 running=0
printf '%-16s %12s %8s %9s\n' fuzzer executions edges features
for name in "${names[@]}"; do  # one on each processor
    ((running < $(nproc))) || { wait -n || status=1; running=$((running - 1)); }
    fuzz "$name" &
    running=$((running + 1))
done
while ((running-- > 0)); do wait -n || status=1; done
exit "$status"
