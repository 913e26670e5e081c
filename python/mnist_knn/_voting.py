"""Votes of neighbors."""

from __future__ import annotations

from typing import Any, Callable, Iterator

import numpy as np

from ._arrays import to_array
from ._checks import shown, word
from ._library import Array

#: Of a table of rows × classes.
_ELEMENTS_AT_ONCE = 1 << 20
_NAMES = ("uniform", "distance", "inverse_square")


def check_weights(weights: Any) -> None:
    """Raises ValueError if they are neither a name, nor None, nor a function."""
    if weights is not None and not callable(weights):
        word(weights, "weights", _NAMES, " or a function")


def weigh(lengths: Array | None, weights: str | Callable[[Array], Array] | None, squared: bool) -> Array | None:
    """The weight of each vote (n × k), or None if all are equal, from distances or, where `squared`, their squares, whose roots are
    rounded. Where a neighbor is at distance 0, or its weight by a function is infinite, only such ones vote."""
    check_weights(weights)
    if weights in (None, "uniform") or lengths is None:
        return None
    if squared and weights != "inverse_square":
        lengths, squared = np.sqrt(lengths), False
    if callable(weights):
        weighed = _checked(weights(lengths), lengths.shape)
        same = np.isinf(weighed)
    else:
        with np.errstate(divide="ignore", over="ignore"):
            # By the nearest's power of 2, so that their unit makes no weights infinite or 0.
            near = np.ldexp(lengths, -np.frexp(lengths[:, :1])[1])
            weighed = 1.0 / (near * near if weights == "inverse_square" and not squared else near)
        same = lengths == 0
    rows = same.any(axis=1)
    weighed[rows] = same[rows]
    # By a power of 2, so that sums of what a function gave are finite.
    return np.asarray(np.ldexp(weighed, -np.frexp(weighed.max(axis=1, keepdims=True))[1]))


def _checked(given: Any, shape: tuple[int, ...]) -> Array:
    """What a function gave as weights. Raises TypeError, ValueError."""
    weights = to_array(given, "weights")
    if weights.dtype.kind not in "biuf":
        raise TypeError(f"weights {shown(given)}: are {weights.dtype} by the function; expected numbers")
    if weights.shape != shape:
        raise ValueError(f"weights: have shape {weights.shape} by the function; expected {shape}, that of the distances")
    if not (weights >= 0).all():
        raise ValueError("weights: have NaN or numbers below 0 by the function; expected 0 or more")
    return weights.astype(np.float64)


def votes(codes: Array, weights: Array | None, classes: int) -> Array:
    """The sums of votes (float64, n × classes) of neighbors' classes (n × k, below `classes`)."""
    n, k = codes.shape
    sums = np.zeros((n, classes))
    rows = np.arange(n)
    for i in range(k):  # in the order of the neighbors, so that sums are rounded as scikit-learn's are
        sums[rows, codes[:, i]] += 1.0 if weights is None else weights[:, i]
    return sums


def blocks(n: int, classes: int) -> Iterator[slice]:
    """The rows 0 to n − 1 in parts of which a table of rows × classes is small."""
    step = max(1, _ELEMENTS_AT_ONCE // max(1, classes))
    return (slice(first, first + step) for first in range(0, n, step))


def winners(codes: Array, weights: Array | None, classes: int) -> Array:
    """The class with most votes, of equal ones the smallest (int64, n); arguments as `votes`."""
    winner = np.empty(len(codes), np.intp)
    for some in blocks(len(codes), classes):
        winner[some] = votes(codes[some], None if weights is None else weights[some], classes).argmax(axis=1)
    return winner
