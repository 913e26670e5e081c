#!/usr/bin/env bash
# Names of tests and classes, the table of mutations; shellcheck and Python's compiler on every script.
# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

if command -v python3 >/dev/null; then
    check "python" env PYTHONPYCACHEPREFIX="$work" python3 -m py_compile "$repository"/tools/*.py "$repository"/tests/tools/*.py \
        "$repository"/tests/fuzz/*.py "$repository"/{python/mnist_knn,tests/python,examples/python}/*.py
    check "no include runs against the layers, no class is defined by two headers" python3 "$repository/tests/tools/structure.py" "$repository"
    check "the mutations fit the tree" env PYTHONPATH="$repository/tools" PYTHONDONTWRITEBYTECODE=1 \
        python3 -c 'import mutate; mutate.check_fit(mutate.MUTATIONS)'
fi
# CTest takes what is behind a semicolon for another test, and runs neither.
check "names of tests have no semicolon" ! grep -rnE 'TEST_CASE(_TEMPLATE)?\("[^"]*;' "$repository/tests" --include=*.cpp --include=*.cu
# They may return before the copy is made, and our streams do not wait for it (gpu/runtime/buffers.h).
check "no copy to the device on the default stream" \
    ! grep -rlPz 'cuda(Memset(2D)?|MemcpyToSymbol)\(|cudaMemcpy(2D)?\([^;]*HostToDevice' "$repository"/{,tests/}gpu
command -v shellcheck >/dev/null || skip "shellcheck was not found"
cd "$repository"
check "shellcheck" shellcheck -x .ci/run tools/*.sh tests/tools/*.sh tests/cli/*.sh tests/library/*.sh tests/python/*.sh tests/app/*/*.sh tests/gpu/*/*.sh
check "shellcheck" shellcheck -s bash app/mnist-knn.bash
