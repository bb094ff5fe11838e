"""The functions of `ndpool` on arrays of Dask, lazily: same names, same arguments, plus `chunks`.

Every chunk of a result is one task, and at most one more copies what neighbouring chunks need. See
docs/dask.md.
"""

try:
    import dask.array as _  # noqa: F401
except ImportError as error:
    raise ImportError(
        "ndpool.dask needs Dask's arrays: pip install 'ndpool[dask]', or pip install 'dask[array]'"
    ) from error

from ndpool.dask._functions import (
    adaptive_avg_pool,
    adaptive_lp_pool,
    adaptive_max_pool,
    adaptive_min_pool,
    adaptive_smooth_max_pool,
    adaptive_sum_pool,
    avg_pool,
    global_avg_pool,
    global_lp_pool,
    global_max_pool,
    global_min_pool,
    global_smooth_max_pool,
    global_sum_pool,
    lp_pool,
    max_pool,
    min_pool,
    smooth_max_pool,
    sum_pool,
)
from ndpool.dask._unpool import max_unpool

__all__ = [
    "adaptive_avg_pool",
    "adaptive_lp_pool",
    "adaptive_max_pool",
    "adaptive_min_pool",
    "adaptive_smooth_max_pool",
    "adaptive_sum_pool",
    "avg_pool",
    "global_avg_pool",
    "global_lp_pool",
    "global_max_pool",
    "global_min_pool",
    "global_smooth_max_pool",
    "global_sum_pool",
    "lp_pool",
    "max_pool",
    "max_unpool",
    "min_pool",
    "smooth_max_pool",
    "sum_pool",
]
