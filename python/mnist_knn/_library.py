"""libmnistknn by ctypes: finding it, the structs of mnist_knn/knn.h, sets, indexes, errors, interruption.

A call lets other Python threads run. Handles are freed with the objects that own them, never while a call uses them.
"""

from __future__ import annotations

import _thread
import ctypes
import os
import re
import threading
import weakref
from pathlib import Path
from typing import Any, Callable

import numpy as np

from ._checks import integer, kind, number, shown

_int64, _int32, _pointer, _text = ctypes.c_int64, ctypes.c_int32, ctypes.c_void_p, ctypes.c_char_p
Array = np.ndarray[Any, Any]

DType = np.dtype[Any]

#: Element types of the library, by NumPy's type in this machine's byte order.
TYPES: dict[DType, int] = {np.dtype(name): i for i, name in enumerate(("uint8", "int8", "float32", "float64"))}
MAX_K = 16_384


class _Struct(ctypes.Structure):
    """A struct of knn.h: struct_size first, fields that are not named are 0. `held`: what its pointers point to."""

    _fields_: Any = [("struct_size", ctypes.c_size_t)]
    held: Any

    def __init__(self, **fields: Any) -> None:
        super().__init__(ctypes.sizeof(self), **fields)


class Vectors(_Struct):
    _fields_ = [
        ("data", _pointer), ("count", _int64), ("dim", _int64), ("pitch", _int64), ("type", _int32), ("space", _int32),
        ("stream", _pointer), ("image_rows", _int32), ("image_cols", _int32), ("borrowed", _int32), ("reserved", _int32),
    ]  # fmt: skip


class Files(_Struct):
    _fields_ = [
        ("folder", _text), ("images", _text), ("labels", _text), ("first", _int64), ("no_cache", _int32), ("reserved", _int32),
    ]  # fmt: skip


class SetInfo(_Struct):
    _fields_ = [
        ("count", _int64), ("dim", _int64), ("image_rows", _int32), ("image_cols", _int32), ("has_labels", _int32),
        ("type", _int32),
    ]  # fmt: skip


class Settings(_Struct):
    _fields_ = [
        ("method", _text), ("metric", _text), ("p", ctypes.c_double), ("weights", _text), ("tie", _text), ("device", _text),
        ("engine", _text), ("memory", _int64), ("k", _int32), ("threads", _int32), ("progress", _pointer), ("data", _pointer),
    ]  # fmt: skip


class IndexInfo(_Struct):
    _fields_ = [
        ("count", _int64), ("method", _text), ("engine", _text), ("device", ctypes.c_char * 32), ("k", _int32),
        ("reserved", _int32), ("metric", _text), ("candidates", _int64),
    ]  # fmt: skip


class Options(_Struct):
    _fields_ = [("progress", _pointer), ("data", _pointer), ("reject", ctypes.c_double)]


class NeighborArrays(_Struct):
    _fields_ = [
        ("count", _int64), ("indices", _pointer), ("distances", _pointer), ("k", _int32), ("space", _int32),
        ("stream", _pointer), ("wide_indices", _pointer), ("roots", _int32), ("reserved", _int32),
    ]  # fmt: skip


class AnswerArrays(_Struct):
    _fields_ = [
        ("count", _int64), ("labels", _pointer), ("vote_shares", _pointer), ("probabilities", _pointer),
        ("p_values", _pointer), ("rejected", _pointer), ("neighbors", _pointer),
    ]  # fmt: skip


class Picture(_Struct):
    _fields_ = [
        ("data", _pointer), ("size", _int64), ("pitch", _int64), ("rows", _int32), ("cols", _int32), ("many", _int32),
        ("reserved", _int32),
    ]  # fmt: skip


class DigitOfPicture(_Struct):
    _fields_ = [
        ("pixels", _pointer), ("reason", _text), ("probability", ctypes.c_double), ("vote_share", ctypes.c_double),
        ("p_value", ctypes.c_double), ("label", _int32), ("guess", _int32), ("x", _int32), ("y", _int32), ("w", _int32),
        ("h", _int32),
    ]  # fmt: skip


_FUNCTIONS = {
    "knn_set_create": [_pointer, _pointer, _pointer], "knn_set_open": [_pointer, _pointer],
    "knn_set_add": [_pointer, _pointer, _pointer], "knn_set_get_info": [_pointer, _pointer],
    "knn_set_read": [_pointer, _int64, _int64, _pointer, _pointer],
    "knn_index_create": [_pointer, _pointer, _pointer], "knn_index_save": [_pointer, _text],
    "knn_index_open": [_pointer, _text, _pointer, _pointer], "knn_index_get_info": [_pointer, _pointer],
    "knn_search": [_pointer, _pointer, _pointer, _pointer],
    "knn_search_rows": [_pointer, _pointer, _int64, _pointer, _pointer],
    "knn_classify": [_pointer, _pointer, _pointer, _pointer],
    "knn_classify_rows": [_pointer, _pointer, _int64, _pointer, _pointer],
    "knn_digits_read": [_pointer, _pointer, _pointer, _pointer], "knn_digits_get_count": [_pointer, _pointer],
    "knn_digits_get": [_pointer, _int64, _pointer],
    "knn_set_free": [_pointer], "knn_index_free": [_pointer], "knn_digits_free": [_pointer], "knn_has": [_text],
}  # fmt: skip

_loaded: ctypes.CDLL | None = None

_SONAME = "libmnistknn.so.0"


def _load() -> ctypes.CDLL:
    """Beside the package, $MNIST_KNN_LIBRARY, or where the system's linker finds it. Raises OSError."""
    beside = Path(__file__).resolve().parent / _SONAME
    name = str(beside) if beside.is_file() else os.environ.get("MNIST_KNN_LIBRARY") or _SONAME
    try:
        return ctypes.CDLL(name)
    except OSError as error:
        raise OSError(f"{name}: cannot be loaded: {error}; expected {_SONAME} beside the package mnist_knn, in "
                      "$MNIST_KNN_LIBRARY, or installed") from error  # fmt: skip


def library() -> ctypes.CDLL:
    """The library, loaded by the first call. Raises OSError."""
    global _loaded
    if _loaded is None:
        loaded = _load()
        try:
            for name, arguments in _FUNCTIONS.items():
                function = getattr(loaded, name)
                function.argtypes, function.restype = arguments, None if name.endswith("_free") else ctypes.c_int
            for name in ("knn_last_error", "knn_version"):
                getattr(loaded, name).restype = _text
        except AttributeError as error:
            raise OSError(f"{loaded._name}: is another library: {error}; expected {_SONAME}") from error
        _loaded = loaded
    return _loaded


def library_version() -> str:
    """Of libmnistknn, as "0.1.0"."""
    return str(library().knn_version().decode())


def encoded_text(name: str, text: Any) -> bytes:
    """A text or path for the library, which would take a number for an address, and a text up to its first NUL."""
    if not isinstance(text, (str, os.PathLike)):
        raise TypeError(f"{name} {shown(text)}: is {kind(text)}; expected a text")
    encoded = os.fsencode(text)
    if not encoded:
        raise ValueError(f"{name} {shown(text)}: is empty; expected a text")
    if b"\0" in encoded:
        raise ValueError(f"{name} {shown(text)}: has a character NUL; expected a text without")
    return encoded


def has(feature: str) -> bool:
    """Whether the library can do this: "cuda", "pictures", "device-memory", or an element type such as "float32"."""
    return bool(library().knn_has(encoded_text("feature", feature)))


# KNN_INVALID to KNN_INTERNAL. KNN_STOPPED is raised by what asked for it.
_ERRORS: dict[int, type[Exception]] = {
    1: ValueError, 2: ValueError, 3: OSError, 4: RuntimeError, 5: MemoryError, 6: InterruptedError, 7: RuntimeError,
}  # fmt: skip


#: What the C interface names, by Python's parameters.
_NAMES = (
    (r"^k (?=\d)", "n_neighbors "), (r"^(training set|queries|vectors|set): ", "X: "),
    (r"^options: has (reject \S+);", r"\1: is out of range;"), (r"^(transform|rerank|vote) ", r"method: \1 "),
    (r"image_rows and image_cols of the set", "rows of 784 pixels"),
)  # fmt: skip


def by_parameters(text: str) -> str:
    """A message of the library that names what Python's caller passed."""
    for pattern, name in _NAMES:
        text = re.sub(pattern, name, text)
    return text


def _raise(status: int) -> None:
    text = library().knn_last_error().decode(errors="replace")
    if status in (1, 2):  # others begin with names of files
        text = by_parameters(text)
    raise _ERRORS.get(status, RuntimeError)(text)


# Python's handlers of signals run in the main thread, and not while that is in a call. So long calls of the main thread
# run in another one. What the library calls now and then, "progress", must answer whether to stop: strlen of one byte that
# is 0 until it is to stop. A callback in Python would have to wait for the interpreter's lock each time.
_strlen = ctypes.cast(ctypes.CDLL(None).strlen, ctypes.c_void_p).value

#: Products of elements from which a search may take longer than 0.1 s on a slow processor; of lp, powers.
LONG_CALL, LONG_CALL_OF_POWERS = 100_000_000, 100_000
SECONDS_BETWEEN_LOOKS = 0.05
#: Of a picture that takes less.
QUICK_PIXELS = 256 * 256
MOST_PIXELS = 100_000_000  #: of any
_WAITS, _RUNS = "waits", "runs"


def call(name: str, *arguments: Any, stop: Any = None) -> None:
    """Calls a function of the library; raises what its status says. `stop`: a struct with progress and data, of a call that
    may take long: then Ctrl-C stops it."""
    function = getattr(library(), name)
    for argument in arguments:
        if isinstance(argument, Handle):
            argument.check()
    if stop is None or threading.current_thread() is not threading.main_thread():
        status = function(*arguments)
        if status:
            _raise(status)
        return
    flag = stop.held = ctypes.create_string_buffer(2)
    stop.progress, stop.data = _strlen, ctypes.addressof(flag)
    # Locks and Events of `threading` are left in any state by an exception in them, which a signal may raise; this one is C.
    ended = _thread.allocate_lock()
    ended.acquire()
    outcome: list[Any] = [_WAITS]
    token: _Token | None = _Token()
    thread = weakref.ref(token)  # of what only the thread has: None once it ended, also where it had no memory to call `run`

    def run(token: Any = None) -> None:  # `arguments` keeps what the library reads and writes
        del token
        outcome[0] = _RUNS
        try:
            status = function(*arguments)
            if status:
                _raise(status)  # the text of the error is this thread's
            outcome[0] = None
        except BaseException as error:
            outcome[0] = error
        finally:
            ended.release()

    def wait() -> None:
        while outcome[0] in (_WAITS, _RUNS) and thread() is not None:
            # A signal that comes between Python's last look for one and the wait does not end the wait.
            ended.acquire(True, SECONDS_BETWEEN_LOOKS)

    try:
        _thread.start_new_thread(run, (token,))
        token = None
        wait()
    except BaseException as error:  # KeyboardInterrupt, or what another handler of a signal raises
        token = None
        if not isinstance(error, (RuntimeError, MemoryError)) or outcome[0] is not _WAITS or thread() is not None:
            flag[0] = b"1"
            while True:
                try:
                    wait()
                    break
                except BaseException:  # the first one is raised
                    pass
            raise
    if outcome[0] is _WAITS:  # there is no thread
        run()
    if outcome[0] is not None:
        failure = outcome.pop()
        try:
            raise MemoryError("out of memory in a thread; expected more") if failure is _RUNS else failure
        finally:
            del failure  # else it refers to itself by this frame, and keeps all arrays until a garbage collection


class _Token:
    """Something to refer to weakly."""


#: Of this process: another object in each forked child.
_process = object()


def _after_fork() -> None:
    global _process
    _process = object()


os.register_at_fork(after_in_child=_after_fork)


class ForkError(RuntimeError):
    """A handle of the parent process is used in a forked child, where the library's threads and locks are not."""


class Handle:
    """A handle of the library; freed with this object, in the process that made it."""

    def __init__(self, release: str, make: Callable[[Any], None]) -> None:
        handle = _pointer()
        make(ctypes.byref(handle))
        self._as_parameter_ = handle  # what ctypes passes
        self._process = _process
        weakref.finalize(self, _free, release, handle, self._process).atexit = False

    @property
    def is_ours(self) -> bool:
        """Whether this process made it, and did not inherit it by fork."""
        return self._process is _process

    def check(self) -> None:
        """Raises ForkError unless this process made it."""
        if not self.is_ours:
            raise ForkError("an index of the parent process is used after fork; expected one that this process made")

    def __reduce__(self) -> Any:
        raise TypeError(f"{type(self).__name__}: has no form that can be pickled; expected an estimator")


def _free(release: str, handle: ctypes.c_void_p, process: object) -> None:
    if process is _process:
        getattr(library(), release)(handle)


def vectors_of(array: Array, shape: tuple[int, int] = (0, 0)) -> Vectors:
    """A 2-D array (count × dim) of an element type of the library as its struct, without a copy: elements of a row lie
    one behind the other. `shape`: rows and columns of the images, if they are images."""
    if array.ndim != 2 or array.dtype not in TYPES:
        raise TypeError(f"vectors: have {array.ndim} dimensions of {array.dtype}; expected 2 of uint8, int8, float32 or "
                        "float64")  # fmt: skip
    count, dim = array.shape
    row_step, step = array.strides
    if step != array.itemsize and array.size > count or row_step < dim * array.itemsize and count > 1:
        raise ValueError("vectors: have gaps between the elements of a row; expected C order")
    pitch = row_step if count > 1 else 0
    vectors = Vectors(data=array.ctypes.data, count=count, dim=dim, pitch=pitch, type=TYPES[array.dtype],
                      image_rows=shape[0], image_cols=shape[1])  # fmt: skip
    vectors.held = array
    return vectors


def _address(array: Array | None) -> int | None:
    return None if array is None else array.ctypes.data


class TrainingSet(Handle):
    """Vectors (count × dim), and perhaps a label 0 to 255 for each. An array in C order is not copied: it must not change.

    Raises TypeError, ValueError, MemoryError."""

    def __init__(self, array: Array, labels: Array | None = None,
                 shape: tuple[int, int] = (0, 0)) -> None:  # fmt: skip
        vectors = vectors_of(array, shape)
        vectors.borrowed = array.flags.c_contiguous
        self.held = array
        labels = _labels_of(labels, len(array))
        super().__init__("knn_set_free", lambda handle: call(
            "knn_set_create", ctypes.byref(vectors), _address(labels), handle))  # fmt: skip
        self.dim, self._count = int(array.shape[1]), len(array)

    @classmethod
    def of_vectors(cls, vectors: Vectors) -> TrainingSet:
        """A copy of vectors without labels, such as those on a device."""
        self = cls.__new__(cls)
        Handle.__init__(self, "knn_set_free", lambda handle: call("knn_set_create", ctypes.byref(vectors), None, handle))
        self.dim, self._count = int(vectors.dim), int(vectors.count)
        return self

    @classmethod
    def of_files(cls, folder: str | os.PathLike[str] | None = None) -> TrainingSet:
        """The training set of a folder with files named as MNIST's; None: where the program looks, else digits that the
        library draws. Raises OSError."""
        files = Files(folder=None if folder is None else encoded_text("data", folder))
        self = cls.__new__(cls)
        Handle.__init__(self, "knn_set_free", lambda handle: call("knn_set_open", ctypes.byref(files), handle))
        self.dim, self._count = int(self.info.dim), int(self.info.count)
        return self

    def read(self, rows: Array) -> tuple[Array, Array]:
        """Copies of some rows, by index (n): vectors (n × dim) and labels (uint8, n), of a set with labels."""
        info = self.info
        vectors = np.empty((len(rows), self.dim), list(TYPES)[info.type])
        labels = np.empty(len(rows), np.uint8)
        for i, row in enumerate(rows):
            call("knn_set_read", self, int(row), 1, _address(vectors[i]), _address(labels[i : i + 1]))
        return vectors, labels

    def add(self, array: Array, labels: Array | None = None) -> None:
        """Appends vectors, which later searches of the set's indexes find."""
        vectors = vectors_of(array)
        labels = _labels_of(labels, len(array))
        call("knn_set_add", self, ctypes.byref(vectors), _address(labels))
        self._count = int(self.info.count)

    @property
    def info(self) -> SetInfo:
        info = SetInfo()
        call("knn_set_get_info", self, ctypes.byref(info))
        return info

    def __len__(self) -> int:
        return self._count


def _labels_of(labels: Array | None, count: int) -> Array | None:
    if labels is None:
        return None
    if labels.dtype != np.uint8 or labels.shape != (count,):
        raise TypeError(f"labels: are {labels.dtype} of shape {labels.shape}; expected uint8 of shape ({count},)")
    return np.ascontiguousarray(labels)


class _Single:
    """What a search of one query needs, ready to be used again. A search leaves the processor's caches to the rows: after it,
    making arrays and structs anew takes longer than all else in Python. So the arrays of answers are made before, many at once."""

    def __init__(self, index: Index, k: int, roots: bool) -> None:
        self.asked, self.function = (k, roots), library().knn_search
        self.query = np.empty((1, index.training.dim), index.type)
        self.out = NeighborArrays(count=1, k=k, roots=roots)
        self.arguments = index._as_parameter_, ctypes.byref(vectors_of(self.query)), None, ctypes.byref(self.out)
        self.answers: list[tuple[Array, Array, int, int]] = []

    def make_answers(self) -> None:
        shape = 1, int(self.out.k)
        for _ in range(max(1, min(32, 1024 // self.out.k))):
            indices, distances = np.empty(shape, np.intp), np.empty(shape, np.float64)
            self.answers.append((indices, distances, indices.ctypes.data, distances.ctypes.data))


_TEXTS = ("method", "metric", "weights", "tie", "device", "engine")
_LARGEST = {"k": MAX_K, "threads": 2**31 - 1, "memory": 2**63 - 1}


class Index(Handle):
    """A training set opened by a method; settings are those of knn_settings (method, metric, p, weights, tie, device,
    engine, memory, k, threads). Several threads may search it at a time.

    Raises ValueError, OSError (data, a file), RuntimeError (a device), MemoryError, KeyboardInterrupt."""

    def __init__(self, training: TrainingSet, file: str | None = None, **settings: Any) -> None:
        for name in settings:
            if name not in (*_TEXTS, *_LARGEST, "p"):
                raise TypeError(f"{name}: is no setting; expected {', '.join((*_TEXTS, *_LARGEST, 'p'))}")
        for name, largest in _LARGEST.items():
            value, name = settings.get(name, 0), "n_neighbors" if name == "k" else name
            if not isinstance(value, (int, np.integer)):
                raise TypeError(f"{name} {shown(value)}: is {kind(value)}; expected an int")
            if not 0 <= value <= largest:
                raise ValueError(f"{name} {value}: is out of range; expected 0 to {largest}")
        given = Settings(**{name: encoded_text(name, value) if name in _TEXTS else value
                            for name, value in settings.items() if value is not None})  # fmt: skip
        name, more = ("knn_index_create", ()) if file is None else ("knn_index_open", (encoded_text("file", file),))
        super().__init__("knn_index_free", lambda handle: call(
            name, training, *more, ctypes.byref(given), handle, stop=given))  # fmt: skip
        self.training = training
        self.device = self.info.device.decode()
        is_raw = file is None and given.method in (None, b"raw")
        self._long_call = 0 if not is_raw else LONG_CALL_OF_POWERS if given.metric == b"lp" else LONG_CALL
        self.type: DType = list(TYPES)[training.info.type]
        #: The shape of one query.
        self.lone = 1, training.dim
        self._singles: list[_Single] = []

    @property
    def info(self) -> IndexInfo:
        info = IndexInfo()
        call("knn_index_get_info", self, ctypes.byref(info))
        return info

    def _is_short(self, count: int) -> bool:
        """Whether a search of so many queries takes too little time to be stopped."""
        return count * self.training.dim * len(self.training) < self._long_call

    def search(self, queries: Array | None, k: int, distances: bool = True, roots: bool = False) -> tuple[Any, Any]:
        """The k nearest of each query: indices (int64), and distances (float64; of l2 squared, unless `roots`) or None, both count × k.
        `queries` None: of each row of the set, which is left out."""
        count = len(self.training) if queries is None else len(queries)
        if integer(k, "n_neighbors") > MAX_K:
            raise ValueError(f"n_neighbors {k}: is out of range; expected 1 to {MAX_K}")
        if queries is not None and queries.shape == self.lone and queries.dtype == self.type and self._is_short(1):
            if (found := self.search_one(queries, k, distances, roots, make=True)) is not None:
                return found
        indices = np.empty((count, k), np.intp)
        lengths = np.empty((count, k), np.float64) if distances else None
        arrays = NeighborArrays(count=count, distances=_address(lengths), k=k, wide_indices=_address(indices), roots=roots)
        arrays.held = indices, lengths
        self._run("search", queries, count, Options(), arrays)
        return indices, lengths

    def search_one(self, query: Array, k: int, distances: bool, roots: bool,
                   make: bool = False) -> tuple[Array, Array | None] | None:  # fmt: skip
        """As `search`, for one query of the set's type (shape: `lone`), if a search before was of one query and these k and
        roots, or with `make`; else None."""
        if self._process is not _process:
            return None
        try:
            one: _Single | None = self._singles.pop()
        except IndexError:
            one = None
        if one is None or one.asked != (k, roots):
            if not make:
                return None
            one = _Single(self, k, roots)
        if not one.answers:
            one.make_answers()
        indices, lengths, one.out.wide_indices, one.out.distances = one.answers.pop()
        one.query[...] = query
        if status := one.function(*one.arguments):
            _raise(status)
        self._singles.append(one)
        return indices, lengths if distances else None

    def classify(self, queries: Array | None, wanted: tuple[str, ...] = ("labels",),
                 reject: float = 0) -> dict[str, Array]:  # fmt: skip
        """Answers by the votes of neighbors, each an array of length count: labels, rejected (uint8), vote_shares,
        probabilities, p_values (float64). `queries` None: of each row of the set by the others."""
        count = len(self.training) if queries is None else len(queries)
        if unknown := set(wanted) - {name for name, _ in AnswerArrays._fields_}:
            raise ValueError(f"wanted: has {', '.join(sorted(unknown))}; expected names of answers")
        answers = {name: np.empty(count, np.uint8 if name in ("labels", "rejected") else np.float64) for name in wanted}
        arrays = AnswerArrays(count=count, **{name: array.ctypes.data for name, array in answers.items()})
        arrays.held = answers
        fits = bool({"probabilities", "p_values", "rejected"} & set(wanted))
        self._run("classify", queries, count, Options(reject=number(reject, "reject")), arrays, fits)
        return answers

    def _run(self, what: str, queries: Array | None, count: int, options: Options, out: Any, fits: bool = False) -> None:
        stop = None if not fits and self._is_short(count) else options
        if queries is None:
            call(f"knn_{what}_rows", self, None, count, ctypes.byref(options), ctypes.byref(out), stop=stop)
        else:
            vectors = vectors_of(queries)
            call(f"knn_{what}", self, ctypes.byref(vectors), ctypes.byref(options), ctypes.byref(out), stop=stop)

    def save(self, file: str) -> None:
        """Writes the method and what it has fitted to the set."""
        call("knn_index_save", self, encoded_text("file", file))


class Digits(Handle):
    """The digits of a picture: encoded bytes, or gray pixels (rows × cols, uint8, 255 = white).

    Raises OSError if it cannot be read, ValueError if the library has no pictures."""

    def __init__(self, index: Index, content: bytes | Array, many: bool, reject: float) -> None:
        options = Options(reject=number(reject, "reject"))
        if isinstance(content, bytes):
            held = ctypes.create_string_buffer(content, max(len(content), 1))
            picture = Picture(data=ctypes.addressof(held), size=len(content), many=many)
            picture.held = held
            if not content:
                raise ValueError("picture: has no bytes; expected PNG, JPEG, BMP, TIFF, WebP or PNM")
        else:
            pixels = np.ascontiguousarray(content)
            if pixels.ndim != 2 or pixels.dtype != np.uint8 or pixels.size == 0:
                raise TypeError(f"picture: is {pixels.dtype} of shape {pixels.shape}; expected uint8, rows × cols")
            if pixels.size > MOST_PIXELS:
                raise ValueError(f"picture: has {pixels.shape[0]} × {pixels.shape[1]} pixels; expected at most {MOST_PIXELS:,}")
            picture = Picture(data=pixels.ctypes.data, rows=pixels.shape[0], cols=pixels.shape[1], many=many)
            picture.held = pixels
        # OpenCV keeps some 850 bytes of each thread that reads a picture, after its end.
        is_quick = not isinstance(content, bytes) and content.size <= QUICK_PIXELS
        super().__init__("knn_digits_free", lambda handle: call(
            "knn_digits_read", index, ctypes.byref(picture), ctypes.byref(options), handle,
            stop=None if is_quick else options))  # fmt: skip

    def read(self) -> list[DigitOfPicture]:
        count = _int64()
        call("knn_digits_get_count", self, ctypes.byref(count))
        digits = [DigitOfPicture() for _ in range(count.value)]
        for i, digit in enumerate(digits):
            call("knn_digits_get", self, i, ctypes.byref(digit))
        return digits
