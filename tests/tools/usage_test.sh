#!/usr/bin/env bash
# Every script of tools/ that is started: --help and -h print what it does, and what is wrong with a command line is one line of error
# and exit code 2, before anything is built.
# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

# Nothing is to be built or installed; Python has no modules but its own.
mkdir "$work/bin"
for name in cmake ninja apt-get; do
    printf '#!/bin/sh\necho "%s was started" >&2\nexit 9\n' "$name" >"$work/bin/$name"
done
chmod +x "$work"/bin/*
run() {  # NAME WORD...
    local name=$1 python=()
    shift
    [[ $name != *.py ]] || python=(python3 -S -E -B)
    code=0
    (cd "$work" && PATH=$work/bin:$PATH timeout 60 "${python[@]}" "$repository/tools/$name" "$@") >"$work/out" 2>"$work/err" </dev/null || code=$?
}

refused() {  # NAME WORD...
    run "$@"
    check "$*: exit code 2, not $code" test "$code" = 2
    check "$*: nothing on standard output" test ! -s "$work/out"
    check "$*: a line of error: $(cat "$work/err")" grep -qE "^$1: (error|usage): " <(tail -n 1 "$work/err")
    # argparse prints a usage before.
    check "$*: one line of error" test "$(sed '/^usage: /d; /^ /d' "$work/err" | wc -l)" = 1
}

for file in "$repository"/tools/*; do
    [[ -f $file && -x $file ]] || continue  # not __pycache__, which tests leave
    name=${file##*/}
    [[ $name != *.py ]] || command -v python3 >/dev/null || continue
    for help in --help -h; do
        run "$name" "$help"
        check "$name $help: exit code 0, not $code: $(cat "$work/err")" test "$code" = 0
        check "$name $help: says how it is called" grep -qF "$name" "$work/out"
        check "$name $help: no error" test ! -s "$work/err"
    done
    case $name in
    # Their options are those of another program.
    quickstart.sh | test.sh | check_races.sh) refused "$name" nonsense ;;
    measure_rejection.py) refused "$name" --binary /nonexistent --nonsense ;;
    *) refused "$name" --nonsense ;;
    esac
done
for words in 'check_gpu.sh --bin' 'check_gpu.sh --bin /nonexistent' 'check_gpu.sh --seconds x' 'check_gpu.sh --faults /nonexistent' \
    compare_outputs.sh 'compare_outputs.sh /bin/true' 'compare_outputs.sh /bin/true /nonexistent' 'compare_outputs.sh /bin/true /bin/true 1 x' \
    'fetch_mnist.sh a b' 'format.sh --check more' 'fuzz.sh x' 'fuzz.sh 1 nothing' 'fuzz.sh 1 gpu' 'fuzz_gpu.sh x' 'fuzz_gpu.sh 1 x' 'fuzz_gpu.sh 1 1 1' \
    soak.sh 'soak.sh /nonexistent' 'test.sh --preset' 'test.sh --preset none' 'test.sh -R x --preset=none' \
    'test.sh -j 2 --sanitise' 'wheel.sh --library' 'wheel.sh --library /nonexistent' \
    'wheel.sh a b'; do
    # shellcheck disable=SC2086  # words
    refused $words
done
