"""Arrays that are computed chunk by chunk are never computed as a whole without a word."""

from __future__ import annotations

import numpy as np
import pytest

import ndpool

OPERATORS = [n for n in ndpool.__all__ if n.endswith("pool") and n != "max_unpool"]


class Chunked:
    """An array of a library that ndpool does not know, which must not be computed."""

    shape = (8, 8)
    dtype = np.dtype("f8")
    chunks = ((4, 4), (4, 4))

    def __array__(self, dtype=None, copy=None):
        raise AssertionError("computed")


def arguments(name):
    size = () if name.startswith("global_") else ((2, 2),)
    return (2.0, *size) if "lp" in name else size


@pytest.mark.parametrize("name", OPERATORS)
def test_chunked_arrays_are_refused(name):
    f = getattr(ndpool, name)
    args = arguments(name)
    x, y = Chunked(), np.ones((8, 8))
    for call in (
        lambda: f(x, *args),
        lambda: f.jvp(x, y, *args),
        lambda: f.jvp(y, x, *args),
        lambda: f.vjp(x, y, *args),
        lambda: f.vjp(y, x, *args),
    ):
        with pytest.raises(TypeError, match="chunked arrays"):
            call()


def test_indices_and_beta_derivatives_too():
    x, y = Chunked(), np.ones((8, 8))
    for call in (
        lambda: ndpool.max_pool(x, (2, 2), return_indices=True),
        lambda: ndpool.max_pool.jvp(y, y, (2, 2), indices=x),
        lambda: ndpool.max_pool.vjp(y, y, (2, 2), indices=x),
        lambda: ndpool.smooth_max_pool.beta_derivative(x, (2, 2)),
        lambda: ndpool.max_unpool(y, x, (16, 16)),
        lambda: ndpool.max_unpool.jvp(y, y, x, (16, 16)),
        lambda: ndpool.max_unpool.vjp(y, y, x, (16, 16)),
    ):
        with pytest.raises(TypeError, match="chunked arrays"):
            call()
