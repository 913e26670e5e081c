"""Arrays of PyTorch and CuPy on a GPU: in by any estimator, out by `out=`, on their streams."""

import unittest

import numpy as np
import support

support.require("torch")
import torch  # noqa: E402

from mnist_knn import KNeighborsClassifier, NearestNeighbors  # noqa: E402


def out_for(n, k):
    return (torch.full((n, k), -1.0, dtype=torch.float64, device="cuda"), torch.full((n, k), -1, dtype=torch.int32, device="cuda"))


@unittest.skipUnless(torch.cuda.is_available() and support.has_type("device-memory"), "no GPU, or a library without CUDA")
class OnDevice(unittest.TestCase):
    def setUp(self):
        random = np.random.default_rng(5)
        self.X = random.integers(0, 256, (3000, 96)).astype(np.uint8)
        self.Q = random.integers(0, 256, (500, 96)).astype(np.uint8)
        self.y = random.integers(0, 4, 3000)

    def check(self, model, Q, k=7):
        distances, indices = model.kneighbors(Q.cpu().numpy(), k)
        out = out_for(len(Q), k)
        self.assertIs(model.kneighbors(Q, k, out=out), out)
        np.testing.assert_array_equal(out[0].cpu().numpy(), distances)
        np.testing.assert_array_equal(out[1].cpu().numpy(), indices)
        for some in ((None, out[1]), (out[0], None)):
            model.kneighbors(Q, k, out=some)
        torch.cuda.synchronize()
        np.testing.assert_array_equal(out[1].cpu().numpy(), indices)

    def test_searches_of_every_kind(self):
        Q = torch.tensor(self.Q, device="cuda")
        for metric in ("euclidean", "sqeuclidean", "manhattan", "cosine"):
            with self.subTest(metric=metric):
                self.check(NearestNeighbors(metric=metric).fit(self.X), Q)
        wide = torch.zeros((500, 128), dtype=torch.uint8, device="cuda")
        wide[:, :96] = Q
        self.check(NearestNeighbors().fit(self.X), wide[:, :96])
        self.check(NearestNeighbors().fit(self.X), Q[::2])
        model = NearestNeighbors().fit(self.X.astype(np.float32) / 7)  # searched by the host
        self.check(model, Q.to(torch.float32) / 7)

    def test_the_stream_is_that_of_torch(self):
        model = NearestNeighbors(n_neighbors=3).fit(self.X)
        wanted = model.kneighbors(self.Q)[1]
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for _ in range(20):
                torch.cuda._sleep(10_000_000)
                Q = torch.tensor(self.Q).pin_memory().to("cuda", non_blocking=True)
                out = out_for(len(Q), 3)
                model.kneighbors(Q, out=out)
                found = (out[1] + 0).cpu().numpy()
                np.testing.assert_array_equal(found, wanted)

    def test_estimators_take_them(self):
        X, Q, y = (torch.tensor(array, device="cuda") for array in (self.X, self.Q, self.y))
        host = KNeighborsClassifier(3).fit(self.X, self.y)
        model = KNeighborsClassifier(3).fit(X, y)
        np.testing.assert_array_equal(model.predict(Q), host.predict(self.Q))
        np.testing.assert_array_equal(model.kneighbors(Q)[1], host.kneighbors(self.Q)[1])

    def test_cupy(self):
        support.require("cupy")
        import cupy

        model = NearestNeighbors(n_neighbors=4).fit(cupy.asarray(self.X))
        distances, indices = model.kneighbors(self.Q)
        out = (cupy.empty((500, 4)), cupy.empty((500, 4), cupy.uint32))
        with cupy.cuda.Stream(non_blocking=True):
            model.kneighbors(cupy.asarray(self.Q), out=out)
            np.testing.assert_array_equal(out[0].get(), distances)
            np.testing.assert_array_equal(out[1].get(), indices)

    def test_what_does_not_fit_is_refused(self):
        model = NearestNeighbors().fit(self.X)
        Q = torch.tensor(self.Q, device="cuda")
        for out, error in (
            ((torch.empty((500, 5)), None), TypeError),
            (out_for(499, 5), ValueError),
            (out_for(500, 4), ValueError),
            ((out_for(500, 5)[0].float(), None), ValueError),
            ((out_for(500, 10)[0][:, ::2], None), TypeError),
            ((out_for(500, 10)[0][:, :5], None), ValueError),
        ):
            with self.assertRaisesRegex(error, "expected"):
                model.kneighbors(Q, 5, out=out)
        for wrong in (Q[:, :5], Q.to(torch.int32), Q.T, torch.tensor(self.Q)):
            with self.assertRaises((TypeError, ValueError)):
                model.kneighbors(wrong, 5, out=out_for(500, 5))


if __name__ == "__main__":
    support.main()
