"""Arrays in the memory of a GPU, by __cuda_array_interface__ (CuPy, PyTorch, Numba), and searches that stay there."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np

from ._checks import kind as kind_of, shown
from ._library import TYPES, Array, DType, Index, NeighborArrays, Options, TrainingSet, Vectors, call, has

_CUDA = 1  # KNN_CUDA
_dlpack_host = (1, 3)  # kDLCPU, kDLCUDAHost


def is_on_device(data: Any) -> bool:
    """Whether the array is in the memory of a GPU, or of another device. PyTorch's tensors have the interface everywhere."""
    if hasattr(data, "__dlpack_device__"):
        return data.__dlpack_device__()[0] not in _dlpack_host
    return hasattr(data, "__cuda_array_interface__")


class DeviceArray:
    """One or two dimensions of an array on a CUDA device, whose rows have no gaps. `held` keeps the memory.

    Raises TypeError for other devices and layouts, and where the library has no CUDA."""

    def __init__(self, data: Any, name: str) -> None:
        if not is_on_device(data):
            raise TypeError(f"{name} {shown(data)}: is {kind_of(data)} in host memory; expected an array on a CUDA device")
        if not has("device-memory"):
            raise TypeError(f"{name}: is in the memory of a GPU, and the library has no CUDA; expected an array in host memory")
        interface = getattr(data, "__cuda_array_interface__", None)
        if interface is None:
            raise TypeError(f"{name}: is in the memory of a device without CUDA; expected __cuda_array_interface__")
        self.held, self.name = data, name
        self.shape: tuple[int, ...] = tuple(interface["shape"])
        self.dtype: DType = np.dtype(interface["typestr"])
        self.address: int = interface["data"][0] or 0
        self.is_read_only = bool(interface["data"][1])
        self.stream: int = _stream_of(data, interface)
        row = self.dtype.itemsize * int(np.prod(self.shape[1:], dtype=np.int64))
        strides = interface.get("strides") or (row, self.dtype.itemsize)[: len(self.shape)]
        self.pitch: int = strides[0] if self.shape and self.shape[0] > 1 else row
        if len(self.shape) not in (1, 2) or self.pitch < row or strides[1:] not in ((), (self.dtype.itemsize,)):
            raise TypeError(f"{name}: has shape {self.shape} and strides {strides}; expected rows × columns in C order")

    def vectors(self, kind: DType, dim: int) -> Vectors:
        """Its rows as vectors of the library, read as dim elements of another type of the same size."""
        vectors = Vectors(data=self.address, count=self.shape[0], dim=dim, pitch=self.pitch, type=TYPES[kind], space=_CUDA,
                          stream=self.stream)  # fmt: skip
        vectors.held = self.held
        return vectors

    def to_host(self) -> Array:
        """A copy. Raises RuntimeError (the device), ValueError (values that are not finite)."""
        columns = self.shape[1] if len(self.shape) == 2 else 1
        copy = np.empty(self.shape, self.dtype)
        if copy.size == 0:
            return copy
        is_known = self.dtype in TYPES
        kind = self.dtype if is_known else np.dtype(np.uint8)
        read = TrainingSet.of_vectors(self.vectors(kind, columns * (1 if is_known else self.dtype.itemsize)))
        call("knn_set_read", read, 0, self.shape[0], copy.ctypes.data, None)
        return copy


def _stream_of(data: Any, interface: dict[str, Any]) -> int:
    """On which the array is ready: the interface says it since version 3, PyTorch has version 2. 0: the default stream."""
    stream = interface.get("stream")
    torch = sys.modules.get("torch")
    if stream is None and torch is not None and isinstance(data, torch.Tensor):
        stream = torch.cuda.current_stream(data.device).cuda_stream
    return stream or 0


def search_into(index: Index, queries: DeviceArray, k: int, out: tuple[Any, Any]) -> None:
    """Queues a search, whose neighbors go to arrays on the device, on the stream of the queries: distances (float64; of l2
    squared) and indices (uint32 or int32), both count × k or None. Waits where the host has a part in the search.

    Raises TypeError, ValueError."""
    shape = (queries.shape[0], k)
    arrays = NeighborArrays(count=shape[0], k=k, space=_CUDA, stream=queries.stream)
    held = [queries.held]
    for field, data, kinds in (("distances", out[0], "f8"), ("indices", out[1], "u4 i4")):
        if data is None:
            continue
        array = DeviceArray(data, field)
        if array.dtype not in map(np.dtype, kinds.split()) or array.shape != shape or array.is_read_only or (
            array.pitch != k * array.dtype.itemsize
        ):
            raise ValueError(f"out: {field} are {array.dtype} of shape {array.shape}; expected writable "
                             f"{' or '.join(np.dtype(kind).name for kind in kinds.split())} of shape {shape} in C order")  # fmt: skip
        setattr(arrays, field, array.address)
        held.append(data)
    arrays.held = held
    vectors = queries.vectors(queries.dtype, queries.shape[1])
    call("knn_search", index, ctypes.byref(vectors), ctypes.byref(Options()), ctypes.byref(arrays))
