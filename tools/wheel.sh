#!/usr/bin/env bash
# Builds the Python package as a wheel with the CPU library inside:  tools/wheel.sh [--pictures] [--library FILE] [DIR]
# DIR gets mnist_knn-VERSION-py3-none-linux_x86_64.whl; by default dist. Needs no package index.
# --pictures: a library that reads pictures; the wheel then needs Debian's libopencv-imgcodecs406 where it is installed.
# --library: packs this libmnistknn.so, and what is in mnist-knn/ beside it, instead of building one.
set -euo pipefail
# shellcheck source=tools/setup.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/setup.sh"

help_if_asked "$@"
library='' pictures=OFF
while :; do
    case ${1:-} in
    --pictures) pictures=ON; shift ;;
    --library)
        library=${2-}
        [[ -f $library ]] || refuse "--library: '$library' is no file; expected libmnistknn.so"
        shift 2
        ;;
    -*) refuse "$1: no such option; expected --pictures or --library FILE" ;;
    *) break ;;
    esac
done
(($# <= 1)) || refuse "$2: a second folder; expected one"
out=${1:-dist}
python=$(command -v python3) || die "python3 was not found (Debian: python3)"
if [[ -z $library ]]; then
    install_missing "${build_packages[@]}"
    build=$root/build/wheel
    [[ $pictures == OFF ]] || build+=-pictures  # of its own: what is beside the library is packed
    # Programs of GCC's own libraries of C++ are not needed then; of the system's, zlib and OpenSSL 3 are.
    logged configure-wheel cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DMNIST_KNN_PROGRAM=OFF \
        -DMNIST_KNN_CUDA=OFF -DMNIST_KNN_MPI=OFF -DMNIST_KNN_OPENCV=$pictures \
        -DCMAKE_SHARED_LINKER_FLAGS='-static-libstdc++ -static-libgcc'
    say "building the library (the first time takes minutes)"
    logged build-wheel cmake --build "$build"
    library=$(find "$build" -name libmnistknn.so)
fi
version=$(sed -n 's/^project(.* VERSION \([0-9.]*\) .*/\1/p' "$root/CMakeLists.txt")
mkdir -p "$out"
"$python" "$root/tools/wheel.py" "$version" "$library" "$out"
