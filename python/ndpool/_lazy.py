"""Arrays of other libraries that are not pooled where they are: those of Dask and xarray.

`numpy.asarray` would compute them as a whole, and say nothing. Imports none of these libraries.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

import numpy


def lazy_function(path: str, out: Any, *arrays: Any) -> Callable[..., Any] | None:
    """The function of ndpool.dask that serves a call, if an array is one of Dask.

    A TypeError for arrays of xarray, which have their accessor, and for other chunked arrays.
    """
    if all(type(array) is numpy.ndarray for array in arrays):
        return None
    is_lazy = False
    for array in arrays:
        _reject_labels(path, array)
        if _is_instance(array, "dask.array", "Array"):
            is_lazy = True
            continue
        chunks = getattr(array, "chunks", None)
        if isinstance(chunks, tuple) and chunks and isinstance(chunks[0], tuple):
            kind = f"{type(array).__module__}.{type(array).__qualname__}"
            raise TypeError(f"{path} does not take chunked arrays ({kind}): compute them first")
    if not is_lazy:
        return None
    if out is not None:
        raise TypeError(f"{path} of arrays of Dask takes no out: its result is computed later")
    function: Any = importlib.import_module("ndpool.dask")
    for name in path.split("."):
        function = getattr(function, name)
    return function


def _is_instance(value: Any, module: str, name: str) -> bool:
    """False where the library has not been imported: then nothing is of its types."""
    found = getattr(sys.modules.get(module), name, None)
    return isinstance(found, type) and isinstance(value, found)


def _reject_labels(path: str, array: Any) -> None:
    for name in ("DataArray", "Dataset", "Variable"):
        if _is_instance(array, "xarray", name):
            raise TypeError(
                f"{path} does not take an xarray.{name}, whose axes have names: import "
                f"ndpool.xarray and use its accessor, as in x.ndpool.{path}({{'y': 3, 'x': 3}})"
            )
