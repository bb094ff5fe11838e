"""xarray's `rolling`, with the kernels for max, min, sum, mean and count."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

import numpy
import xarray

from ndpool._core import Pool
from ndpool.xarray._cells import Cells
from ndpool.xarray._results import keeps_attributes, labelled, reduced, with_missing
from ndpool.xarray._windows import Windows, is_poolable

Labelled = TypeVar("Labelled", xarray.DataArray, xarray.Dataset)


def _padding(window: int, is_centred: bool) -> tuple[int, int]:
    """Padding that gives every label a window: around it, the odd cell before, or all before it."""
    around = Pool.window("max", (window,), 1, "same_lower")
    whole = numpy.array([[0, window]])
    before, after = around.cells_of((window,), 0, whole)[0, 2:].tolist()
    return (before, after) if is_centred else (before + after, 0)


def _windows(own: Any) -> Windows:
    return Windows(
        tuple(int(window) for window in own.window),
        tuple(own.obj.dims.index(d) for d in own.dim),
        stride=1,
        padding=tuple(_padding(int(w), bool(c)) for w, c in zip(own.window, own.center)),
    )


def _labelled(x: Any, data: Any, keeps: bool) -> xarray.DataArray:
    return labelled(x.dims, data, x.coords, x.name, x.attrs if keeps else None)


def _is_pooled(own: Any) -> bool:
    """False for the windows of a DataArray that are left to xarray."""
    return is_poolable(own.obj.data) and all(hasattr(window, "__index__") for window in own.window)


def _counted(own: Any, keeps: bool) -> xarray.DataArray:
    """How many cells are there under each window."""
    counts = Cells(_windows(own), own.obj.data).present_counts()
    result = _labelled(own.obj, counts.astype(numpy.int64), keeps).copy(deep=False)
    if not keeps:  # not those of coordinates either
        for coord in result.coords.values():
            coord.attrs = {}
    return result


def _reduced(own: Any, reducer: Any, keeps: bool) -> xarray.DataArray:
    data = own.obj.data
    dtype = with_missing(reduced(reducer, data.dtype))
    values = Cells(_windows(own), data).skipping_if(reducer, own.min_periods, dtype)
    return _labelled(own.obj, values, keeps)


class Rolling(Generic[Labelled]):
    """`rolling` of xarray, whose object it holds: what is not here is that object's.

    Windows skip missing cells, whatever `skipna` says, as those of xarray do. Other options are
    xarray's as well, and take its way.
    """

    def __init__(self, own: Any) -> None:
        self._own = own

    def __getattr__(self, name: str) -> Any:
        if name == "_own":  # not there yet, as in copies and pickles
            raise AttributeError(name)
        return getattr(self._own, name)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._own)

    def __len__(self) -> int:
        return len(self._own)

    def __repr__(self) -> str:
        return f"ndpool {self._own!r}"

    def max(self, keep_attrs: bool | None = None, **options: Any) -> Labelled:
        """The largest cell of each window."""
        return self._reduce("max", keep_attrs, options)

    def min(self, keep_attrs: bool | None = None, **options: Any) -> Labelled:
        """The smallest cell of each window."""
        return self._reduce("min", keep_attrs, options)

    def sum(self, keep_attrs: bool | None = None, **options: Any) -> Labelled:
        """The sum of each window."""
        return self._reduce("sum", keep_attrs, options)

    def mean(self, keep_attrs: bool | None = None, **options: Any) -> Labelled:
        """The mean of each window."""
        return self._reduce("mean", keep_attrs, options)

    def count(self, keep_attrs: bool | None = None) -> Labelled:
        """How many cells of each window are not missing."""
        own = self._own
        rollings = own.rollings.values() if isinstance(own.obj, xarray.Dataset) else [own]
        if not all(map(_is_pooled, rollings)):
            return own.count(keep_attrs)
        keeps = keeps_attributes(keep_attrs)
        counts = self._each(lambda each: _counted(each, keeps), keeps)
        return counts.where(counts >= own.min_periods)

    def _reduce(self, reducer: str, keep_attrs: bool | None, options: dict[str, Any]) -> Any:
        if set(options) - {"skipna"}:
            return getattr(self._own, reducer)(keep_attrs, **options)
        keeps = keeps_attributes(keep_attrs)

        def rolled(own: Any) -> Any:
            if _is_pooled(own):
                return _reduced(own, reducer, keeps)
            return getattr(own, reducer)(keeps, **options)

        return self._each(rolled, keeps)

    def _each(self, rolled: Callable[[Any], Any], keeps: bool) -> Any:
        """`rolled` of every variable that has one of the dimensions, and the others as they are."""
        own = self._own
        if isinstance(own.obj, xarray.DataArray):
            return rolled(own)
        variables = {}
        for name, array in own.obj.data_vars.items():
            if name in own.rollings:
                variables[name] = rolled(own.rollings[name])
            else:
                variables[name] = array.copy()
                if not keeps:
                    variables[name].attrs = {}
        attrs = own.obj.attrs if keeps else {}
        return xarray.Dataset(variables, coords=own.obj.coords, attrs=attrs)
