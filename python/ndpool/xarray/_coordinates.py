"""Coordinates of pooled dimensions: a label is made of those of the cells under its window."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import numpy
import xarray

import ndpool
from ndpool.xarray._named import NamedWindows, family
from ndpool.xarray._windows import pools, readable

_reducers = {"mean": "avg", "min": "min", "max": "max"}


def pooled_coordinates(
    coords: Any,
    function: Callable[..., Any],
    windows: NamedWindows,
    options: Mapping[str, Any],
    coord_func: str | Mapping[Hashable, str],
) -> tuple[Any, dict[Hashable, Any]]:
    """Coordinates that stay as they are, and pooled ones by name.

    Those that have no mean (text, objects, levels of a MultiIndex) are left out, as are those of
    dimensions that a global pool removes.
    """
    touched = [name for name, c in coords.items() if any(d in windows.dims for d in c.dims)]
    kept = coords.to_dataset().drop_vars(touched).coords
    pooled: dict[Hashable, Any] = {}
    if options.get("keepdims", True):
        levels = {name for name in touched if _is_level(coords, name)}
        for name in touched:
            variable = coords[name].variable
            if name not in levels and variable.dtype.kind in "biufmM":
                word = (
                    coord_func.get(name, "mean") if isinstance(coord_func, Mapping) else coord_func
                )
                names = family(function, _reducers[word]), family(function, "sum")
                data = _labels(variable, *names, windows, options)
                pooled[name] = xarray.Variable(variable.dims, data, variable.attrs)
    return kept, pooled


def checked(coord_func: Any) -> Any:
    """`coord_func` if it is one of the words, or a dict of them."""
    words = coord_func.values() if isinstance(coord_func, Mapping) else [coord_func]
    for word in words:
        if word not in _reducers:
            raise ValueError(f"coord_func must be one of {', '.join(_reducers)}, not {word!r}")
    return coord_func


def _is_level(coords: Any, name: Hashable) -> bool:
    index = coords.xindexes.get(name)
    return index is not None and len(coords.xindexes.get_all_coords(name)) > 1


def _labels(
    variable: Any,
    name: str,
    count_name: str,
    windows: NamedWindows,
    options: Mapping[str, Any],
) -> Any:
    """Labels of windows, of the cells alone; of windows without a cell they are missing.

    Times are averaged as integers, and rounded down to the resolution they have.
    """
    data = readable(variable.data)
    is_time = data.dtype.kind in "mM"
    if is_time:
        cells, missing = data.view(numpy.int64), numpy.isnat(data)
    else:
        is_pooled = data.dtype.kind == "f" and data.dtype.itemsize <= 8
        cells = data if is_pooled else data.astype(numpy.float64)
        missing = numpy.isnan(cells)
    arguments = windows.of(variable.dims)
    for option in ("ceil_mode", "keepdims"):
        if option in options:
            arguments[option] = options[option]
    count = getattr(pools(data), count_name)
    is_whole = (count(numpy.where(missing, 0.0, 1.0), **arguments) > 0) & (
        count(numpy.where(missing, 1.0, 0.0), **arguments) == 0
    )
    described = inspect.signature(getattr(ndpool, name)).parameters
    for option, value in (("empty", "identity"), ("count_include_pad", False)):
        if option in described:
            arguments[option] = value
    if is_time and "rounding" in described:
        arguments["rounding"] = "floor"
    labels = getattr(pools(data), name)(cells, **arguments)
    if is_time:
        return numpy.where(is_whole, labels.view(data.dtype), numpy.array("NaT", data.dtype))
    return numpy.where(is_whole, labels, labels.dtype.type(numpy.nan))
