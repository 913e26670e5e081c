"""The exact graph of digits, placed in the plane by t-SNE:  graph_plot.py [IMAGES]. UMAP takes the same graph as precomputed_knn."""

import sys

from matplotlib import pyplot
from mnist_knn import KNeighborsTransformer, load_mnist
from sklearn.manifold import TSNE

n = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
mnist = load_mnist()
graph = KNeighborsTransformer(n_neighbors=92).fit_transform(mnist.X_test[:n])  # what t-SNE reads: 3 × perplexity + 2
places = TSNE(metric="precomputed", perplexity=30, init="random", random_state=1).fit_transform(graph)
figure, axes = pyplot.subplots(figsize=(8, 8))
points = axes.scatter(*places.T, c=mnist.y_test[:n], cmap="tab10", s=8)
axes.legend(*points.legend_elements(), title="digit")
axes.set_axis_off()
figure.savefig("digits.png")
print("wrote digits.png")
