#!/usr/bin/env bash
# Runs a file of tests of the Python package:  run_test.sh FILE LIBRARY PROGRAM
# Python: the first of $PYTHON, python3 and the system's that has NumPy.
# shellcheck source=tests/tools/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/../tools/support.sh"
file=$1
export MNIST_KNN_LIBRARY=$2 MNIST_KNN_PROGRAM=$3
export XDG_CACHE_HOME=$work/cache PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$repository/python:$repository/tests/python
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1  # of others, which spin while they wait: t-SNE took 48 s for 3
find_python() {
    for python in ${PYTHON:+"$PYTHON"} python3 /usr/bin/python3; do
        if "$python" -c 'import numpy' 2>/dev/null; then return; fi
    done
    skip "NumPy was not found (Debian: python3-numpy)"
}
find_python
cd "$work"
"$python" "$repository/tests/python/$file" && exit 0
status=$?
((status != skipped_exit)) || skipped=1
exit "$status"
