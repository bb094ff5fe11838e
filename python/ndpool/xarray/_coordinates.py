"""Coordinates of pooled dimensions: a label is made of those of the cells under its window."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import numpy
import xarray

from ndpool.xarray._named import NamedWindows, family

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
                data = _labels(variable, family(function, _reducer(word)), windows, options)
                pooled[name] = xarray.Variable(variable.dims, data, variable.attrs)
    return kept, pooled


def _reducer(word: Any) -> str:
    if word not in _reducers:
        raise ValueError(f"coord_func must be one of {', '.join(_reducers)}, not {word!r}")
    return _reducers[word]


def _is_level(coords: Any, name: Hashable) -> bool:
    index = coords.xindexes.get(name)
    return index is not None and len(coords.xindexes.get_all_coords(name)) > 1


def _labels(
    variable: Any,
    function: Callable[..., Any],
    windows: NamedWindows,
    options: Mapping[str, Any],
) -> Any:
    """Labels of windows, of the cells alone; of windows without a cell they are missing.

    Times are averaged as integers, and rounded down to the resolution they have.
    """
    values = variable.values
    if values.dtype.kind in "mM":
        cells, missing = values.view(numpy.int64), numpy.isnat(values)
    else:
        is_float = values.dtype.kind == "f"
        cells = values.astype(values.dtype.newbyteorder("=") if is_float else numpy.float64)
        missing = numpy.isnan(cells)
    arguments = windows.of(variable.dims)
    for name in ("ceil_mode", "keepdims"):
        if name in options:
            arguments[name] = options[name]
    count = family(function, "sum")(numpy.where(missing, 0.0, 1.0), **arguments)
    absent = family(function, "sum")(missing.astype(numpy.float64), **arguments)
    if "empty" in inspect.signature(function).parameters:
        arguments["empty"] = "identity"
    if values.dtype.kind in "mM" and "rounding" in inspect.signature(function).parameters:
        arguments["rounding"] = "floor"
    if "count_include_pad" in inspect.signature(function).parameters:
        arguments["count_include_pad"] = False
    labels = function(cells, **arguments)
    without = (count == 0) | (absent > 0)
    if values.dtype.kind in "mM":
        labels = labels.view(values.dtype)
        labels[without] = numpy.array("NaT", values.dtype)
    else:
        labels[without] = numpy.nan
    return labels
