"""The estimators against brute force in NumPy; arrays, labels and errors of any kind; interruption, threads, fork, pickle."""

import _thread
import ctypes
import gc
import os
import pickle
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tracemalloc
import unittest
import warnings
from decimal import Decimal
from fractions import Fraction
from unittest import mock

import support
import numpy as np
from mnist_knn import KNeighborsClassifier, KNeighborsTransformer, NearestNeighbors, _library, has

RANDOM = np.random.default_rng(5)


def random_bytes(n, dim, most=255):
    return RANDOM.integers(0, most + 1, (n, dim), dtype=np.uint8)


def in_child(holds):
    """Whether it holds in a forked child, which ends in any case."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if holds() else 1)
        finally:
            os._exit(2)
    return os.waitpid(child, 0)[1] == 0


class Searches(unittest.TestCase):
    def test_neighbors_are_those_of_brute_force(self):
        for n, dim, k, most in [(1, 1, 1, 255), (7, 3, 7, 1), (100, 17, 5, 2), (300, 784, 11, 255), (1025, 65, 3, 255)]:
            X, Q = random_bytes(n, dim, most), random_bytes(13, dim, most)
            for metric in ("l2", "l1"):
                with self.subTest(n=n, dim=dim, k=k, metric=metric):
                    expected, order = support.brute_force(X, Q, k, metric=metric)
                    distances, indices = NearestNeighbors(k, metric=metric).fit(X).kneighbors(Q)
                    np.testing.assert_array_equal(indices, order)
                    np.testing.assert_array_equal(distances, np.sqrt(expected) if metric == "l2" else expected)

    def test_rows_are_left_out_of_their_own_neighbors(self):
        X = random_bytes(90, 4, 1)  # many equal rows
        expected, order = support.brute_force(X, X, 6, leave_out=True)
        distances, indices = NearestNeighbors(6).fit(X).kneighbors()
        np.testing.assert_array_equal(indices, order)
        np.testing.assert_array_equal(distances, np.sqrt(expected))
        y = RANDOM.integers(0, 3, 90)
        model = KNeighborsClassifier(6).fit(X, y)
        counts = np.stack([(y[order] == c).sum(axis=1) for c in range(3)], axis=1)
        np.testing.assert_array_equal(model.predict(None), counts.argmax(axis=1))
        np.testing.assert_array_equal(model.predict_proba(None), counts / 6)

    def test_sqeuclidean_is_squared(self):
        self.assertEqual(NearestNeighbors(1, metric="sqeuclidean").fit([[0], [9]]).kneighbors([[3]])[0].item(), 9)

    def test_n_neighbors_of_a_search_and_indices_alone(self):
        model = NearestNeighbors(1).fit([[0], [1], [5]])
        self.assertEqual(model.kneighbors([[4]], 3, return_distance=False).tolist(), [[2, 1, 0]])

    def test_single_queries_have_arrays_of_their_own(self):
        X = random_bytes(50, 6)
        for rows in (X, X / np.float32(2)):
            model = NearestNeighbors(3).fit(rows)
            found = [model.kneighbors(rows[i : i + 1], k) for i in range(50) for k in (3, 3, 7)]
            for i, (distances, indices) in enumerate(found):
                expected, order = support.brute_force(rows, rows[i // 3][None], 7 if i % 3 == 2 else 3)
                np.testing.assert_array_equal(indices, order)
                np.testing.assert_array_equal(distances, np.sqrt(expected))

    def test_single_queries_are_checked_however_many_came_before(self):
        X = random_bytes(20, 3)
        model = NearestNeighbors(1, metric="sqeuclidean").fit(X)
        one = model.kneighbors(X[:1])
        np.testing.assert_array_equal(model.kneighbors(X[:1]), one)
        for k, kind in ((True, TypeError), (1.0, TypeError), ("1", TypeError), (0, ValueError), (21, ValueError)):
            with self.subTest(k=k), self.assertRaises(kind):
                model.kneighbors(X[:1], k)
        for query, kind in ((X[:1, :2], ValueError), (X[0], ValueError), (X[:1].astype("c8"), ValueError)):
            with self.subTest(query=query), self.assertRaises(kind):
                model.kneighbors(query)
        self.assertEqual(model.kneighbors(X[:1] + 0.25)[0].item(), 0.1875)
        np.testing.assert_array_equal(model.kneighbors(X[:1, ::-1])[0], support.brute_force(X, X[:1, ::-1], 1)[0])
        X[:] = 7  # not copied: read again by each search
        self.assertEqual(model.kneighbors(np.full((1, 3), 8, np.uint8))[0].item(), 3)
        model.set_params(metric="manhattan").fit(X)
        self.assertEqual([model.kneighbors(np.full((1, 3), 9, np.uint8))[0].item() for _ in range(3)], [6, 6, 6])

    def test_a_graph_has_the_neighbors(self):
        support.require("scipy")
        X = random_bytes(30, 5)
        model = NearestNeighbors(4).fit(X)
        distances, indices = model.kneighbors()
        graph = model.kneighbors_graph(mode="distance")
        self.assertEqual(graph.shape, (30, 30))
        np.testing.assert_array_equal(graph.indices.reshape(30, 4), indices)
        np.testing.assert_array_equal(graph.data.reshape(30, 4), distances)
        self.assertEqual(model.kneighbors_graph(X).sum(), 120)
        own = KNeighborsTransformer(4).fit_transform(X)
        self.assertEqual(np.diff(own.indptr).tolist(), [5] * 30)


class Arrays(unittest.TestCase):
    def setUp(self):
        self.X, self.Q = random_bytes(40, 6), random_bytes(9, 6)
        self.expected = NearestNeighbors(5).fit(self.X).kneighbors(self.Q)

    def check(self, X, Q):
        distances, indices = NearestNeighbors(5).fit(X).kneighbors(Q)
        np.testing.assert_array_equal(indices, self.expected[1])
        np.testing.assert_array_equal(distances, self.expected[0])

    def test_of_any_layout(self):
        wide = np.zeros((40, 12), np.uint8)
        wide[:, ::2] = self.X
        still = self.X.copy()
        still.flags.writeable = False
        for X in (np.asfortranarray(self.X), wide[:, ::2], self.X[::-1][::-1], still, self.X.tolist(), memoryview(self.X)):
            self.check(X, self.Q)
            self.check(self.X, self.Q.copy(order="F"))

    def test_of_any_type(self):
        for kind in (np.int16, np.uint16, np.int32, np.int64, np.float16, np.float32, np.float64, ">f8", object):
            with self.subTest(kind=kind):
                self.check(self.X.astype(kind), self.Q)
                self.check(self.X, self.Q.astype(kind))

    def test_of_others_by_dlpack(self):
        class Tensor:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, stream=None):
                return self.array.__dlpack__()

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        self.check(Tensor(self.X), Tensor(self.Q))

    def test_of_a_gpu_are_refused(self):
        class OnGpu:
            __cuda_array_interface__ = {"shape": (1, 1), "typestr": "|u1", "data": (8, True), "version": 3}

        class TensorOnGpu:
            def __dlpack_device__(self):
                return (2, 0)

        for X in (OnGpu(), TensorOnGpu()):
            # A library with CUDA asks the GPU for what is no memory of it.
            with self.assertRaisesRegex((TypeError, RuntimeError), "memory of a.*expected"):
                NearestNeighbors().fit(X)

    def test_sparse_ones_are_refused_in_a_line(self):
        support.require("scipy")
        from scipy.sparse import csr_matrix

        with self.assertRaisesRegex(TypeError, r"^X: is a sparse matrix; expected a dense array, such as X.toarray\(\)$"):
            NearestNeighbors().fit(csr_matrix(self.X))

    def test_are_not_copied(self):
        self.assertTrue(np.shares_memory(NearestNeighbors(5).fit(self.X)._fit_X, self.X))


class Floats(unittest.TestCase):
    def setUp(self):
        if not (has("float32") and has("float64") and has("int8")):
            self.skipTest("the library takes uint8 alone")

    def test_many_searches_of_one_query_keep_no_memory(self):
        for dtype in (np.uint8, np.float32):
            X = np.arange(40, dtype=dtype).reshape(10, 4)
            model = NearestNeighbors(3).fit(X)
            model.kneighbors(X[:1])
            tracemalloc.start()
            self.addCleanup(tracemalloc.stop)
            for _ in range(200):
                model.kneighbors(X[:1])
            self.assertLess(tracemalloc.get_traced_memory()[0], 1 << 16, dtype)

    def test_calls_that_fail_keep_no_arrays(self):
        model = NearestNeighbors(n_neighbors=2, p=3).fit(RANDOM.random((100, 784)))
        queries = np.full((2000, 784), 1e200)
        gc.collect()
        gc.disable()  # what a cycle keeps stays
        tracemalloc.start()
        for _ in range(5):
            try:  # assertRaises would clear the frames
                model.kneighbors(queries.copy())
                self.fail("numbers of 1e200 have no sum of cubes")
            except ValueError:
                pass
        kept = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        gc.enable()
        self.assertLess(kept, queries.nbytes)

    def test_are_searched_exactly(self):
        for kind in (np.int8, np.float32, np.float64):
            X, Q = ((RANDOM.normal(size=(n, 7)) * 20).astype(kind) for n in (200, 20))
            expected, order = support.brute_force(X, Q, 5)
            distances, indices = NearestNeighbors(5).fit(X).kneighbors(Q)
            np.testing.assert_array_equal(indices, order)
            np.testing.assert_allclose(distances, np.sqrt(expected), rtol=1e-14)

    def test_queries_of_a_wider_type_than_the_training_set(self):
        X = random_bytes(50, 3)
        Q = RANDOM.uniform(-10, 300, (20, 3))
        expected, order = support.brute_force(X.astype(float), Q, 4)
        model = NearestNeighbors(4).fit(X)
        for queries in (Q, Q.astype(np.float32)):
            distances, indices = model.kneighbors(queries)
            np.testing.assert_allclose(distances, np.sqrt(support.brute_force(X.astype(float), queries, 4)[0]), rtol=1e-14)
        np.testing.assert_array_equal(model.kneighbors(Q)[1], order)
        np.testing.assert_array_equal(model.kneighbors(X[:5], 1)[0], 0)  # and bytes again


class Votes(unittest.TestCase):
    def test_labels_of_any_kind(self):
        X = random_bytes(60, 3)
        for y in (RANDOM.choice(["seven", "one"], 60), RANDOM.choice([-5, 10**12], 60), RANDOM.random(60) < 0.5,
                  np.array(["a", "b", "c"] * 20, object), np.array([1.0, 2.0] * 30)):  # fmt: skip
            model = KNeighborsClassifier(1).fit(X, y)
            self.assertEqual(model.score(X, y), 1)
            self.assertEqual(model.classes_.tolist(), sorted(set(y.tolist())))

    def test_more_than_256_classes(self):
        X, y = np.stack(np.divmod(np.arange(400), 20), axis=1), np.arange(400) * 3
        self.assertEqual(KNeighborsClassifier(1).fit(X, y).score(X, y), 1)

    def test_equal_votes_go_to_the_smallest_class(self):
        self.assertEqual(KNeighborsClassifier(2).fit([[0], [2]], ["b", "a"]).predict([[0]]).tolist(), ["a"])

    def test_weights(self):
        X, y = np.array([[0], [2], [3]], np.uint8), ["a", "b", "b"]
        shares = {"uniform": [1 / 3, 2 / 3], None: [1 / 3, 2 / 3], "distance": [0.4, 0.6], "inverse_square": [4 / 9, 5 / 9]}
        for weights, expected in shares.items():
            found = KNeighborsClassifier(3, weights=weights).fit(X, y).predict_proba([[1]])
            if weights in ("distance", "inverse_square"):
                near = np.array([1.0, 1.0, 2.0]) ** (-1 if weights == "distance" else -2)
                expected = [near[0] / near.sum(), near[1:].sum() / near.sum()]
            np.testing.assert_allclose(found, [expected], rtol=1e-15)
        found = KNeighborsClassifier(3, weights=lambda d: d == d.max(axis=1, keepdims=True)).fit(X, y).predict([[1]])
        self.assertEqual(found.tolist(), ["b"])
        # At distance 0 only such ones vote.
        self.assertEqual(KNeighborsClassifier(3, weights="distance").fit(X, y).predict_proba([[0]]).tolist(), [[1, 0]])

    def test_inverse_square_takes_squares_as_they_are(self):
        X, y = np.array([[1, 1], [1, 1], [1, 0], [9, 9]], np.uint8), [0, 0, 1, 1]  # 1/2 + 1/2 against 1
        model = KNeighborsClassifier(3, weights="inverse_square").fit(X, y)
        self.assertEqual(model.predict([[0, 0]]).tolist(), [0])
        self.assertEqual(model.predict_proba([[0, 0]]).tolist(), [[0.5, 0.5]])

    def test_votes_do_not_depend_on_the_unit_of_distances(self):
        X, y = np.array([[1.0], [2.0], [3.0], [10.0]]), [0, 1, 1, 0]
        for weights in ("distance", "inverse_square"):
            for metric, units in (("manhattan", (1e160, 1e-170, 2.0**-1060)), ("euclidean", (1e140, 1e-154))):
                expected = KNeighborsClassifier(4, weights=weights, metric=metric).fit(X, y).predict_proba([[2.5]])
                for unit in units:
                    model = KNeighborsClassifier(4, weights=weights, metric=metric).fit(X * unit, y)
                    np.testing.assert_allclose(model.predict_proba([[2.5 * unit]]), expected, rtol=1e-6)
        # Near, but not at distance 0.
        model = KNeighborsClassifier(2, weights="inverse_square", metric="manhattan").fit([[0.0], [1e-170]], [0, 1])
        self.assertEqual(model.predict_proba([[0.0]]).tolist(), [[1, 0]])

    def test_effective_metric_is_that_of_the_distances(self):
        for metric, p, effective in (("minkowski", 2, "euclidean"), ("minkowski", 1, "manhattan"), ("minkowski", 3, "minkowski"),
                                     (None, 2, "euclidean"), ("cosine", 2, "cosine"), ("cityblock", 2, "cityblock")):  # fmt: skip
            model = NearestNeighbors(1, metric=metric, p=p).fit([[0, 0], [1, 2]])
            self.assertEqual(model.effective_metric_, effective)

    def test_neighbors_by_a_file_do_not_depend_on_other_queries(self):
        X, queries = random_bytes(2000, 3), random_bytes(50, 3).astype(np.float64)
        for metric in ("cosine", "pearson", "lp\np 1.5", "l2"):
            with tempfile.NamedTemporaryFile("w") as file:
                file.write(f"mnist-knn method 1\ntransform raw\nrerank none\ncandidates 96\nmetric {metric}\nvote majority\nk 5\n"
                           "weights uniform\ntie smallest\n")  # fmt: skip
                file.flush()
                for model in (NearestNeighbors(50, method=file.name).fit(X), KNeighborsClassifier(50, method=file.name).fit(X, X[:, 0] > 9)):
                    alone, beside = model.kneighbors(queries), model.kneighbors(np.vstack([queries, [[0.5, 1, 2]]]))
                    for own, others in zip(alone, beside):
                        np.testing.assert_array_equal(own, others[:-1])
        with tempfile.NamedTemporaryFile("w") as file:  # bytes alone
            file.write("mnist-knn method 1\ntransform hog\nrerank none\ncandidates 96\nmetric cosine\nvote majority\nk 5\n"
                       "weights uniform\ntie smallest\n")  # fmt: skip
            file.flush()
            digits = random_bytes(20, 784)
            model = NearestNeighbors(5, method=file.name).fit(digits)
            np.testing.assert_array_equal(model.kneighbors(digits.astype(np.float64)), model.kneighbors(digits))

    def test_distances_of_gradients_are_euclidean(self):
        X, y = random_bytes(300, 784), RANDOM.integers(0, 3, 300)
        for queries in (X[:9], X[:9].astype(np.float64)):
            lengths, _ = NearestNeighbors(9, method="gradients").fit(X).kneighbors(queries)
            named, _ = NearestNeighbors(9, method="gradients", metric="euclidean").fit(X).kneighbors(queries)
            np.testing.assert_array_equal(lengths, named)
            np.testing.assert_allclose(lengths**2, np.rint(lengths**2), rtol=1e-12)
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("mnist-knn method 1\ntransform gradients\nrerank none\ncandidates 96\nmetric l2\nvote majority\nk 5\n"
                       "weights uniform\ntie smallest\n")  # fmt: skip
            file.flush()
            np.testing.assert_array_equal(NearestNeighbors(9, method=file.name).fit(X).kneighbors(X[:9])[0], lengths)
        for settings in ({"metric": "cosine"}, {"p": 3}, {"method": "accurate"}):
            known, wider = (NearestNeighbors(9, **{"method": "gradients", **settings}).fit(X.astype(kind)).kneighbors(X[:9].astype(kind))
                            for kind in (np.uint8, np.int64))  # fmt: skip
            np.testing.assert_array_equal(known, wider)
        shares = [KNeighborsClassifier(9, method="gradients", weights=weights).fit(X, y).predict_proba(X[:50] // 2)
                  for weights in ("inverse_square", lambda d: 1 / d**2)]
        np.testing.assert_allclose(*shares, rtol=1e-12)

    def test_an_answer_does_not_depend_on_other_queries(self):
        X = random_bytes(60, 6)
        for metric, p in (("cosine", 2), ("correlation", 2), ("minkowski", 3), ("euclidean", 2), ("manhattan", 2)):
            model = NearestNeighbors(20, metric=metric, p=p).fit(X)
            for kind in (np.float64, np.int64):
                whole = random_bytes(1, 6).astype(kind)
                alone = model.kneighbors(whole)
                beside = model.kneighbors(np.vstack([whole, [[0.5] * 6]]))
                np.testing.assert_array_equal(alone[0][0], beside[0][0])
                np.testing.assert_array_equal(alone[1][0], beside[1][0])

    def test_methods_with_votes_of_their_own(self):
        X, y = random_bytes(300, 784), RANDOM.integers(0, 10, 300)
        model = KNeighborsClassifier(4, method="gradients", device="cpu").fit(X, y)
        self.assertEqual(KNeighborsClassifier(1, method="gradients").fit(X, y).score(X, y), 1)
        self.assertEqual(model.predict(X[:5]).shape, (5,))
        found = model.predict(X[:5])
        again = pickle.loads(pickle.dumps(model.set_params(method="raw")))  # after fit
        np.testing.assert_array_equal(again.predict(X[:5]), found)
        own = KNeighborsClassifier(9, method="accurate", device="cpu").fit(X, y)
        expected = own.predict(X)
        own.set_params(n_neighbors=1).fit(X, y).set_params(n_neighbors=9)  # after fit
        np.testing.assert_array_equal(own.predict(X), expected)


class Errors(unittest.TestCase):
    def test_are_those_of_sense(self):
        X, y = random_bytes(10, 3), np.zeros(10)
        fitted = NearestNeighbors(3).fit(X)
        cases = [
            (TypeError, "^X: is an array of objects with texts", lambda: NearestNeighbors().fit(np.array([["1", "2"]], object))),
            (ValueError, "n_neighbors <= n_samples", lambda: fitted.kneighbors(X, 11)),
            (ValueError, "n_neighbors <= n_samples", lambda: fitted.kneighbors(None, 10)),
            (ValueError, "n_neighbors > 0", lambda: fitted.kneighbors(X, 0)),
            (TypeError, "n_neighbors", lambda: fitted.kneighbors(X, 1.5)),
            (ValueError, "n_neighbors", lambda: NearestNeighbors(0).fit(X)),
            (TypeError, "n_neighbors", lambda: NearestNeighbors("5").fit(X)),
            (ValueError, "metric", lambda: NearestNeighbors(metric="chebyshov").fit(X)),
            (ValueError, "out of range; expected 0.1 to 15", lambda: NearestNeighbors(p=-1).fit(X)),
            (ValueError, "device", lambda: NearestNeighbors(device="tpu").fit(X)),
            (ValueError, "engine", lambda: NearestNeighbors(engine="steam").fit(X)),
            (ValueError, "^method no-such-file: is unknown; expected raw, gradients, accurate or a file", lambda: NearestNeighbors(method="no-such-file").fit(X)),
            (OSError, "^no/such: cannot be read: No such file", lambda: NearestNeighbors(method="no/such").fit(X)),
            (OSError, f"^{__file__}: is no method", lambda: NearestNeighbors(method=__file__).fit(X)),
            (ValueError, "weights", lambda: KNeighborsClassifier(weights="heavy").fit(X, y)),
            (ValueError, "features", lambda: fitted.kneighbors(X[:, :2])),
            (ValueError, "Reshape your data", lambda: fitted.kneighbors(X[0])),
            (ValueError, "dim 3", lambda: NearestNeighbors().fit(X[None])),
            (ValueError, "NaN", lambda: NearestNeighbors().fit([[0.0, np.nan]])),
            (ValueError, "infinity", lambda: fitted.kneighbors([[0.0, np.inf, 0]])),
            (ValueError, "inconsistent", lambda: KNeighborsClassifier().fit(X, y[:9])),
            (ValueError, "Unknown label type", lambda: KNeighborsClassifier().fit(X, y + 0.5)),
            (ValueError, "Unknown label type", lambda: KNeighborsClassifier().fit(X, (y + 0.5).astype(object))),
            (ValueError, "Unknown label type", lambda: KNeighborsClassifier().fit(X, [*[1] * 9, Fraction(1, 3)])),
            (ValueError, "Unknown label type", lambda: KNeighborsClassifier().fit(X, [*[1] * 9, Decimal("0.5")])),
            (ValueError, "mode", lambda: fitted.kneighbors_graph(mode="both")),
            (ValueError, "not fitted", lambda: KNeighborsClassifier().predict(X)),
        ]
        for kind, text, act in cases:
            with self.subTest(text=text), self.assertRaisesRegex(kind, text):
                act()

    def test_name_what_was_passed_in_a_line(self):
        X, y = random_bytes(20, 3), np.arange(20) % 3
        model = NearestNeighbors(3).fit(X)
        classifier = KNeighborsClassifier(3).fit(X, y)

        def weighed(given):
            return KNeighborsClassifier(3, weights=lambda distances: given).fit(X, y).predict_proba(X)

        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        blurred, spread = (os.path.join(folder.name, name) for name in ("blurred", "spread"))
        for path, transform, rerank in ((blurred, "blur:1", "none"), (spread, "raw", "spread:7")):
            with open(path, "w") as file:
                file.write(f"mnist-knn method 1\ntransform {transform}\nrerank {rerank}\ncandidates 96\nmetric l2\nvote majority\n"
                           "k 5\nweights uniform\ntie smallest\n")  # fmt: skip
        Y = random_bytes(20, 784)
        masked = np.ma.masked_array(X, X > 100)
        structs = np.zeros((5, 3), [("a", "u1")])
        cases = [
            (TypeError, "^device 5: is int; expected a text$", lambda: NearestNeighbors(device=5).fit(X)),  # no address
            (ValueError, "^method 'gradients': X has 3 columns of uint8; expected 784", lambda: NearestNeighbors(method="gradients").fit(X)),
            (ValueError, "^method 'accurate': X has 784 columns of float64", lambda: NearestNeighbors(method="accurate").fit(np.ones((5, 784)) / 2)),
            (ValueError, "^method 'accurate': X has 784 columns of float64", lambda: NearestNeighbors(1, method="accurate").fit(Y).kneighbors(Y / 2)),
            (ValueError, "^method: rerank spread: needs", lambda: NearestNeighbors(method=spread).fit(Y)),
            (ValueError, f"^n_neighbors {2**33}: .* to 16384$", lambda: KNeighborsClassifier(2**33, method="accurate").fit(Y, y)),
            (ValueError, "^X: has dim 66052; ", lambda: NearestNeighbors().fit(np.zeros((2, 66_052), np.uint8))),
            (ValueError, r"^X: row 0, column 1 is 1e\+200", lambda: NearestNeighbors().fit([[0, 1e200], [0, 0]])),
            (ValueError, r"^X: row 0, column 1 is 1e\+200", lambda: NearestNeighbors(1).fit([[0, 0.5]]).kneighbors([[0, 1e200], [0, 0]])),
            (ValueError, "^method .*blurred: transform blur.*: compares images.*; expected rows of 784 pixels", lambda: NearestNeighbors(method=blurred).fit(X)),
            (TypeError, "^engine 5: is int", lambda: NearestNeighbors(engine=5).fit(X)),
            (TypeError, "^method 5: is int", lambda: NearestNeighbors(method=5).fit(X)),
            (TypeError, "^method None: is NoneType", lambda: NearestNeighbors(method=None).fit(X)),
            (TypeError, "^feature None: is NoneType", lambda: has(None)),
            (ValueError, "^device 'cpu.*NUL", lambda: NearestNeighbors(device="cpu\0x").fit(X)),
            (ValueError, "^metric \\['l2'\\]: is unknown", lambda: NearestNeighbors(metric=["l2"]).fit(X)),
            (ValueError, "^metric array", lambda: NearestNeighbors(metric=X).fit(X)),
            (TypeError, "^p 'x': is str", lambda: NearestNeighbors(p="x").fit(X)),
            (ValueError, "^p = 1e-300 is out of range", lambda: NearestNeighbors(p=1e-300).fit(X)),
            (ValueError, "^p = inf is out of range; expected 0.1 to 15", lambda: NearestNeighbors(p=np.inf).fit(X)),
            (ValueError, "^p 10+.*too large", lambda: NearestNeighbors(p=10**400).fit(X)),
            (ValueError, "^mode array", lambda: model.kneighbors_graph(mode=X)),
            (ValueError, "^weights array", lambda: KNeighborsClassifier(weights=X).fit(X, y)),
            (TypeError, "^n_neighbors 'x': is str", lambda: KNeighborsTransformer(1).fit(X).set_params(n_neighbors="x").transform(X)),
            (TypeError, "^n_neighbors array.*: is ndarray", lambda: NearestNeighbors(X).fit(X)),
            (ValueError, "^X None: is NoneType", lambda: NearestNeighbors().fit(None)),
            (ValueError, "^X None: is NoneType", lambda: KNeighborsClassifier().fit(None, y)),
            (TypeError, "^X: is an array of <U1; expected numbers", lambda: model.kneighbors([["1", "2", "3"]])),
            (TypeError, "^X: is an array of datetime64", lambda: NearestNeighbors().fit(X.astype("M8[s]"))),
            (TypeError, "^X: is an array of timedelta64", lambda: NearestNeighbors().fit(X.astype("m8[s]"))),
            (TypeError, "^X: is an array of .*'a'", lambda: NearestNeighbors().fit(structs)),
            (TypeError, "^X: is no array of numbers", lambda: NearestNeighbors().fit([[object()]])),
            (ValueError, "^X: is no array of numbers", lambda: NearestNeighbors().fit([[10**400]])),
            (ValueError, "^X: is no array of numbers", lambda: NearestNeighbors().fit(np.array([[10**400]]))),
            (ValueError, "^X: has masked values", lambda: model.kneighbors(masked)),
            (ValueError, "infinity", lambda: model.kneighbors(np.full((1, 3), np.longdouble("1e4000")))),
            (TypeError, "^y: has labels that cannot be sorted", lambda: KNeighborsClassifier().fit(X, np.array([1, "a"] * 10, object))),
            (TypeError, "^y: has labels that cannot be sorted", lambda: KNeighborsClassifier().fit(X, np.array([np.nan, 1] * 10, object))),
            (TypeError, "^y: has labels that cannot be sorted", lambda: KNeighborsClassifier().fit(X[:2], np.array(["2020", "NaT"], "M8[D]"))),
            (TypeError, "^out 5: is int", lambda: model.kneighbors(X, out=5)),
            (TypeError, "^X .*: is ndarray in host memory; expected", lambda: model.kneighbors(X, out=(None, None))),
            (ValueError, r"^weights: have shape \(\)", lambda: weighed(1)),
            (ValueError, r"^weights: have shape \(1, 3\)", lambda: weighed(np.ones((1, 3)))),
            (ValueError, "^weights: have NaN", lambda: weighed(np.full((20, 3), np.nan))),
            (TypeError, "^weights None: are object", lambda: weighed(None)),
        ]  # fmt: skip
        for kind, text, act in cases:
            with self.subTest(text=text), warnings.catch_warnings():
                warnings.simplefilter("error")
                with self.assertRaisesRegex(kind, text) as raised:
                    act()
                self.assertNotIn("\n", str(raised.exception))
                self.assertLess(len(str(raised.exception)), 250)
        self.assertEqual(model.kneighbors(np.ma.masked_array(X))[0].shape, (20, 3))
        np.testing.assert_array_equal(weighed(np.zeros((20, 3))), 0)
        np.testing.assert_array_equal(weighed(np.full((20, 3), 1e308)), weighed(np.ones((20, 3))))
        infinite = KNeighborsClassifier(3, weights=lambda d: np.where(d == 0, np.inf, 1)).fit(X, y)
        np.testing.assert_array_equal(infinite.predict_proba(X).max(axis=1), 1)
        self.assertEqual(classifier.score(X, y), classifier.score(X.astype(float), y))

    def test_a_fit_that_fails_leaves_no_half_of_it(self):
        X, y = random_bytes(20, 3), np.arange(20) % 3
        model = KNeighborsClassifier(1).fit(X, y)
        with self.assertRaisesRegex(ValueError, "NaN"):
            model.fit([[np.nan] * 3], ["other"])
        self.assertEqual(model.predict(X).tolist(), y.tolist())
        with self.assertRaisesRegex(ValueError, "device"):
            model.set_params(device="tpu").fit(X[:5], y[:5])
        with self.assertRaisesRegex(ValueError, "not fitted"):
            model.predict(X[:1])
        model.set_params(device="auto")
        for interrupted in ("_arrays.narrowed", "_neighbors.TrainingSet", "_neighbors.Index"):
            model.fit(X, y)
            with mock.patch("mnist_knn." + interrupted, side_effect=KeyboardInterrupt), self.assertRaises(KeyboardInterrupt):
                model.fit(X[::-1].astype(float), ["other"] * 20)
            try:
                self.assertEqual(model.predict(X).tolist(), y.tolist())
            except ValueError as error:
                self.assertRegex(str(error), "not fitted")

    def test_a_method_with_votes_is_not_fitted_after_a_fit_that_fails(self):
        X, y = random_bytes(40, 784), np.arange(40) % 3
        model = KNeighborsClassifier(3, method="accurate", device="cpu").fit(X, y)
        with mock.patch("mnist_knn._neighbors.Index", side_effect=KeyboardInterrupt), self.assertRaises(KeyboardInterrupt):
            model.fit(X[::-1], y)
        for k in (3, 4):
            with self.assertRaisesRegex(ValueError, "not fitted"):
                model.set_params(n_neighbors=k).predict(X)

    def test_another_library(self):
        environment = {**os.environ, "MNIST_KNN_LIBRARY": "libc.so.6"}
        done = subprocess.run([sys.executable, "-c", "import mnist_knn; mnist_knn.has('cuda')"], env=environment,
                              capture_output=True, text=True)  # fmt: skip
        self.assertRegex(done.stderr, r"OSError: libc\.so\.6: is another library: .*; expected libmnistknn\.so\.0\n$")

    def test_memory_that_a_search_lacks(self):
        def fails():
            index = _library.Index(_library.TrainingSet(np.ones((1 << 19, 64), np.float32)), threads=1, device="cpu")
            query, found = _library.vectors_of(np.ones((100, 64), np.float32)), np.zeros(100, np.uint32)
            out = _library.NeighborArrays(count=100, k=1, indices=found.ctypes.data)
            with open("/proc/self/statm") as file:
                used = int(file.read().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 24),) * 2)
            try:
                _library.call("knn_search", index, ctypes.byref(query), None, ctypes.byref(out))
            except MemoryError as error:
                return str(error).startswith("memory: searching 524288 training ")

        self.assertTrue(in_child(fails))

    def test_no_gpu(self):
        if has("cuda"):
            self.skipTest("the library has GPU engines")
        with self.assertRaises((RuntimeError, ValueError)):
            NearestNeighbors(device="gpu").fit(random_bytes(10, 3))

    def test_k_beyond_the_library(self):
        model = NearestNeighbors(16_384, device="cpu").fit(random_bytes(16_385, 1))
        self.assertEqual(model.kneighbors([[3]], return_distance=False).shape, (1, 16_384))
        with self.assertRaisesRegex(ValueError, "16384"):
            model.kneighbors([[3]], 16_385)


class Processes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.X = random_bytes(40_000, 784)
        cls.model = NearestNeighbors(5).fit(cls.X)
        cls.expected = cls.model.kneighbors(cls.X[:3])[1].tolist()

    def test_ctrl_c_ends_a_search_and_the_index_lives(self):
        for delay in (0.02, 0.1, 0.3):
            timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
            with self.assertRaises(KeyboardInterrupt):
                timer.start()
                self.model.kneighbors(np.concatenate([self.X] * 3))
                self.fail("the search was over before the signal")
            timer.join()
        self.assertEqual(self.model.kneighbors(self.X[:3])[1].tolist(), self.expected)

    def test_a_thread_that_does_not_begin_or_ends_early(self):
        queries, real = np.concatenate([self.X[:3]] * 2000), _thread.start_new_thread
        expected = self.model.kneighbors(queries)[1].tolist()

        def none(run, arguments):  # as one whose first call has no memory
            return 0

        def later(run, arguments):
            time.sleep(0.2)
            return real(run, arguments)

        def failing(error):
            def start(run, arguments):
                del arguments  # which the traceback would keep
                raise error

            return start

        for start in (none, later, failing(RuntimeError("can't start new thread")), failing(MemoryError())):
            with mock.patch("mnist_knn._library._thread.start_new_thread", start):
                self.assertEqual(self.model.kneighbors(queries)[1].tolist(), expected)
        with mock.patch("mnist_knn._library._thread.start_new_thread", failing(KeyboardInterrupt())):
            with self.assertRaises(KeyboardInterrupt):
                self.model.kneighbors(queries)

    def test_signals_at_any_moment_leave_no_search_waiting(self):
        queries, ended, left = np.concatenate([self.X[:3]] * 2000), threading.Event(), [0]

        def handler(*_):
            left[0] -= 1
            if left[0] >= 0:  # up to two in a search, none between two
                raise KeyboardInterrupt

        def interrupt():
            while not ended.wait(0.0003):
                os.kill(os.getpid(), signal.SIGINT)

        before, thread = signal.signal(signal.SIGINT, handler), threading.Thread(target=interrupt)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        thread.start()
        stopped, until = 0, time.monotonic() + 2
        while time.monotonic() < until:
            try:
                try:
                    left[0] = 2
                    self.model.kneighbors(queries)
                finally:
                    left[0] = 0
            except KeyboardInterrupt:
                stopped += 1
        ended.set()
        thread.join()
        self.assertGreater(stopped, 5)
        self.assertEqual(self.model.kneighbors(self.X[:3])[1].tolist(), self.expected)

    def test_ctrl_c_comes_within_0_2_s_of_processor_time(self):
        halves = self.X / np.float32(2)
        threads = len(os.sched_getaffinity(0))  # other work may hold the processors; alone, wall time is as short
        powers = NearestNeighbors(5, p=1.7).fit(halves[:10_000, :100])  # of which one takes as long as many products
        for model, queries, delay in ((self.model, np.concatenate([self.X] * 3), 0.2),
                                      (NearestNeighbors(5).fit(halves), halves, 0.05),
                                      (powers, halves[:99, :100], 0.05)):  # fmt: skip
            sent = []

            def interrupt():
                sent.append(time.process_time())
                os.kill(os.getpid(), signal.SIGINT)

            threading.Timer(delay, interrupt).start()
            with self.assertRaises(KeyboardInterrupt):
                model.kneighbors(queries)
            self.assertLess((time.process_time() - sent[0]) / threads, 0.2)

    def test_another_thread_runs_on(self):
        counted, stop = [0], threading.Event()

        def count():
            while not stop.is_set():
                counted[0] += 1
                time.sleep(0.001)

        thread = threading.Thread(target=count)
        thread.start()
        start = time.perf_counter()
        self.model.kneighbors(self.X[:5000])
        seconds = time.perf_counter() - start
        stop.set()
        thread.join()
        self.assertGreater(counted[0], seconds * 20)

    def test_several_threads_search(self):
        found, alone = [None] * 8, [None] * 8

        def search(i):
            rows = self.X[i * 100 : i * 100 + 100]
            found[i] = self.model.kneighbors(rows, 1)[1].ravel()
            alone[i] = [self.model.kneighbors(row[None], 1)[1].item() for row in rows[:20]]

        threads = [threading.Thread(target=search, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        np.testing.assert_array_equal(np.concatenate(found), np.arange(800))
        np.testing.assert_array_equal(alone, np.arange(800).reshape(8, 100)[:, :20])

    def test_a_forked_child_makes_the_index_again(self):
        self.model.kneighbors(self.X[:1])
        for n in (3, 1):
            self.assertTrue(in_child(lambda: self.model.kneighbors(self.X[:n])[1].tolist() == self.expected[:n]))
        self.assertEqual(self.model.kneighbors(self.X[:3])[1].tolist(), self.expected)

    def test_a_handle_of_the_parent_is_refused(self):
        index = self.model._index(np.dtype("uint8"))

        def is_refused():
            try:
                index.search(self.X[:1], 1)
            except RuntimeError as error:
                return "fork" in str(error)

        self.assertTrue(in_child(is_refused))

    def test_pickle(self):
        again = pickle.loads(pickle.dumps(self.model))
        self.assertEqual(again.kneighbors(self.X[:3])[1].tolist(), self.expected)
        with self.assertRaisesRegex(TypeError, "pickle"):
            pickle.dumps(self.model._index(np.dtype("uint8")))


class WithoutScikitLearn(unittest.TestCase):
    """The package's own base classes, whether scikit-learn is installed or not."""

    def test_it_works_alone(self):
        import subprocess
        import sys

        code = """
import sys
sys.modules["sklearn"] = sys.modules["pandas"] = None  # importing them fails
from mnist_knn import KNeighborsClassifier
model = KNeighborsClassifier(1, weights="distance").fit([[0], [9]], ["a", "b"])
assert model.score([[1], [8]], ["a", "b"]) == model.score([[1], [8]], [["a"], ["b"]]) == 1
for wrong in (["a"], [["a", "b"]]):
    try:
        model.score([[1], [8]], wrong)
    except ValueError as error:
        assert "y: has shape" in str(error)
    else:
        raise AssertionError(wrong)
assert model.get_params()["weights"] == "distance" and model.set_params(p=1).p == 1
assert repr(KNeighborsClassifier(1)) == "KNeighborsClassifier(n_neighbors=1)"
import pickle
assert pickle.loads(pickle.dumps(model)).predict([[7]]) == ["b"]
try:
    KNeighborsClassifier().predict([[1]])
except ValueError as error:
    assert "not fitted" in str(error)
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


support.main()
