"""Arrays of any kind as NumPy arrays that the library takes, without copies where there is a way; checks as scikit-learn has
them, also without it."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from numbers import Number
from typing import Any, Iterator

import numpy as np

from ._base import DataConversionWarning
from ._checks import kind as type_name, shown
from ._device import DeviceArray, is_on_device
from ._library import TYPES, Array, DType

BYTE = np.dtype(np.uint8)


def to_array(data: Any, name: str = "X") -> Array:
    """Any array-like, buffer, or array with __dlpack__ in host memory as a NumPy array; arrays on a CUDA device are copied.
    Raises TypeError for sparse matrices and for other devices."""
    if isinstance(data, np.ndarray):
        if isinstance(data, np.ma.MaskedArray) and np.ma.getmaskarray(data).any():  # type: ignore[no-untyped-call]
            raise ValueError(f"{name}: has masked values; expected an array without")
        return np.asarray(data)  # np.matrix has other axes
    if hasattr(data, "toarray") and hasattr(data, "nnz"):
        raise TypeError(f"{name}: is a sparse matrix; expected a dense array, such as {name}.toarray()")
    if is_on_device(data):
        return DeviceArray(data, name).to_host()
    if hasattr(data, "__dlpack_device__") and not hasattr(data, "__array__"):
        return np.from_dlpack(data)
    with named(name):
        return np.asarray(data)


@contextmanager
def named(name: str) -> Iterator[None]:
    """Errors of NumPy say of what array."""
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name}: is no array of numbers: {error}") from error


def element_type(array: Array, name: str) -> DType:
    """The type of the library that holds every value of the array's type: uint8, int8, float32 or float64; float64 for objects."""
    dtype: DType = array.dtype
    if dtype in TYPES:
        return dtype
    if dtype.kind == "c":
        raise ValueError("Complex data not supported; expected real numbers")
    if dtype.kind == "O" and any(isinstance(one, (str, bytes)) for one in array.flat):
        raise TypeError(f"{name}: is an array of objects with texts; expected numbers")
    if dtype.kind not in "biufO":
        raise TypeError(f"{name}: is an array of {dtype}; expected numbers")
    if dtype.kind == "b":
        return BYTE
    return np.dtype("float32" if dtype.kind in "iuf" and dtype.itemsize <= 2 else "float64")


def as_type(array: Array, dtype: DType) -> Array:
    """Of this type, with elements of a row one behind the other; itself where it is so already."""
    if array.dtype == dtype and array.flags.c_contiguous:
        return array
    return np.ascontiguousarray(array, dtype=dtype)


def narrowed(array: Array) -> Array | None:
    """The same values as uint8, or None if there are others than the integers 0 to 255."""
    for part in (array[:1], array):
        with np.errstate(invalid="ignore"):
            small = part.astype(np.uint8)
        if not np.array_equal(small, part):
            return None
    return np.ascontiguousarray(small)


def vectors(data: Any, estimator: str, name: str = "X") -> Array:
    """Vectors (n × dim, n and dim at least 1, finite) of a type of the library, in C order. Raises ValueError, TypeError."""
    array = to_array(data, name)
    kind = element_type(array, name)
    if array.ndim != 2:
        if array.ndim > 2:
            raise ValueError(f"Found array with dim {array.ndim}. {estimator} expected <= 2.")
        if array.ndim == 0:
            raise ValueError(f"{name} {shown(data)}: is {type_name(data)}; Expected 2D array, got scalar array instead")
        raise ValueError(f"Expected 2D array, got {array.ndim}D array instead. Reshape your data either using "
                         f"{name}.reshape(-1, 1) if it has a single feature or {name}.reshape(1, -1) if it is a single "
                         "sample.")  # fmt: skip
    for size, what in zip(array.shape, ("sample", "feature")):
        if size == 0:
            raise ValueError(f"Found array with 0 {what}(s) (shape={array.shape}) while a minimum of 1 is required by "
                             f"{estimator}.")  # fmt: skip
    with named(name), np.errstate(over="ignore"):  # infinity is refused then
        array = as_type(array, kind)
    require_finite(array, name, estimator)
    return array


def require_finite(array: Array, name: str, estimator: str) -> None:
    """Raises ValueError if there is NaN or infinity."""
    if array.dtype.kind != "f":
        return
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(array.sum()) or np.isfinite(array).all():
            return
    at = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
    what = "NaN" if np.isnan(array).any() else f"infinity or a value too large for {array.dtype!r}"
    raise ValueError(f"Input {name} contains {what}; {estimator} expects finite values; the first other one is at {at}.")


def class_labels(y: Any, count: int, estimator: str) -> tuple[Array, Array]:
    """The classes, ascending, and of each label the number of its class (intp). Raises ValueError, TypeError."""
    if y is None:
        raise ValueError(f"{estimator} requires y to be passed, but the target y is None")
    array = to_array(y, "y")
    if array.ndim == 2 and array.shape[1] == 1:
        warnings.warn("A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
                      "(n_samples,), for example using ravel().", DataConversionWarning, stacklevel=3)  # fmt: skip
        array = array.ravel()
    if array.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {array.shape} instead.")
    if len(array) != count:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{count}, {len(array)}]")
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported; expected real numbers")
    require_finite(array, "y", estimator)
    try:
        classes, codes = np.unique(array, return_inverse=True)
        if not (classes == classes).all():  # NaN among objects, NaT
            raise TypeError("NaN is neither before nor behind another one")
    except TypeError as error:
        raise TypeError(f"y: has labels that cannot be sorted: {error}; expected labels of one type") from error
    if classes.dtype.kind in "fO" and any(isinstance(one, Number) and one % 1 for one in classes):  # type: ignore[operator]
        raise ValueError("Unknown label type: continuous; expected classes, not numbers with fractions")
    return classes, codes.reshape(-1)


def column_names(data: Any) -> Array | None:
    """The names of a data frame's columns, if all are texts."""
    columns = getattr(data, "columns", None)
    if columns is None:
        return None
    names = np.asarray(columns, dtype=object)
    texts = sum(isinstance(name, str) for name in names)
    if 0 < texts < len(names):
        raise TypeError("Feature names are only supported if all input features have string names, but your input has "
                        "others too.")  # fmt: skip
    return names if texts else None


def check_columns(estimator: Any, data: Any, dim: int) -> None:
    """Raises ValueError if queries have other columns than what the estimator was fitted to."""
    fitted, name = getattr(estimator, "feature_names_in_", None), type(estimator).__name__
    names = column_names(data)
    if fitted is None and names is not None:
        warnings.warn(f"X has feature names, but {name} was fitted without feature names", stacklevel=4)
    elif fitted is not None and names is None:
        warnings.warn(f"X does not have valid feature names, but {name} was fitted with feature names", stacklevel=4)
    elif fitted is not None and names is not None and list(fitted) != list(names):
        unseen, missing = sorted(set(names) - set(fitted)), sorted(set(fitted) - set(names))
        text = "The feature names should match those that were passed during fit.\n"
        for head, some in (("unseen at fit time", unseen), ("seen at fit time, yet now missing", missing)):
            if some:
                text += f"Feature names {head}:\n" + "".join(f"- {one}\n" for one in some[:5])
                text += "- ...\n" if len(some) > 5 else ""
        if not unseen and not missing:
            text += "Feature names must be in the same order as they were in fit.\n"
        raise ValueError(text)
    if dim != estimator.n_features_in_:
        raise ValueError(f"X has {dim} features, but {name} is expecting {estimator.n_features_in_} features as input.")
