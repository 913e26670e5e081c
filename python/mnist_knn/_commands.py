"""Commands of mnist-knn as functions of arrays: graph, audit, tune, condense.

`graph`, `audit` and `tune` are one leave-one-out search of the library each, the rest in NumPy by the program's definitions;
`condense` runs the installed program.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from math import exp, lgamma, log
from pathlib import Path
from typing import Any, Callable, Iterable

import numpy as np

from . import _arrays, _voting
from ._checks import integer, several, shown, word
from ._library import Array, Index, by_parameters, encoded_text
from ._neighbors import OF_IMAGES, NearestNeighbors

_FORMS = ("directed", "mutual", "symmetric")
_RULES = ("edit", "condense", "both")


@dataclass(frozen=True, eq=False)
class Graph:
    """The exact neighbors of each point among all others, by (distance, index).

    indices: int64, n × k. distances: float64, n × k; of l2 Euclidean.
    """

    indices: Array
    distances: Array

    def matrix(self, form: str = "directed") -> Any:
        """The distances as a sparse matrix (CSR, n × n): all edges; `mutual`: those whose reverse is one too; `symmetric`:
        with the reverse of each. A distance of 0 is an entry too. Needs scipy."""
        word(form, "form", _FORMS)
        from scipy.sparse import csr_matrix

        n, k = self.indices.shape
        rows, columns, values = np.repeat(np.arange(n), k), self.indices.ravel(), self.distances.ravel()
        if form != "directed":
            is_mutual = np.isin(rows * n + columns, columns * n + rows)
            keep = is_mutual if form == "mutual" else np.ones_like(is_mutual)
            other = ~is_mutual & keep  # edges whose reverse is missing
            rows, columns = np.r_[rows[keep], columns[other]], np.r_[columns[keep], rows[other]]
            values = np.r_[values[keep], values[other]]
        matrix = csr_matrix((values, (rows, columns)), shape=(n, n))
        matrix.sort_indices()
        return matrix

    def in_degrees(self) -> Array:
        """How often each point is a neighbor of others (int64, n): large ones are hubs."""
        return np.bincount(self.indices.ravel(), minlength=len(self.indices))


def graph(X: Any, n_neighbors: int = 5, **parameters: Any) -> Graph:
    """The exact k-nearest-neighbor graph of X (n × dim). `parameters`: those of NearestNeighbors.

    >>> import numpy as np
    >>> graph(np.array([[0], [1], [5]], np.uint8), 1).indices.ravel().tolist()
    [1, 0, 1]
    """
    distances, indices = NearestNeighbors(n_neighbors, **parameters).fit(X).kneighbors()
    return Graph(indices, distances)


@dataclass(frozen=True, eq=False)
class Audit:
    """Labels by how much their neighbors contradict them, the most suspicious first; arrays of all n rows. `len` counts those that
    are contradicted, which come first.

    index: int64. label, suggested: as y; the label itself if no class is nearer. evidence, probability: float64; that the
    label is wrong, as if it and the one suggested were equally likely beforehand.
    """

    index: Array
    label: Array
    suggested: Array
    evidence: Array
    probability: Array

    def __len__(self) -> int:
        return int((self.label != self.suggested).sum())

    def to_frame(self, names: Any = None) -> Any:
        """The contradicted labels as a pandas DataFrame. `names`: of the rows, such as the index of a DataFrame."""
        import pandas

        some = np.flatnonzero(self.label != self.suggested)
        index = self.index[some]
        if names is not None:
            given = np.asarray(names)
            if given.shape != self.index.shape:
                raise ValueError(f"names: have shape {given.shape}; expected {self.index.shape}, a name for each row")
            index = given[index]
        columns = {"label": self.label[some], "suggested": self.suggested[some], "probability": self.probability[some]}
        return pandas.DataFrame(columns, index=index)


def audit(X: Any, y: Any, n_neighbors: int = 5, **parameters: Any) -> Audit:
    """Judges each label y (n) of X (n × dim) by its nearest neighbors among the others, as `mnist-knn audit` does: by the mean
    distance of the nearest n_neighbors of its class and of each other class among the nearest 100 (of a method that re-ranks its
    candidates), and a logistic function that is fitted to all of X. `parameters`: those of NearestNeighbors. Raises ValueError if there is one class alone."""
    model, classes, codes = _with_labels(X, y, "audit", n_neighbors=n_neighbors, **parameters)
    if len(classes) < 2:
        raise ValueError(f"y: has one class, {classes[0]!r}, which nothing contradicts; expected at least two")
    if n_neighbors >= model.n_samples_fit_:
        raise ValueError(f"n_neighbors {n_neighbors}: there are {model.n_samples_fit_ - 1} others; expected at most as many")
    index, _ = model._asked(None)
    most = index.info.candidates or 100
    indices, distances = index.search(None, min(max(n_neighbors, most), model.n_samples_fit_ - 1))
    own, other, suggested = np.empty(len(codes)), np.empty(len(codes)), np.empty_like(codes)
    for some in _voting.blocks(len(codes), len(classes)):
        means, given = _class_means(codes[indices[some]], distances[some], n_neighbors, len(classes)), codes[some, None]
        own[some] = np.take_along_axis(means, given, axis=1)[:, 0]
        np.put_along_axis(means, given, np.inf, axis=1)
        other[some], suggested[some] = means.min(axis=1), means.argmin(axis=1)
    suggested = np.where(other < own, suggested, codes)
    # Rounded as the program does, which adds one after another: near ties of evidence are then in its order.
    unit = 0.01 * float(np.minimum(own, other).cumsum()[-1]) / len(own) or 1.0
    evidence = np.array([math.log(ratio) for ratio in (own + unit) / (other + unit)])
    probability = np.clip(_logistic(_slope(evidence) * evidence), 1e-6, 1 - 1e-6)
    order = np.argsort(-evidence, kind="stable")
    return Audit(order, classes[codes[order]], classes[suggested[order]], evidence[order], probability[order])


def _with_labels(X: Any, y: Any, name: str, **parameters: Any) -> tuple[NearestNeighbors, Array, Array]:
    """NearestNeighbors of X, which knows the labels where the method may need them; the classes, and the number of each label's."""
    model = NearestNeighbors(**parameters)
    array = _arrays.vectors(X, name)
    classes, codes = _arrays.class_labels(y, len(array), name)
    of_method = model.method not in ("raw", "gradients") and len(classes) <= 256
    return model._fit(array, codes.astype(np.uint8) if of_method else None), classes, codes


def _class_means(codes: Array, distances: Array, each: int, classes: int) -> Array:
    """The mean distance (n × classes) of the nearest `each` neighbors of each class; those that the list lacks are as far as
    its last."""
    n, k = codes.shape
    sums, counts, rows = np.zeros((n, classes)), np.zeros((n, classes), np.int64), np.arange(n)
    for i in range(k):
        some = counts[rows, codes[:, i]] < each
        sums[rows[some], codes[some, i]] += distances[some, i]
        counts[rows[some], codes[some, i]] += 1
    return np.asarray((sums + (each - counts) * distances[:, -1:]) / each)


def _logistic(x: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-x)))


def _slope(evidence: Array) -> float:
    """Of the most probable logistic function: Newton's method on the sum of log(1 - logistic(slope · evidence)), where one more
    label is contradicted by the mean size of the evidence."""
    size = float(np.abs(evidence).mean())
    if size == 0:
        return 0.0
    evidence, slope = np.append(evidence, size), 0.0
    for _ in range(100):
        p = _logistic(slope * evidence)
        first, second = -float((evidence * p).sum()), float((evidence * evidence * p * (1 - p)).sum())
        if second <= 0:
            break
        move = min(max(first / second, -1 / size), 1 / size)
        slope += move
        if abs(move) < 1e-9 * abs(slope):
            break
    return max(slope, 0.0)


@dataclass(frozen=True)
class Configuration:
    """A choice of parameters and its leave-one-out result. error_low, error_high: the 95 % Wilson interval of the share of
    errors; p_value: McNemar's test against the best."""

    parameters: dict[str, Any]
    errors: int
    error_low: float
    error_high: float
    p_value: float
    as_good_as_best: bool
    wrong: Array = field(repr=False, compare=False)  #: bool, n


def tune(X: Any, y: Any, n_neighbors: Iterable[int] | None = None, weights: Iterable[str | Callable[[Array], Array] | None] = ("uniform", "distance"),
         metrics: Iterable[str] = ("euclidean",), **parameters: Any) -> list[Configuration]:  # fmt: skip
    """Configurations of KNeighborsClassifier by their leave-one-out errors on X (n × dim), y (n): the best first, equal ones in
    the order given. One search for each metric answers for every k and weights, but a method with votes of its own searches for each
    k. `n_neighbors`: by default 1 to 30, or to n − 1.
    `parameters`: others of NearestNeighbors.

    >>> import numpy as np
    >>> tune(np.array([[0], [1], [8], [9]], np.uint8), list("aabb"), [1, 3], ["uniform"])[0].parameters
    {'n_neighbors': 1, 'weights': 'uniform', 'metric': 'euclidean'}
    """
    if "metric" in parameters:
        raise TypeError(f"metric {shown(parameters['metric'])}: is no parameter of tune; expected metrics, a list")
    usual = n_neighbors is None
    ks = sorted({integer(k, "n_neighbors") for k in several(range(1, 31) if usual else n_neighbors, "n_neighbors", "numbers")})
    weights, metrics = several(weights, "weights", "names"), several(metrics, "metrics", "names")
    for weighing in weights:
        _voting.check_weights(weighing)
    tried: list[tuple[dict[str, Any], Array]] = []
    for metric in metrics:
        model, classes, codes = _with_labels(X, y, "tune", metric=metric, **parameters)
        if usual:
            ks = ks[: max(1, model.n_samples_fit_ - 1)]
        index, _ = model._asked(None)
        most = index.info.candidates or ks[-1]  # of more candidates smaller k have other neighbors
        asked = [min(ks[-1], most), *(k for k in ks if k > most)]
        searched = {max(k, most): model._search(None, k, True, squared=True) for k in asked}
        for weighing in weights:
            for k in ks:
                indices, lengths = searched[max(k, most)]
                parameters_of = {"n_neighbors": k, "weights": weighing, "metric": metric}
                if model._labels is not None and weighing in ("uniform", None):  # by the method's own votes
                    own = Index(index.training, **dict(model._settings, k=k))
                    wrong = own.classify(None)["labels"] != codes
                else:
                    # A function may depend on all k distances, and may write into them.
                    votes = _voting.weigh(np.asarray(lengths)[:, :k].copy(), weighing, model._roots)
                    wrong = _voting.winners(codes[indices[:, :k]], votes, len(classes)) != codes
                tried.append((parameters_of, wrong))
    tried.sort(key=lambda one: int(one[1].sum()))
    best = tried[0][1]
    return [_configuration(one, wrong, best) for one, wrong in tried]


def _configuration(parameters: dict[str, Any], wrong: Array, best: Array) -> Configuration:
    low, high = wilson_interval(int(wrong.sum()), len(wrong))
    p = mcnemar_p(int((wrong & ~best).sum()), int((best & ~wrong).sum()))
    return Configuration(parameters, int(wrong.sum()), low, high, p, p >= 0.05, wrong)


def wilson_interval(count: int, total: int) -> tuple[float, float]:
    """In which the share count / total lies with 95 % probability."""
    z, p = 1.959963984540054, count / total
    center, scale = p + z * z / (2 * total), 1 + z * z / total
    half = z * (p * (1 - p) / total + z * z / (4 * total * total)) ** 0.5
    return (0.0 if count == 0 else (center - half) / scale), (1.0 if count == total else (center + half) / scale)


def mcnemar_p(only_a: int, only_b: int) -> float:
    """The exact two-sided probability of so uneven a difference between two classifiers by chance."""
    n, fewer = only_a + only_b, min(only_a, only_b)
    total = term = 1.0
    for i in range(fewer, 0, -1):
        term *= i / (n - i + 1)
        total += term
    return min(1.0, 2 * exp(lgamma(n + 1) - lgamma(fewer + 1) - lgamma(n - fewer + 1) - n * log(2) + log(total)))


def condense(X: Any, y: Any, n_neighbors: int = 5, rule: str = "both", method: str = "raw",
             device: str = "auto") -> Array:  # fmt: skip
    """The indices (int64, ascending) of fewer rows of X (n × dim) that classify as well: `rule` "edit" drops rows that
    the others misclassify, "condense" keeps rows that give each row the answer of all, "both" does one after the other.

    Runs the program `mnist-knn condense`: $MNIST_KNN_PROGRAM, or in PATH. Raises FileNotFoundError if it is not installed,
    ValueError with its message if it fails, also if there is no such method, OSError if the method's file cannot be read.
    """
    program = os.environ.get("MNIST_KNN_PROGRAM") or shutil.which("mnist-knn")
    if program is None:
        raise FileNotFoundError("mnist-knn: not found; expected the program in PATH or $MNIST_KNN_PROGRAM")
    integer(n_neighbors, "n_neighbors")
    word(rule, "rule", _RULES)
    options = [f"--{name}={os.fsdecode(encoded_text(name, given))}" for name, given in (("method", method), ("device", device))]
    array = _arrays.vectors(X, "condense")
    narrows = method in ("raw", *OF_IMAGES)  # by the metric of a file bytes may have other distances
    narrow = array if array.dtype == np.uint8 else _arrays.narrowed(array) if narrows else None
    classes, codes = _arrays.class_labels(y, len(array), "condense")
    if len(classes) > 256:
        raise ValueError(f"y: has {len(classes)} classes; expected at most 256")
    with tempfile.TemporaryDirectory() as folder:
        rows, labels, out = Path(folder, "train.npy"), Path(folder, "labels.npy"), Path(folder, "out")
        if narrow is None:
            np.save(rows, array)
        else:
            np.save(rows, narrow.reshape(-1, 28, 28) if narrow.shape[1] == 784 else narrow)
        np.save(labels, codes.astype(np.uint8))
        words = [program, "condense", "--train", rows, "--train-labels", labels, "-k", n_neighbors, "--rule", rule,
                 *options, "-q", "--out", out]  # fmt: skip
        with subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as done:
            try:
                said = done.communicate()[1]
            except BaseException:  # after Ctrl-C Popen itself does not wait for what it ended
                done.kill()
                done.wait()
                raise
        if done.returncode:
            lines = said.strip().split("\n")
            line = next((line for line in lines if "error: " in line), lines[-1]).removeprefix("mnist-knn: error: ")
            for named, given in ((str(rows), "X"), (str(labels), "y"), ("-k ", "n_neighbors "), ("k = ", "n_neighbors = ")):
                line = line.replace(named, given)
            line = by_parameters(re.sub("--(method|device|transform|rerank|vote|metric)", r"\1", line))
            # The program counts from 1.
            line = re.sub(r"^X: row (\d+), column (\d+)", lambda at: f"X: row {int(at[1]) - 1}, column {int(at[2]) - 1}", line)
            of_file = line.startswith(f"{os.fsdecode(method)}: ")
            raise (OSError if of_file else ValueError)(line or f"{program}: ended with status {done.returncode} and no message; expected 0")
        return np.loadtxt(out / "kept.csv", np.int64, skiprows=1, ndmin=1)
