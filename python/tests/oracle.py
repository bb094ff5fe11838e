"""What pooling means, by NumPy's sliding windows and nothing of ndpool."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

REDUCERS = ("max", "min", "sum", "avg", "smooth_max", "lp")
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "int64", "uint32", "uint64")
FLOATS = ("float32", "float64", "float16", "bfloat16")


def dtype(name: str) -> np.dtype:
    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


def windows(x: np.ndarray, kernel, stride, padding, dilation, axes):
    """Every window of x as the last axis, and a mask of the same shape that is False on padding."""
    axes = [a % x.ndim for a in axes]
    pads = [(0, 0)] * x.ndim
    for axis, pair in zip(axes, padding):
        pads[axis] = pair
    padded = np.pad(x, pads)
    real = np.pad(np.ones(x.shape, bool), pads)
    spans = [d * (k - 1) + 1 for k, d in zip(kernel, dilation)]

    def cut(array):
        view = sliding_window_view(array, spans, axes)
        for axis, step in zip(axes, stride):
            view = view[(slice(None),) * axis + (slice(None, None, step),)]
        for i, step in enumerate(dilation):
            view = view[(Ellipsis, slice(None, None, step)) + (slice(None),) * (len(axes) - 1 - i)]
        # Taps in the order of the array's axes, not in that of `axes`.
        order = np.argsort(axes)
        taps = [x.ndim + int(i) for i in order]
        view = view.transpose(*range(x.ndim), *taps)
        return view.reshape(*view.shape[: x.ndim], -1)

    return cut(padded), cut(real)


def flat_indices(shape, axes) -> np.ndarray:
    """For each element its number over the axes, row-major in the array's order."""
    axes = sorted(a % len(shape) for a in axes)
    numbers = np.arange(int(np.prod([shape[a] for a in axes]))).reshape([shape[a] for a in axes])
    expanded = numbers.reshape([shape[a] if a in axes else 1 for a in range(len(shape))])
    return np.broadcast_to(expanded, shape)


def clamp(values, to: np.dtype):
    info = np.iinfo(to)
    return np.array([min(max(int(v), info.min), info.max) for v in values.ravel()], to).reshape(
        values.shape
    )


def pool(reducer: str, x, kernel, stride, padding, dilation, axes, beta=1.0, p=2.0):
    """The value, in x's dtype for max, min and integers, else in float64."""
    taps, real = windows(x, kernel, stride, padding, dilation, axes)
    if reducer in ("max", "min"):
        worst = -np.inf if reducer == "max" else np.inf
        if x.dtype.kind in "iub":
            limits = (
                (False, True) if x.dtype == bool else (np.iinfo(x.dtype).min, np.iinfo(x.dtype).max)
            )
            worst = limits[0 if reducer == "max" else 1]
        return getattr(np, reducer)(np.where(real, taps, np.array(worst, x.dtype)), axis=-1)
    if x.dtype.kind in "iu":
        total = np.where(real, taps, 0).astype(object).sum(axis=-1)
        if reducer == "sum":
            return clamp(np.asarray(total, object), x.dtype)
        rounded = np.array(
            [round_half_even(int(t), taps.shape[-1]) for t in np.ravel(total)], object
        )
        return clamp(rounded.reshape(np.shape(total)), x.dtype)
    wide = np.where(real, taps.astype(np.float64), 0)
    if reducer == "sum":
        return wide.sum(axis=-1)
    if reducer == "avg":
        return wide.sum(axis=-1) / taps.shape[-1]
    if reducer == "smooth_max":  # padding is a value 0
        return np.log(np.exp(beta * wide).sum(axis=-1)) / beta
    return (np.abs(wide) ** p).sum(axis=-1) ** (1 / p)


def round_half_even(total: int, count: int) -> int:
    quotient, rest = divmod(total, count)
    return quotient + (2 * rest > count or (2 * rest == count and quotient % 2 == 1))


def indices(reducer: str, x, kernel, stride, padding, dilation, axes):
    """The first winner of each window."""
    taps, real = windows(x, kernel, stride, padding, dilation, axes)
    numbers, _ = windows(flat_indices(x.shape, axes), kernel, stride, padding, dilation, axes)
    order = taps.astype(np.float64) * (1 if reducer == "max" else -1)
    winner = np.where(real, order, -np.inf).argmax(axis=-1)
    return np.take_along_axis(numbers, winner[..., None], -1)[..., 0]


def adaptive(reduce, x, sizes, axes):
    """`reduce(block, axes)` of each bin."""
    axes = [a % x.ndim for a in axes]
    shape = list(x.shape)
    for axis, size in zip(axes, sizes):
        shape[axis] = size
    y = np.empty(shape, np.result_type(reduce(x, tuple(axes))))
    for bins in itertools.product(*(range(size) for size in sizes)):
        source = [slice(None)] * x.ndim
        target = [slice(None)] * x.ndim
        for axis, size, i in zip(axes, sizes, bins):
            length = x.shape[axis]
            source[axis] = slice(i * length // size, -(-(i + 1) * length // size))
            target[axis] = slice(i, i + 1)
        y[tuple(target)] = np.expand_dims(reduce(x[tuple(source)], tuple(axes)), tuple(axes))
    return y
