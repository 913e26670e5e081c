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

import resource
import time

from compare_cpu import Data, blas_in_use, cpu_seconds, run_ours
from shared import add_data, found_program, numpy_for, run_main, search_parser

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


def main():
    parser = search_parser(__doc__)
    add_data(parser)
    options = parser.parse_args()
    global np
    np = numpy_for(options.threads)
    try:
        import skimage
        import sklearn
    except ImportError as error:
        print(f"{error.name} is not there: nothing to compare with; install python3-skimage and python3-sklearn")
        return
    program = found_program(options.program)
    data = Data(options.data, options.limit_test)
    tests = len(data.test)
    print(f"{tests:,} test images, {len(data.train):,} training images, k = {options.k}, {options.threads} threads\n")
    print("| | wall, s | processor, s | right |\n|---|---|---|---|")
    for choice in (["--transform", "hog"], ["--method", "gradients"]):
        wall, cpu, right = run_ours(program, data, options, *choice)
        print(f"| mnist-knn {' '.join(choice)} | {wall:.2f} | {cpu:.2f} | {right / tests:.2%} |", flush=True)
    (feature_wall, feature_cpu), (wall, cpu), right = run_rival(data, options)
    print(f"| scikit-image {skimage.__version__} hog | {feature_wall:.2f} | {feature_cpu:.2f} | |")
    print(f"| scikit-learn {sklearn.__version__} brute on it | {wall:.2f} | {cpu:.2f} | {right / tests:.2%} |")
    print(f"\nBLAS: {blas_in_use()}")


if __name__ == "__main__":
    run_main(main)
