#!/usr/bin/python3
"""Runs k-NN on histograms of oriented gradients as one would build it from scikit-image and scikit-learn, and beside
it `mnist-knn evaluate --transform hog` and `--method gradients`, on the same machine and data.

    tools/compare_features.py [--program FILE] [--data DIR] [-k N] [--threads N] [--limit-test N]

The rival is skimage.feature.hog (9 orientations, cells of 4 x 4 pixels, blocks of 2 x 2, L2-Hys: 1,296 features, what
`hog` computes too) and KNeighborsClassifier(algorithm="brute"). Timed is what lies between images in memory and
predicted labels, the features of both sets included; for this program, a process of its own, wall seconds are what it
reports as search_ms, and processor seconds those of the whole process.

Needs a built mnist-knn, the MNIST files and Debian's python3-numpy, python3-skimage and python3-sklearn.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import compare_cpu
from compare_cpu import PROGRAMS, ROOT, Data, Failure, blas_in_use, cpu_seconds

SIDE = 28


def run_rival(data, options):
    """Wall and processor seconds of the features and of the search, and how many answers are right."""
    from skimage.feature import hog
    from sklearn.neighbors import KNeighborsClassifier

    def features(rows):
        return np.array([
            hog(row.reshape(SIDE, SIDE), orientations=9, pixels_per_cell=(4, 4), cells_per_block=(2, 2))
            for row in rows
        ], np.float32)  # fmt: skip

    def seconds():
        return np.array([time.perf_counter(), cpu_seconds(resource.RUSAGE_SELF)])

    start = seconds()
    train, test = features(data.train), features(data.test)
    middle = seconds()
    model = KNeighborsClassifier(options.k, algorithm="brute", n_jobs=options.threads)
    right = (model.fit(train, data.train_labels).predict(test) == data.test_labels).sum()
    return middle - start, seconds() - middle, right


def run_ours(program, data, options, choice):
    words = [program, "evaluate", "--device", "cpu", "-k", options.k, "--threads", options.threads, *choice,
             "--data", data.folder, "--limit-test", len(data.test), "--json", "-"]  # fmt: skip
    before = cpu_seconds(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise Failure(f"{program}: ended with {done.returncode}; expected 0")
    report = json.loads(done.stdout)
    cpu = cpu_seconds(resource.RUSAGE_CHILDREN) - before
    return report["timing"]["search_ms"] / 1000, cpu, report["result"]["correct"]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, help="default: the one in build/")
    parser.add_argument("--data", type=Path, help="default: $MNIST_KNN_DATA, then data/mnist")
    parser.add_argument("-k", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--limit-test", type=int, default=10_000)
    return parser.parse_args()


def main():
    options = parse()
    # Read by the libraries when they are loaded, so before that.
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[variable] = str(options.threads)
    global np
    try:
        import numpy as np
        import skimage
        import sklearn
    except ImportError as error:
        print(f"{error.name} is not there: nothing to compare with; install python3-numpy, python3-skimage and "
              "python3-sklearn")  # fmt: skip
        return
    compare_cpu.np = np
    programs = [options.program] if options.program else PROGRAMS
    program = next((path for path in programs if path.is_file()), None)
    if program is None:
        raise Failure(f"{programs[0]}: not there; expected the built program (tools/quickstart.sh builds it)")
    data = Data(options.data or Path(os.environ.get("MNIST_KNN_DATA", ROOT / "data" / "mnist")), options.limit_test)
    tests = len(data.test)
    print(f"{tests:,} test images, {len(data.train):,} training images, k = {options.k}, {options.threads} threads\n")
    print("| | wall, s | processor, s | right |\n|---|---|---|---|")
    for choice in (["--transform", "hog"], ["--method", "gradients"]):
        wall, cpu, right = run_ours(program, data, options, choice)
        print(f"| mnist-knn {' '.join(choice)} | {wall:.2f} | {cpu:.2f} | {right / tests:.2%} |", flush=True)
    (feature_wall, feature_cpu), (wall, cpu), right = run_rival(data, options)
    print(f"| scikit-image {skimage.__version__} hog | {feature_wall:.2f} | {feature_cpu:.2f} | |")
    print(f"| scikit-learn {sklearn.__version__} brute on it | {wall:.2f} | {cpu:.2f} | {right / tests:.2%} |")
    print(f"\nBLAS: {blas_in_use()}")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"compare_features.py: error: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)
