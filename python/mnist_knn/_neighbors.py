"""scikit-learn's estimators of neighbors over a resident index: exact, the same on every device.

Neighbors are ordered by (distance, index), both ascending. Vectors of uint8, int8, float32 and float64 are searched as they
are; of other types as float64, or float32 where that has every value. Where all values are integers from 0 to 255 and the
metric is Euclidean or Manhattan, or the method "gradients" or "accurate", they are searched as bytes: the distances are the
same, and the search is many times faster.
"""

from __future__ import annotations

import sys
from typing import Any, Callable, NoReturn

import numpy as np

from . import _arrays, _device, _voting
from ._arrays import BYTE
from ._base import BaseEstimator, ClassifierMixin, NotFittedError, TransformerMixin
from ._checks import integer, kind, number, path_or_name, shown, word
from ._library import TYPES, Array, DType, Index, TrainingSet, has

#: The library's names of scikit-learn's metrics.
_METRICS = {
    "euclidean": "l2", "l2": "l2", "sqeuclidean": "l2", "manhattan": "l1", "cityblock": "l1", "l1": "l1",
    "cosine": "cosine", "correlation": "pearson", "pearson": "pearson", "lp": "lp", "minkowski": "lp",
}  # fmt: skip
#: scikit-learn's names of the library's metrics.
_EFFECTIVE = {b"l2": "euclidean", b"l1": "manhattan", b"lp": "minkowski", b"cosine": "cosine", b"pearson": "correlation"}
_MODES = ("connectivity", "distance")
OF_IMAGES = ("gradients", "accurate")


def library_metric(metric: str | None, p: float | None, method: str) -> tuple[str | None, float]:
    """The library's name of a metric (None: the method's) and exponent. Raises ValueError."""
    if metric is not None:
        word(metric, "metric", _METRICS, " or None")
    p = None if p is None else number(p, "p")
    if metric is None and (p is None or p == 2):
        return ("l2" if method in ("raw", "gradients") else None), 0.0
    if metric is None or metric in ("minkowski", "lp"):
        if p is None or not 0.1 <= p <= 15:
            raise ValueError(f"p = {p} is out of range; expected 0.1 to 15")
        return {1.0: ("l1", 0.0), 2.0: ("l2", 0.0)}.get(p, ("lp", p))
    return _METRICS[metric], 0.0


class _Fitted(BaseEstimator):
    """A training set with an index for each element type that was asked for."""

    #: The index of uint8, if no names of columns are to be checked.
    _of_bytes: Index | None = None
    #: Whether distances are the roots of the library's.
    _roots = False

    def __init__(self, n_neighbors: int = 5, *, metric: str | None = None, p: float = 2, method: str = "raw",
                 device: str = "auto", engine: str | None = None) -> None:  # fmt: skip
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.p = p
        self.method = method
        self.device = device
        self.engine = engine

    __init__.__qualname__ = "NearestNeighbors.__init__"  # the class that inherits it, which its TypeErrors name

    def _fit(self, X: Any, labels: Array | None = None, known: dict[str, Any] | None = None, **settings: Any) -> Any:
        """`known`: attributes that belong to this fit."""
        name = type(self).__name__
        integer(self.n_neighbors, "n_neighbors")
        path_or_name(self.method, "method")
        metric, exponent = library_metric(self.metric, self.p, self.method)
        names = _arrays.column_names(X)
        array = _arrays.vectors(X, name)
        if labels is not None and len(labels) != len(array):
            raise ValueError(f"Found input variables with inconsistent numbers of samples: [{len(array)}, {len(labels)}]")
        of_images = self.method in OF_IMAGES
        narrows = of_images or metric in ("l2", "l1")
        narrowed = _arrays.narrowed(array) if array.dtype != BYTE and narrows else None
        searched = array.dtype if narrowed is None else BYTE
        if of_images and (searched != BYTE or array.shape[1] != 784):
            self._refuse(array, self.method)
        self._of_bytes = None
        vars(self).pop("_indexes", None)  # not fitted, until all that follows is done
        vars(self).update(known or {})
        self.n_features_in_ = array.shape[1]
        self.n_samples_fit_ = len(array)
        if names is not None:
            self.feature_names_in_ = names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._fit_X, self._labels = array, labels
        self._settings: dict[str, Any] = {"method": self.method, "metric": metric, "p": exponent, "device": self.device,
                          "engine": self.engine, **settings}  # fmt: skip
        self._type, self._narrows = searched, narrows or metric is None
        self._indexes: dict[DType, Index] = {}
        try:
            info = self._index(self._type, narrowed).info
            if metric is None and searched == BYTE and info.metric not in (b"l2", b"l1"):
                self._narrows = not self._takes_floats()  # which have other distances than bytes
        except BaseException:
            del self._indexes
            raise
        self.effective_metric_ = self.metric if self.metric not in (None, "minkowski", "lp") else _EFFECTIVE[info.metric]
        self._roots = info.metric == b"l2" and not info.candidates and self.metric != "sqeuclidean"
        return self

    def _refuse(self, array: Array, method: Any) -> NoReturn:
        """Vectors, by a method that takes images alone. Raises ValueError."""
        raise ValueError(f"method {method!r}: X has {array.shape[1]} columns of {array.dtype}; expected 784 of uint8, the "
                         "pixels of images of 28 x 28")  # fmt: skip

    def _takes_floats(self) -> bool:
        """Whether the method of a file compares vectors of floats."""
        try:
            labels = None if self._labels is None else self._labels[:1]
            Index(TrainingSet(_arrays.as_type(self._fit_X[:1], np.dtype(np.float32)), labels), **self._settings)
        except ValueError:
            return False
        return True

    def _index(self, kind: DType, array: Array | None = None) -> Index:
        """The index of this element type: opened now where there is none, or where it is of the process before a fork."""
        index = self._indexes.get(kind)
        if index is None or not index.is_ours:
            if index is not None and has("cuda") and index.device != "cpu":
                raise RuntimeError(f"device {self.device!r}: the process forked after it used the GPU; expected that each "
                                   "process fits its own, or device 'cpu'")  # fmt: skip
            array = _arrays.as_type(self._fit_X, kind) if array is None else array
            shape = (28, 28) if self._settings["method"] != "raw" and array.shape[1] == 784 else (0, 0)
            index = Index(TrainingSet(array, self._labels, shape), **self._settings)
            self._indexes[kind] = index
            if kind == BYTE and not hasattr(self, "feature_names_in_"):
                self._of_bytes = index
        return index

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_indexes")

    def _require_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate "
                                 "arguments before using this estimator.")  # fmt: skip

    def _asked(self, X: Any) -> tuple[Index, Array | None]:
        """The queries (n × dim) as one of the indexes takes them, and that index. X None: the training set's rows."""
        self._require_fitted()
        if X is None:
            return self._index(self._type), None
        array = _arrays.vectors(X, type(self).__name__)
        _arrays.check_columns(self, X, array.shape[1])
        if array.dtype == self._type or np.can_cast(array.dtype, self._type, "safe"):
            return self._index(self._type), _arrays.as_type(array, self._type)
        if self._type == BYTE and self._narrows and (narrowed := _arrays.narrowed(array)) is not None:
            return self._index(BYTE), narrowed
        if (method := self._settings["method"]) in OF_IMAGES:  # of the fit, which self.method may no longer be
            self._refuse(array, method)
        both = np.result_type(array, self._fit_X)
        wide = both if both.kind == "f" else np.dtype(np.float32)  # which has every value of uint8 and int8
        return self._index(wide), _arrays.as_type(array, wide)

    def _k(self, n_neighbors: int | None, leave_out: bool) -> int:
        """The number of neighbors that is asked for. Raises TypeError, ValueError."""
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        if not isinstance(k, (int, np.integer)) or isinstance(k, bool):
            raise TypeError(f"n_neighbors does not take {type(k)} value, enter integer value")
        if k < 1:
            raise ValueError(f"Expected n_neighbors > 0. Got {k}")
        most = self.n_samples_fit_ - (1 if leave_out else 0)
        if k > most:
            raise ValueError(f"Expected n_neighbors <= n_samples, but n_samples = {most}, n_neighbors = {k}")
        return int(k)

    def _search_into(self, X: Any, n_neighbors: int | None, out: tuple[Any, Any]) -> None:
        """X and `out` on a device, as `kneighbors` has them."""
        self._require_fitted()
        queries, k = _device.DeviceArray(X, "X"), self._k(n_neighbors, False)
        if len(queries.shape) != 2 or queries.shape[1] != self.n_features_in_:
            raise ValueError(f"X has shape {queries.shape}; expected rows of {self.n_features_in_} features")
        if queries.dtype not in TYPES or queries.dtype != self._type and not np.can_cast(self._fit_X.dtype, queries.dtype, "safe"):
            raise TypeError(f"X: is {queries.dtype} on a device; expected {self._type}, as the training set is searched")
        _device.search_into(self._index(queries.dtype), queries, k, out)
        if out[0] is not None and self._roots:
            numbers = sys.modules[type(out[0]).__module__.partition(".")[0]]  # torch or cupy
            numbers.sqrt(out[0], out=out[0])

    def _search(self, X: Any, n_neighbors: int | None, distances: bool, squared: bool = False) -> tuple[Array, Array | None]:
        """`squared`: the squares of Euclidean distances, where those are the metric's."""
        roots = self._roots and not squared
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        index = self._of_bytes
        # One query of bytes, as one before it: nothing to check, nor to convert.
        if index is not None and type(X) is np.ndarray and X.dtype is BYTE and X.shape == index.lone and type(k) is int:
            if (found := index.search_one(X, k, distances, roots)) is not None:
                return found
        self._require_fitted()
        k = self._k(n_neighbors, X is None)
        index, array = self._asked(X)
        return index.search(array, k, distances, roots)

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True,
                   out: tuple[Any, Any] | None = None) -> Any:  # fmt: skip
        """The nearest training rows of each query, by (distance, index); Euclidean distances by their squares.

        X: n × dim, or None: every training row, each left out of its own neighbors. Returns distances (float64, n × k;
        Euclidean unless the metric is another; of re-ranked methods those of their descriptors) and indices (int64, n × k), or the indices alone. Raises ValueError, TypeError.

        out: (distances, indices), arrays of CuPy or PyTorch on the GPU of the index, n × k in C order, of float64 and of int32 or
        uint32; either may be None. X is on that GPU too, of the type that is searched. They get the answers and are returned; the
        search is queued on the current stream of X's library, and the call does not wait for it (docs/python.md says when it does).
        """
        if out is not None:
            if not isinstance(out, tuple) or len(out) != 2:
                raise TypeError(f"out {shown(out)}: is {kind(out)}; expected a tuple of two arrays, distances and indices")
            self._search_into(X, n_neighbors, out)
            return out
        indices, lengths = self._search(X, n_neighbors, return_distance)
        return (lengths, indices) if return_distance else indices

    def kneighbors_graph(self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity") -> Any:
        """The neighbors as a sparse matrix (CSR, n × training rows) of ones, or of distances with mode="distance"."""
        word(mode, "mode", _MODES)
        from scipy.sparse import csr_matrix

        indices, lengths = self._search(X, n_neighbors, mode == "distance")
        n, k = indices.shape
        values = np.ones(n * k) if lengths is None else lengths.ravel()
        return csr_matrix((values, indices.ravel(), np.arange(0, n * k + 1, k)), shape=(n, self.n_samples_fit_))

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "_indexes" in state:
            state["_indexes"], state["_of_bytes"] = {}, None  # opened again by the first search
        return state


class NearestNeighbors(_Fitted):
    """Exact nearest neighbors, as scikit-learn's class of this name.

    n_neighbors: 1 to 16,384, with the engine "tensor" 1,024. metric: None (of a file that of the method) or "minkowski" with the exponent p (0.1 to 15; 2: Euclidean, 1: Manhattan),
    "euclidean", "sqeuclidean", "manhattan", "cosine", "correlation". method: "raw"; "gradients" and "accurate", for images of 28 × 28
    as rows of 784 of uint8; or a file of `mnist-knn tune --save`. device: "auto", "cpu", "gpu", "gpu:N", "gpu:all". engine: None,
    "classic", "tensor", "cpu", "auto".

    >>> import numpy as np
    >>> model = NearestNeighbors(n_neighbors=2).fit(np.array([[0, 0], [3, 4], [0, 1]], np.uint8))
    >>> distances, indices = model.kneighbors([[0, 0]])
    >>> distances.tolist(), indices.tolist()
    ([[0.0, 1.0]], [[0, 2]])
    >>> model.kneighbors(n_neighbors=1, return_distance=False).ravel().tolist()  # each row by the others
    [2, 2, 0]
    """

    def fit(self, X: Any, y: Any = None) -> NearestNeighbors:
        """Opens X (n × dim). A C-contiguous array of a type of the library is not copied, and must not change then."""
        self._fit(X)
        return self


class KNeighborsTransformer(TransformerMixin, _Fitted):
    """X to its graph of neighbors: CSR for what takes metric="precomputed" (t-SNE, UMAP, DBSCAN, Isomap).

    mode: "distance", where each row has n_neighbors and itself, or "connectivity". Other parameters: NearestNeighbors.

    >>> import numpy as np
    >>> KNeighborsTransformer(n_neighbors=1).fit_transform(np.array([[0], [3], [5]], np.uint8)).toarray().tolist()
    [[0.0, 3.0, 0.0], [0.0, 0.0, 2.0], [0.0, 2.0, 0.0]]
    """

    def __init__(self, n_neighbors: int = 5, *, mode: str = "distance", metric: str | None = None, p: float = 2,
                 method: str = "raw", device: str = "auto", engine: str | None = None) -> None:  # fmt: skip
        super().__init__(n_neighbors, metric=metric, p=p, method=method, device=device, engine=engine)
        self.mode = mode

    def fit(self, X: Any, y: Any = None) -> KNeighborsTransformer:
        """Opens X (n × dim). It is copied as by NearestNeighbors.fit."""
        word(self.mode, "mode", _MODES)
        self._fit(X)
        return self

    def transform(self, X: Any) -> Any:
        """The graph of X (n × dim) in the training rows: CSR, n × training rows."""
        return self.kneighbors_graph(X, integer(self.n_neighbors, "n_neighbors") + (1 if self.mode == "distance" else 0), self.mode)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns of the graph: "kneighborstransformer0" and so on."""
        self._asked(None)
        name = type(self).__name__.lower()
        return np.asarray([f"{name}{i}" for i in range(self.n_samples_fit_)], dtype=object)


class KNeighborsClassifier(ClassifierMixin, _Fitted):
    """Classification by the votes of the exact nearest neighbors, as scikit-learn's class of this name.

    weights: "uniform", "distance" (1/d, as scikit-learn means it), "inverse_square" (1/d², what the program calls distance
    unless it re-ranks by l2, where it is 1/d), or a function from distances (n × k) to weights. Equal votes go to the smallest class. Labels are of any type that can be
    sorted. Other parameters: NearestNeighbors. A method with votes of its own, as "accurate" has, predicts by them if weights
    is "uniform"; n_neighbors is then its k.

    >>> import numpy as np
    >>> model = KNeighborsClassifier(n_neighbors=3).fit(np.array([[0], [1], [2], [9]], np.uint8), ["a", "a", "b", "b"])
    >>> model.predict([[1], [8]]).tolist(), model.predict_proba([[1]]).round(3).tolist()
    (['a', 'b'], [[0.667, 0.333]])
    """

    classes_: Array
    _codes: Array  #: the number of each label's class

    def __init__(self, n_neighbors: int = 5, *, weights: str | Callable[[Array], Array] | None = "uniform",
                 metric: str | None = None, p: float = 2, method: str = "raw", device: str = "auto",
                 engine: str | None = None) -> None:  # fmt: skip
        super().__init__(n_neighbors, metric=metric, p=p, method=method, device=device, engine=engine)
        self.weights = weights

    def fit(self, X: Any, y: Any) -> KNeighborsClassifier:
        """Opens X (n × dim) with the labels y (n). X is copied as by NearestNeighbors.fit."""
        _voting.check_weights(self.weights)
        array = _arrays.to_array(X)
        if array.ndim == 0:
            _arrays.vectors(X, type(self).__name__)  # raises
        classes, codes = _arrays.class_labels(y, len(array), type(self).__name__)
        known = {"classes_": classes, "_codes": codes}
        if self.method in ("raw", "gradients"):
            self._fit(X, known=known)
        else:
            if len(classes) > 256:
                raise ValueError(f"method {shown(self.method)}: there are {len(classes)} classes; expected at most 256")
            self._fit(X, codes.astype(np.uint8), known, k=integer(self.n_neighbors, "n_neighbors"))
        return self

    def predict(self, X: Any) -> Array:
        """The class of each row of X (n × dim), or of each training row by the others if X is None: an array of length n."""
        if getattr(self, "_labels", None) is not None and self.weights in ("uniform", None):
            self._require_fitted()
            if (k := self._k(None, X is None)) != self._settings["k"]:  # set after fit
                self._settings, self._indexes = {**self._settings, "k": k}, {}
            index, array = self._asked(X)
            return np.asarray(self.classes_[index.classify(array)["labels"]])
        winners = _voting.winners(*self._votes(X))  # says if there was no fit
        return np.asarray(self.classes_[winners])

    def predict_proba(self, X: Any) -> Array:
        """The share of the votes of each class (float64, n × classes), for X as in predict; in the order of classes_. Of a method
        with votes of its own they are those of a majority vote of its neighbors, which predict need not follow."""
        sums = _voting.votes(*self._votes(X))
        whole = sums.sum(axis=1, keepdims=True)
        return np.asarray(sums / np.where(whole == 0, 1, whole))

    def _votes(self, X: Any) -> tuple[Array, Array | None, int]:
        """The arguments of _voting.votes."""
        indices, lengths = self._search(X, None, self.weights not in ("uniform", None), squared=True)
        return self._codes[indices], _voting.weigh(lengths, self.weights, self._roots), len(self.classes_)
