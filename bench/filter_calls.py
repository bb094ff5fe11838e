"""How other libraries are called for a drawn filter, and ndpool for the same result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bottleneck
import cv2
import numpy as np
from distribution import Result
from drawn_filters import DrawnFilter
from PIL import Image
from scipy import ndimage
from skimage import measure as skimage_measure
from timing import Call, measure

import ndpool

NUMPY_DTYPES = {name: np.dtype(name[0] + str(int(name[1:]) // 8)) for name in
                ("u8", "u16", "i16", "f32", "f64")}  # fmt: skip
PICTURE_MODES = {("u8", 1): "L", ("u8", 3): "RGB", ("u8", 4): "CMYK", ("f32", 1): "F"}


class WrongResult(Exception):
    """ndpool and the other library make something else."""


def of_opencv(drawn: DrawnFilter, x: np.ndarray) -> Call:
    """Zeros around the array in averages, nothing in extremes."""
    rows, columns = drawn.kernel
    if drawn.name == "cv2.blur":
        return lambda: cv2.blur(x, (columns, rows), borderType=cv2.BORDER_CONSTANT)
    if drawn.name == "cv2.resize":
        size = (x.shape[1] // columns, x.shape[0] // rows)
        return lambda: cv2.resize(x, size, interpolation=cv2.INTER_AREA)
    element = cv2.getStructuringElement(cv2.MORPH_RECT, (columns, rows))
    function = getattr(cv2, drawn.name.partition(".")[2])
    return lambda: function(x, element)


def of_scipy(drawn: DrawnFilter, x: np.ndarray) -> Call:
    function = getattr(ndimage, drawn.name.partition(".")[2])
    # The nearest element is in every window that leaves the array: it changes no extreme.
    mode = "constant" if drawn.kind.operator == "avg" else "nearest"
    return lambda: function(x, drawn.kernel, mode=mode, axes=drawn.axes)


def of_skimage(drawn: DrawnFilter, x: np.ndarray) -> Call:
    block = (*drawn.kernel, 1)[: x.ndim]
    function = getattr(np, drawn.name.rpartition("_")[2])
    return lambda: skimage_measure.block_reduce(x, block, function)


def of_pillow(drawn: DrawnFilter, x: np.ndarray) -> Call:
    rows, columns = drawn.kernel
    mode = PICTURE_MODES[drawn.dtype, drawn.channels]
    picture = Image.frombytes(mode, x.shape[1::-1], x.tobytes())
    return lambda: picture.reduce((columns, rows))


def of_bottleneck(drawn: DrawnFilter, x: np.ndarray) -> Call:
    function, axis = getattr(bottleneck, drawn.name.partition(".")[2]), drawn.axes[0]
    return lambda: function(x, drawn.kernel[axis], axis=axis)


LIBRARIES: dict[str, Callable[[DrawnFilter, np.ndarray], Call]] = {
    "cv2": of_opencv,
    "ndimage": of_scipy,
    "skimage": of_skimage,
    "PIL": of_pillow,
    "bottleneck": of_bottleneck,
}


def window_of(drawn: DrawnFilter) -> dict[str, Any]:
    """The window in ndpool's words."""
    kernel = tuple(drawn.kernel[axis] for axis in drawn.axes)
    moving: dict[str, Any] = {"stride": 1, "padding": "same_lower"}
    options = {"moving": moving, "blocks": {}, "trailing": {"stride": 1}}[drawn.kind.windows]
    return {"kernel": kernel, "axes": drawn.axes, **options}


def of_ndpool(drawn: DrawnFilter, x: np.ndarray) -> Call:
    function = getattr(ndpool, f"{drawn.kind.operator}_pool")
    window = window_of(drawn)
    return lambda: function(x, **window)


def array_of(drawn: DrawnFilter) -> np.ndarray:
    generator = np.random.default_rng(0)
    dtype = NUMPY_DTYPES[drawn.dtype]
    if dtype.kind == "f":
        return generator.standard_normal(drawn.array_shape).astype(dtype)
    limits = np.iinfo(dtype)
    return generator.integers(limits.min, limits.max + 1, drawn.array_shape).astype(dtype)


def check(drawn: DrawnFilter, x: np.ndarray, ours: np.ndarray, theirs: np.ndarray) -> None:
    """Extremes are equal, averages of integers within 1, sums of floats within their rounding."""
    if drawn.kind.windows == "trailing":  # it begins with as many NaNs as windows do not fit
        axis = drawn.axes[0]
        theirs = np.moveaxis(np.moveaxis(theirs, axis, 0)[drawn.kernel[axis] - 1 :], 0, axis)
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        raise WrongResult(
            f"{ours.dtype}{ours.shape} is not {theirs.dtype}{theirs.shape}: {drawn.line}"
        )
    limit = tolerance(drawn, x)
    error = np.abs(ours.astype(np.float64) - theirs.astype(np.float64)).max()
    if not error <= limit:
        raise WrongResult(f"ndpool and the other differ by {error}, not {limit}: {drawn.line}")


def tolerance(drawn: DrawnFilter, x: np.ndarray) -> float:
    """A running or serial sum of n floats rounds n times: n is the window, or the whole line."""
    if drawn.kind.operator in ("max", "min"):
        return 0.0
    if x.dtype.kind != "f":
        return 1.0
    taps = float(np.prod(drawn.kernel))
    additions = float(max(drawn.shape)) if drawn.kind.windows == "trailing" else taps
    scale = taps if drawn.kind.operator == "sum" else 1.0
    # OpenCV's area resize multiplies doubles by a reciprocal that is a float.
    dtype = np.float32 if drawn.name == "cv2.resize" else x.dtype
    return float(np.finfo(dtype).eps * additions * scale * np.abs(x).max())


def compare(drawn: DrawnFilter, seconds: float) -> Result:
    """Compares the results, then the times."""
    x = array_of(drawn)
    library = drawn.name.partition(".")[0]
    calls = {"ndpool": of_ndpool(drawn, x), "peer": LIBRARIES[library](drawn, x)}
    check(drawn, x, np.asarray(calls["ndpool"]()), np.asarray(calls["peer"]()))
    best = measure(calls, seconds)
    groups = (drawn.name, drawn.dtype, f"{drawn.channels} channels")
    return Result(drawn.line, groups, best["ndpool"], best["peer"], runs(drawn, x))


def runs(drawn: DrawnFilter, x: np.ndarray) -> str:
    """The implementation of ndpool that serves the call."""
    plan = ndpool.explain_plan(
        drawn.kind.operator, x.shape, **window_of(drawn), dtype=x.dtype, strides=x.strides
    )
    return plan.implementations["forward"]
