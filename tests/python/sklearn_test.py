"""With scikit-learn: its checks of estimators, its brute force, its tools around the estimators, pandas."""

import unittest
import warnings
from functools import partial

import support

support.require("sklearn", "scipy", "joblib")
import joblib
import numpy as np
import sklearn.neighbors as theirs
from mnist_knn import KNeighborsClassifier, KNeighborsTransformer, NearestNeighbors, graph, has
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

RANDOM = np.random.default_rng(7)
FLOATS = unittest.skipUnless(has("float64"), "the library takes uint8 alone")


def classes_of(X):
    return np.where(X[:, 0].astype(int) + X[:, 1] > 255, "large", "small")


def checks_of(estimator):
    """Names, and what runs them."""
    return [(repr(getattr(check, "keywords", "")) + getattr(check, "func", check).__name__, partial(check, one))
            for one, check in check_estimator(estimator, generate_only=True)]  # fmt: skip


class Checks(unittest.TestCase):
    """check_estimator of the installed version: all that it has for scikit-learn's classes of these names, but those of several
    labels for each row, which the library does not take."""

    @FLOATS
    def test_check_estimator(self):
        for estimator in (KNeighborsClassifier(), NearestNeighbors(), KNeighborsTransformer(),
                          KNeighborsClassifier(weights="distance")):  # fmt: skip
            checks = checks_of(estimator)
            others = {name for name, _ in checks} ^ {name for name, _ in checks_of(getattr(theirs, type(estimator).__name__)())}
            self.assertEqual([name for name in others if "multi" not in name], [])
            for name, run in checks:
                with self.subTest(estimator=type(estimator).__name__, check=name), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    run()


class AsBruteForce(unittest.TestCase):
    def data(self, n, dim, kind, most):
        X = RANDOM.integers(0, most + 1, (n, dim))
        return X.astype(kind) if kind == np.uint8 else (X + RANDOM.random((n, dim))).astype(kind)

    def test_distances_and_probabilities(self):
        kinds = [np.uint8] + ([np.float32, np.float64] if has("float64") else [])
        for kind in kinds:
            for n, dim, k in [(50, 3, 1), (333, 17, 5), (1000, 64, 10)]:
                X, Q = self.data(n, dim, kind, 255), self.data(21, dim, kind, 255)
                y = RANDOM.integers(0, 4, n)
                for weights in ("uniform", "distance"):
                    with self.subTest(kind=kind, n=n, weights=weights):
                        ours = KNeighborsClassifier(k, weights=weights).fit(X, y)
                        brute = theirs.KNeighborsClassifier(k, weights=weights, algorithm="brute").fit(X.astype(float), y)
                        ours_d, ours_i = ours.kneighbors(Q)
                        d, i = brute.kneighbors(Q.astype(float))
                        np.testing.assert_allclose(ours_d, d, rtol=1e-8)
                        apart = (np.diff(d, axis=1) > 1e-6).all(axis=1) if k > 1 else np.ones(len(Q), bool)
                        far = brute.kneighbors(Q.astype(float), min(k + 1, n))[0]
                        apart &= far[:, -1] - d[:, -1] > 1e-6
                        self.assertGreater(apart.sum(), 0)
                        np.testing.assert_array_equal(ours_i[apart], i[apart])
                        np.testing.assert_allclose(ours.predict_proba(Q)[apart], brute.predict_proba(Q.astype(float))[apart],
                                                   rtol=1e-8)  # fmt: skip
                        np.testing.assert_array_equal(ours.predict(Q)[apart], brute.predict(Q.astype(float))[apart])

    def test_tied_data_have_the_same_distances(self):
        X, Q = RANDOM.integers(0, 2, (200, 5), np.uint8), RANDOM.integers(0, 2, (40, 5), np.uint8)
        for ours, name in (({"p": 2}, "euclidean"), ({"p": 1}, "manhattan"), ({"metric": "manhattan"}, "manhattan")):
            d = theirs.NearestNeighbors(n_neighbors=9, algorithm="brute", metric=name).fit(X.astype(float)).kneighbors(Q)[0]
            np.testing.assert_allclose(NearestNeighbors(9, **ours).fit(X).kneighbors(Q)[0], d, rtol=1e-8)

    def test_metrics(self):
        X, Q = RANDOM.integers(0, 256, (300, 20), np.uint8), RANDOM.integers(0, 256, (30, 20), np.uint8)
        for ours, name, more in (({"metric": "cosine"}, "cosine", {}), ({"metric": "correlation"}, "correlation", {}),
                                 ({"p": 3}, "minkowski", {"p": 3})):  # fmt: skip
            brute = theirs.NearestNeighbors(n_neighbors=5, algorithm="brute", metric=name, **more).fit(X.astype(float))
            for kind, near in ((np.uint8, {"atol": 2**-24, "rtol": 2**-24}), (np.float64, {"rtol": 1e-10})):
                distances = NearestNeighbors(5, **ours).fit(X.astype(kind)).kneighbors(Q.astype(kind))[0]
                np.testing.assert_allclose(distances, brute.kneighbors(Q.astype(float))[0], **near)


class Tools(unittest.TestCase):
    def setUp(self):
        self.X = RANDOM.integers(0, 256, (300, 4), np.uint8)
        self.y = classes_of(self.X)

    def test_clone_and_joblib(self):
        model = clone(KNeighborsClassifier(3, weights="distance")).fit(self.X, self.y)
        import tempfile

        with tempfile.NamedTemporaryFile() as file:
            joblib.dump(model, file.name)
            again = joblib.load(file.name)
        np.testing.assert_array_equal(again.predict_proba(self.X), model.predict_proba(self.X))
        self.assertFalse(hasattr(clone(again), "classes_"))

    def test_after_a_fit_that_fails_it_is_not_fitted(self):
        from sklearn.utils.validation import check_is_fitted

        for before in (False, True):
            model = KNeighborsClassifier(3)
            if before:
                check_is_fitted(model.fit(self.X, self.y))
            with self.assertRaises(ValueError):
                model.set_params(device="tpu").fit(self.X, self.y)
            with self.assertRaises(NotFittedError):
                check_is_fitted(model)

    def test_grid_search_in_two_processes(self):
        search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3], "weights": ["uniform", "distance"]}, cv=3, n_jobs=2)
        search.fit(self.X, self.y)
        self.assertGreater(search.best_score_, 0.8)
        alone = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3], "weights": ["uniform", "distance"]}, cv=3)
        np.testing.assert_array_equal(alone.fit(self.X, self.y).cv_results_["mean_test_score"],
                                      search.cv_results_["mean_test_score"])  # fmt: skip

    def test_processes_that_fork(self):
        with joblib.parallel_backend("multiprocessing"):
            scores = cross_val_score(KNeighborsClassifier(), self.X, self.y, cv=3, n_jobs=2)
        self.assertGreater(scores.mean(), 0.8)

    @FLOATS
    def test_a_pipeline(self):
        from sklearn.preprocessing import StandardScaler

        model = make_pipeline(StandardScaler(), KNeighborsClassifier(3)).fit(self.X, self.y)
        brute = make_pipeline(StandardScaler(), theirs.KNeighborsClassifier(3, algorithm="brute")).fit(self.X, self.y)
        self.assertGreater((model.predict(self.X) == brute.predict(self.X)).mean(), 0.99)

    def test_the_graph_of_others(self):
        from sklearn.cluster import DBSCAN
        from sklearn.manifold import TSNE

        X = np.concatenate([RANDOM.integers(0, 60, (30, 4), np.uint8), RANDOM.integers(190, 256, (30, 4), np.uint8)])
        clusters = make_pipeline(KNeighborsTransformer(8), DBSCAN(eps=60, min_samples=4, metric="precomputed")).fit_predict(X)
        self.assertEqual(len(set(clusters) - {-1}), 2)
        places = TSNE(metric="precomputed", init="random", perplexity=5, n_iter=250).fit_transform(
            KNeighborsTransformer(20).fit_transform(X))  # fmt: skip
        self.assertEqual(places.shape, (60, 2))
        self.assertEqual(graph(X, 3).matrix("mutual").nnz % 2, 0)

    def test_it_stands_in_for_scikit_learns_search(self):
        from sklearn.manifold import Isomap

        spread = Isomap(n_neighbors=8, metric="precomputed")
        self.assertEqual(make_pipeline(KNeighborsTransformer(8), spread).fit_transform(self.X).shape, (300, 2))


class Frames(unittest.TestCase):
    def test_columns(self):
        support.require("pandas")
        import pandas

        frame = pandas.DataFrame(RANDOM.integers(0, 256, (50, 3), np.uint8), columns=["a", "b", "c"])
        y = pandas.Series(np.where(frame.a > 99, "x", "y"))
        model = KNeighborsClassifier(1).fit(frame, y)
        self.assertEqual(model.feature_names_in_.tolist(), ["a", "b", "c"])
        self.assertEqual(model.score(frame, y), 1)
        with self.assertRaisesRegex(ValueError, "feature names should match"):
            model.predict(frame[["b", "a", "c"]])
        with self.assertWarnsRegex(UserWarning, "does not have valid feature names"):
            model.predict(frame.to_numpy())
        with self.assertWarnsRegex(UserWarning, "fitted without feature names"):
            KNeighborsClassifier(1).fit(frame.to_numpy(), y).predict(frame)


support.main()
