"""xarray's `coarsen`, with the kernels for max, min, sum, mean and count."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Generic, TypeVar

import numpy
import xarray

from ndpool.xarray._cells import Cells, blank
from ndpool.xarray._results import keeps_attributes, padded, reduced, with_missing
from ndpool.xarray._windows import Windows, is_poolable

Labelled = TypeVar("Labelled", xarray.DataArray, xarray.Dataset)


class _Blocks:
    """The blocks of one variable: disjoint windows, each axis from its side.

    Axes are turned so that all blocks begin at the left. Where an axis is no multiple of its
    window, the last block is short: ceil mode makes it, and where the excess is trimmed it is
    dropped again.
    """

    def __init__(self, variable: Any, coarsen: Any) -> None:
        lengths = {d: w for d, w in coarsen.windows.items() if d in variable.dims}
        boundary = _by_dimension(coarsen.boundary, lengths)
        side = _by_dimension(coarsen.side, lengths)
        dims, shape = variable.dims, variable.shape
        self.windows = Windows(
            tuple(operator.index(lengths[d]) for d in lengths),
            tuple(dims.index(d) for d in lengths),
            ceil_mode=True,
        )
        whole = Windows(self.windows.kernel, self.windows.axes).output_shape(shape)
        rounded_up = self.windows.output_shape(shape)
        excess = [d for d, a, b in zip(dims, whole, rounded_up) if a != b]
        words = {boundary[d] for d in lengths}
        if words - {"exact", "trim", "pad"} or any(boundary[d] == "exact" for d in excess):
            raise _LeftToXarray
        self.is_padded = any(boundary[d] == "pad" for d in excess)
        self.kept = tuple(
            slice(whole[a] if d in excess and boundary[d] == "trim" else None)
            for a, d in enumerate(dims)
        )
        self.turns = tuple(
            slice(None, None, -1) if d in excess and side[d] != "left" else slice(None)
            for d in dims
        )

    def turned(self, data: Any) -> Any:
        return data[self.turns] if any(turn.step for turn in self.turns) else data

    def finished(self, values: Any) -> Any:
        return self.turned(values[self.kept] if any(kept.stop for kept in self.kept) else values)


class _LeftToXarray(Exception):
    """xarray has an answer of its own to this call, or an error."""


def _by_dimension(word: Any, dims: Mapping[Hashable, Any]) -> dict[Hashable, Any]:
    if not isinstance(word, Mapping):
        return dict.fromkeys(dims, word)
    if any(d not in word for d in dims):
        raise _LeftToXarray
    return dict(word)


def _blocks(variable: Any, coarsen: Any) -> _Blocks:
    lengths = {d: w for d, w in coarsen.windows.items() if d in variable.dims}
    if not lengths:
        raise _LeftToXarray
    for dimension, window in lengths.items():
        length = variable.shape[variable.dims.index(dimension)]
        if not hasattr(window, "__index__") or not 0 < window <= length:
            raise _LeftToXarray
    return _Blocks(variable, coarsen)


def _pooled(
    variable: Any, coarsen: Any, reducer: str, skipna: bool | None, min_count: int | None
) -> Any:
    """The data of a coarsened variable."""
    blocks = _blocks(variable, coarsen)
    data = variable.data
    if not is_poolable(data):
        raise _LeftToXarray
    dtype = padded(data.dtype) if blocks.is_padded else data.dtype
    if dtype == object:
        raise _LeftToXarray
    target = reduced(reducer, dtype)
    skips = dtype.kind == "f" if skipna is None else bool(skipna)
    cells = Cells(blocks.windows, blocks.turned(data))
    if reducer == "count":
        values = cells.present_counts()
    else:
        values, target = _reduced(cells, reducer, target, skips, blocks.is_padded, min_count)
    return blocks.finished(values).astype(target)


def _reduced(
    cells: Cells,
    reducer: Any,
    target: numpy.dtype[Any],
    skips: bool,
    is_padded: bool,
    min_count: int | None,
) -> tuple[Any, numpy.dtype[Any]]:
    if skips and min_count is not None:
        target = with_missing(target)
        return cells.skipping_if(reducer, min_count, target), target
    if skips:
        return cells.skipping(reducer), target
    values = cells.plain(reducer)
    if is_padded:  # with missing cells, which are not skipped
        counts = cells.windows.cell_counts(cells.x, values)
        values = blank(values.astype(target), counts == cells.windows.tap_count(cells.x.shape))
    return values, target


class Coarsen(Generic[Labelled]):
    """`coarsen` of xarray, whose object it holds: what is not here is that object's."""

    def __init__(self, own: Any) -> None:
        self._own = own

    def __getattr__(self, name: str) -> Any:
        if name == "_own":  # not there yet, as in copies and pickles
            raise AttributeError(name)
        return getattr(self._own, name)

    def __repr__(self) -> str:
        return f"ndpool {self._own!r}"

    def max(self, keep_attrs: bool | None = None, *, skipna: bool | None = None) -> Labelled:
        """The largest cell of each block; missing cells are skipped as `skipna` says."""
        return self._reduce("max", keep_attrs, skipna)

    def min(self, keep_attrs: bool | None = None, *, skipna: bool | None = None) -> Labelled:
        """The smallest cell of each block; missing cells are skipped as `skipna` says."""
        return self._reduce("min", keep_attrs, skipna)

    def mean(self, keep_attrs: bool | None = None, *, skipna: bool | None = None) -> Labelled:
        """The mean of each block; missing cells are skipped as `skipna` says."""
        return self._reduce("mean", keep_attrs, skipna)

    def sum(
        self,
        keep_attrs: bool | None = None,
        *,
        skipna: bool | None = None,
        min_count: int | None = None,
    ) -> Labelled:
        """The sum of each block; NaN where fewer than `min_count` cells are there to be summed."""
        return self._reduce("sum", keep_attrs, skipna, min_count)

    def count(self, keep_attrs: bool | None = None) -> Labelled:
        """How many cells of each block are not missing."""
        return self._reduce("count", keep_attrs)

    def _reduce(
        self,
        reducer: str,
        keep_attrs: bool | None,
        skipna: bool | None = None,
        min_count: int | None = None,
    ) -> Any:
        own = self._own
        keeps = keeps_attributes(keep_attrs)
        options = {"skipna": skipna, "min_count": min_count}
        given = {name: value for name, value in options.items() if value is not None}

        def coarsened(variable: Any) -> Any:
            try:
                data = _pooled(variable, own, reducer, skipna, min_count)
            except _LeftToXarray:
                return _by_xarray(variable, own, reducer, keeps, **given)
            attrs = variable.attrs if keeps else None
            return xarray.Variable(variable.dims, data, attrs, variable.encoding)

        return _labelled(own, coarsened, keeps)


def _by_xarray(variable: Any, own: Any, function: Any, keeps: bool, **options: Any) -> Any:
    """A variable coarsened by xarray itself; one without the dimensions stays what it is."""
    return variable.coarsen(own.windows, function, own.boundary, own.side, keeps, **options)


def _labelled(own: Any, coarsened: Callable[[Any], Any], keeps: bool) -> Any:
    """The coarsened object with its coordinates, which xarray coarsens by its `coord_func`."""
    x = own.obj
    if isinstance(x, xarray.Dataset):
        variables = {name: coarsened(array.variable) for name, array in x.data_vars.items()}
        coords = {
            name: _by_xarray(coord.variable, own, own.coord_func[name], keeps)
            for name, coord in x.coords.items()
        }
        return xarray.Dataset(variables, coords=coords, attrs=x.attrs if keeps else {})
    result = coarsened(x.variable)
    coords = {}
    for name, coord in x.coords.items():
        if name == x.name:
            coords[name] = result
        elif any(d in own.windows for d in coord.dims):
            coords[name] = _by_xarray(coord.variable, own, own.coord_func[name], keeps)
        else:
            coords[name] = coord
    return xarray.DataArray(result, dims=x.dims, coords=coords, name=x.name)
