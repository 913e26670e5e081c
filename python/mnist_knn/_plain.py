"""What scikit-learn's base classes do for the estimators, where scikit-learn is not installed."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np


class BaseEstimator:
    """Parameters are those of __init__, which are attributes of the same names."""

    @classmethod
    def _names(cls) -> list[str]:
        return sorted(name for name in inspect.signature(cls).parameters)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> Any:
        """Sets parameters; raises ValueError if there is none of a name."""
        for name, value in params.items():
            if name not in self._names():
                raise ValueError(f"{name}: is no parameter of {type(self).__name__}; expected {', '.join(self._names())}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        usual = inspect.signature(type(self)).parameters
        given = [f"{name}={value!r}" for name, value in self.get_params().items() if value is not usual[name].default]
        return f"{type(self).__name__}({', '.join(given)})"

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__.copy()


class ClassifierMixin:
    """The mean accuracy as the score."""

    _estimator_type = "classifier"

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of labels y (n) that `predict` of X (n × dim) finds."""
        predicted, labels = np.asarray(self.predict(X)), np.asarray(y)  # type: ignore[attr-defined]
        if labels.shape == (len(predicted), 1):
            labels = labels.ravel()
        if labels.shape != predicted.shape:
            raise ValueError(f"y: has shape {labels.shape}; expected {predicted.shape}, a label for each row")
        return float(np.average(predicted == labels, weights=sample_weight))


class TransformerMixin:
    """`fit`, then `transform`."""

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """The graph of X (n × dim) in itself."""
        return self.fit(X, y).transform(X)  # type: ignore[attr-defined]


class NotFittedError(ValueError, AttributeError):
    """An estimator is used before `fit`."""


class DataConversionWarning(UserWarning):
    """An array had another shape than expected."""
