#!/usr/bin/env bash
# The library as others build with it, in empty folders:  consumers_test.sh BUILD LIBRARY
# An installation of BUILD, which is moved; find_package, pkg-config, add_subdirectory; and the symbols of LIBRARY.
# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/../tools/support.sh"
build=$1 library=$2
export XDG_CACHE_HOME=$work/cache MNIST_KNN_DATA=

# What is exported is what library/mnistknn.map lists, and that is what knn.h declares.
listed=$(sed -n 's/^ *\(knn_[a-z_]*\);$/\1/p' "$repository/library/mnistknn.map")
check "exported symbols" equal "$(nm -D --defined-only "$library" | awk '{print $3}' | sort)" "$(sort <<<"$listed")"
declared=$(grep -oE '^KNN_API [^;(]*\(' "$repository/include/mnist_knn/knn.h" | grep -oE 'knn_[a-z_]*\(' | tr -d '(' | sort)
check "declared functions" equal "$declared" "$(sort <<<"$listed")"
check "the SONAME is apart from the version" contains "$(readelf -d "$library")" '[libmnistknn.so.0]'
check "it stays loaded after dlclose" contains "$(readelf -d "$library")" NODELETE

for component in library development pictures; do
    cmake --install "$build" --prefix "$work/first" --component $component >>"$work/log"
done
mv "$work/first" "$work/moved"
prefix=$work/moved
cd "$work"

# A vertical bar of ink, 20 pixels high.
{ printf 'P5 40 40 255\n'; for ((y = 0; y < 40; ++y)); do for ((x = 0; x < 40; ++x)); do
    if ((y >= 10 && y < 30 && x >= 18 && x < 21)); then printf '\0'; else printf '\377'; fi; done; done; } >bar.pgm

consume() {  # NAME CMAKE-ARGUMENT...: builds and runs the examples
    local name=$1
    shift
    if ! { cmake -S "$name" -B "$name-build" -G Ninja "$@" && cmake --build "$name-build"; } >"$name.log" 2>&1; then
        tail -n 40 "$name.log"
        check "$name: builds" false
        return
    fi
    run_examples "$name-build"
}
run_examples() {  # FOLDER
    check "$1: neighbors" contains "$("$1/neighbors")" '(255, 127):  '
    check "$1: threads" contains "$("$1/threads")" '400 of 400 answers right'
    check "$1: an error" contains "$("$1/digits" /dev/null 2>&1 || true)" 'digits: '
    check "$1: no picture" contains "$("$1/digits" none 2>&1 || true)" 'digits: none: cannot be read'
    [[ $1 == inside-build || -z $(find "$prefix" -name 'mnist-knn-pictures.so') ]] ||
        check "$1: a picture, by the module beside the library" contains "$("$1/digits" bar.pgm)" 'at 1'
}

# By find_package, with a version and, where there are pictures, the component.
cp -r "$repository/examples" found
if [[ -n $(find "$prefix" -name 'mnist-knn-pictures.so') ]]; then
    sed -i 's/CONFIG REQUIRED/CONFIG REQUIRED COMPONENTS pictures/' found/CMakeLists.txt
fi
consume found -DCMAKE_PREFIX_PATH="$prefix"
sed -i 's/mnist_knn 0.1 CONFIG/mnist_knn 0.2 CONFIG/' found/CMakeLists.txt
check "another version is refused" ! cmake -S found -B refused -DCMAKE_PREFIX_PATH="$prefix" >refused.log 2>&1
check "its reason is the version" contains "$(cat refused.log)" '0.2'
sed -i 's/mnist_knn 0.2 CONFIG REQUIRED.*/mnist_knn CONFIG REQUIRED COMPONENTS sounds)/' found/CMakeLists.txt
check "another component is refused" ! cmake -S found -B refused -DCMAKE_PREFIX_PATH="$prefix" >refused.log 2>&1
check "its reason is the component" contains "$(cat refused.log)" 'no component but pictures'

# By pkg-config, without CMake.
if command -v pkg-config >/dev/null; then
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name mnist_knn.pc)")
    export PKG_CONFIG_PATH
    read -ra flags <<<"$(pkg-config --cflags mnist_knn)"
    read -ra libraries <<<"$(pkg-config --libs mnist_knn) -Wl,-rpath,$(pkg-config --variable=libdir mnist_knn)"
    mkdir packaged
    check "gcc" gcc -std=c17 "${flags[@]}" "$repository/examples/neighbors.c" -o packaged/neighbors "${libraries[@]}" -lm
    for example in digits threads; do
        check "g++" g++ -std=c++20 "${flags[@]}" "$repository/examples/$example.cpp" -o "packaged/$example" \
            "${libraries[@]}" -pthread
    done
    check "an older C++ is told" contains \
        "$(g++ -std=c++17 -fsyntax-only "${flags[@]}" "$repository/examples/threads.cpp" 2>&1)" 'knn.hpp needs C++20'
    run_examples packaged
    check "pkg-config: the version" equal "$(pkg-config --modversion mnist_knn)" \
        "$(sed -n 's/^project(.* VERSION \([0-9.]*\) .*/\1/p' "$repository/CMakeLists.txt")"
fi

# By add_subdirectory, which builds neither the program nor tests; without OpenCV, CUDA and optimization it takes half a minute.
cp -r "$repository/examples" inside
sed -i "s|find_package(mnist_knn.*|add_subdirectory(\"$repository\" mnist_knn)|" inside/CMakeLists.txt
consume inside -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O0 -DMNIST_KNN_OPENCV=OFF -DMNIST_KNN_CUDA=OFF -DMNIST_KNN_MPI=OFF \
    -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache || true)"
check "add_subdirectory builds no program" ! test -e inside-build/mnist_knn/app
((failures == 0))
