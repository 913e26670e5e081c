"""Digits in pictures: what the program's `classify` does, with pictures from files, bytes, arrays and PIL."""

from __future__ import annotations

import ctypes
import os
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Iterator, Sequence

import numpy as np

from . import _arrays, _show
from ._checks import integer, kind, path_or_name, shown
from ._library import Array, Digits, Index, TrainingSet, encoded_text, has

_SIDE = 28
#: That are converted to gray.
_PIXELS_AT_ONCE = 1 << 20
_LARGEST = 1 << 30  #: bytes of a file, as the program has it
_UNSAID = "unlike the training digits, or like two of them"


@dataclass(frozen=True)
class Digit:
    """One digit. label: -1 if it was rejected, with a reason; guess: what it would be, -1 if nothing is known. probability:
    that the label, or the guess, is right. p_value: the share of training images that are as unusual. box: x, y, width and
    height of its ink in the picture, in pixels. pixels: as it was searched for, uint8, 28 × 28, 255 = ink."""

    label: int
    probability: float
    reason: str
    guess: int
    vote_share: float
    p_value: float
    box: tuple[int, int, int, int]
    pixels: Array = field(repr=False, compare=False)

    @property
    def rejected(self) -> bool:
        """Whether there is no label."""
        return self.label < 0


class DigitList(Sequence[Digit]):
    """Digits in order. In a notebook, a table with their pixels."""

    def __init__(self, digits: Sequence[Digit]) -> None:
        self._digits = list(digits)

    def __len__(self) -> int:
        return len(self._digits)

    def __getitem__(self, i: Any) -> Any:
        return DigitList(self._digits[i]) if isinstance(i, slice) else self._digits[i]

    def __iter__(self) -> Iterator[Digit]:
        return iter(self._digits)

    def __repr__(self) -> str:
        return f"DigitList({', '.join('?' if digit.rejected else str(digit.label) for digit in self)})"

    @property
    def labels(self) -> Array:
        """int64, n; -1: rejected."""
        return np.array([digit.label for digit in self], np.int64)

    @property
    def probabilities(self) -> Array:
        """That each answer is right: float64, n."""
        return np.array([digit.probability for digit in self], np.float64)

    @property
    def rejected(self) -> Array:
        """bool, n."""
        return self.labels < 0

    def _repr_html_(self) -> str:
        return _show.table(self)


class DigitClassifier:
    """Classifies digits in pictures by a method of the program, by default `accurate` on MNIST.

    method: "accurate", "gradients", "raw", or a file of `mnist-knn tune --save` without minmax and zscore. reject: the share of right answers that may be
    rejected, below 1; 0: none is. data: a folder with a training set in MNIST's form; None: where the program looks, else digits
    that the library draws. device: as NearestNeighbors. The training set is opened by `fit`, or by the first picture:
    `accurate` takes 10 s for it on two cores, then 0.1 s, because what it fits is kept in the user's cache.

    A picture is a path, encoded bytes (PNG, JPEG, BMP, TIFF, WebP, PNM), a PIL image, or an array: rows × columns of gray values
    of any size and polarity, with a third axis of 3 or 4 for colors. Values are uint8, uint16, bool, or floats from 0 to 1. It
    is no scikit-learn estimator: its input are pictures, not rows of one length.
    """

    def __init__(self, method: str = "accurate", *, reject: float = 0.008, data: str | os.PathLike[str] | None = None,
                 device: str = "auto") -> None:  # fmt: skip
        self.method = method
        self.reject = reject
        self.data = data
        self.device = device
        self._index: Index | None = None
        self._given: tuple[Any, Any] = (None, None)

    def __repr__(self) -> str:
        return f"DigitClassifier({self.method!r}, reject={self.reject}, data={self.data!r}, device={self.device!r})"

    def fit(self, X: Any = None, y: Any = None) -> DigitClassifier:
        """Opens a training set: X (uint8, n × 784 or n × 28 × 28, 0 = background) with labels y (uint8, n), or `data`."""
        if X is None:
            if y is not None:
                raise ValueError("X: is None beside y; expected both or none")
            training = TrainingSet.of_files(self.data)
            if training.dim != _SIDE * _SIDE:
                raise ValueError(f"data {shown(self.data)}: has images of {training.dim} pixels; expected 28 × 28")
        elif y is None:
            raise ValueError("y: is None beside X; expected both or none")
        else:
            images, labels = _bytes_of(X, "X"), _bytes_of(y, "y")
            if images[:1].size != _SIDE * _SIDE or labels.shape != images.shape[:1]:
                raise ValueError(f"X, y: have shapes {images.shape}, {labels.shape}; expected n × 784 and n")
            training = TrainingSet(images.reshape(len(images), -1), labels, (_SIDE, _SIDE))
        index = Index(training, method=path_or_name(self.method, "method"), device=self.device)
        if len(training) < (k := index.info.k):
            raise ValueError(f"{'data' if X is None else 'X'}: has {len(training)} images; expected at least {k}, as many as vote")
        index.classify(np.empty((0, _SIDE * _SIDE), np.uint8), ("p_values",), self.reject)  # fits what answers need
        self._index, self._given = index, (X, y)
        return self

    def _opened(self) -> Index:
        if self._index is None or not self._index.is_ours:
            self.fit(*self._given)
        assert self._index is not None
        return self._index

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_index": None}

    def predict(self, pictures: Any) -> Array:
        """The digit of each picture, -1 where it is rejected: int64, n. `pictures`: one, a list, or an array of n × 784, or n ×
        rows × columns. Raises OSError for a file that cannot be read, TypeError, ValueError."""
        return self.classify(pictures).labels

    def classify(self, pictures: Any) -> DigitList:
        """The digit of each picture, with its probability, reason of rejection and pixels; `pictures` as predict."""
        index, given = self._opened(), _pictures_of(pictures)
        answers: list[Digit | None] = [None] * len(given)
        made: dict[int, Array] = {}  # searched together
        for i, one in enumerate(given):
            with _naming(one, i):
                content = _content_of(one)
                if (pixels := _made(content)) is None:
                    answers[i] = self._read(content, many=False)[0]
                else:
                    made[i] = pixels
        if made:
            for i, digit in zip(made, self._of_pixels(index, np.stack(list(made.values())))):
                # Why a digit is rejected is said by what reads pictures.
                answers[i] = self._read(made[i], many=False)[0] if digit.rejected and has("pictures") else digit
        return DigitList([answer for answer in answers if answer is not None])

    def read(self, picture: Any, many: bool = True) -> DigitList:
        """The digits of one picture in reading order: any number, or exactly one unless `many`."""
        with _naming(picture):
            return self._read(_content_of(picture), many)

    def _read(self, content: bytes | Array, many: bool) -> DigitList:
        read = Digits(self._opened(), content, bool(many), self.reject)  # which the pixels of its digits belong to
        return DigitList([_digit_of(one) for one in read.read()])

    def _of_pixels(self, index: Index, pixels: Array) -> list[Digit]:
        wanted = ("labels", "vote_shares", "probabilities", "p_values", "rejected")
        found = index.classify(pixels.reshape(len(pixels), -1), wanted, self.reject)
        digits = []
        for i, image in enumerate(pixels):
            label, rejected = int(found["labels"][i]), bool(found["rejected"][i])
            y, x = (np.flatnonzero(image.any(axis=axis)) for axis in (1, 0))
            digits.append(Digit(label=-1 if rejected else label, probability=float(found["probabilities"][i]),
                                reason=_UNSAID if rejected else "", guess=label if rejected else -1,
                                vote_share=float(found["vote_shares"][i]), p_value=float(found["p_values"][i]),
                                box=(int(x[0]), int(y[0]), int(np.ptp(x)) + 1, int(np.ptp(y)) + 1), pixels=image))  # fmt: skip
        return digits

    def explain(self, picture: Any, n_neighbors: int = 8) -> Any:
        """The digit's 28 × 28 pixels beside its nearest training images, with labels and distances by the method: a PIL image, or a
        matplotlib figure if there is no PIL."""
        integer(n_neighbors, "n_neighbors")
        digit, index = self.classify([picture])[0], self._opened()
        indices, distances = index.search(digit.pixels.reshape(1, -1), n_neighbors)
        images, labels = index.training.read(indices[0])
        return _show.explanation(digit, images.reshape(-1, _SIDE, _SIDE), labels, distances[0])


@contextmanager
def _naming(picture: Any, i: int | None = None) -> Iterator[None]:
    """Errors of "picture" name this one: its path, or its place in a list."""
    try:
        yield
    except (OSError, TypeError, ValueError) as error:
        is_path = isinstance(picture, (str, os.PathLike))
        if not str(error).startswith("picture: ") or not is_path and i is None:
            raise
        name = os.fspath(picture) if is_path else f"picture {i}"
        raise type(error)(f"{name}: {str(error).removeprefix('picture: ')}") from None


def _bytes_of(given: Any, name: str) -> Array:
    """As uint8. Raises ValueError if there are other values than the integers 0 to 255."""
    array = _arrays.to_array(given, name)
    if array.dtype.kind == "O":  # numbers as Python has them, or pandas
        with _arrays.named(name):
            array = _arrays.as_type(array, _arrays.element_type(array, name))
    narrowed = _arrays.narrowed(array) if array.dtype.kind in "biuf" and array.ndim else None
    if narrowed is None:
        raise ValueError(f"{name}: has other values than the integers 0 to 255; expected bytes")
    return narrowed


def _digit_of(one: Any) -> Digit:
    pixels = np.frombuffer(ctypes.string_at(one.pixels, _SIDE * _SIDE), np.uint8).reshape(_SIDE, _SIDE)
    return Digit(label=one.label, probability=one.probability, reason=one.reason.decode(), guess=one.guess,
                 vote_share=one.vote_share, p_value=one.p_value, box=(one.x, one.y, one.w, one.h), pixels=pixels)  # fmt: skip


def _pictures_of(given: Any) -> list[Any]:
    """A list of pictures."""
    if isinstance(given, (str, os.PathLike, bytes, bytearray, memoryview)) or hasattr(given, "convert"):
        return [given]
    if isinstance(given, (list, tuple)):
        return list(given)
    array = _one_channel(_array_of(given, "pictures"))
    if array.ndim == 2 and array.shape[1] == _SIDE * _SIDE:
        return list(array.reshape(-1, _SIDE, _SIDE))
    if array.ndim == 2 or array.ndim == 3 and array.shape[2] in (3, 4):
        return [array]
    if array.ndim in (3, 4):
        return list(array)
    raise ValueError(f"pictures: have shape {array.shape}; expected n × 784, n × rows × columns, or one picture")


def _content_of(picture: Any) -> bytes | Array:
    """Encoded bytes, or gray pixels: uint8, rows × columns."""
    if isinstance(picture, (str, os.PathLike)):
        with open(os.fsdecode(encoded_text("picture", picture)), "rb") as file:
            content = b"" if os.fstat(file.fileno()).st_size > _LARGEST else file.read(_LARGEST + 1)
            if not content or len(content) > _LARGEST:
                raise OSError("picture: is empty or larger than 1 GiB; expected PNG, JPEG, BMP, TIFF, WebP or PNM")
            return content
    if isinstance(picture, (bytes, bytearray, memoryview)):
        return bytes(picture)
    if hasattr(picture, "convert"):
        return _gray_of(_show.upright(picture))
    return _gray_of(_array_of(picture, "picture"))


def _array_of(given: Any, name: str) -> Array:
    array = _arrays.to_array(given, name)
    if array.ndim == 0:
        raise TypeError(f"{name}: is {kind(given)}; expected an array, a file's name or content, or a list of pictures")
    return array


def _one_channel(array: Array) -> Array:
    return array[..., 0] if array.ndim in (3, 4) and array.shape[-1] == 1 else array


def _gray_of(array: Array) -> Array:
    """Colors by their brightness, transparent ones on white, or on black where little shows on white, as files are read. A row of 784 is
    28 × 28."""
    array = _one_channel(array)
    if array.shape == (_SIDE * _SIDE,):
        array = array.reshape(_SIDE, _SIDE)
    letter = array.dtype.kind
    if array.ndim not in (2, 3) or array.size == 0 or array.ndim == 3 and array.shape[2] not in (3, 4):
        raise ValueError(f"picture: has shape {array.shape}; expected rows × columns, or a third axis of 3 or 4 colors")
    if array.dtype == np.uint8 and array.ndim == 2:
        return array
    if letter == "f" and not (np.isfinite(array).all() and array.min() >= 0 and array.max() <= 1):
        raise ValueError("picture: has floats that are not from 0 to 1; expected such ones, or uint8")
    scale = {"b": 1.0, "f": 1.0}.get(letter) or {"uint8": 255.0, "uint16": 65535.0}.get(array.dtype.name)
    if scale is None:
        raise TypeError(f"picture: is {array.dtype}; expected uint8, uint16, bool or floats from 0 to 1")
    on_black = np.empty(array.shape[:2], np.uint8)
    on_white = np.empty_like(on_black) if array.shape[2:] == (4,) else None
    step = max(1, _PIXELS_AT_ONCE // array.shape[1])
    for first in range(0, len(array), step):
        rows = slice(first, first + step)
        values = array[rows] / scale
        opacity: Any = 1.0 if on_white is None else values[..., 3]
        if values.ndim == 3:
            values = np.rint(values[..., :3] @ np.array([0.299, 0.587, 0.114]) * 255) / 255 * opacity
        on_black[rows] = np.rint(values * 255)
        if on_white is not None:
            on_white[rows] = np.rint((values + 1 - opacity) * 255)
    if on_white is None:
        return on_black
    dark, light = 255 - int(on_white.min()), int(on_black.max())
    return on_black if dark < 32 and light > dark else on_white


def _made(content: bytes | Array) -> Array | None:
    """Pixels in MNIST's form, if these are so already or their negative is: 28 × 28, ink on 0 in a box of 16 to 20 pixels, its
    center of mass in the middle. The library has the same rule (is_made in data/picture/digit_image.cpp)."""
    if isinstance(content, bytes) or content.shape != (_SIDE, _SIDE):
        return None
    for image in (content, 255 - content):
        ink = [np.flatnonzero(image.any(axis=axis)) for axis in (0, 1)]
        if image.max() < 200 or not 16 <= max(int(np.ptp(one)) + 1 for one in ink) <= 20:
            continue
        mass = [image.sum(axis=axis, dtype=np.int64) for axis in (0, 1)]
        if all(abs(float(one @ np.arange(_SIDE)) / float(one.sum()) - 13.75) <= 1 for one in mass):
            return np.ascontiguousarray(image)
    return None
