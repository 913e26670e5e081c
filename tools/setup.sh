# shellcheck shell=bash
# Sourced by the other scripts: help and refusals, the packages, nvcc, configuring and building.
# All talk goes to standard error: standard output belongs to what runs in the end.

unset CDPATH  # with it, cd may go elsewhere, and prints where
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

# shellcheck disable=SC2034  # the scripts that source this read the lists
# Debian's names; libopencv-dev is the one package that carries OpenCV's CMake files.
build_packages=(g++ cmake ninja-build zlib1g-dev libssl-dev libboost-program-options-dev libboost-dev nlohmann-json3-dev libeigen3-dev
                libopencv-dev)
# shellcheck disable=SC2034
test_packages=(doctest-dev)
# shellcheck disable=SC2034  # without these, the tests that need them are skipped
optional_packages=(curl python3 mandoc shellcheck xvfb xdotool x11-apps libopenmpi-dev openmpi-bin iproute2
                   python3-numpy python3-sklearn python3-pandas python3-pil python3-matplotlib python3-hypothesis mypy
                   python3-pip python3-venv dpkg-dev doxygen lintian abigail-tools) browser_packages=(chromium nodejs)

# Prints what the head of the script that was started says of it.
print_head() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; }

help_if_asked() { case ${1:-} in --help | -h) print_head && exit 0 ;; esac; }  # WORD...

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() { say "error: $*"; exit 1; }
refuse() { say "error: $*; --help says more"; exit 2; }  # what the command line is wrong about

# Refuses what is no number of NAME.
check_number() {  # NAME WORD
    [[ $2 =~ ^[0-9]{1,9}$ ]] || refuse "$1: '$2' is not a number; expected a whole number"
}

# Refuses a first word that is no option, before a build that takes minutes.
check_options() {  # WORD...
    [[ ${1:--} == -* ]] || refuse "$1: is no option; expected only options"
}

# Whether this user may write the build folder of PRESET.
may_build() {  # PRESET
    local folder
    for folder in "$root/build/$1" "$root/build" "$root"; do
        [[ ! -e $folder ]] || { [[ -w $folder && -x $folder ]]; return; }
    done
}

# Runs a command with its output in build/NAME.log, and shows the log's end where it fails.
logged() {  # NAME COMMAND...
    local log="$root/build/$1.log"
    shift
    if ! { mkdir -p "$root/build" && : >"$log"; } 2>/dev/null; then
        die "$log: cannot be written by you; expected a checkout of your own, or one that was built for you"
    fi
    "$@" >"$log" 2>&1 </dev/null && return
    tail -n 40 "$log" >&2
    die "this failed: $*; the whole log: $log"
}

# Installs what is missing: as root with apt-get, else prints the line to run and stops.
# MNIST_KNN_NO_INSTALL=1 builds with what is there.
install_missing() {  # PACKAGE...
    [[ -z ${MNIST_KNN_NO_INSTALL:-} ]] || return 0
    if ! command -v apt-get >/dev/null; then
        say "this is no Debian system; what the build needs, by Debian's names: $*"
        return 0
    fi
    local installed missing=() package
    # shellcheck disable=SC2016  # the format is dpkg-query's, not the shell's
    installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true)
    for package; do
        grep -qxF "installed $package" <<<"$installed" || missing+=("$package")
    done
    ((${#missing[@]})) || return 0

    local install=(apt-get install -y --no-install-recommends "${missing[@]}")
    if ((EUID != 0)); then
        say "these packages are missing; install them with this line, then start again:"
        printf '    sudo apt-get update && sudo %s\n' "${install[*]}" >&2
        say "(MNIST_KNN_NO_INSTALL=1 builds without asking for packages)"
        exit 1
    fi
    say "installing from Debian's packages: ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq >/dev/null 2>&1 || say "apt-get update failed; trying with the lists that are there"
    logged install "${install[@]}"
}

# Sets nvcc to the compiler of a usable CUDA toolkit, or to nothing. C++20 needs release 12 or later.
find_nvcc() {
    local candidate release
    nvcc=
    for candidate in "${CUDACXX:-}" nvcc "${CUDA_HOME:+$CUDA_HOME/bin/nvcc}" /usr/local/cuda/bin/nvcc \
                     /opt/cuda/bin/nvcc; do
        candidate=$(command -v "${candidate:-nvcc}") || continue
        release=$("$candidate" --version 2>/dev/null | sed -n 's/.*release \([0-9]*\)\..*/\1/p')
        if ((${release:-0} >= 12)); then
            nvcc=$candidate
            return
        fi
        say "$candidate is of CUDA ${release:-(unknown)}; 12 or later is needed"
    done
}

# The compute capabilities of this machine's GPUs as CMake's architectures, "86-real;90a-real"; empty without a driver.
gpu_architectures() {
    local capabilities
    capabilities=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null) || return 0
    # Hopper's own instructions need the name with an a.
    sed -n 's/^\([0-9]*\)\.\([0-9]\)$/\1\2-real/p' <<<"$capabilities" | sed 's/^90-/90a-/' | sort -u | paste -sd ';'
}

# Installs clang and its sanitizers' runtime.
install_clang() {
    install_missing clang
    local version
    version=$(clang++ -dumpversion)
    install_missing "libclang-rt-${version%%.*}-dev"
}

# Whether DIR holds four files named as MNIST's are.
holds_mnist() {  # DIR
    local name
    for name in {train,t10k}-{images-idx3,labels-idx1}-ubyte; do
        [[ -f $1/$name || -f $1/$name.gz || -f $1/${name/-idx/.idx} || -f $1/${name/-idx/.idx}.gz ]] || return 1
    done
}

# The value that the build folder of PRESET was configured with.
cached() {  # PRESET NAME
    sed -n "s/^$2:[A-Z]*=//p" "$root/build/$1/CMakeCache.txt" 2>/dev/null || true
}

# Whether PRESET itself turns CUDA off. CMake reads it, because a preset may inherit that from another.
without_cuda() {  # PRESET
    local variables
    variables=$(cmake -S "$root" --preset "$1" -N 2>/dev/null) || true
    [[ $variables == *'MNIST_KNN_CUDA="OFF"'* ]]
}

# Configures build/PRESET, unless it already stands with these settings. The preset `default` has CUDA where a GPU's
# driver is found, for the GPUs that are there; also without one where the folder has CUDA already.
configure() {  # PRESET -DNAME=VALUE...
    local preset=$1 ninja=$root/build/$1/build.ninja stands=yes fresh=() option name home compiler
    local with='' nvcc='' architectures=''
    shift
    [[ ${CI:-} != true ]] || set -- "$@" -DMNIST_KNN_WERROR=ON
    if without_cuda "$preset"; then
        set -- "$@" -DMNIST_KNN_CUDA=OFF  # also where the folder was configured with CUDA
    else
        find_nvcc
        with=" with ${nvcc:-no nvcc: the CPU engine alone}"
        if [[ -n $nvcc && $preset == default && $(cached default MNIST_KNN_CUDA) != ON ]]; then
            architectures=$(gpu_architectures)
            if [[ -z $architectures ]]; then
                nvcc=
                with=" for the CPU alone: no GPU driver was found (with the GPU engines, for another machine: cmake --preset default)"
            else
                set -- "$@" "-DCMAKE_CUDA_ARCHITECTURES=$architectures"
            fi
        fi
        set -- "$@" "-DMNIST_KNN_CUDA=$([[ -n $nvcc ]] && echo ON || echo OFF)" \
            ${nvcc:+"-DCMAKE_CUDA_COMPILER=$nvcc"}
    fi
    [[ -f $ninja && ! $root/CMakePresets.json -nt $ninja ]] || stands=
    for option; do
        name=${option#-D} name=${name%%=*}
        [[ $(cached "$preset" "$name") == "${option#*=}" ]] || stands=
    done
    # A folder cannot change these: a checkout that was moved, another nvcc. CMake then starts over.
    home=$(cached "$preset" CMAKE_HOME_DIRECTORY) compiler=$(cached "$preset" CMAKE_CUDA_COMPILER)
    if [[ -n $home && $home != "$root" ]] || [[ -n $nvcc && $compiler == /* && $compiler != "$nvcc" ]]; then
        stands='' fresh=(--fresh)
    fi
    [[ -z $stands ]] || return 0
    say "configuring build/$preset$with"
    rm -f "$root/build/$preset"/built-*
    logged "configure-$preset" cmake -S "$root" --preset "$preset" "${fresh[@]}" "$@"
    touch "$ninja"
}

# Whether TARGET was built after the last change of its sources. data/mnist holds what was downloaded, not code.
is_built() {  # PRESET TARGET
    local stamp=$root/build/$1/built-$2 sources=(CMakeLists.txt app classifier cpu data gpu) newer
    [[ $2 != all && $2 != unit_tests ]] || sources+=(tests)
    [[ -f $stamp ]] || return 1
    newer=$(cd "$root" && find "${sources[@]}" -path data/mnist -prune -o -type f -newer "$stamp" -print -quit 2>/dev/null) || true
    [[ -z $newer ]]
}

# Builds a target of a configured preset; silent where nothing is to be done.
build() {  # PRESET TARGET
    local folder=$root/build/$1 stamp=$root/build/$1/built-$2
    if ! is_built "$1" "$2"; then
        say "building build/$1 (the first time takes minutes; build/build-$1.log tells how far it is)"
    fi
    logged "build-$1" cmake --build "$folder" --target "$2"
    touch "$stamp"
}
