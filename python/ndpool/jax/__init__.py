"""Pools of JAX arrays on the CPU: ndpool's functions under `jit`, `vmap`, `grad` and `jvp`.

Names and arguments are those of `ndpool`, without `out`; `ndpool.jax.linen` has the arguments of
Flax. Needs JAX 0.6.2 or newer.
"""

import importlib.util

if importlib.util.find_spec("jax") is None or importlib.util.find_spec("jaxlib") is None:
    raise ImportError("ndpool.jax needs JAX, which is not installed: pip install 'ndpool[jax]'")
if importlib.util.find_spec("ndpool.jax._native") is None:
    raise ImportError(
        "this ndpool was built without the headers of jaxlib and so has no ndpool.jax: install a"
        " wheel, or build it where jaxlib is installed (CMake: NDPOOL_JAXLIB_HEADERS)"
    )

from ndpool.jax import linen
from ndpool.jax._functions import function_of, max_unpool

adaptive_avg_pool = function_of("adaptive_avg_pool")
adaptive_lp_pool = function_of("adaptive_lp_pool")
adaptive_max_pool = function_of("adaptive_max_pool")
adaptive_min_pool = function_of("adaptive_min_pool")
adaptive_smooth_max_pool = function_of("adaptive_smooth_max_pool")
adaptive_sum_pool = function_of("adaptive_sum_pool")
avg_pool = function_of("avg_pool")
global_avg_pool = function_of("global_avg_pool")
global_lp_pool = function_of("global_lp_pool")
global_max_pool = function_of("global_max_pool")
global_min_pool = function_of("global_min_pool")
global_smooth_max_pool = function_of("global_smooth_max_pool")
global_sum_pool = function_of("global_sum_pool")
lp_pool = function_of("lp_pool")
max_pool = function_of("max_pool")
min_pool = function_of("min_pool")
smooth_max_pool = function_of("smooth_max_pool")
sum_pool = function_of("sum_pool")

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
    "linen",
    "lp_pool",
    "max_pool",
    "max_unpool",
    "min_pool",
    "smooth_max_pool",
    "sum_pool",
]
