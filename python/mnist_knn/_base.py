"""What the estimators inherit: scikit-learn's base classes, or those of _plain.py without scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._plain import BaseEstimator, ClassifierMixin, DataConversionWarning, NotFittedError, TransformerMixin
else:
    try:
        from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
        from sklearn.exceptions import DataConversionWarning, NotFittedError
    except ImportError:
        from ._plain import BaseEstimator, ClassifierMixin, DataConversionWarning, NotFittedError, TransformerMixin

__all__ = ["BaseEstimator", "ClassifierMixin", "DataConversionWarning", "NotFittedError", "TransformerMixin"]
