"""What windows make of the cells that are there: NaN marks a missing one.

Values and counts are pooled, each by a kernel. Whether an array has missing cells at all shows in
the result of a pool through which NaN spreads: only then is it pooled again without them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy

from ndpool.xarray._windows import Windows, is_lazy, readable

Reducer = Literal["max", "min", "sum", "mean"]

# The largest sum of integers that a float64 holds exactly.
_exact_in_float64 = 2**53


def blank(values: Any, keep: Any) -> Any:
    """`values`, fresh floats, with NaN where `keep` is false; NumPy's are written in place."""
    if is_lazy(values):
        return numpy.where(keep, values, values.dtype.type(numpy.nan))
    if not keep.all():
        numpy.copyto(values, numpy.nan, where=~keep)
    return values


def _sum_dtype(x: Any, taps: int) -> numpy.dtype[Any]:
    """The narrowest integer that holds every sum of so many cells, or the widest there is."""
    limits = numpy.iinfo(x.dtype)
    exact = numpy.min_scalar_type(taps * (limits.min if limits.min < 0 else limits.max))
    widest = numpy.dtype(numpy.int64 if limits.min < 0 else numpy.uint64)
    return exact if exact.kind in "iu" and exact.itemsize <= widest.itemsize else widest


class Cells:
    """The cells of an array, without gaps or with them, under windows."""

    def __init__(self, windows: Windows, x: Any) -> None:
        self.windows = windows
        x = readable(x)
        if x.dtype == bool:  # NumPy's sums of bool count them, ndpool's are bool
            x = x.astype(numpy.uint8) if is_lazy(x) else x.view(numpy.uint8)
        self.x = x
        self.may_lack = x.dtype.kind == "f"

    def plain(self, reducer: Reducer) -> Any:
        """Each window's reduction; a NaN makes it NaN."""
        x, windows = self.x, self.windows
        if reducer == "max" or reducer == "min":
            return windows.pool(reducer, x)
        taps = windows.tap_count(x.shape)
        if reducer == "mean":
            if self.may_lack:
                return windows.pool("avg", x, count_include_pad=False)
            info = numpy.iinfo(x.dtype)
            if taps * max(info.max, -info.min) > _exact_in_float64:
                return windows.pool("avg", x.astype(numpy.float64), count_include_pad=False)
            total = self.plain("sum").astype(numpy.float64)
            return total / self.windows.cell_counts(x, total)
        if self.may_lack:
            return windows.pool("sum", x)
        return windows.pool("sum", x.astype(_sum_dtype(x, taps), copy=False))

    def skipping(self, reducer: Reducer) -> Any:
        """Each window's reduction of the cells that are there; NaN for the maximum of none."""
        if not self.may_lack:
            return self.plain(reducer)
        if reducer == "max" or reducer == "min":
            return self.windows.pool(reducer, self.x, nan="ignore")
        if reducer == "mean" and is_lazy(self.x):
            return self.skipping_if("mean", 1, self.x.dtype)
        values = self.plain(reducer)
        return self._skipping_sum(reducer) if self._shows_gaps(values) else values

    def skipping_if(self, reducer: Reducer, min_count: int, dtype: numpy.dtype[Any]) -> Any:
        """`skipping` in a float `dtype`, NaN where fewer than `min_count` cells are there."""
        is_sum = reducer == "sum" or reducer == "mean"
        if is_sum and self.may_lack and is_lazy(self.x):
            return self._sums_and_counts().map_blocks(
                _finished, reducer, min_count, dtype, drop_axis=0, dtype=dtype
            )
        values = self.plain(reducer)
        if not self.may_lack or not self._shows_gaps(values):
            counts = self.windows.cell_counts(self.x, values)
        else:
            values = self._skipping_sum(reducer) if is_sum else self.skipping(reducer)
            counts = self.present_counts()
        return blank(values.astype(dtype, copy=False), counts >= min_count)

    def present_counts(self) -> Any:
        """How many cells are there under each window, of the result's shape, as floats."""
        dtype = self.windows.count_dtype(self.x.shape)
        if not self.may_lack:
            return self.windows.all_cell_counts(self.x)
        return self.windows.pool("sum", (~numpy.isnan(self.x)).astype(dtype))

    def _shows_gaps(self, values: Any) -> bool:
        """True if a pool through which NaN spreads lets gaps be possible; of Dask arrays always."""
        return is_lazy(values) or bool(numpy.isnan(values).any())

    def _skipping_sum(self, reducer: Reducer) -> Any:
        x = self.x
        if reducer == "mean" and x.dtype == numpy.float16:
            x = x.astype(numpy.float32)  # the sum of a mean may not fit
        total = self.windows.pool("sum", numpy.where(numpy.isnan(x), x.dtype.type(0), x))
        return total if reducer == "sum" else _mean(total, self.present_counts())

    def _sums_and_counts(self) -> Any:
        """Of Dask arrays: sums and counts of the cells that are there, in one array.

        One pool makes both, so that a chunk of the result is no more tasks than that of a sum.
        """
        dtype = numpy.promote_types(self.x.dtype, self.windows.count_dtype(self.x.shape))
        both = self.x.map_blocks(
            _values_and_presence, dtype, new_axis=0, chunks=((2,), *self.x.chunks), dtype=dtype
        )
        axes = tuple(axis + 1 for axis in self.windows.axes)
        return replace(self.windows, axes=axes).pool("sum", both)


def _values_and_presence(x: Any, dtype: numpy.dtype[Any]) -> Any:
    missing = numpy.isnan(x)
    return numpy.stack([numpy.where(missing, dtype.type(0), x), ~missing])


def _mean(total: Any, counts: Any) -> Any:
    """NaN where there are no cells; without 0 / 0, which warns."""
    mean = (total / numpy.maximum(counts, 1)).astype(total.dtype, copy=False)
    return blank(mean, counts > 0)


def _finished(both: Any, reducer: Reducer, min_count: int, dtype: numpy.dtype[Any]) -> Any:
    total, counts = both
    values = _mean(total, counts) if reducer == "mean" else total
    return blank(values.astype(dtype), counts >= min_count)
