"""The dtypes and labels of xarray's results."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy
import xarray


@cache
def with_missing(dtype: numpy.dtype[Any]) -> numpy.dtype[Any]:
    """The dtype that an array of `dtype` gets when xarray replaces cells by missing ones."""
    return numpy.dtype(xarray.Variable("x", numpy.zeros(1, dtype)).where(False).dtype)


@cache
def padded(dtype: numpy.dtype[Any]) -> numpy.dtype[Any]:
    """The dtype that an array of `dtype` gets when xarray adds missing cells; object for bool."""
    return numpy.dtype(xarray.Variable("x", numpy.zeros(1, dtype)).pad(x=(0, 1)).dtype)


@cache
def reduced(reducer: str, dtype: numpy.dtype[Any]) -> numpy.dtype[Any]:
    """The dtype of NumPy's reduction."""
    if reducer == "count":
        return numpy.dtype(numpy.int64)
    return numpy.dtype(getattr(numpy, reducer)(numpy.ones(1, dtype)).dtype)


def keeps_attributes(keep_attrs: bool | None) -> bool:
    """`keep_attrs`, or what xarray's option says where it is None."""
    if keep_attrs is None:
        keep_attrs = xarray.get_options()["keep_attrs"]
    return True if keep_attrs == "default" else bool(keep_attrs)


def labelled(dims: Any, data: Any, coords: Any, name: Any, attrs: Any = None) -> xarray.DataArray:
    """A DataArray by way of a Variable: one without a name would take that of a Dask array."""
    variable = xarray.Variable(dims, data, attrs)
    return xarray.DataArray(variable, coords=coords, dims=dims, name=name)
