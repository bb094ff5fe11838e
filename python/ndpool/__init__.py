"""Pooling of arrays: every operator, any rank, any dtype, with the value and both derivatives.

NumPy arrays in, NumPy arrays out; inputs may also be anything with DLPack. Every function has
`.jvp` and `.vjp`.
"""

from ndpool._core import __version__, get_executor, get_threads, set_executor, set_threads, targets
from ndpool._operators import (
    PlanSummary,
    adaptive_avg_pool,
    adaptive_lp_pool,
    adaptive_max_pool,
    adaptive_min_pool,
    adaptive_smooth_max_pool,
    adaptive_sum_pool,
    avg_pool,
    explain_plan,
    global_avg_pool,
    global_lp_pool,
    global_max_pool,
    global_min_pool,
    global_smooth_max_pool,
    global_sum_pool,
    lp_pool,
    max_pool,
    max_unpool,
    min_pool,
    output_shape,
    smooth_max_pool,
    sum_pool,
)

__all__ = [
    "PlanSummary",
    "__version__",
    "adaptive_avg_pool",
    "adaptive_lp_pool",
    "adaptive_max_pool",
    "adaptive_min_pool",
    "adaptive_smooth_max_pool",
    "adaptive_sum_pool",
    "avg_pool",
    "explain_plan",
    "get_executor",
    "get_threads",
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
    "output_shape",
    "set_executor",
    "set_threads",
    "smooth_max_pool",
    "sum_pool",
    "targets",
]
