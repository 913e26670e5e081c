#!/usr/bin/env bash
# Compares the files that two builds of the program write, byte for byte:
#
#   tools/compare_outputs.sh OLD NEW [TRAIN TEST]
#
# OLD, NEW: two programs. TRAIN, TEST: how many images of each set are used (default 1500 and 300).
# OPTIONS: options for every command. LAUNCH: what starts a program, such as "mpirun -n 2".
#
# Every command that writes data is run with every method on the built-in digits, and on the data set of
# MNIST_KNN_DATA if that is set: twice, because the second run takes what was fitted from the cache. Prints how
# many files are equal; exits with 1 if one differs or only one program succeeds.
set -euo pipefail
# shellcheck source=tools/setup.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/setup.sh"

help_if_asked "$@"
(($# == 2 || $# == 4)) || refuse "$# words; expected OLD NEW [TRAIN TEST]"
for program in "$1" "$2"; do [[ -f $program && -x $program ]] || refuse "$program: is no program; expected two builds of it"; done
old=$(readlink -f "$1") new=$(readlink -f "$2") train=${3:-1500} test=${4:-300}
check_number TRAIN "$train"
check_number TEST "$test"
read -ra extra <<<"${OPTIONS:-}"
read -ra launch <<<"${LAUNCH:-}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
equal=0 different=0

# Runs a program with a cache of its own; leaves what it printed and its exit code among the outputs.
run() {  # PROGRAM FOLDER NAME ARGUMENT...
    local program=$1 folder=$2 name=$3 code=0
    shift 3
    XDG_CACHE_HOME=$work/cache-$folder "${launch[@]}" "$program" "$@" "${extra[@]}" \
        >"$work/$folder.printed" 2>"$work/$folder.errors" || code=$?
    echo "$code" >"$work/$folder/$name.code"
    if ((code != 0)); then
        grep '^error: ' "$work/$folder.errors" >"$work/$folder/$name.error" || true
    fi
}

# Runs both programs in folders of their own and compares the files there.
compare() {  # NAME COMMAND ARGUMENT...
    local name=$1 file
    shift
    rm -rf "$work/old" "$work/new"
    mkdir -p "$work/old" "$work/new" "$work/cache-old" "$work/cache-new"
    (cd "$work/old" && run "$old" old "$name" "$@")
    (cd "$work/new" && run "$new" new "$name" "$@")
    while read -r file; do
        if cmp -s "$work/old/$file" "$work/new/$file"; then
            equal=$((equal + 1))
        else
            different=$((different + 1))
            echo "different: $name: $file ($*)"
            sed 's/^/    /' "$work/new.errors" | head -3
        fi
    done < <(cd "$work" && { (cd old && find . -type f); (cd new && find . -type f); } | sort -u)
}

# All commands with one method.
compare_method() {  # NAME OPTION...
    local name=$1
    shift
    local limits=(--limit-train "$train" --limit-test "$test") run
    for run in first second; do
        compare "evaluate-$name-$run" evaluate "$@" "${limits[@]}" --neighbors-csv neighbors.csv \
            --predictions predictions.csv
    done
    compare "evaluate-$name-fresh" evaluate "$@" "${limits[@]}" --no-cache --predictions predictions.csv
    compare "condense-$name" condense "$@" --limit-train "$((train / 2))" --out set
    compare "edit-$name" condense "$@" --limit-train "$train" --rule edit --out set
    compare "audit-$name" audit "$@" --limit-train "$train" --csv audit.csv
    compare "audit-test-$name" audit "$@" "${limits[@]}" --of test --csv audit.csv
}

compare_set() {  # NAME OPTION...
    local name=$1
    shift
    local limit=(--limit-train "$train")
    compare_method "$name-raw" "$@" --method raw
    compare_method "$name-gradients" "$@" --method gradients
    compare_method "$name-accurate" "$@" --method accurate
    compare_method "$name-spread" "$@" --rerank spread
    compare_method "$name-manhattan" "$@" --metric l1 --weights distance -k 3
    compare_method "$name-cosine" "$@" --metric cosine --tie nearest
    compare_method "$name-pca" "$@" --transform pca:20 --vote class-mean
    compare "graph-$name" graph "$@" "${limit[@]}" --npy graph --csv graph.csv
    compare "graph-gradients-$name" graph "$@" "${limit[@]}" --method gradients --form symmetric --mtx graph.mtx
    compare "graph-lp-$name" graph "$@" "${limit[@]}" --metric lp -k 4 --npy graph
    compare "tune-$name" tune "$@" "${limit[@]}" --csv tune.csv --save method.txt
    compare "tune-methods-$name" tune "$@" "${limit[@]}" --method raw --method gradients --method accurate \
        -k 1-9 --csv tune.csv
}

"$new" info --write-synthetic "$work/digits" >"$work/digits.log"
compare_set synthetic --data "$work/digits"
if [[ -n ${MNIST_KNN_DATA:-} ]]; then compare_set data --data "$MNIST_KNN_DATA"; fi
echo "$equal files are equal, $different differ"
((different == 0))
