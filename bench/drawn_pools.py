"""Pools as networks have them, drawn at random, for `peers.py --generated`."""

from __future__ import annotations

import functools
import math
import random
from dataclasses import dataclass, field, replace

import torch
from call_line import Value, format_line, parse_line

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f64": torch.float64}
MAPS = ("forward", "indices", "training")
LAYOUTS = ("first", "last")
# The options of a line and what torch calls them.
OPTIONS = {
    "kernel": "kernel_size",
    "stride": "stride",
    "padding": "padding",
    "dilation": "dilation",
    "ceil": "ceil_mode",
    "count_padding": "count_include_pad",
    "size": "output_size",
}
FLAGS = ("ceil", "count_padding")
KERNELS = {
    1: (2, 3, 4, 5, 7, 8, 10, 16, 25),
    2: (2, 2, 2, 2, 3, 3, 3, 3, 3, 4, 5, 7, 9, 13),
    3: (2, 2, 2, 2, 3, 3, 4),
}
BYTES = (8 << 10, 16 << 20)


@dataclass(frozen=True)
class DrawnPool:
    """A call of torch.nn.functional. `shape` has the channels second in any layout."""

    name: str
    shape: tuple[int, ...]
    dtype: str = "f32"
    layout: str = "first"
    map: str = "forward"
    threads: int = 1
    options: dict[str, Value] = field(default_factory=dict)

    @property
    def rank(self) -> int:
        return len(self.shape) - 2

    @property
    def is_max(self) -> bool:
        return "max" in self.name

    @property
    def bytes(self) -> int:
        return math.prod(self.shape) * DTYPES[self.dtype].itemsize

    @property
    def groups(self) -> tuple[str, ...]:
        """What the pools of a table have in common."""
        family = self.name.removesuffix(f"_pool{self.rank}d").replace("_", " ")
        if self.options.get("size") == (1,) * self.rank:
            family = family.replace("adaptive", "global")
        threads = "1 thread" if self.threads == 1 else f"{self.threads} threads"
        return (
            f"{family}, {self.map}",
            f"{self.rank}-D",
            self.dtype,
            f"channels {self.layout}",
            threads,
        )

    @property
    def line(self) -> str:
        kind = {key: getattr(self, key) for key in ("shape", "dtype", "layout", "map", "threads")}
        return format_line(self.name, {**kind, **self.options})

    @classmethod
    def parse(cls, line: str) -> DrawnPool:
        """The inverse of `line`. Left out: f32, channels first, forward, one thread."""
        name, values = parse_line(line)
        if not hasattr(torch.nn.functional, name) or "pool" not in name:
            raise ValueError(f"torch.nn.functional has no pool called {name!r}")
        kinds = {"shape": None, "dtype": DTYPES, "layout": LAYOUTS, "map": MAPS, "threads": None}
        for key, allowed in kinds.items():
            if allowed and key in values and values[key] not in allowed:
                raise ValueError(f"{key}={values[key]} is none of {', '.join(allowed)}")
        unknown = [key for key in values if key not in kinds and key not in OPTIONS]
        if unknown or "shape" not in values:
            wrong = f"unknown option {unknown[0]}" if unknown else "no shape"
            raise ValueError(f"{wrong} in {line!r}; options: {', '.join([*kinds, *OPTIONS])}")
        options = {key: value for key, value in values.items() if key in OPTIONS}
        return cls(name, options=options, **{k: v for k, v in values.items() if k in kinds})  # type: ignore[arg-type]

    def arguments(self) -> dict[str, object]:
        """Of torch's function."""
        given = {
            OPTIONS[key]: bool(value) if key in FLAGS else value
            for key, value in self.options.items()
        }
        return {**given, "return_indices": True} if self.map == "indices" else given

    def tensor(self, device: str = "cpu") -> torch.Tensor:
        """Uninitialised, with the strides of the layout."""
        dtype = DTYPES[self.dtype]
        if self.layout == "first":
            return torch.empty(self.shape, dtype=dtype, device=device)
        moved = (self.shape[0], *self.shape[2:], self.shape[1])
        return torch.empty(moved, dtype=dtype, device=device).movedim(-1, 1)


def draw(seed: int, count: int) -> list[DrawnPool]:
    """Distinct pools that torch accepts."""
    source = random.Random(seed)
    drawn: dict[str, DrawnPool] = {}
    while len(drawn) < count:
        pool = draw_one(source)
        if is_legal(pool):
            drawn[pool.line] = pool
    return list(drawn.values())


def is_legal(pool: DrawnPool) -> bool:
    """True for pools of a size that is measured, with a result: torch's shape rule says."""
    if not (BYTES[0] <= pool.bytes <= BYTES[1] and torch_has(pool.name, pool.dtype)):
        return False
    try:
        result = getattr(torch.nn.functional, pool.name)(pool.tensor("meta"), **pool.arguments())
    except (RuntimeError, ValueError):
        return False
    return (result[0] if isinstance(result, tuple) else result).numel() > 0


@functools.cache
def torch_has(name: str, dtype: str) -> bool:
    """False where torch has no kernel: 3-D averages of bfloat16, for example."""
    x = torch.zeros((1,) * (int(name[-2]) + 2), dtype=DTYPES[dtype], requires_grad=True)
    try:
        getattr(torch.nn.functional, name)(x, 1).sum().backward()
    except NotImplementedError:
        return False
    return True


def draw_one(source: random.Random) -> DrawnPool:
    rank = source.choices((1, 2, 3), (0.2, 0.6, 0.2))[0]
    dtype = source.choices(tuple(DTYPES), (0.6, 0.25, 0.15))[0]
    kind = source.choices(
        ("max", "avg", "adaptive_max", "adaptive_avg", "global_avg", "global_max"),
        (0.40, 0.25, 0.05, 0.10, 0.15, 0.05),
    )[0]
    pool = DrawnPool(
        f"{kind.replace('global', 'adaptive')}_pool{rank}d",
        draw_shape(source, rank, dtype),
        dtype,
        source.choices(LAYOUTS, (0.6, 0.4))[0],
        source.choices(MAPS, (0.4, 0.2 if "max" in kind else 0.0, 0.45))[0],
        source.choice((1, 2)),
    )
    if kind.startswith("global"):
        return replace(pool, options={"size": (1,) * rank})
    if kind.startswith("adaptive"):
        return replace(pool, options={"size": draw_bins(source, pool.shape[2:])})
    return replace(pool, options=draw_window(source, rank, kind))


def draw_shape(source: random.Random, rank: int, dtype: str) -> tuple[int, ...]:
    """Planes from a few elements to large ones, channels and batches that networks have."""
    bytes = 2 ** source.uniform(math.log2(BYTES[0]), math.log2(BYTES[1]))
    elements = bytes / DTYPES[dtype].itemsize
    low, high = {1: (3.0, 16.0), 2: (1.6, 9.0), 3: (1.0, 6.5)}[rank]
    extent = 2 ** source.uniform(low, min(high, math.log2(elements) / rank))
    plane = [round(extent)] * rank
    if source.random() < 0.3:  # sound, text lines, videos
        plane = [max(1, round(size * 2 ** source.uniform(-1, 1))) for size in plane]
    rows = max(1, elements / math.prod(plane))
    batch = min(source.choice((1, 1, 1, 2, 4, 8, 16, 32)), round(rows))
    channels = max(1, rows / batch)
    batch, channels = math.ceil(batch * max(1, channels / 2048)), min(2048, channels)
    step = 8 if channels >= 24 else 1
    return (batch, max(1, round(channels / step) * step), *plane)


def draw_bins(source: random.Random, plane: tuple[int, ...]) -> tuple[int, ...]:
    size = source.choice((2, 3, 4, 5, 6, 7, 8, 14, 16, 32))
    return tuple(min(size, extent) for extent in plane)


def draw_window(source: random.Random, rank: int, kind: str) -> dict[str, Value]:
    kernel = (source.choice(KERNELS[rank]),) * rank
    if rank > 1 and source.random() < 0.1:
        kernel = tuple(source.choice((1, *KERNELS[rank])) for _ in kernel)
    stride = source.choices((kernel, (1,) * rank, (2,) * rank), (0.5, 0.25, 0.25))[0]
    window: dict[str, Value] = {"kernel": kernel, "stride": stride}
    if source.random() < 0.5:
        window["padding"] = tuple(size // 2 for size in kernel)
        if kind == "avg" and source.random() < 0.5:
            window["count_padding"] = 0
    if source.random() < 0.1:
        window["ceil"] = 1
    if kind == "max" and source.random() < 0.04:
        window["dilation"] = (2,) * rank
    return window
