"""`max_pool`, `min_pool` and `avg_pool` with the arguments of Flax (`flax.linen`, `flax.nnx`).

Channels come last, and axes before the pooled ones are batches. The stride is 1 unless it is given,
and padding is "VALID", "SAME" or a pair (low, high) for each window axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ndpool._operators import description
from ndpool.jax._functions import apply

Padding = str | Sequence[tuple[int, int]]


def _windows(
    window_shape: Sequence[int], strides: Sequence[int] | None, padding: Padding
) -> dict[str, Any]:
    kernel = tuple(window_shape)
    words = {"SAME": "same", "VALID": "valid"}
    if isinstance(padding, str):
        if padding not in words:
            raise ValueError(f'padding must be "SAME", "VALID" or pairs, not {padding!r}')
        padding = words[padding]
    return {
        "kernel": kernel,
        "stride": (1,) * len(kernel) if strides is None else tuple(strides),
        "padding": padding,
        "axes": tuple(range(-1 - len(kernel), -1)),
        "empty": "identity",
    }


def max_pool(
    inputs: Any,
    window_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    padding: Padding = "VALID",
) -> Any:
    """The largest element of each window."""
    windows = _windows(window_shape, strides, padding)
    return apply(description("max_pool")(**windows), inputs)


def min_pool(
    inputs: Any,
    window_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    padding: Padding = "VALID",
) -> Any:
    """The smallest element of each window."""
    windows = _windows(window_shape, strides, padding)
    return apply(description("min_pool")(**windows), inputs)


def avg_pool(
    inputs: Any,
    window_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    padding: Padding = "VALID",
    count_include_pad: bool = True,
) -> Any:
    """The average of each window; padding counts unless `count_include_pad` is False."""
    windows = _windows(window_shape, strides, padding)
    describe = description("avg_pool")
    return apply(describe(**windows, count_include_pad=count_include_pad), inputs)
