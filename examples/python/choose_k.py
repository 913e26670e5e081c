"""k, weights and metric by leave-one-out, with a test of whether the best is better by more than chance:  choose_k.py [IMAGES]"""

import sys

from mnist_knn import KNeighborsClassifier, load_mnist, tune

n = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
mnist = load_mnist()
X, y = mnist.X_train[:n], mnist.y_train[:n]
found = tune(X, y, n_neighbors=range(1, 16), weights=["uniform", "distance"], metrics=["euclidean", "manhattan"])
for one in found[:5]:
    print(f"{one.errors} errors, {one.error_low:.2%} to {one.error_high:.2%}: {one.parameters}")
print(f"{sum(one.as_good_as_best for one in found)} of {len(found)} are as good as the best")
model = KNeighborsClassifier(**found[0].parameters).fit(X, y)
print(f"test: {model.score(mnist.X_test, mnist.y_test):.4f}")
