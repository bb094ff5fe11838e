"""ONNX's pooling operators in terms of ndpool's functions: attributes and arrays in, arrays out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy
from numpy.typing import NDArray

import ndpool

Array = NDArray[Any]
Attributes = Mapping[str, Any]
# What a node does with its inputs, by its attributes: the one output, or all of them.
Operator = Callable[..., Any]

_padding_rules = {"VALID": "valid", "SAME_UPPER": "same", "SAME_LOWER": "same_lower"}


def _pairs(pads: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """(before, after) of each axis; ONNX lists all that come before, then all that come after."""
    half = len(pads) // 2
    if len(pads) != 2 * half:
        raise ValueError(f"pads has {len(pads)} entries, but there must be two for each axis")
    return tuple(zip(pads[:half], pads[half:]))


def _padding(attributes: Attributes) -> Any:
    rule = attributes.get("auto_pad", "NOTSET")
    pads = attributes.get("pads")
    if rule == "NOTSET":
        return 0 if pads is None else _pairs(pads)
    if rule not in _padding_rules:
        words = ", ".join(_padding_rules)
        raise ValueError(f"auto_pad must be NOTSET, {words}, not {rule!r}")
    if pads is not None and any(pads):
        raise ValueError(f"pads {list(pads)} cannot be used together with auto_pad {rule}")
    return _padding_rules[rule]


def _window(attributes: Attributes, x: Array) -> dict[str, Any]:
    """What all windowed operators share, as options of ndpool's functions."""
    if "kernel_shape" not in attributes:
        raise ValueError("kernel_shape is missing")
    kernel = tuple(attributes["kernel_shape"])
    if x.ndim != len(kernel) + 2:
        raise ValueError(
            f"kernel_shape has {len(kernel)} entries, but an array of shape {x.shape} has"
            f" {x.ndim - 2} axes after its batch and channels"
        )
    return {
        "kernel": kernel,
        "stride": tuple(attributes.get("strides", (1,) * len(kernel))),
        "padding": _padding(attributes),
        "dilation": tuple(attributes.get("dilations", (1,) * len(kernel))),
        "ceil_mode": bool(attributes.get("ceil_mode", 0)),
    }


def _flat_over_all(indices: Array, shape: tuple[int, ...], column_major: bool) -> Array:
    """Indices that count within a plane, as ones that count over the batch and channels too."""
    plane = shape[2:]
    if column_major:
        indices = numpy.ravel_multi_index(numpy.unravel_index(indices, plane), plane, order="F")
    planes = numpy.arange(math.prod(shape[:2])).reshape(shape[:2] + (1,) * len(plane))
    return indices + planes * math.prod(plane)


def _max_pool(attributes: Attributes, x: Array) -> Array:
    return ndpool.max_pool(x, **_window(attributes, x))


def max_pool_with_indices(attributes: Attributes, x: Array) -> tuple[Array, Array]:
    y, indices = ndpool.max_pool(x, **_window(attributes, x), return_indices=True)
    return y, _flat_over_all(indices, x.shape, bool(attributes.get("storage_order", 0)))


def _average_pool(attributes: Attributes, x: Array) -> Array:
    counts = bool(attributes.get("count_include_pad", 0))
    return ndpool.avg_pool(x, **_window(attributes, x), count_include_pad=counts)


def _lp_pool(attributes: Attributes, x: Array) -> Array:
    return ndpool.lp_pool(x, attributes.get("p", 2), **_window(attributes, x))


def _spatial(x: Array) -> dict[str, Any]:
    """What all global operators share."""
    return {"axes": tuple(range(2, x.ndim)), "keepdims": True}


def _global_max_pool(_: Attributes, x: Array) -> Array:
    return ndpool.global_max_pool(x, **_spatial(x))


def _global_average_pool(_: Attributes, x: Array) -> Array:
    return ndpool.global_avg_pool(x, **_spatial(x))


def _global_lp_pool(attributes: Attributes, x: Array) -> Array:
    return ndpool.global_lp_pool(x, attributes.get("p", 2), **_spatial(x))


def _unpooled_shape(attributes: Attributes, x: Array) -> tuple[int, ...]:
    """The smallest array whose windows give x, which is how ONNX defines MaxUnpool's output."""
    window = _window(attributes, x)
    pads = window["padding"] or ((0, 0),) * len(window["kernel"])
    lengths = zip(x.shape[2:], window["kernel"], window["stride"], pads)
    return x.shape[:2] + tuple((n - 1) * s + k - sum(pad) for n, k, s, pad in lengths)


def _max_unpool(
    attributes: Attributes, x: Array, indices: Array, output_shape: Array | None = None
) -> Array:
    shape = _unpooled_shape(attributes, x)
    # Indices count over the batch and channels: the whole array is one axis.
    flat = ndpool.max_unpool(x.reshape(-1), indices.reshape(-1), (math.prod(shape),))
    y = flat.reshape(shape)
    if output_shape is None:
        return y
    wanted = tuple(int(length) for length in output_shape)
    if len(wanted) != y.ndim or any(length < least for length, least in zip(wanted, shape)):
        raise ValueError(f"output_shape {wanted} has no room for the unpooled {shape}")
    # The indices are those of the smallest array, which lies in the corner of the wanted one.
    larger = numpy.zeros(wanted, y.dtype)
    larger[tuple(slice(length) for length in shape)] = y
    return larger


operators: dict[str, Operator] = {
    "MaxPool": _max_pool,
    "AveragePool": _average_pool,
    "LpPool": _lp_pool,
    "GlobalMaxPool": _global_max_pool,
    "GlobalAveragePool": _global_average_pool,
    "GlobalLpPool": _global_lp_pool,
    "MaxUnpool": _max_unpool,
}
