"""The time that a network spends in its pools, forward and backward."""

from __future__ import annotations

import contextlib
import inspect
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from drawn_pools import DTYPES, FLAGS, OPTIONS, DrawnPool
from torch import Tensor

import ndpool.torch

POOLS = tuple(name for name in ndpool.torch.functional.__all__ if hasattr(F, name))


class PoolClock:
    """Counts what the pools of `torch.nn.functional` take, whoever has put them there."""

    def __init__(self) -> None:
        self.seconds: list[float] = []  # by call of the run
        self.lines: list[str] = []
        self.is_describing = False
        self._is_inside = False

    @contextlib.contextmanager
    def running(self, describe: bool = False) -> Iterator[None]:
        """Times the calls of one run of a network; `describe` notes them as lines."""
        self.seconds, self.is_describing = [], describe
        if describe:
            self.lines = []
        before = {name: getattr(F, name) for name in POOLS}
        for name, function in before.items():
            setattr(F, name, self._timed(name, function))
        try:
            yield
        finally:
            for name, function in before.items():
                setattr(F, name, function)

    def _timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(x: Tensor, *arguments: Any, **options: Any) -> Any:
            if self._is_inside:  # lp_pool calls avg_pool
                return function(x, *arguments, **options)
            if self.is_describing:
                self.lines.append(line_of(name, x, arguments, options))
            place, before = len(self.seconds), x.grad_fn
            self._is_inside = True
            start = time.perf_counter()
            result = function(x, *arguments, **options)
            self.seconds.append(time.perf_counter() - start)
            self._is_inside = False
            y = result[0] if isinstance(result, tuple) else result
            if y.requires_grad:
                self._time_backward(place, y.grad_fn, before)
            return result

        return timed

    def _time_backward(self, place: int, node: Any, before: Any) -> None:
        """Adds the time of the nodes that a pool has recorded: from `node` back to `before`."""
        if node is None or node is before or type(node).__name__ == "AccumulateGrad":
            return
        start = 0.0

        def begin(gradients: Any) -> None:
            nonlocal start
            start = time.perf_counter()

        def end(inputs: Any, outputs: Any) -> None:
            self.seconds[place] += time.perf_counter() - start

        node.register_prehook(begin)
        node.register_hook(end)
        for next_node, _ in node.next_functions:
            self._time_backward(place, next_node, before)


def line_of(name: str, x: Tensor, arguments: tuple[Any, ...], options: dict[str, Any]) -> str:
    """The call as `peers.py --call` takes it, or what can be said about others."""
    rank = int(name[-2])
    shape = (1,) * (rank + 2 - x.dim()) + tuple(x.shape)
    dtype = next((word for word, dtype in DTYPES.items() if dtype is x.dtype), str(x.dtype))
    is_last = x.dim() == rank + 2 and x.stride(1) == 1 and x.shape[1] > 1
    function = getattr(ndpool.torch.functional, name)
    bound = inspect.signature(function).bind(x, *arguments, **options).arguments
    words = {torch_word: word for word, torch_word in OPTIONS.items()}
    known = {words[key]: value for key, value in bound.items() if key in words}
    kept: dict[str, Any] = {}
    for word, value in known.items():
        is_default = value is None or (word == "padding" and not any(entries(value, rank)))
        if word in FLAGS:
            is_default = bool(value) == (word == "count_padding")
        if not is_default:
            kept[word] = int(value) if word in FLAGS else entries(value, rank)
    if kept.get("dilation") == (1,) * rank:
        del kept["dilation"]
    kind = "indices" if bound.get("return_indices") else "forward"
    threads = torch.get_num_threads()
    is_first = "first" if not is_last else "last"
    return DrawnPool(name, shape, dtype, is_first, kind, threads, kept).line


def entries(value: Any, rank: int) -> tuple[int, ...]:
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    return values if len(values) == rank else values * rank
