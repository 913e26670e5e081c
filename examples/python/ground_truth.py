"""Exact neighbors as the ground truth of a benchmark of approximate search, and the recall of such a search:  ground_truth.py [ROWS]
The file is that of big-ann-benchmarks: counts of queries and neighbors (uint32), all indices (uint32), all squared distances (float32)."""

import sys

import numpy as np
from mnist_knn import NearestNeighbors, load_mnist

n = int(sys.argv[1]) if len(sys.argv) > 1 else 60000
mnist = load_mnist()
X, queries = mnist.X_train[:n], mnist.X_test[:1000]
distances, indices = NearestNeighbors(n_neighbors=100, metric="sqeuclidean").fit(X).kneighbors(queries)
with open("truth.ibin", "wb") as file:
    for array in (np.array(indices.shape, np.uint32), indices.astype(np.uint32), distances.astype(np.float32)):
        file.write(array.tobytes())
print("wrote truth.ibin")

some = X[: n // 2]  # a search that misses half of the rows
_, approximate = NearestNeighbors(n_neighbors=10).fit(some).kneighbors(queries)
recall = np.mean([len(np.intersect1d(a, b)) / 10 for a, b in zip(approximate, indices[:, :10])])
print(f"recall of the 10 nearest: {recall:.3f}")
