#!/usr/bin/env bash
# Programs that were linked with the last release run with this library:  abi_test.sh [--renew]
# library/mnistknn.abi describes that release's knn.h: its functions, structs and numbers. Functions, and fields at the end of structs, may
# be added since; all else is a new SONAME. --renew writes the file anew.
# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/../tools/support.sh"
command -v abidiff >/dev/null || skip "abidiff was not found (Debian: abigail-tools)"
[[ $(uname -m) == x86_64 ]] || skip "library/mnistknn.abi is of x86_64"
released=$repository/library/mnistknn.abi
cd "$work"

# The library has no debug information, but its functions are what knn.h declares: the same declarations with empty bodies have the
# same ABI, as abidiff says of a library with -g, whose description has 2.1 MB for the types behind its handles. Unnamed enums belong to
# no function, hence the struct.
describe() {  # INCLUDE: writes new.abi
    {
        echo '#include "mnist_knn/knn.h"'
        awk '/^KNN_API/ {on = 1} on {sub(/;$/, " { __builtin_trap(); }"); print} /}$/ {on = 0}' "$1/mnist_knn/knn.h"
        echo 'struct numbers { decltype(KNN_UINT8) type; decltype(KNN_HOST) space; };'
        echo 'extern "C" { KNN_API numbers knn_numbers; }'
    } >empty.cpp
    local major
    major=$(sed -n 's/^project(.* VERSION \([0-9]*\)\..*/\1/p' "$repository/CMakeLists.txt")
    c++ -std=c++20 -w -g -shared -fPIC -nostdlib "-Wl,-soname,libmnistknn.so.$major" "-I$1" empty.cpp -o empty.so &&
        abidw --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed --no-parameter-names --type-id-style hash empty.so >new.abi
}
# One line for each function, none with the size of a struct.
lines_of() {
    sed -E ':a; /<function-(decl|type)/ {/<\/function/! {N; ba}; s/\n */ /g}; s/(<class-decl .*) size-in-bits=.[0-9]+./\1/' "$1"
}
# Nothing differs, or lines were only added. abidiff's suppressions cannot say so: "inserted at end" lets fields change their types.
compatible() {
    abidiff --harmless "$released" new.abi >report && return
    grep -q '^<' <(diff <(lines_of "$released") <(lines_of new.abi)) || return 0
    cat report
    return 1
}

describe "$repository/include"
if [[ ${1:-} == --renew ]]; then
    cp new.abi "$released"
    exit
fi
check "it has every function" equal "$(grep -c '<function-decl' new.abi)" "$(grep -c '^ *knn_[a-z_]*;$' "$repository/library/mnistknn.map")"
check "the ABI is the last release's, or has more" compatible

edited() {  # SED-SCRIPT: whether the header, so edited, is compatible
    rm -rf edited
    cp -r "$repository/include" edited
    sed -i "$1" edited/mnist_knn/knn.h
    if cmp -s "$repository/include/mnist_knn/knn.h" edited/mnist_knn/knn.h || ! describe edited; then
        echo "FAILED: nothing to edit, or nothing that compiles: $1"
        failures=$((failures + 1))
    fi
    compatible >log
}
check "a field more at the end" edited 's/^} knn_neighbors;/int64_t more; void** others; &/'
check "a function more" edited 's/^KNN_API int knn_has/KNN_API int knn_had(const char* a);\n&/'
check "a number more" edited 's/^} knn_status;/, KNN_MORE = 8 &/'
check "a field less" ! edited '/int32_t has_labels;/d'
check "a field in between" ! edited 's/^ *int32_t has_labels;/int64_t more; &/'
check "a field of another type" ! edited 's/int32_t has_labels;/uint32_t has_labels;/'
check "fields in another order" ! edited 's/int64_t count;  *\/\/\/< vectors$/int64_t dim;/; s/int64_t dim; .*/int64_t count;/'
check "a function less" ! edited '/^KNN_API int knn_has/d'
check "a parameter more" ! edited 's/^KNN_API int knn_has(const char\* feature/&, int more/'
check "a callback's parameter more" ! edited 's/(void\* data, int64_t done/&, int64_t more/'
check "another result" ! edited 's/^KNN_API int knn_has/KNN_API int64_t knn_has/'
check "another number of a status" ! edited 's/KNN_STOPPED = 6/KNN_STOPPED = 9/'
check "another number of a type" ! edited 's/KNN_FLOAT64 = 3/KNN_FLOAT64 = 4/'
((failures == 0))
