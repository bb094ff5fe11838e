"""A first try of an installed package, with NumPy alone: python smoke.py."""

import importlib.util
import runpy
import sys

import numpy as np

import ndpool

assert importlib.util.find_spec("ml_dtypes") is None and importlib.util.find_spec("torch") is None
x = np.random.default_rng(0).standard_normal((2, 3, 9, 11)).astype(np.float32)
y, indices = ndpool.max_pool(x, (2, 2), return_indices=True)
np.testing.assert_array_equal(y, x[:, :, :8, :10].reshape(2, 3, 4, 2, 5, 2).max((3, 5)))
np.testing.assert_array_equal(
    np.take_along_axis(x.reshape(2, 3, -1), indices.reshape(2, 3, -1), -1).reshape(y.shape), y
)
value, tangent = ndpool.smooth_max_pool.jvp(x, np.ones_like(x), (3, 3), 2)
np.testing.assert_allclose(tangent, np.ones_like(value), rtol=1e-5)
half = ndpool.avg_pool(x.astype(np.float16), (3, 3))
assert half.dtype == np.float16
runpy.run_module("ndpool", run_name="__main__")
sys.exit("python -m ndpool did not end")
