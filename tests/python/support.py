"""What the tests of the Python package share: oracles in NumPy, skipping. A file of tests ends with `support.main()`."""

import importlib.util
import os
import sys
import unittest

SKIPPED = 77  # SKIP_RETURN_CODE in tests/CMakeLists.txt


def require(*modules):
    """Ends the file with the reason, where a module is not installed."""
    for name in modules:
        if importlib.util.find_spec(name) is None:
            print(f"[skipped] Python's module {name} was not found")
            sys.exit(SKIPPED)


require("numpy")
import numpy as np  # noqa: E402

import mnist_knn  # noqa: E402


def has_type(name):
    return mnist_knn.has(name)


def brute_force(X, Q, k, leave_out=False, metric="l2"):
    """Distances (l2: squared) and indices by (distance, index), exact for integers."""
    X, Q = (array.astype(np.int64 if array.dtype.kind in "iub" else np.float64) for array in (X, Q))
    difference = np.abs(Q[:, None, :] - X[None, :, :])
    distances = (difference * difference if metric == "l2" else difference).sum(axis=2)
    if leave_out:
        distances = distances.astype(np.float64)
        np.fill_diagonal(distances, np.inf)
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(distances, order, axis=1), order


def mnist():
    """MNIST, or the end of the file with the reason."""
    if not os.environ.get("MNIST_KNN_DATA"):
        print("[skipped] MNIST is needed: MNIST_KNN_DATA is not set")
        sys.exit(SKIPPED)
    return mnist_knn.load_mnist()


def main():
    program = unittest.main(exit=False, verbosity=2)
    for test, reason in program.result.skipped:
        print(f"[skipped] {test}: {reason}")
    if not program.result.wasSuccessful():
        sys.exit(1)
    if program.result.testsRun == len(program.result.skipped):
        sys.exit(SKIPPED)
