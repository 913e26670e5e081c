#!/usr/bin/python3
"""Compares neighbors, distances and labels with those of scikit-learn's brute force, on the data sets that come with it: iris, wine,
breast cancer and digits, as they are and with zscore (StandardScaler); and radius_neighbors with --range.

    tools/compare_sklearn.py [--program FILE]

It installs nothing; it needs a built mnist-knn, and Debian's python3-sklearn. Every third row is a query. scikit-learn computes distances
by a product of matrices, with an error that grows with the length of rows; distances are equal if they differ by less than that, and
where two of them do not, their order is no difference. Prints a table; exit code 1 where anything else differs.
"""

import argparse
import csv
import subprocess
import tempfile
from pathlib import Path

from shared import Failure, add_program, found_program, run_main

KS = (1, 5)

try:
    import numpy
    import scipy.sparse
    from sklearn import datasets
    from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
    from sklearn.preprocessing import StandardScaler
    MISSING = None
except ImportError as error:
    MISSING = error.name


def require(condition, what):
    if not condition:
        raise Failure(what)


def run(program, folder, *words):
    done = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, check=False)
    require(done.returncode == 0, f"{' '.join(words)}: {done.stderr.strip()}")


def exact_squares(train, queries):
    """All squared distances in extended precision."""
    train = train.astype(numpy.longdouble)
    return numpy.stack([((train - row) ** 2).sum(axis=1) for row in queries.astype(numpy.longdouble)])


def compare_neighbors(program, folder, scaling, train, queries):
    """Indices and distances of the k nearest, and the ground truth file. Returns which queries have the same k nearest whatever
    is rounded, by k."""
    square_error = 64 * numpy.finfo(float).eps * max((train**2).sum(axis=1).max(), (queries**2).sum(axis=1).max())
    clear = {}
    for k in KS:
        run(program, folder, "neighbors", "-q", "--train", "train.npy", "--queries", "queries.npy", "-k", str(k),
            "--npy", "ours", "--ibin", "truth.ibin", *scaling)
        indices, squares = (numpy.load(folder / f"ours-{part}.npy") for part in ("indices", "distances"))
        theirs = NearestNeighbors(n_neighbors=k + 1, algorithm="brute").fit(train)
        distances, neighbors = theirs.kneighbors(queries)
        require((numpy.abs(distances[:, :k] ** 2 - squares) <= square_error).all(), f"k = {k}: distances differ")
        gaps = numpy.diff(distances**2, axis=1) > 2 * square_error
        alone = gaps & numpy.hstack([numpy.ones((len(queries), 1), bool), gaps[:, :-1]])
        require((indices == neighbors[:, :k])[alone].all(), f"k = {k}: neighbors differ")
        exact = numpy.take_along_axis(exact_squares(train, queries), indices.astype(int), 1)
        require((numpy.abs(exact - squares) <= 1e-13 * exact).all() or scaling, f"k = {k}: distances are not exact")
        head = numpy.fromfile(folder / "truth.ibin", "uint32", 2)
        ids = numpy.fromfile(folder / "truth.ibin", "int32", indices.size, offset=8)
        near = numpy.fromfile(folder / "truth.ibin", "float32", offset=8 + ids.nbytes)
        require(list(head) == [len(queries), k] and (ids == indices.ravel()).all() and
                (near == squares.ravel().astype("float32")).all(), f"k = {k}: the ground truth file differs")
        clear[k] = gaps[:, k - 1]
    return clear


def compare_labels(program, folder, scaling, train, labels, queries, truth, clear):
    """The labels of k-NN, where the k nearest are the same whatever is rounded. Returns how many are right, by k."""
    right = {}
    for k in KS:
        run(program, folder, "evaluate", "-q", "--train", "train.npy", "--test", "queries.npy", "--train-labels",
            "train-labels.npy", "--test-labels", "queries-labels.npy", "-k", str(k), "--predictions", "ours.csv", *scaling)
        with open(folder / "ours.csv", encoding="utf-8") as file:
            ours = numpy.array([int(row["predicted"]) for row in csv.DictReader(file)])
        theirs = KNeighborsClassifier(n_neighbors=k, algorithm="brute").fit(train, labels).predict(queries)
        require((ours == theirs)[clear[k]].all(), f"k = {k}: labels differ")
        right[k] = int((ours == truth).sum())
    return right


def compare_range(program, folder, scaling, train, queries):
    """All within a distance that no row has. Returns how many there are."""
    squares = numpy.sort(numpy.asarray(exact_squares(train, queries), float).ravel())
    middle = len(squares) // 10
    middle += int(numpy.argmax(numpy.diff(squares[middle:middle + 1000])))
    limit = (squares[middle] + squares[middle + 1]) / 2
    run(program, folder, "neighbors", "-q", "--train", "train.npy", "--queries", "queries.npy", "--range", repr(float(limit)),
        "--npz", "ours.npz", *scaling)
    ours = scipy.sparse.load_npz(folder / "ours.npz")
    theirs = NearestNeighbors(radius=limit**0.5, algorithm="brute").fit(train).radius_neighbors(queries, return_distance=False)
    for i, row in enumerate(theirs):
        require(set(row) == set(ours.indices[ours.indptr[i]:ours.indptr[i + 1]]), "the rows within a range differ")
    return ours.nnz


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    add_program(parser)
    options = parser.parse_args()
    if MISSING:
        raise Failure(f"{MISSING}: not there; expected Debian's python3-sklearn")
    program = found_program(options.program)
    sets = {"iris": datasets.load_iris, "wine": datasets.load_wine, "breast cancer": datasets.load_breast_cancer,
            "digits": datasets.load_digits}
    print("| data | zscore | queries | 1-NN right | 5-NN right | pairs within a range |\n|---|---|---|---|---|---|")
    failed = False
    for name, load in sets.items():
        data, target = load(return_X_y=True)
        is_query = numpy.arange(len(data)) % 3 == 2
        raw_train, labels, raw_queries, truth = data[~is_query], target[~is_query], data[is_query], target[is_query]
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            for file, rows in (("train", raw_train), ("queries", raw_queries)):
                numpy.save(folder / f"{file}.npy", rows)
            for file, numbers in (("train", labels), ("queries", truth)):
                numpy.save(folder / f"{file}-labels.npy", numbers.astype("uint8"))
            for scaling in ((), ("--transform", "zscore")):
                scaler = StandardScaler().fit(raw_train) if scaling else None
                train, queries = (scaler.transform(rows) if scaling else rows for rows in (raw_train, raw_queries))
                row = f"| {name} | {'yes' if scaling else 'no'} | {len(queries)} |"
                try:
                    clear = compare_neighbors(program, folder, scaling, train, queries)
                    right = compare_labels(program, folder, scaling, train, labels, queries, truth, clear)
                    pairs = compare_range(program, folder, scaling, train, queries)
                    print(row, " | ".join(str(number) for number in (*right.values(), pairs)), "|")
                except Failure as failure:
                    failed = True
                    print(f"{row} DIFFERS: {failure} |")
    return 1 if failed else 0


if __name__ == "__main__":
    run_main(main)
