"""Commands as functions: the same results as the program's files; data sets; what is refused."""

import gzip
import os
import subprocess
import tempfile
import tracemalloc
import unittest
from pathlib import Path
from unittest import mock

import support
import numpy as np
from mnist_knn import KNeighborsClassifier, _neighbors, audit, condense, graph, load_mnist, read_idx, tune

RANDOM = np.random.default_rng(11)
PROGRAM = os.environ.get("MNIST_KNN_PROGRAM")


def idx(array):
    return bytes([0, 0, 8, array.ndim]) + b"".join(n.to_bytes(4, "big") for n in array.shape) + array.tobytes()


def digits(n):
    """Images of 28 × 28 in 10 overlapping classes, some labels wrong."""
    y = RANDOM.integers(0, 10, n, np.uint8)
    centers = np.random.default_rng(1).integers(0, 140, (10, 784))
    X = np.clip(centers[y] + RANDOM.normal(0, 160, (n, 784)), 0, 255).astype(np.uint8)
    y[: n // 20] = RANDOM.integers(0, 10, n // 20, np.uint8)
    return X, y


class Folder:
    """With files in MNIST's form; also as a command line of the program."""

    def __init__(self, X, y):
        self.temporary = tempfile.TemporaryDirectory()
        self.path = Path(self.temporary.name)
        for name in ("train", "t10k"):
            (self.path / f"{name}-images-idx3-ubyte").write_bytes(idx(X.reshape(len(X), 28, 28)))
            (self.path / f"{name}-labels-idx1-ubyte").write_bytes(idx(y))

    def run(self, *words):
        words = [PROGRAM, words[0], "--data", self.path, *words[1:], "-q", "--device", "cpu"]
        subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL)


@unittest.skipUnless(PROGRAM, "the program is needed: MNIST_KNN_PROGRAM is not set")
class AsTheProgram(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.X, cls.y = digits(400)
        cls.folder = Folder(cls.X, cls.y)
        cls.out = cls.folder.path
        cls.addClassCleanup(cls.folder.temporary.cleanup)

    def test_audit(self):
        for k, method in ((5, "raw"), (3, "gradients"), (4, "accurate")):
            self.folder.run("audit", "--method", method, "-k", k, "--csv", self.out / "audit.csv")
            rows = [line.split(",") for line in (self.out / "audit.csv").read_text().split()[1:]]
            ours = audit(self.X, self.y, k, method=method)
            self.assertEqual([[str(a), str(b), str(c)] for a, b, c in zip(ours.index, ours.label, ours.suggested)],
                             [row[1:4] for row in rows])  # fmt: skip
            np.testing.assert_allclose(ours.probability, [float(row[4]) for row in rows], atol=1e-6)
            self.assertGreater(len(ours), 0)

    def test_audit_of_floats(self):
        random = np.random.default_rng(29)
        y = random.integers(0, 3, 450)
        X = 0.1 * (random.integers(0, 20, (450, 3)) + 5 * y[:, None])  # many near ties
        np.save(self.out / "x.npy", X)
        np.save(self.out / "x-labels.npy", y.astype(np.uint8))
        for metric, parameters in ([], {}), (["--metric", "lp", "--p", 0.5], {"metric": "minkowski", "p": 0.5}):
            words = [PROGRAM, "audit", "--train", self.out / "x.npy", "-k", 4, *metric, "--csv", self.out / "x.csv", "-q"]
            subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL)
            rows = [line.split(",") for line in (self.out / "x.csv").read_text().split()[1:]]
            ours = audit(X, y, 4, **parameters)
            self.assertEqual([[str(a), str(b)] for a, b in zip(ours.index, ours.suggested)], [[row[1], row[3]] for row in rows])
            np.testing.assert_allclose(ours.probability, [float(row[4]) for row in rows], atol=1e-6)

    def test_graph(self):
        self.folder.run("graph", "-k", 7, "--npy", self.out / "graph")
        ours = graph(self.X, 7)
        np.testing.assert_array_equal(ours.indices, np.load(self.out / "graph-indices.npy"))
        np.testing.assert_allclose(ours.distances**2, np.load(self.out / "graph-distances.npy"), rtol=1e-12)

    def test_forms_of_the_graph(self):
        support.require("scipy")
        from scipy.io import mmread

        ours = graph(self.X, 4)
        for form in ("directed", "mutual", "symmetric"):
            self.folder.run("graph", "-k", 4, "--form", form, "--mtx", self.out / "graph.mtx")
            theirs = mmread(self.out / "graph.mtx").tocsr()
            found = ours.matrix(form)
            self.assertEqual((found.nnz, (found != 0).sum()), (theirs.nnz, (theirs != 0).sum()))
            difference = found.power(2) - theirs
            self.assertLess(abs(difference).max(), 1e-6)
        np.testing.assert_array_equal(ours.in_degrees(), np.bincount(ours.indices.ravel(), minlength=400))

    def test_tune(self):
        import json

        self.folder.run("tune", "-k", "1-12", "--transform", "raw", "--json", self.out / "tune.json")
        theirs = {}
        for one in json.loads((self.out / "tune.json").read_text())["configurations"]:
            if one["tie"] == "smallest" and one["vote"] == "majority":
                theirs[one["k"], one["weights"]] = one
        ours = tune(self.X, self.y, range(1, 13), ["uniform", "inverse_square"])
        self.assertEqual(len(ours), len(theirs))
        for one in ours:
            weights = {"uniform": "uniform", "inverse_square": "distance"}[one.parameters["weights"]]
            same = theirs[one.parameters["n_neighbors"], weights]
            self.assertEqual(one.errors, same["errors"])
            self.assertAlmostEqual(one.error_low, same["error_low"], 6)
            self.assertAlmostEqual(one.error_high, same["error_high"], 6)

    def test_condense(self):
        for rule in ("edit", "condense", "both"):
            kept = condense(self.X, [f"digit {label}" for label in self.y], 1, rule, device="cpu")
            self.folder.run("condense", "-k", 1, "--rule", rule, "--out", self.out / rule)
            self.assertEqual([str(i) for i in kept], (self.out / rule / "kept.csv").read_text().split()[1:])
        kept = condense(self.X, self.y, 1, "condense", device="cpu")
        self.assertLess(len(kept), 400)
        model = KNeighborsClassifier(1).fit(self.X[kept], self.y[kept])
        self.assertEqual(model.score(self.X, self.y), 1)  # no equal images

    def test_condense_of_floats(self):
        X = RANDOM.normal(0, 1, (200, 3))
        y = (X[:, 0] > 0).astype(int)
        for rows in (X, X.astype(np.float32), np.ma.masked_array(X), np.asmatrix(X)):
            kept = condense(rows, y, 1, "condense", device="cpu")
            self.assertLess(len(kept), 150)
            self.assertEqual(KNeighborsClassifier(1).fit(rows[kept], y[kept]).score(rows, y), 1)
        X, y = digits(30)
        self.assertEqual(condense(np.asmatrix(X), np.asmatrix(y).T, 1).tolist(), condense(X, y, 1).tolist())

    def test_condense_compares_whole_floats_as_the_estimators_do(self):
        X, y = np.random.default_rng(2).integers(0, 4, (150, 3)).astype(float), np.arange(150) % 3
        with tempfile.NamedTemporaryFile("w") as method:
            method.write("mnist-knn method 1\ntransform raw\nrerank none\ncandidates 96\nmetric pearson\nvote majority\nk 3\n"
                         "weights uniform\ntie smallest\n")  # fmt: skip
            method.flush()
            kept = condense(X, y, 3, "edit", method=method.name)
            self.assertEqual(kept.tolist(), condense(X / 4, y, 3, "edit", method=method.name).tolist())
            model = KNeighborsClassifier(3, method=method.name).fit(X[kept], y[kept])
            self.assertEqual(model.predict(None).tolist(), y[kept].tolist())


class Functions(unittest.TestCase):
    def test_tune_is_leave_one_out_of_each(self):
        X, y = digits(150)

        def by_the_last(distances):  # which it overwrites
            distances *= -1 / (distances[:, -1:] + 1)
            return distances + 1

        weights = ["uniform", "distance", "inverse_square", by_the_last, by_the_last]
        for one in tune(X, y, [1, 4, 9], weights, ["euclidean", "manhattan"]):
            model = KNeighborsClassifier(**one.parameters).fit(X, y)
            np.testing.assert_array_equal(model.predict(None) != y, one.wrong)
            self.assertEqual(one.errors, one.wrong.sum())

    def test_methods_with_votes_and_labels_of_their_own(self):
        X, y = digits(150)
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("mnist-knn method 1\ntransform pca:20\nrerank spread:7\ncandidates 20\nmetric l2\nvote majority\nk 3\n"
                       "weights uniform\ntie nearest\n")  # fmt: skip
            file.flush()
            for method in ("accurate", file.name):
                with mock.patch("mnist_knn._neighbors.TrainingSet", side_effect=_neighbors.TrainingSet) as made:
                    found = tune(X, y, [2, 4, 120], ["uniform", "distance"], method=method)
                self.assertEqual(made.call_count, 1)  # what is fitted to it serves for each k
                for one in found:
                    model = KNeighborsClassifier(**one.parameters, method=method).fit(X, y)
                    np.testing.assert_array_equal(model.predict(None) != y, one.wrong)
                self.assertEqual(len(audit(X, y, method=method).index), 150)

    def test_tune_has_the_best_first(self):
        X, y = digits(150)
        found = tune(X, y)
        self.assertEqual(len(found), 60)
        self.assertEqual([one.errors for one in found], sorted(one.errors for one in found))
        self.assertEqual((found[0].p_value, found[0].as_good_as_best), (1.0, True))
        self.assertEqual(max(one.parameters["n_neighbors"] for one in tune(X[:20], y[:20])), 19)
        with self.assertRaisesRegex(ValueError, "n_neighbors = 20"):
            tune(X[:20], y[:20], [20])

    def test_audit_finds_wrong_labels(self):
        X = RANDOM.integers(0, 50, (200, 9), np.uint8)
        y = np.array(["near"] * 100 + ["far"] * 100)
        X[100:] += 180
        y[[3, 150]] = ["far", "near"]
        found = audit(X, y)
        self.assertEqual(sorted(found.index[:2]), [3, 150])
        self.assertEqual(len(found), 2)
        self.assertTrue((found.probability[:2] > 0.9).all(), found.probability[:3])
        with self.assertRaisesRegex(ValueError, "one class"):
            audit(X, np.zeros(200))

    def test_many_classes_take_no_table_of_all_rows(self):
        X, y = RANDOM.integers(0, 256, (3000, 2), np.uint8), RANDOM.integers(0, 2000, 3000)
        model = KNeighborsClassifier(3).fit(X, y)
        of_all = model.classes_[model.predict_proba(X).argmax(axis=1)]
        tracemalloc.start()
        np.testing.assert_array_equal(model.predict(X), of_all)
        found, best = audit(X, y, 3), tune(X, y, [3], ["uniform"])[0]
        self.assertLess(tracemalloc.get_traced_memory()[1], 60_000_000)
        tracemalloc.stop()
        np.testing.assert_array_equal(best.wrong, model.predict(None) != y)
        with mock.patch("mnist_knn._voting._ELEMENTS_AT_ONCE", 1 << 30):
            whole = audit(X, y, 3)
        for name in ("index", "label", "suggested", "evidence"):
            np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))

    def test_audit_of_a_frame(self):
        support.require("pandas")
        import pandas

        frame = pandas.DataFrame({"a": [1, 2, 3, 4, 200, 201, 202, 203], "b": 0}, index=list("stuvwxyz"))
        found = audit(frame, list("lllhhhhh"), 2).to_frame(frame.index)
        self.assertEqual((found.index.tolist(), found.suggested.tolist()), (["v"], ["l"]))

    def test_condense_without_the_program(self):
        before, path = os.environ.pop("MNIST_KNN_PROGRAM", None), os.environ["PATH"]
        os.environ["PATH"] = ""
        try:
            with self.assertRaisesRegex(FileNotFoundError, "mnist-knn: not found; expected"):
                condense([[0], [1]], [0, 1])
            os.environ["MNIST_KNN_PROGRAM"] = "/bin/false"
            with self.assertRaisesRegex(ValueError, "^/bin/false: ended with status 1 and no message"):
                condense([[0], [1]], [0, 1])
        finally:
            os.environ.pop("MNIST_KNN_PROGRAM", None)
            os.environ["PATH"] = path
            if before:
                os.environ["MNIST_KNN_PROGRAM"] = before


class Errors(unittest.TestCase):
    def test_name_what_was_passed(self):
        X, y = RANDOM.integers(0, 256, (20, 3), np.uint8), np.arange(20) % 3
        cases = [
            (TypeError, "^metric .l1.: is no parameter of tune; expected metrics, a list$", lambda: tune(X, y, metric="l1")),
            (TypeError, "^n_neighbors 5: is int; expected several numbers$", lambda: tune(X, y, 5)),
            (TypeError, "^NearestNeighbors.__init__.* unexpected keyword argument 'foo'", lambda: tune(X, y, foo=3)),
            (TypeError, "^n_neighbors '5': is str", lambda: tune(X, y, "5")),
            (TypeError, "^n_neighbors 1.5: is float; expected an int$", lambda: tune(X, y, [1.5])),
            (ValueError, r"^n_neighbors \[\]: is empty", lambda: tune(X, y, [])),
            (TypeError, "^weights None", lambda: tune(X, y, [1], None)),
            (ValueError, "^weights 'heavy': is unknown", lambda: tune(X, y, [1], ["heavy"])),
            (ValueError, r"^metrics \(\): is empty", lambda: tune(X, y, [1], metrics=())),
            (ValueError, "^form 'x': is unknown", lambda: graph(X).matrix("x")),
            (ValueError, r"^names: have shape \(1,\)", lambda: audit(X, y).to_frame(["a"])),
            (TypeError, "^n_neighbors 'a': is str", lambda: condense(X, y, "a")),
            (ValueError, "^folder '': is empty", lambda: load_mnist("")),
            (ValueError, "^rule '--help': is unknown", lambda: condense(X, y, rule="--help")),
        ]
        mean = tempfile.NamedTemporaryFile("w")
        self.addCleanup(mean.close)
        mean.write("mnist-knn method 1\ntransform raw\nrerank none\ncandidates 96\nmetric l2\nvote class-mean\nk 5\nweights uniform\n"
                   "tie smallest\n")  # fmt: skip
        mean.flush()
        if os.environ.get("MNIST_KNN_PROGRAM"):
            cases += [(ValueError, "^method --help: unknown name", lambda: condense(X, y, method="--help")),
                      (ValueError, "^method no-such: unknown name", lambda: condense(X, y, method="no-such")),
                      (OSError, "^no/such: no such file", lambda: condense(X, y, method="no/such")),
                      (OSError, f"^{__file__}: is no method", lambda: condense(X, y, method=__file__)),
                      (TypeError, "^method None: is NoneType", lambda: condense(X, y, method=None)),
                      (ValueError, "^device 'cpu.*NUL", lambda: condense(X, y, device="cpu\0x")),
                      (ValueError, "^X: 20 rows.*images for transform gradients$", lambda: condense(X, y, method="gradients")),
                      (ValueError, "^editing: leaves .* at n_neighbors 5; ", lambda: condense(X * 0, y)),
                      (ValueError, "^X: has one row", lambda: condense(X[:1], y[:1], 1)),
                      (ValueError, "^method: vote class-mean: needs rows of uint8.* expected vote majority$", lambda: condense(X / 2, y, 1, method=mean.name)),
                      (ValueError, "^n_neighbors = 100 is out of range", lambda: condense(X, y, 100)),
                      (ValueError, "^device gpu:99((?!--).)*$", lambda: condense(X, y, device="gpu:99")),
                      (ValueError, "^device tpu", lambda: condense(X, y, device="tpu"))]  # fmt: skip
        for kind, text, act in cases:
            with self.subTest(text=text), self.assertRaisesRegex(kind, text):
                act()

    def test_names_may_come_from_a_generator(self):
        X, y = RANDOM.integers(0, 256, (20, 3), np.uint8), np.arange(20) % 3
        tried = tune(X, y, iter([1, 2]), iter(["uniform", "distance"]), iter(["euclidean", "manhattan"]))
        self.assertEqual(len({tuple(one.parameters.values()) for one in tried}), 8)


class Files(unittest.TestCase):
    def test_idx_of_every_type(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "file")
            for code, dtype in ((8, ">u1"), (9, ">i1"), (11, ">i2"), (12, ">i4"), (13, ">f4"), (14, ">f8")):
                array = RANDOM.integers(-100, 100, (3, 4, 5)).astype(dtype)
                content = bytes([0, 0, code, 3]) + b"".join(n.to_bytes(4, "big") for n in array.shape) + array.tobytes()
                for one in (content, gzip.compress(content)):
                    path.write_bytes(one)
                    found = read_idx(path)
                    np.testing.assert_array_equal(found, array)
                    self.assertTrue(found.dtype.isnative)
            for bad in (b"", b"PNG", content[:-1], content + b"x", b"\0\0\x08\x03\xff", gzip.compress(content)[:-9],
                        bytes([0, 0, 14, 3]) + b"\xff" * 12, bytes([0, 0, 14, 3, 0, 0, 0, 0]) + b"\xff" * 8):  # fmt: skip
                path.write_bytes(bad)
                with self.assertRaisesRegex(ValueError, f"^{path}: "):
                    read_idx(path)
            path.write_bytes(content[:7])
            with self.assertRaisesRegex(ValueError, "is cut short within its header; expected [123] sizes of 4 bytes"):
                read_idx(path)
            # What a file unpacks to beyond the sizes that it declares takes no memory.
            path.write_bytes(gzip.compress(bytes([0, 0, 8, 1, 0, 0, 0, 1]) + bytes(1 << 26)))
            tracemalloc.start()
            self.addCleanup(tracemalloc.stop)
            with self.assertRaisesRegex(ValueError, "has more bytes of data; expected 1 for"):
                read_idx(path)
            self.assertLess(tracemalloc.get_traced_memory()[1], 1 << 24)
            packed = gzip.compress(content)
            for at in range(len(packed)):  # a changed byte raises no error of zlib
                path.write_bytes(packed[:at] + bytes([packed[at] ^ 0x5A]) + packed[at + 1 :])
                try:
                    np.testing.assert_array_equal(read_idx(path), array)  # one of the head that means nothing
                except ValueError:
                    pass
            with self.assertRaises(FileNotFoundError):
                read_idx(path.with_name("none"))

    def test_a_data_set(self):
        X, y = digits(50)
        folder = Folder(X, y)
        self.addCleanup(folder.temporary.cleanup)
        data = load_mnist(folder.path)
        np.testing.assert_array_equal(data.X_train, X)
        np.testing.assert_array_equal(data.y_test, y)
        (folder.path / "t10k-labels-idx1-ubyte").unlink()
        with self.assertRaisesRegex(FileNotFoundError, "no MNIST there"):
            load_mnist(folder.path)
        (folder.path / "t10k-labels-idx1-ubyte").write_bytes(idx(y[:9]))
        with self.assertRaisesRegex(ValueError, "a label each"):
            load_mnist(folder.path)


support.main()
