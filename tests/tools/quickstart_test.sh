#!/usr/bin/env bash
# tools/quickstart.sh in a checkout whose CMake, packages, downloads and program are mocks: what it runs, what it
# skips the second time, and which options it passes on. tools/test.sh covers the real build.
# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

chmod 755 "$work"
checkout="$work/a checkout" bin="$work/bin" calls="$work/calls"
mkdir -p "$checkout/tools" "$checkout/app" "$checkout/data" "$bin" "$work/home" "$work/elsewhere"
cp "$repository"/tools/*.sh "$checkout/tools"
touch "$checkout/CMakePresets.json"

stand_in() {  # FILE, its text on standard input
    { printf '#!/bin/bash\n' && cat; } >"$1"
    chmod +x "$1"
}
stand_in "$bin/dpkg-query" <<'EOF'
for package in "${@:3}"; do [[ $package == "$LACKING" ]] || echo "installed $package"; done
EOF
stand_in "$bin/apt-get" <<'EOF'
echo "apt-get $*" >>"$CALLS"
EOF
stand_in "$bin/ninja" <<<'echo "ninja: no work to do."'
stand_in "$bin/cmake" <<'EOF'
[[ " $* " != *" -N "* ]] || exit 0  # what the preset sets: nothing
if [[ $1 == --build ]]; then
    echo "built" >>"$CALLS"
    echo "chatter of the build"
    exit "${BUILD_STATUS:-0}"
fi
echo "configured" >>"$CALLS"
folder=$2/build/default
mkdir -p "$folder/app"
touch "$folder/build.ninja"
echo "CMAKE_HOME_DIRECTORY:INTERNAL=$2" >"$folder/CMakeCache.txt"
for option in "${@:5}"; do
    [[ $option != -D* ]] || sed 's/=/:STRING=/' <<<"${option#-D}" >>"$folder/CMakeCache.txt"
done
printf '#!/bin/bash\nprintf "<%%s>" "$@"\necho " data=${MNIST_KNN_DATA:-}"\n' >"$folder/app/mnist-knn"
chmod +x "$folder/app/mnist-knn"
EOF
stand_in "$checkout/tools/fetch_mnist.sh" <<'EOF'
echo "fetched${1#"$CHECKOUT/data/mnist"}" >>"$CALLS"
exit "${FETCH_STATUS:-0}"
EOF

# Runs it from another folder; sets status, output, errors and called (what it ran, in order).
quickstart() {  # [NAME=VALUE]... -- OPTION...
    local settings=()
    while [[ $1 != -- ]]; do settings+=("$1"); shift; done
    shift
    : >"$calls"
    status=0
    output=$(cd "$work/elsewhere" && env -u MNIST_KNN_DATA -u CUDACXX -u CUDA_HOME -u XDG_DATA_DIRS HOME="$work/home" \
        XDG_DATA_HOME="$work/home" PATH="$bin:/usr/bin:/bin" CALLS="$calls" CHECKOUT="$checkout" "${settings[@]}" \
        "${as_user[@]}" "${program:-$checkout/tools/quickstart.sh}" "$@" 2>"$work/errors") || status=$?
    errors=$(<"$work/errors")
    called=$(tr '\n' ' ' <"$calls")
}
as_user=() program=

quickstart -- -k 3 --help
check "the help needs no build" equal "$status$called$errors" 0
check "the help tells what the script does" contains "$output" "From a fresh machine to a result"
check "and where the options are told" contains "$output" "options are those of mnist-knn evaluate"

quickstart -- -k 3 --json "my report.json" ''
check "the first run succeeds" equal "$status" 0
check "it configures, builds and fetches" equal "$called" "configured built fetched "
check "options are handed on as they are, and nothing else is printed" equal "$output" \
    "<evaluate><-k><3><--json><my report.json><> data=$checkout/data/mnist"

# shellcheck disable=SC2016  # the reader's shell expands it
check "and prints the line that puts the program into PATH" contains "$errors" \
    "    export PATH=${checkout// /\\ }/build/default/app:\"\$PATH\""
check "the first run says that building takes minutes" contains "$errors" "building build/default (the first time takes minutes"

mkdir -p "$checkout/data/mnist"
touch "$checkout/data/mnist/train-labels-idx1-ubyte.gz"  # later than the build, as a download is
quickstart -- --data "/some where"
check "the second run is silent, downloads or not" equal "$errors" ""
check "the second run does not configure; with --data nothing is fetched" equal "$called" "built "
check "--data is handed on" equal "$output" "<evaluate><--data></some where> data="
quickstart -- -h
check "with a program, its help comes too" contains "$output" "<evaluate><-h> data="
check "and nothing is run" equal "$called" ""
quickstart -- --help=all
check "in its long form too" contains "$output" "<evaluate><--help=all> data="
touch "$checkout/app/main.cpp"
quickstart -- --data=x
check "a changed source is said to be built" contains "$errors" "building build/default"
check "--data=x is seen too" equal "$called" "built "
quickstart -- --train a.csv --test b.csv
check "vectors need no MNIST" equal "$called" "built "
quickstart MNIST_KNN_DATA=/mine --
check "MNIST_KNN_DATA is the user's" equal "$called$output" "built <evaluate> data=/mine"

mine=$work/home/.local/bin
for target in '' "$work/gone"; do  # no link yet, or one to a checkout that is gone
    [[ -z $target ]] || ln -sf "$target" "$mine/mnist-knn"
    quickstart PATH="$bin:/usr/bin:/bin:$mine" -- --data=x
    check "the program is linked where PATH has ~/.local/bin" equal "$errors$(readlink "$mine/mnist-knn")" \
        "quickstart.sh: linked $mine/mnist-knn to the program$checkout/build/default/app/mnist-knn"
    quickstart PATH="$bin:/usr/bin:/bin:$mine" -- --data=x
    check "once" equal "$errors" ""
done
ln -sf /bin/true "$mine/mnist-knn"
quickstart PATH="$bin:/usr/bin:/bin:$mine" -- --data=x
check "another program of that name stays" equal "$errors$(readlink "$mine/mnist-knn")" /bin/true
rm -r "$work/home/.local"

quickstart FETCH_STATUS=1 --
check "no MNIST is no failure" equal "$status" 0
check "no MNIST is said plainly" contains "$errors" "using the built-in synthetic digits"
check "and the program looks by itself" equal "$output" "<evaluate> data="
quickstart FETCH_STATUS=1 --
check "a failed download is not tried again at once" equal "$called" "built "

mkdir -p "$work/home/mnist-knn/mnist"
touch "$work/home/mnist-knn/mnist/"{train,t10k}-{images.idx3,labels.idx1}-ubyte
rm "$checkout/build/fetch-failed"
quickstart --
check "MNIST in the user's data folder is left to the program" equal "$called$output" "built <evaluate> data="
mkdir -p "$checkout/data/mnist"
cp "$work/home/mnist-knn/mnist/"* "$checkout/data/mnist"
quickstart --
check "the checkout's MNIST comes before it" equal "$called$output" "built <evaluate> data=$checkout/data/mnist"

output=$("$checkout/tools/test.sh" --help)
check "test.sh tells what it does" contains "$output" "runs every test that this machine can run"
ln -s "$checkout/tools/quickstart.sh" "$work/link"
program=$work/link
quickstart CDPATH="$checkout:$work" -- -k 3
check "a link to the script and CDPATH change nothing" equal "$called$output" \
    "built <evaluate><-k><3> data=$checkout/data/mnist"
program=

quickstart BUILD_STATUS=1 --
check "a failed build fails" equal "$status" 1
check "and shows the end of its log" contains "$errors" "chatter of the build"
check "and runs nothing" equal "$output" ""

mv "$checkout" "$work/moved"
checkout="$work/moved"
quickstart --
check "a checkout that was moved is configured again" equal "$called" "configured built "
check "and is said to be built again" contains "$errors" "building build/default"

if ((EUID == 0)); then
    quickstart LACKING=ninja-build --
    check "root installs what is missing, and only that" equal "$called" \
        "apt-get update -qq apt-get install -y --no-install-recommends ninja-build built "
    if command -v setpriv >/dev/null; then
        as_user=(setpriv --reuid=65534 --clear-groups)
        chmod 666 "$calls"
        echo "an old log" >"$checkout/build/build-default.log"
        quickstart -- -k 3
        check "another user's checkout is used as it is" equal "$called$output" "<evaluate><-k><3> data=$checkout/data/mnist"
        check "which is said" equal "$errors" \
            "quickstart.sh: $checkout/build/default cannot be written by you: using the program that is there"
        mv "$checkout/data/mnist" "$work/mnist"
        mv "$work/home/mnist-knn" "$work/home/none"
        quickstart --
        check "MNIST is then fetched for this user" equal "$called$output" \
            "fetched$work/home/mnist-knn/mnist <evaluate> data=$work/home/mnist-knn/mnist"
        quickstart FETCH_STATUS=1 --
        check "or not" equal "$status$output" "0<evaluate> data="
        mv "$work/mnist" "$checkout/data/mnist"
        rm "$checkout/build/default/app/mnist-knn"
        quickstart --
        check "without a program that cannot be mended" contains "$errors" "has no program yet; expected a checkout of your own"
        check "and no old log is shown" equal "$status$called$(grep -c 'old log' "$work/errors")" 10
        chmod -R go+w "$checkout/build"
        chmod go-w "$checkout/build/build-default.log"
        quickstart --
        check "a log that cannot be written is told" contains "$errors" "build-default.log: cannot be written by you"
        check "without the old one" equal "$(grep -c 'old log' "$work/errors")" 0
    fi
fi
if ((EUID != 0)) || ((${#as_user[@]})); then
    quickstart LACKING=ninja-build --
    check "anybody else is told the line to run" contains "$errors" \
        "sudo apt-get install -y --no-install-recommends ninja-build"
    check "and nothing is run" equal "$status$called$output" 1
fi
