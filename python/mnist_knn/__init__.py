"""Exact k-nearest-neighbor search and classification over libmnistknn: scikit-learn's estimators, and the commands of
mnist-knn as functions. docs/python.md has examples."""

from ._commands import Audit, Configuration, Graph, audit, condense, graph, tune
from ._data import Mnist, load_mnist, read_idx
from ._digits import Digit, DigitClassifier, DigitList
from ._library import has, library_version
from ._neighbors import KNeighborsClassifier, KNeighborsTransformer, NearestNeighbors

__version__ = "0.1.0"
__all__ = [
    "Audit", "Configuration", "Digit", "DigitClassifier", "DigitList", "Graph", "KNeighborsClassifier", "KNeighborsTransformer", "Mnist", "NearestNeighbors", "audit",
    "condense", "graph", "has", "library_version", "load_mnist", "read_idx", "tune",
]  # fmt: skip
