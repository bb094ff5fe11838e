"""What every operator means, cell by cell, in plain Python: slow, and of any argument whatever.

`Wrong` is raised where the meaning is an error. Window arithmetic is in Python's integers, which do
not overflow, and only cells of the array are visited, so that the numbers may be of any size.
"""

from __future__ import annotations

import itertools
import math
import operator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np


class Wrong(Exception):
    """The call has no meaning."""


def integer(value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise Wrong(f"{value!r} is no integer") from None


def is_sequence(value: Any) -> bool:
    """What has no order, such as a set, is none."""
    return isinstance(value, (list, tuple, range, np.ndarray))


def flag(value: Any) -> bool:
    need(isinstance(value, (bool, np.bool_)) or integer(value) in (0, 1), f"{value!r} is no flag")
    return bool(value)


def entries(value: Any) -> list[Any]:
    try:
        return list(value)
    except TypeError as error:  # iteration over a 0-d array
        raise Wrong(str(error)) from None


def integers(value: Any, count: int) -> list[int]:
    """A list, or one number `count` times."""
    if is_sequence(value):
        return [integer(entry) for entry in entries(value)]
    return [integer(value)] * count


def pairs(value: Any, count: int) -> list[tuple[int, int]]:
    if not is_sequence(value):
        return [(integer(value),) * 2] * count
    result = []
    for entry in entries(value):
        numbers = integers(entry, 2)
        if len(numbers) != 2:
            raise Wrong("padding of an axis is one number or two")
        result.append((numbers[0], numbers[1]))
    return result


def need(condition: bool, text: str) -> None:
    if not condition:
        raise Wrong(text)


def need_word(value: Any, *words: str) -> None:
    need(isinstance(value, str) and value in words, f"{value!r} is none of {words}")


@dataclass
class Axis:
    """For each output of one axis the cells it sees, and how many taps are cells or padding."""

    cells: list[range]
    counts: list[int]

    def __len__(self) -> int:
        return len(self.cells)


def window_axis(length: int, k: int, s: int, d: int, lo: int, hi: int, ceil: bool) -> Axis:
    need(k >= 1 and s >= 1 and d >= 1 and lo >= 0 and hi >= 0 and length >= 1, "out of range")
    room = length + lo + hi - (d * (k - 1) + 1)
    count = room // s + 1
    if ceil and room % s != 0:
        count += 1
        if (count - 1) * s >= length + lo:
            count -= 1
    need(count >= 1 and (room >= 0 or ceil), "the window does not fit")
    need(count <= 10**6, "too large for this oracle")
    cells, counts = [], []
    for o in range(count):
        start = o * s - lo
        counted = min(k, -((start - length - hi) // d))
        skipped = max(0, -(start // d))  # taps before the first cell
        first = start + skipped * d
        cells.append(range(first, min(length, start + counted * d), d))
        counts.append(counted)
    return Axis(cells, counts)


def same_padding(length: int, k: int, s: int, d: int, lower: bool) -> tuple[int, int]:
    need(k >= 1 and s >= 1 and d >= 1 and length >= 1, "out of range")
    outputs = -(-length // s)
    total = max(0, (outputs - 1) * s + d * (k - 1) + 1 - length)
    small, large = total // 2, total - total // 2
    return (large, small) if lower else (small, large)


def adaptive_axis(length: int, bins: int) -> Axis:
    need(length >= 1 and bins >= 1, "out of range")
    need(bins <= 10**6, "too large for this oracle")
    cells = [range(i * length // bins, -(-(i + 1) * length // bins)) for i in range(bins)]
    return Axis(cells, [len(c) for c in cells])


@dataclass
class Geometry:
    axes: list[Axis]
    pooled: list[int]
    drops_axes: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(axis) for axis in self.axes)

    @property
    def result_shape(self) -> tuple[int, ...]:
        if not self.drops_axes:
            return self.shape
        return tuple(n for a, n in enumerate(self.shape) if a not in self.pooled)

    def has_empty_window(self) -> bool:
        return any(len(cells) == 0 for a in self.pooled for cells in self.axes[a].cells)

    def windows(self):
        """Each output with the cells it sees, row-major, and how many taps count."""
        for output in np.ndindex(*self.shape):
            cells = [axis.cells[o] for axis, o in zip(self.axes, output)]
            counted = math.prod(axis.counts[o] for axis, o in zip(self.axes, output))
            yield output, list(itertools.product(*cells)), counted


def named_axes(axes: Any, rank: int, count: int) -> list[int]:
    if axes is None:
        need(1 <= count <= rank, "not enough axes")
        return list(range(rank - count, rank))
    given = integers(axes, 1)
    need(len(given) >= 1 and all(-rank <= a < rank for a in given), "no such axis")
    numbers = [a % rank for a in given]
    need(len(set(numbers)) == len(numbers), "an axis twice")
    return numbers


def main_list(value: Any, axes: Any) -> list[int]:
    if is_sequence(value):
        return integers(value, 0)
    need(axes is not None, "one number needs axes")
    return integers(value, len(integers(axes, 1)))


def batch_axes(shape) -> list[Axis]:
    return [Axis([range(i, i + 1) for i in range(n)], [1] * n) for n in shape]


def window(
    shape, kernel, stride=None, padding=0, dilation=1, *, axes=None, ceil_mode=False
) -> Geometry:
    ceil_mode = flag(ceil_mode)
    kernel = main_list(kernel, axes)
    count = len(kernel)
    stride = kernel if stride is None else integers(stride, count)
    dilation = integers(dilation, count)
    need(len(stride) == len(dilation) == count, "lists of different lengths")
    pooled = named_axes(axes, len(shape), count)
    need(len(pooled) == count, "axes and kernel of different lengths")
    if isinstance(padding, str):
        need(padding in ("same", "same_lower", "valid"), "no such padding")
        rule, pads = padding, [(0, 0)] * count
    else:
        rule, pads = "", pairs(padding, count)
        need(len(pads) == count, "padding of another length")
    result = batch_axes(shape)
    for i, a in enumerate(pooled):
        lo, hi = pads[i]
        if rule.startswith("same"):
            lo, hi = same_padding(shape[a], kernel[i], stride[i], dilation[i], rule == "same_lower")
        ceil = ceil_mode and not rule.startswith("same")
        result[a] = window_axis(shape[a], kernel[i], stride[i], dilation[i], lo, hi, ceil)
    return Geometry(result, pooled)


def bins(shape, output_size, *, axes=None) -> Geometry:
    sizes = main_list(output_size, axes)
    pooled = named_axes(axes, len(shape), len(sizes))
    need(len(pooled) == len(sizes), "axes and output_size of different lengths")
    result = batch_axes(shape)
    for a, size in zip(pooled, sizes):
        result[a] = adaptive_axis(shape[a], size)
    return Geometry(result, pooled)


def whole(shape, *, axes=None, keepdims=False) -> Geometry:
    drops_axes = not flag(keepdims)
    pooled = named_axes(axes, len(shape), len(shape))
    result = batch_axes(shape)
    for a in pooled:
        result[a] = adaptive_axis(shape[a], 1)
    return Geometry(result, pooled, drops_axes)


@dataclass
class Seen:
    """One window: the cells it sees, their values as Python numbers, and its count of taps."""

    cells: list[tuple[int, ...]]
    values: list[Any]
    counted: int


def sign(value: float) -> int:
    return 1 if value != value else (value > 0) - (value < 0)


@dataclass
class Extreme:
    """max and min, or the largest magnitude."""

    sign: int
    ties: str = "first"
    nan: str = "propagate"
    empty: str = "error"
    magnitude: bool = False

    def __post_init__(self):
        need_word(self.ties, "first", "all", "split")
        need_word(self.nan, "propagate", "ignore")
        need_word(self.empty, "error", "identity")

    rejects_empty = property(lambda self: self.empty == "error")

    def winners(self, values) -> list[int]:
        nans = [i for i, v in enumerate(values) if v != v]
        if nans and (self.nan == "propagate" or len(nans) == len(values)):
            return nans
        keys = [abs(v) if self.magnitude else self.sign * v for v in values]
        best = max((key for key in keys if key == key), default=None)
        return [i for i, key in enumerate(keys) if key == best]

    def value(self, seen: Seen, dtype: np.dtype):
        winners = self.winners(seen.values)
        if winners:
            first = seen.values[winners[0]]
            return abs(first) if self.magnitude else first
        if self.magnitude:
            return 0
        return -np.inf * self.sign if is_float(dtype) else limits(dtype)[0 if self.sign > 0 else 1]

    def weights(self, seen: Seen) -> list[float]:
        winners = self.winners(seen.values)
        if self.ties == "first":
            winners = winners[:1]
        share = 1 / len(winners) if self.ties == "split" and winners else 1
        return [
            share * (sign(v) if self.magnitude else 1) if i in winners else 0
            for i, v in enumerate(seen.values)
        ]


@dataclass
class Sum:
    rejects_empty = False

    def value(self, seen: Seen, dtype: np.dtype):
        return total(seen.values)

    def weights(self, seen: Seen) -> list[float]:
        return [1] * len(seen.values)


@dataclass
class Average:
    count_include_pad: Any = True
    divisor: Any = None
    rounding: str = "half_even"
    empty: str = "error"

    def __post_init__(self):
        self.count_include_pad = flag(self.count_include_pad)
        need_word(self.rounding, *ROUNDINGS)
        need_word(self.empty, "error", "identity")
        if self.divisor is not None:
            need(integer(self.divisor) != 0, "divisor 0")

    @property
    def rejects_empty(self) -> bool:
        return self.empty == "error" and not self.count_include_pad and self.divisor is None

    def count(self, seen: Seen) -> int:
        if self.divisor is not None:
            return integer(self.divisor)
        return seen.counted if self.count_include_pad else len(seen.values)

    def value(self, seen: Seen, dtype: np.dtype):
        if self.count(seen) == 0:
            return 0
        if is_float(dtype):
            return total(seen.values) / self.count(seen)
        return ROUNDINGS[self.rounding](Fraction(total(seen.values), self.count(seen)))

    def weights(self, seen: Seen) -> list[float]:
        return [1 / self.count(seen)] * len(seen.values) if self.count(seen) else []


def half_away(value: Fraction) -> int:
    return math.floor(abs(value) + Fraction(1, 2)) * (1 if value >= 0 else -1)


ROUNDINGS = {
    "half_even": round,
    "toward_zero": math.trunc,
    "floor": math.floor,
    "half_away": half_away,
}


def real(value: Any) -> float:
    need(not isinstance(value, (str, bytes)), "no number")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise Wrong(str(error)) from None


@dataclass
class SmoothMax:
    beta: Any = 1.0
    pad_mode: str = "zero"
    empty: str = "error"

    def __post_init__(self):
        self.beta = real(self.beta)
        need(math.isfinite(self.beta) and self.beta != 0, "beta cannot be used")
        need_word(self.pad_mode, "zero", "ignore")
        need_word(self.empty, "error", "identity")

    @property
    def rejects_empty(self) -> bool:
        return self.empty == "error" and self.pad_mode == "ignore"

    def shift_and_sum(self, seen: Seen) -> tuple[float, float]:
        zeros = seen.counted - len(seen.values) if self.pad_mode == "zero" else 0
        shift = max(self.scaled(seen) + ([0.0] if zeros else []), default=-math.inf)
        relative = sum(self.relative(z, shift) for z in self.scaled(seen))
        return shift, relative + (zeros * self.relative(0.0, shift) if zeros else 0)

    def scaled(self, seen: Seen) -> list[float]:
        return [self.beta * value for value in seen.values]

    @staticmethod
    def relative(z: float, shift: float) -> float:
        return 1.0 if z == shift else math.exp(z - shift)  # equal infinities count as one each

    def value(self, seen: Seen, dtype: np.dtype):
        if any(value != value for value in seen.values):
            return math.nan
        shift, relative = self.shift_and_sum(seen)
        return (shift + math.log(relative)) / self.beta if relative else shift / self.beta

    def weights(self, seen: Seen) -> list[float]:
        shift, relative = self.shift_and_sum(seen)
        if shift == -math.inf:
            return [0] * len(seen.values)
        return [self.relative(z, shift) / relative for z in self.scaled(seen)]


@dataclass
class Lp:
    p: Any
    ties: Any = None
    empty: str = "error"

    def __post_init__(self):
        self.p = real(self.p)
        need(self.p > 0 and math.isfinite(self.p), "p must be positive")
        need(self.ties is None, "ties has no meaning here")
        need_word(self.empty, "error", "identity")

    rejects_empty = property(lambda self: self.empty == "error")

    def value(self, seen: Seen, dtype: np.dtype):
        if any(value != value for value in seen.values):
            return math.nan
        largest = max((abs(v) for v in seen.values), default=0)
        if largest in (0, math.inf):
            return largest
        relative = sum((abs(v) / largest) ** self.p for v in seen.values)
        return largest * float(np.power(relative, 1 / self.p))

    def weights(self, seen: Seen) -> list[float]:
        norm = self.value(seen, np.dtype(float))
        return [
            math.copysign((abs(v) / norm) ** (self.p - 1), v) if v != 0 else 0 for v in seen.values
        ]


def lp(p: Any, ties: Any = None, empty: str = "error"):
    if real(p) == math.inf:
        return Extreme(1, "first" if ties is None else ties, empty=empty, magnitude=True)
    return Lp(p, ties, empty)


REDUCERS = {
    "max": lambda **options: Extreme(1, **options),
    "min": lambda **options: Extreme(-1, **options),
    "sum": Sum,
    "avg": Average,
    "smooth_max": SmoothMax,
    "lp": lp,
}


def total(values):
    """The exact sum; of floats that are not finite what IEEE makes of it."""
    if all(isinstance(v, int) for v in values):
        return sum(values)
    if all(map(math.isfinite, values)):
        return float(sum(map(Fraction, values)))
    return float(np.sum([v for v in values if not math.isfinite(v)]))


def is_float(dtype: np.dtype) -> bool:
    return dtype.kind not in "iub"


def limits(dtype: np.dtype) -> tuple[int, int]:
    return (0, 1) if dtype == bool else (np.iinfo(dtype).min, np.iinfo(dtype).max)


def narrow(value: Any, dtype: np.dtype) -> Any:
    if is_float(dtype):
        return value
    low, high = limits(dtype)
    return min(max(value, low), high)


def number(value: Any, dtype: np.dtype) -> Any:
    return float(value) if is_float(dtype) else int(value)


@dataclass
class Pool:
    """A geometry and a reducer on one array."""

    geometry: Geometry
    reducer: Any
    x: np.ndarray
    scales: np.ndarray = field(init=False)  #: for each output, what an error is measured by

    def __post_init__(self):
        if self.reducer.rejects_empty:
            need(not self.geometry.has_empty_window(), "a window without a cell")
        if isinstance(self.reducer, (SmoothMax, Lp)) or getattr(self.reducer, "magnitude", False):
            need(is_float(self.x.dtype), "no exp of integers")
            self.check_parameter()

    def check_parameter(self) -> None:
        """Must not vanish or overflow in the type that is computed in."""
        kind = np.float64 if self.x.dtype == np.float64 else np.float32
        beta, p = getattr(self.reducer, "beta", 1), getattr(self.reducer, "p", 1)
        for parameter in (kind(beta), kind(p), 1 / kind(p)):
            need(np.isfinite(parameter) and parameter != 0, "too small or too large")

    def windows(self):
        for output, cells, counted in self.geometry.windows():
            values = [number(self.x[cell], self.x.dtype) for cell in cells]
            yield output, Seen(cells, values, counted)

    def forward(self) -> np.ndarray:
        """In float64 for floats."""
        dtype = self.x.dtype
        y = np.zeros(self.geometry.shape, np.float64 if is_float(dtype) else dtype)
        self.scales = np.zeros(self.geometry.shape)
        for output, seen in self.windows():
            y[output] = narrow(self.reducer.value(seen, dtype), dtype)
            if is_float(dtype):
                self.scales[output] = self.scale(seen)
        self.scales = self.scales.reshape(self.geometry.result_shape)
        return y.reshape(self.geometry.result_shape)

    def scale(self, seen: Seen) -> float:
        magnitudes = float(np.sum(np.abs(np.array([v for v in seen.values if math.isfinite(v)]))))
        if isinstance(self.reducer, SmoothMax):
            magnitudes += (1 + math.log(seen.counted + 1)) / abs(self.reducer.beta)
        if isinstance(self.reducer, Average) and self.reducer.count(seen):
            magnitudes /= abs(self.reducer.count(seen))
        return magnitudes

    def indices(self) -> np.ndarray:
        pooled = sorted(self.geometry.pooled)
        lengths = [self.x.shape[a] for a in pooled]
        result = np.full(self.geometry.shape, -1, np.int64)
        for output, seen in self.windows():
            winners = self.reducer.winners(seen.values)
            if winners:
                cell = seen.cells[winners[0]]
                result[output] = np.ravel_multi_index([cell[a] for a in pooled], lengths)
        return result.reshape(self.geometry.result_shape)

    def weighted(self, absolute: bool):
        """Each output with its cells and their weights."""
        for output, seen in self.windows():
            weights = self.reducer.weights(seen)
            yield output, [(c, abs(w) if absolute else w) for c, w in zip(seen.cells, weights) if w]

    def jvp(self, dx: np.ndarray, absolute: bool = False) -> np.ndarray:
        """With `absolute` of magnitudes, which errors are measured by."""
        dy = np.zeros(self.geometry.shape)
        for output, taps in self.weighted(absolute):
            dy[output] = sum(w * float(dx[cell]) for cell, w in taps)
        return dy.reshape(self.geometry.result_shape)

    def vjp(self, gy: np.ndarray, absolute: bool = False) -> np.ndarray:
        gy = gy.reshape(self.geometry.shape)
        gx = np.zeros(self.x.shape)
        for output, taps in self.weighted(absolute):
            for cell, w in taps:
                gx[cell] += w * float(gy[output])
        return gx


def unpool(y: np.ndarray, indices: np.ndarray, output_size, *, axes=None) -> np.ndarray:
    need(y.shape == indices.shape, "indices of another shape")
    sizes = main_list(output_size, axes)
    pooled = named_axes(axes, y.ndim, len(sizes))
    need(len(pooled) == len(sizes) and all(size >= 1 for size in sizes), "wrong sizes")
    shape = list(y.shape)
    for a, size in zip(pooled, sizes):
        shape[a] = size
    ordered = sorted(pooled)
    lengths = [shape[a] for a in ordered]
    need(all(-1 <= i < math.prod(lengths) for i in indices.ravel().tolist()), "no such cell")
    x = np.zeros(shape, y.dtype)
    for entry in np.ndindex(*y.shape):
        if indices[entry] < 0:
            continue
        cell = list(entry)
        for a, i in zip(ordered, np.unravel_index(indices[entry], lengths)):
            cell[a] = int(i)
        x[tuple(cell)] = y[entry]
    return x
