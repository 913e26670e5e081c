"""Misuse of handles by hypothesis: whatever is called in whatever order with whatever arrays, the process lives, and what is
raised is an error of sense. MNIST_KNN_FUZZ_SECONDS: for so long instead of 30 sequences."""

import gc
import os
import tempfile
import time
import unittest
import warnings
from pathlib import Path

import support

support.require("hypothesis")
import numpy as np
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from mnist_knn import DigitClassifier, KNeighborsClassifier, NearestNeighbors
from mnist_knn._library import Digits, Index, TrainingSet

SECONDS = float(os.environ.get("MNIST_KNN_FUZZ_SECONDS", "0"))
EXPECTED = (ValueError, TypeError, OSError, MemoryError, RuntimeError, AttributeError)  # not fitted is an AttributeError too

kinds = st.sampled_from(["u1", "u1", "u1", "i1", "f4", "f8", ">f8", "i8", "b1", "c8", "O", "U3", "f2"])
sizes = st.integers(0, 6) | st.sampled_from([20, 64, 784])
words = st.none() | st.sampled_from(["raw", "l2", "l1", "lp", "cosine", "pearson", "uniform", "distance", "nearest", "smallest",
                                     "cpu", "gpu", "gpu:0", "auto", "classic", "", "x" * 3000, "raw\0", "\udcff", 5, 2.5, b"raw", ("l2",)])  # fmt: skip
numbers = st.integers(-3, 12) | st.sampled_from([1024, 16_385, 2**31, 2**40, -(2**63), 2**70])


@st.composite
def arrays(draw):
    shape = draw(st.lists(sizes, min_size=0, max_size=3))
    if draw(st.booleans()):
        shape = [draw(st.integers(0, 9)), draw(st.sampled_from([3, 3, 3, 784]))]
    if np.prod(shape) > 100_000:
        shape = shape[:1]
    array = np.random.default_rng(draw(st.integers(0, 9))).integers(0, 9, shape)
    array = array.astype(draw(kinds))
    for change in draw(st.lists(st.sampled_from(["T", "back", "gaps", "F", "still", "nan"]), max_size=2)):
        if change == "T":
            array = array.T
        elif change == "back" and array.ndim:
            array = array[::-1]
        elif change == "gaps" and array.ndim == 2:
            array = array[:, ::2]
        elif change == "F":
            array = np.asfortranarray(array)
        elif change == "nan" and array.dtype.kind == "f" and array.size:
            array = array.copy()
            array.flat[0] = np.nan
        elif change == "still":
            array.flags.writeable = False
    return array


class Misuse(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.sets, self.indexes, self.models = [], [], []

    def attempt(self, act):
        try:
            return act()
        except EXPECTED as error:
            assert "\n" not in str(error), error
            return None

    def some(self, handles, i):
        return handles[i % len(handles)] if handles else None

    @rule(array=arrays(), labels=st.none() | arrays(), shape=st.sampled_from([(0, 0), (28, 28), (-1, 3), (3, 1)]))
    def make_set(self, array, labels, shape):
        made = self.attempt(lambda: TrainingSet(array, labels, shape))
        self.sets += [made] if made is not None else []

    @rule(i=st.integers(0, 9), array=arrays(), labels=st.none() | arrays())
    def add(self, i, array, labels):
        if training := self.some(self.sets, i):
            self.attempt(lambda: training.add(array, labels))

    @rule(i=st.integers(0, 9), method=words, metric=words, device=words, engine=words, tie=words, weights=words, k=numbers,
          threads=numbers, p=st.floats(), file=st.none() | words)  # fmt: skip
    def make_index(self, i, file, **given):
        if training := self.some(self.sets, i):
            made = self.attempt(lambda: Index(training, file, **given))
            self.indexes += [made] if made is not None else []

    @rule(i=st.integers(0, 9))
    def make_a_usual_index(self, i):
        if training := self.some(self.sets, i):
            self.indexes.append(Index(training))

    @rule(i=st.integers(0, 9), queries=st.none() | arrays(), k=numbers, distances=st.booleans())
    def search(self, i, queries, k, distances):
        if index := self.some(self.indexes, i):
            found = self.attempt(lambda: index.search(queries, k, distances))
            assert found is None or (found[0] < len(index.training)).all()

    @rule(i=st.integers(0, 9), queries=st.none() | arrays(), reject=st.floats())
    def classify(self, i, queries, reject):
        if index := self.some(self.indexes, i):
            wanted = ("labels", "vote_shares", "probabilities", "p_values", "rejected")
            self.attempt(lambda: index.classify(queries, wanted, reject))

    @rule(i=st.integers(0, 9), content=st.binary(max_size=40) | arrays(), many=st.booleans(), reject=st.floats())
    def read_a_picture(self, i, content, many, reject):
        if index := self.some(self.indexes, i):
            self.attempt(lambda: Digits(index, content, many, reject).read())

    @rule(i=st.integers(0, 9), damage=st.integers(0, 200))
    def save_and_open(self, i, damage):
        if index := self.some(self.indexes, i):
            with tempfile.NamedTemporaryFile() as file:
                if self.attempt(lambda: index.save(file.name)) is None and damage:
                    content = bytearray(Path(file.name).read_bytes())
                    if damage < len(content):
                        content[damage] ^= 1
                    Path(file.name).write_bytes(content)
                self.attempt(lambda: Index(index.training, file.name))

    @rule(which=st.sampled_from(["sets", "indexes", "models"]))
    def forget(self, which):
        del getattr(self, which)[:1]
        gc.collect()

    @rule(X=arrays(), y=arrays(), k=numbers, metric=words, classifies=st.booleans())
    def fit(self, X, y, k, metric, classifies):
        model = KNeighborsClassifier(k, metric=metric) if classifies else NearestNeighbors(k, metric=metric)
        self.models.append(model)
        self.attempt(lambda: model.fit(X, y))

    @rule(i=st.integers(0, 9), X=st.none() | arrays(), k=st.none() | numbers)
    def ask(self, i, X, k):
        if model := self.some(self.models, i):
            self.attempt(lambda: model.kneighbors(X, k))
            self.attempt(lambda: model.predict(X))

    @rule(X=arrays(), y=arrays(), picture=arrays())
    def digits(self, X, y, picture):
        self.attempt(lambda: DigitClassifier("raw").fit(X, y).classify([picture]))


class Fuzz(unittest.TestCase):
    def test_misuse(self):
        warnings.simplefilter("ignore")  # columns of labels
        start = time.monotonic()
        while True:
            checks = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
            run_state_machine_as_test(Misuse, settings=settings(max_examples=30, stateful_step_count=20, deadline=None,
                                                                suppress_health_check=checks, database=None))  # fmt: skip
            if time.monotonic() - start >= SECONDS:
                break


support.main()
