"""Data sets in files: IDX, and MNIST where the program finds it."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

import numpy as np

from ._library import Array, encoded_text

#: Element types of IDX by the third byte of a file.
_TYPES = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}
_MOST_SIZES = 32  #: of an array of NumPy 1
_FILES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")


def read_idx(path: str | os.PathLike[str]) -> Array:
    """The array in an IDX file, plain or gzip, of the type and shape that the file declares: images are n × rows × cols, labels
    n. Raises OSError if it cannot be read, ValueError if it is damaged."""
    with open(os.fsdecode(encoded_text("path", path)), "rb") as file:  # a number would be a descriptor
        packed = file.peek(2)[:2] == b"\x1f\x8b"
        stream = cast(IO[bytes], gzip.GzipFile(fileobj=file)) if packed else file
        try:
            return _read_array(path, stream)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise ValueError(f"{path}: is damaged: {error}; expected gzip") from error


def _read_array(path: str | os.PathLike[str], stream: IO[bytes]) -> Array:
    """Reads no more than one byte beyond what the first bytes declare, in pieces: they alone decide about no memory."""
    head = stream.read(4)
    if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in _TYPES:
        raise ValueError(f"{path}: is no IDX file; expected 0, 0, a type and a number of sizes at its start")
    if head[3] > _MOST_SIZES:
        raise ValueError(f"{path}: has {head[3]} sizes; expected at most {_MOST_SIZES}")
    dtype, packed_sizes = np.dtype(_TYPES[head[2]]), stream.read(4 * head[3])
    if len(packed_sizes) < 4 * head[3]:
        raise ValueError(f"{path}: is cut short within its header; expected {head[3]} sizes of 4 bytes")
    sizes = [int.from_bytes(packed_sizes[i : i + 4], "big") for i in range(0, len(packed_sizes), 4)]
    room = dtype.itemsize
    for size in sizes:  # of any length, unlike NumPy's integers
        room *= max(size, 1)
    if room > sys.maxsize:  # also where another size is 0
        raise ValueError(f"{path}: declares the sizes {sizes}; expected an array that memory can hold")
    declared = room if all(sizes) else 0
    content = bytearray()
    while len(content) <= declared and (piece := stream.read(min(1 << 20, declared + 1 - len(content)))):
        content += piece
    if len(content) != declared:
        found = "more" if len(content) > declared else f"{len(content)}"
        raise ValueError(f"{path}: has {found} bytes of data; expected {declared} for the sizes {sizes}")
    return np.frombuffer(content, dtype).reshape(sizes).astype(dtype.newbyteorder("="), copy=False)


@dataclass(frozen=True, eq=False)
class Mnist:
    """A data set as MNIST: images as rows of pixels (uint8, n × 784, 0 = background), labels (uint8, n)."""

    X_train: Array
    y_train: Array
    X_test: Array
    y_test: Array
    folder: Path

    def __repr__(self) -> str:
        return f"Mnist({len(self.X_train):,} training and {len(self.X_test):,} test images of {self.folder})"


def _find(folder: Path, name: str) -> Path | None:
    dotted = name.replace("-idx", ".idx")
    spellings = (folder / (spelling + end) for spelling in (name, dotted) for end in ("", ".gz"))
    return next((path for path in spellings if path.is_file()), None)


def _user_folder() -> Path:
    base = Path(os.environ.get("XDG_DATA_HOME", ""))
    return (base if base.is_absolute() else Path.home() / ".local/share") / "mnist-knn" / "mnist"


def _folders() -> list[Path]:
    """Where the program looks."""
    if named := os.environ.get("MNIST_KNN_DATA"):
        return [Path(named)]
    shared = os.environ.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share"
    bases = [Path(base) for base in shared.split(":")]
    return [Path("data/mnist"), _user_folder()] + [base / "mnist-knn" / "mnist" for base in bases if base.is_absolute()]


def load_mnist(folder: str | os.PathLike[str] | None = None, fetch: bool = False) -> Mnist:
    """MNIST, or another set in files of its names: of `folder`, else where the program finds it ($MNIST_KNN_DATA, data/mnist,
    the users' data folders). `fetch`: if it is nowhere, the program's script fetches it into the user's data folder.

    Raises FileNotFoundError if it is nowhere, ValueError if files are damaged or do not fit each other.
    """
    folders = _folders() if folder is None else [Path(os.fsdecode(encoded_text("folder", folder)))]
    for one in folders:
        paths = [_find(one, name) for name in _FILES]
        found = [path for path in paths if path is not None]
        if len(found) == len(_FILES):
            return _read(one, found)
    if not fetch:
        raise FileNotFoundError(f"{', '.join(map(str, folders))}: no MNIST there; expected {', '.join(_FILES)}, plain or .gz, or "
                                "fetch=True")  # fmt: skip
    target = _user_folder() if folder is None else Path(folder)
    subprocess.run([str(_fetch_script()), str(target)], check=True)
    return load_mnist(target)


def _fetch_script() -> Path:
    here = Path(__file__).resolve().parent
    places = [here, here.parents[1] / "tools", Path("/usr/local/share/mnist-knn"), Path("/usr/share/mnist-knn")]
    for place in places:
        if (place / "fetch_mnist.sh").is_file():
            return place / "fetch_mnist.sh"
    raise FileNotFoundError(f"fetch_mnist.sh: not in {', '.join(map(str, places))}; expected the script of mnist-knn")


def _read(folder: Path, paths: list[Path]) -> Mnist:
    arrays = [read_idx(path) for path in paths]
    for images, labels in zip(arrays[::2], arrays[1::2]):
        if images.ndim != 3 or labels.ndim != 1 or len(images) != len(labels) or images.shape[1:] != arrays[0].shape[1:]:
            raise ValueError(f"{folder}: images are {images.shape}, labels {labels.shape}; expected images of one size with a "
                             "label each")  # fmt: skip
    rows = [array.reshape(len(array), -1) if array.ndim == 3 else array for array in arrays]
    return Mnist(rows[0], rows[1], rows[2], rows[3], folder)
