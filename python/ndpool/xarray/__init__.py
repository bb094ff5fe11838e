"""Pools by the names of dimensions: the accessor `ndpool` of xarray's DataArray and Dataset.

>>> import numpy, xarray, ndpool.xarray
>>> x = xarray.DataArray(numpy.arange(16.0).reshape(4, 4), dims=("y", "x"))
>>> x.ndpool.max_pool({"y": 2, "x": 2}).values
array([[ 5.,  7.],
       [13., 15.]])
>>> x.ndpool.coarsen(x=2).mean().sizes
Frozen({'y': 4, 'x': 2})
"""

from __future__ import annotations

try:
    import xarray as _xarray
except ImportError as error:
    raise ImportError(
        "ndpool.xarray needs the package xarray; install it with: pip install 'ndpool[xarray]'"
    ) from error

from ndpool.xarray._accessor import DataArrayAccessor, DatasetAccessor

__all__ = ["DataArrayAccessor", "DatasetAccessor"]

_xarray.register_dataarray_accessor("ndpool")(DataArrayAccessor)
_xarray.register_dataset_accessor("ndpool")(DatasetAccessor)
