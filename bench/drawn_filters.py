"""Filters of pictures and volumes, drawn at random, for `images.py`."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from call_line import Value, format_line, parse_line

DTYPES = ("u8", "u16", "i16", "f32", "f64")
FLOATS = ("f32", "f64")
PIXELS = (30_000, 4_000_000)
SIZES = (2, 40)


@dataclass(frozen=True)
class Kind:
    """What a function of another library does, and on which arrays it means the same as ndpool.

    `moving` filters have a window centred on each pixel, zeros or nothing around the array;
    `blocks` make one pixel of each; `trailing` windows slide along one axis.
    """

    windows: str
    operator: str
    weight: float
    dtypes: tuple[str, ...] = DTYPES
    channels: tuple[int, ...] = (1, 2, 3, 4)
    ranks: tuple[int, ...] = (2,)
    float_channels: tuple[int, ...] | None = None  # if they are others

    def channels_of(self, dtype: str) -> tuple[int, ...]:
        is_other = self.float_channels is not None and dtype in FLOATS
        return self.float_channels or () if is_other else self.channels


KINDS = {
    "cv2.blur": Kind("moving", "avg", 16),
    "cv2.dilate": Kind("moving", "max", 10),
    "cv2.erode": Kind("moving", "min", 8),
    "cv2.resize": Kind("blocks", "avg", 16),
    # Of integers scipy's box filter truncates between the axes.
    "ndimage.uniform_filter": Kind("moving", "avg", 9, FLOATS, ranks=(2, 3)),
    "ndimage.maximum_filter": Kind("moving", "max", 7, ranks=(2, 3)),
    "ndimage.minimum_filter": Kind("moving", "min", 5, ranks=(2, 3)),
    # Means of integers would be floats.
    "skimage.block_reduce_mean": Kind("blocks", "avg", 4, FLOATS),
    "skimage.block_reduce_max": Kind("blocks", "max", 3),
    "skimage.block_reduce_min": Kind("blocks", "min", 2),
    # Pillow has no pictures of two channels or of 16 bits that reduce in place.
    "PIL.reduce": Kind("blocks", "avg", 8, ("u8", "f32"), (1, 3, 4), float_channels=(1,)),
    # Integers would become float64.
    "bottleneck.move_mean": Kind("trailing", "avg", 4, FLOATS, (1,)),
    "bottleneck.move_sum": Kind("trailing", "sum", 2, FLOATS, (1,)),
    "bottleneck.move_max": Kind("trailing", "max", 3, FLOATS, (1,)),
    "bottleneck.move_min": Kind("trailing", "min", 3, FLOATS, (1,)),
}


@dataclass(frozen=True)
class DrawnFilter:
    """A call. `shape` is without the channels, which are the last axis if there are several.

    `kernel` has 1 on the axes that a trailing window does not slide along.
    """

    name: str
    shape: tuple[int, ...]
    kernel: tuple[int, ...]
    dtype: str = "u8"
    channels: int = 1

    @property
    def kind(self) -> Kind:
        return KINDS[self.name]

    @property
    def array_shape(self) -> tuple[int, ...]:
        return (*self.shape, self.channels) if self.channels > 1 else self.shape

    @property
    def axes(self) -> tuple[int, ...]:
        """Those that are pooled."""
        if self.kind.windows == "trailing":
            return tuple(axis for axis, size in enumerate(self.kernel) if size > 1)
        return tuple(range(len(self.shape)))

    @property
    def line(self) -> str:
        values: dict[str, Value] = {"shape": self.shape, "dtype": self.dtype}
        if self.channels > 1:
            values["channels"] = self.channels
        return format_line(self.name, {**values, "kernel": self.kernel})

    @classmethod
    def parse(cls, line: str) -> DrawnFilter:
        """The inverse of `line`. Left out: u8, one channel."""
        name, values = parse_line(line)
        if name not in KINDS:
            raise ValueError(f"{name!r} is none of {', '.join(KINDS)}")
        wanted = ("shape", "dtype", "channels", "kernel")
        unknown = [key for key in values if key not in wanted]
        if unknown or not {"shape", "kernel"} <= values.keys():
            wrong = f"unknown option {unknown[0]}" if unknown else "shape and kernel are needed"
            raise ValueError(f"{wrong} in {line!r}; options: {', '.join(wanted)}")
        found = cls(name, **values)  # type: ignore[arg-type]
        shape, kernel, kind = found.shape, found.kernel, found.kind
        if not (isinstance(shape, tuple) and isinstance(kernel, tuple)):
            raise ValueError(f"shape and kernel in {line!r} are lists such as 480,640")
        if len(shape) != len(kernel) or len(shape) not in kind.ranks:
            raise ValueError(f"shape and kernel in {line!r} have {kind.ranks} axes in {name}")
        if found.dtype not in kind.dtypes:
            raise ValueError(f"{name} is measured on {', '.join(kind.dtypes)}, not {found.dtype}")
        if found.channels not in kind.channels_of(found.dtype):
            counts = ", ".join(map(str, kind.channels_of(found.dtype)))
            raise ValueError(f"{name} of {found.dtype} has {counts} channels, not {found.channels}")
        return found


def draw(seed: int, count: int, library: str = "") -> list[DrawnFilter]:
    """Distinct filters, of one library if it is given."""
    source = random.Random(seed)
    drawn: dict[str, DrawnFilter] = {}
    names = [name for name in KINDS if name.startswith(library)]
    if not names:
        raise ValueError(f"no filter starts with {library!r}; there are {', '.join(KINDS)}")
    while len(drawn) < count:
        name = source.choices(names, [KINDS[name].weight for name in names])[0]
        found = draw_one(source, name)
        drawn[found.line] = found
    return list(drawn.values())


def draw_one(source: random.Random, name: str) -> DrawnFilter:
    kind = KINDS[name]
    rank = source.choice(kind.ranks)
    dtype = source.choice(kind.dtypes)
    channels = source.choice(kind.channels_of(dtype)) if rank == 2 else 1
    pixels = log_uniform(source, *PIXELS)
    shape = draw_shape(source, pixels, rank)
    limit = min(SIZES[1], min(shape) // 2)
    kernel = [round(log_uniform(source, SIZES[0], limit))] * rank
    if source.random() < 0.4:
        kernel = [round(log_uniform(source, SIZES[0], limit)) for _ in shape]
    if kind.windows == "trailing":
        axis = source.randrange(rank)
        kernel = [size if i == axis else 1 for i, size in enumerate(kernel)]
    if kind.windows == "blocks":  # the libraries treat an incomplete one differently
        shape = [extent // size * size for extent, size in zip(shape, kernel)]
    return DrawnFilter(name, tuple(shape), tuple(kernel), dtype, channels)


def draw_shape(source: random.Random, pixels: float, rank: int) -> list[int]:
    ratios = [2 ** source.uniform(-0.5, 0.5) for _ in range(rank)]
    scale = (pixels / math.prod(ratios)) ** (1 / rank)
    return [max(2 * SIZES[0], round(scale * ratio)) for ratio in ratios]


def log_uniform(source: random.Random, low: float, high: float) -> float:
    return 2 ** source.uniform(math.log2(low), math.log2(high))
