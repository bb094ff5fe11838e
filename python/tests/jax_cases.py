"""What the tests of `ndpool.jax` share. Skips the file that imports it where there is no JAX."""

from __future__ import annotations

import contextlib
from typing import Any, NamedTuple

import numpy
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed here; `make test-jax` has it")
try:
    import ndpool.jax as pool_jax
except ImportError as error:
    if "built without" not in str(error):
        raise
    pytest.skip(f"{error}; `make test-jax` builds it", allow_module_level=True)

jax.config.update("jax_enable_x64", True)


class Case(NamedTuple):
    """A function of ndpool and its arguments after x."""

    name: str
    args: tuple[Any, ...] = ()
    options: dict[str, Any] = {}

    def __str__(self) -> str:
        return " ".join(map(str, (self.name, *self.args, *self.options.items())))

    def of(self, module: Any, x: Any) -> Any:
        return getattr(module, self.name)(x, *self.args, **self.options)

    def __call__(self, x: Any) -> Any:
        return self.of(pool_jax, x)


_window = {"stride": (2, 1), "padding": ((1, 0), (0, 1)), "dilation": (2, 1)}
_channels_last = {"axes": (1, 2), "padding": "same"}

# On arrays of shape SHAPE.
SHAPE = (2, 7, 6, 3)
LINEAR = [
    Case("sum_pool", ((3, 2),), _window),
    Case("avg_pool", ((3, 2),), _window | {"count_include_pad": False}),
    Case("avg_pool", ((3, 3),), _channels_last),
    Case("avg_pool", ((2, 3, 2),), {"ceil_mode": True, "divisor": 7}),
    Case("adaptive_sum_pool", ((3, 2),), {"axes": (1, -2)}),
    Case("adaptive_avg_pool", ((3, 9),), {"axes": (1, 2)}),
    Case("global_sum_pool", (), {"axes": (1, 3)}),
    Case("global_avg_pool", (), {"axes": (0, 2), "keepdims": True}),
]
EXTREME = [
    Case("max_pool", ((3, 2),), _window),
    Case("max_pool", ((3, 3),), _channels_last | {"stride": 2, "nan": "ignore"}),
    Case("min_pool", ((2, 2, 2),), {"stride": 1, "axes": (2, 1, 3)}),
    Case("max_pool", ((2, 2),), {"ties": "split", "stride": 1}),
    Case("min_pool", ((2, 2),), {"ties": "all", "empty": "identity", "padding": 1}),
    Case("adaptive_max_pool", ((3, 4),), {"axes": (1, 2)}),
    Case("adaptive_min_pool", ((8, 4),), {"axes": (2, 1)}),
    Case("global_max_pool", (), {"axes": (1, 2)}),
    Case("global_min_pool", (), {"ties": "first", "axes": (3, 0)}),
]
CURVED = [
    Case("smooth_max_pool", ((3, 2),), _window | {"beta": 2.0}),
    Case("smooth_max_pool", ((2, 2),), {"beta": -0.5, "pad_mode": "ignore", "padding": 1}),
    Case("lp_pool", (3.0, (3, 2)), _window),
    Case("lp_pool", (2, (2, 2)), {"stride": 1}),
    Case("lp_pool", (1, (2, 2))),
    Case("lp_pool", (numpy.inf, (2, 2)), {"ties": "first"}),
    Case("adaptive_smooth_max_pool", ((3, 4),), {"axes": (1, 2)}),
    Case("adaptive_lp_pool", (2.5, (3, 4)), {"axes": (1, 2)}),
    Case("global_smooth_max_pool", (), {"axes": (1, 2)}),
    Case("global_lp_pool", (4.0,), {"axes": (1,), "keepdims": True}),
]
CASES = LINEAR + EXTREME + CURVED


def cells(shape: tuple[int, ...], dtype: str = "f8", seed: int = 0) -> Any:
    """Distinct values, none of them 0 and none closer than numerical derivatives step."""
    random = numpy.random.default_rng(seed)
    count = int(numpy.prod(shape))
    values = numpy.linspace(-2, 2, count + count % 2)[:count]
    return random.permutation(values).reshape(shape).astype(dtype)


@contextlib.contextmanager
def narrow() -> Any:
    """JAX without its 64-bit mode."""
    jax.config.update("jax_enable_x64", False)
    try:
        yield
    finally:
        jax.config.update("jax_enable_x64", True)
