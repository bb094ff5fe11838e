"""Generated calls of torch's pooling functions, and how near two results of one must be."""

from __future__ import annotations

import contextlib
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

import ndpool

FLOATS = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
INTEGERS = [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64]
FAMILIES = ["max", "avg", "lp", "adaptive_max", "adaptive_avg", "max_unpool"]


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Small tensors on many threads are slow on a busy machine."""
    threads, pool_threads = torch.get_num_threads(), ndpool.get_threads()
    torch.set_num_threads(1)
    ndpool.set_threads(1)
    yield
    torch.set_num_threads(threads)
    ndpool.set_threads(pool_threads)


@dataclass
class Case:
    """One call; its text says all that is needed to repeat it."""

    seed: int
    family: str
    rank: int
    dtype: torch.dtype
    shape: tuple[int, ...]
    layout: str
    arguments: tuple[Any, ...]
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def function(self) -> str:
        return f"{self.family}{'' if 'unpool' in self.family else '_pool'}{self.rank}d"

    def tensor(self) -> torch.Tensor:
        generator = torch.Generator().manual_seed(self.seed)
        if self.family == "lp" or not self.dtype.is_floating_point:
            # Whole numbers have exact powers and sums, so no sign hangs on rounding.
            low = 0 if self.dtype == torch.uint8 else -4
            x = torch.randint(low, 5, self.shape, generator=generator).to(self.dtype)
        else:
            x = torch.randn(self.shape, generator=generator, dtype=torch.float64)
            if self.seed % 3 == 0:  # ties
                x = x.mul(2).round()
            x = x.to(self.dtype)
        return laid_out(x, self.layout)


def laid_out(x: torch.Tensor, layout: str) -> torch.Tensor:
    if layout == "channels_last":
        last = torch.channels_last if x.dim() == 4 else torch.channels_last_3d
        return x.contiguous(memory_format=last)
    if layout == "sliced":
        wide = torch.zeros(*x.shape[:-1], 2 * x.shape[-1] + 1, dtype=x.dtype)
        view = wide[..., 1::2]
        view.copy_(x)
        return view
    if layout == "transposed":
        return x.transpose(-1, 0).contiguous().transpose(-1, 0)
    return x


def _shape(pick: random.Random, rank: int) -> tuple[int, ...]:
    longest = {1: 70, 2: 24, 3: 10}[rank]
    spatial = tuple(pick.randint(2, longest) for _ in range(rank))
    channels = pick.choice((1, 2, 3, 5, 8, 9, 16, 17, 19))
    return (*((pick.randint(1, 2),) if pick.random() < 0.75 else ()), channels, *spatial)


def _size(pick: random.Random, values: tuple[int, ...]) -> Any:
    """Equal entries are sometimes written as one number."""
    return values[0] if len(set(values)) == 1 and pick.random() < 0.7 else values


def _window(
    pick: random.Random, shape: tuple[int, ...], rank: int, dilates: bool
) -> dict[str, Any]:
    kernel, stride, padding, dilation = [], [], [], []
    for length in shape[-rank:]:
        d = pick.choice((1, 1, 2, 3)) if dilates else 1
        k = pick.choice((1, 2, 2, 3, 3, 4, 5, 7))
        while d * (k - 1) + 1 > length:
            d, k = 1, k - 1
        kernel.append(k)
        dilation.append(d)
        stride.append(pick.choice((1, 1, 2, 2, 3, k)))
        padding.append(pick.randint(0, k // 2))
    if pick.random() < 0.3:
        padding = [0] * rank
    return {
        "kernel_size": _size(pick, tuple(kernel)),
        "stride": _size(pick, tuple(stride)) if pick.random() < 0.85 else None,
        "padding": _size(pick, tuple(padding)),
        "dilation": _size(pick, tuple(dilation)),
        "ceil_mode": pick.random() < 0.4,
    }


def generate(seed: int) -> Case:
    pick = random.Random(seed)
    rank, family = pick.randint(1, 3), pick.choice(FAMILIES)
    shape = _shape(pick, rank)
    dtype = pick.choice(FLOATS)
    if family == "avg" and rank == 3:
        dtype = pick.choice((torch.float32, torch.float64))
    if family == "lp" and rank == 3:
        dtype = pick.choice((torch.float32, torch.float64))
    layouts = ["contiguous", "sliced", "transposed"]
    if len(shape) == rank + 2 and rank > 1:
        layouts += ["channels_last"] * 3
    window = _window(pick, shape, rank, dilates=family == "max")
    options: dict[str, Any] = {}
    if family == "max":
        if pick.random() < 0.25:
            dtype = pick.choice(INTEGERS)
        options["return_indices"] = pick.random() < 0.6 or (
            rank == 1 and not dtype.is_floating_point
        )
        arguments = tuple(window.values())
    elif family == "avg":
        if pick.random() < 0.15:
            dtype = torch.int64
        del window["dilation"]
        arguments = (*window.values(), pick.random() < 0.5)
        if rank > 1 and pick.random() < 0.3:
            options["divisor_override"] = pick.choice((1, 2, 7, -3))
    elif family == "lp":
        p = pick.choice((1, 2, 2.0, 3, 4.0, math.inf, -math.inf))
        kernel = window["kernel_size"]
        if rank == 1 and isinstance(kernel, tuple):
            kernel = kernel[0]
        arguments = (p, kernel, window["stride"], window["ceil_mode"])
    elif family == "max_unpool":
        kernel = _size(pick, tuple(pick.randint(1, 3) for _ in range(rank)))
        arguments = (kernel,)
    else:
        sizes = tuple(pick.randint(1, length + 2) for length in shape[-rank:])
        if rank > 1 and pick.random() < 0.2:
            sizes = (None, *sizes[1:])
        arguments = (sizes[0] if rank == 1 else _size(pick, sizes),)
        if family == "adaptive_max":
            options["return_indices"] = pick.random() < 0.6
    layout = pick.choice(layouts)
    if (
        dtype in (torch.int8, torch.uint8)
        and math.prod(shape[-rank:]) > 127
        and layout == "channels_last"
    ):
        layout = "contiguous"  # torch refuses more cells than the dtype counts to
    return Case(seed, family, rank, dtype, shape, layout, arguments, options)


def strides(x: torch.Tensor) -> tuple[int | None, ...]:
    """How a tensor lies in memory; strides of axes of length 1 have no meaning."""
    return tuple(s if n > 1 else None for n, s in zip(x.shape, x.stride()))


def twin_calls(rank: int) -> dict[str, tuple[Any, ...]]:
    """Every function of torch that ndpool replaces: its arguments after the tensor, by its name.

    Those of unpooling come after the indices, for which `with_tensors` provides.
    """
    families = {
        "max_pool": (3, 2, 1), "max_pool_with_indices": (2,), "avg_pool": (3, 2, 1),
        "adaptive_max_pool": (3,), "adaptive_max_pool_with_indices": (3,), "max_unpool": (2,),
    }  # fmt: skip
    calls = {name.replace("pool", f"pool{rank}d"): call for name, call in families.items()}
    for case, size in {"": 3, " to one": 1}.items():
        calls[f"adaptive_avg_pool{rank}d{case}"] = (size,)
    for p in (2, 3.0, math.inf):
        calls[f"lp_pool{rank}d p={p}"] = (p, 2)
    return calls


def with_tensors(module: Any, call: str, arguments: tuple[Any, ...]) -> Any:
    """A call of `twin_calls` as a function of its tensor; of its first result, if it has two."""
    function = getattr(module, call.split()[0])

    def run(x: torch.Tensor) -> torch.Tensor:
        if "unpool" in call:
            cells = math.prod(x.shape[x.dim() - int(call[-2]) :])
            count = torch.arange(cells).reshape(x.shape[x.dim() - int(call[-2]) :])
            indices = torch.empty_strided(x.shape, x.stride(), dtype=torch.int64).copy_(count)
            return function(x, indices.to(x.device), *arguments)
        y = function(x, *arguments)
        return y[0] if isinstance(y, tuple) else y

    return run
