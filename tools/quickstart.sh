#!/usr/bin/env bash
# From a fresh machine to a result:  tools/quickstart.sh [OPTION of mnist-knn evaluate]...
# Installs what is missing (Debian), builds, gets MNIST, runs `mnist-knn evaluate` with the options given.
# Links the program into ~/.local/bin if that is in PATH, so that `mnist-knn` is a command; else prints the line to type.
# Standard output carries the program's output alone. What was done already is not done again.
# MNIST_KNN_PRESET: a CMake preset other than `default`.
set -euo pipefail
# shellcheck source=tools/setup.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/setup.sh"

# Whether the options say themselves where the data is.
data_is_settled() {  # OPTION...
    local option
    for option; do
        case $option in
        --data | --data=* | --train* | --test*) return 0 ;;
        esac
    done
    return 1
}

# Leaves MNIST where the program finds it: in the program's own order of places, else fetched.
find_data() {
    local ours=$root/data/mnist failed=$root/build/fetch-failed folder folders
    [[ -z ${MNIST_KNN_DATA:-} ]] || return 0
    holds_mnist data/mnist && return
    if ! holds_mnist "$ours"; then
        IFS=: read -ra folders <<<"${XDG_DATA_HOME:-${HOME:-}/.local/share}:${XDG_DATA_DIRS:-/usr/local/share:/usr/share}"
        for folder in "${folders[@]}"; do
            [[ $folder == /* ]] && holds_mnist "$folder/mnist-knn/mnist" && return
        done
        if [[ -n $(find "$failed" -mmin -60 2>/dev/null) ]]; then
            say "MNIST could not be fetched within the last hour (tools/fetch_mnist.sh tries again): using the built-in synthetic digits"
            return
        fi
        command -v curl wget >/dev/null || (install_missing curl ca-certificates) || true
        if [[ ${folders[0]} == /* ]] && [[ ! -w $root/data || -e $ours && ! -w $ours ]]; then
            ours=${folders[0]}/mnist-knn/mnist
        fi
        if ! "$root/tools/fetch_mnist.sh" "$ours"; then
            touch "$failed" 2>/dev/null || true  # somebody else's checkout
            say "MNIST could not be fetched: using the built-in synthetic digits"
            return
        fi
    fi
    export MNIST_KNN_DATA=$ours
}

# Makes the program the command mnist-knn: by a link, or after a first build by a line to type.
name_program() {
    local folder=${HOME:-}/.local/bin link
    link=$folder/mnist-knn
    if [[ $folder == /* && :$PATH: == *:$folder:* && ! -e $link ]] &&
        mkdir -p "$folder" 2>/dev/null && ln -sf "$program" "$link" 2>/dev/null; then  # -f: replaces a link to nothing
        say "linked $link to the program"
    elif [[ -n $is_new && ! $(command -v mnist-knn) -ef $program ]]; then
        say "this line makes mnist-knn a command of this shell:"
        # shellcheck disable=SC2016  # the reader's shell expands it
        printf '    export PATH=%q:"$PATH"\n' "${program%/*}" >&2
    fi
}

# Prints the option that asks for help, if there is one.
help_option() {  # OPTION...
    local option
    for option; do
        case $option in -h | --help | --help=all) echo "$option"; return ;; esac
    done
}

preset=${MNIST_KNN_PRESET:-default}
program=$root/build/$preset/app/mnist-knn
help=$(help_option "$@")
if [[ -n $help ]]; then
    print_head
    [[ -x $program ]] || { printf '\nIts options are those of mnist-knn evaluate: README.md lists them.\n'; exit 0; }
    printf '\nThe options of mnist-knn evaluate:\n\n'
    exec "$program" evaluate "$help"
fi
check_options "$@"
[[ -x $program ]] && is_new='' || is_new=yes
if may_build "$preset"; then
    install_missing "${build_packages[@]}"
    # A new build folder does without the tests, which need one package more.
    [[ -f $root/build/$preset/CMakeCache.txt ]] && options=() || options=(-DBUILD_TESTING=OFF)
    configure "$preset" "${options[@]}"
    build "$preset" mnist-knn
elif [[ -x $program ]]; then
    say "$root/build/$preset cannot be written by you: using the program that is there"
else
    die "$root cannot be written by you, and build/$preset has no program yet; expected a checkout of your own"
fi
name_program
data_is_settled "$@" || find_data
exec "$program" evaluate "$@"
