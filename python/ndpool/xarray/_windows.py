"""Windows over axes of an array, pooled by ndpool or, for Dask arrays, by `ndpool.dask`."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy

import ndpool
from ndpool._core import Pool

# Whole numbers up to this are exact in float32; a window of more cells is counted in float64.
_exact_in_float32 = 2**24


def is_lazy(x: Any) -> bool:
    """True for Dask arrays."""
    return hasattr(x, "__dask_graph__")


def pools(x: Any) -> Any:
    """The module with the functions that pool `x`."""
    return importlib.import_module("ndpool.dask") if is_lazy(x) else ndpool


def is_poolable(x: Any) -> bool:
    """True for arrays of NumPy and Dask with cells of a dtype that `coarsen` and `rolling` pool."""
    is_array = isinstance(x, numpy.ndarray) or is_lazy(x)
    has_cells = is_array and all(length > 0 for length in x.shape)
    return has_cells and x.dtype.kind in "biuf" and x.dtype.itemsize <= 8


def readable(x: Any) -> Any:
    """`x` as the kernels read it: files often bring swapped bytes or odd addresses."""
    if not x.dtype.isnative:
        return x.astype(x.dtype.newbyteorder("="))
    if isinstance(x, numpy.ndarray) and not x.flags.aligned:
        return x.copy()
    return x


@dataclass(frozen=True)
class Windows:
    """Windows without dilation over some axes; every one sees a cell."""

    kernel: tuple[int, ...]
    axes: tuple[int, ...]
    stride: int | None = None
    padding: Any = 0
    ceil_mode: bool = False

    def pool(self, reducer: str, x: Any, **options: Any) -> Any:
        function = getattr(pools(x), f"{reducer}_pool")
        return function(
            x, self.kernel, self.stride, self.padding,
            axes=self.axes, ceil_mode=self.ceil_mode, **options,
        )  # fmt: skip

    def _described(self) -> Any:
        return Pool.window(
            "sum", self.kernel, self.stride, self.padding, 1, self.axes, self.ceil_mode
        )

    def output_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(self._described().output_shape(shape))

    def tap_count(self, shape: tuple[int, ...]) -> int:
        """Taps of a window, those on padding included."""
        return int(self._described().tap_count(shape))

    def count_dtype(self, shape: tuple[int, ...]) -> numpy.dtype[Any]:
        """A float that counts the cells of a window exactly."""
        is_small = self.tap_count(shape) <= _exact_in_float32
        return numpy.dtype(numpy.float32 if is_small else numpy.float64)

    def _along(self, place: int) -> Windows:
        """The windows of one of the axes on its own."""
        padding = self.padding
        if isinstance(padding, tuple):
            padding = padding[place : place + 1]
        return Windows(self.kernel[place : place + 1], (0,), self.stride, padding, self.ceil_mode)

    def cell_counts(self, x: Any, like: Any) -> Any:
        """How many cells each window sees, with length 1 on axes that do not matter.

        The product of the counts along each axis. Of Dask arrays lazily, in the chunks of the
        result `like`.
        """
        dtype = self.count_dtype(x.shape)
        counts: Any = numpy.ones((1,) * x.ndim, dtype)
        for place, axis in enumerate(self.axes):
            windows = self._along(place)
            along = windows.pool("sum", numpy.ones(x.shape[axis], dtype))
            along = along.reshape([-1 if a == axis else 1 for a in range(x.ndim)])
            counts = counts * (_chunked(along, axis, like) if is_lazy(x) else along)
        return counts

    def all_cell_counts(self, x: Any) -> Any:
        """`cell_counts` of the result's shape."""
        if not is_lazy(x):
            return numpy.broadcast_to(self.cell_counts(x, None), self.output_shape(x.shape))
        from dask.array import broadcast_to

        result = self.pool("max", x)  # for its chunks: it is never computed
        return broadcast_to(self.cell_counts(x, result), result.shape, chunks=result.chunks)


def _chunked(along: Any, axis: int, like: Any) -> Any:
    from dask.array import from_array

    chunks = tuple(like.chunks[a] if a == axis else (1,) for a in range(like.ndim))
    return from_array(along, chunks=chunks)
