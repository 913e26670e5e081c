"""Labels of a data frame that their neighbors contradict:  audit_frame.py [ROWS]"""

import sys

import pandas
from mnist_knn import audit, load_mnist

n = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
mnist = load_mnist()
frame = pandas.DataFrame(mnist.X_train[:n], index=[f"image {i}" for i in range(n)]).add_prefix("pixel ")
frame["label"] = [f"digit {label}" for label in mnist.y_train[:n]]
frame.loc["image 9", "label"] = "digit 7"  # which is a 4

suspicious = audit(frame.drop(columns="label"), frame["label"], n_neighbors=5)
table = suspicious.to_frame(frame.index)
print(table.head(10))
assert "image 9" in table.index
