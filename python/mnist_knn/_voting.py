"""Votes of neighbors."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ._library import Array

_NAMES = ("uniform", "distance", "inverse_square")


def check_weights(weights: Any) -> None:
    """Raises ValueError if they are neither a name, nor None, nor a function."""
    if weights is not None and not callable(weights) and weights not in _NAMES:
        raise ValueError(f"weights {weights!r}: are unknown; expected {', '.join(map(repr, _NAMES))} or a function")


def weigh(distances: Array | None, weights: str | Callable[[Array], Array] | None) -> Array | None:
    """The weight of each vote (n × k), or None if all are equal. Where a neighbor is at distance 0, only such ones vote."""
    check_weights(weights)
    if weights in (None, "uniform") or distances is None:
        return None
    if callable(weights):
        return np.asarray(weights(distances), np.float64)
    with np.errstate(divide="ignore"):
        weighed = 1.0 / (distances * distances if weights == "inverse_square" else distances)
    same = np.isinf(weighed)
    rows = same.any(axis=1)
    weighed[rows] = same[rows]
    return np.asarray(weighed)


def votes(codes: Array, weights: Array | None, classes: int) -> Array:
    """The sums of votes (float64, n × classes) of neighbors' classes (n × k, below `classes`)."""
    n, k = codes.shape
    sums = np.zeros((n, classes))
    rows = np.arange(n)
    for i in range(k):  # in the order of the neighbors, so that sums are rounded as scikit-learn's are
        sums[rows, codes[:, i]] += 1.0 if weights is None else weights[:, i]
    return sums
