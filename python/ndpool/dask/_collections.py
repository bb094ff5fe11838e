"""Collections of Dask: reading those of a caller, and making one of a plain mapping of tasks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import dask
import dask.array as da
import numpy
from dask.highlevelgraph import HighLevelGraph

Key = tuple[Any, ...]
Tasks = dict[Key, tuple[Any, ...]]


def is_array(value: Any) -> bool:
    return isinstance(value, da.Array)


def known_array(value: Any, name: str, like: Sequence[Sequence[int]] | None = None) -> Any:
    """An array of Dask with known chunks; others become one with the chunks `like`."""
    if not is_array(value):
        if hasattr(value, "dask") or hasattr(value, "chunks"):
            kind = f"{type(value).__module__}.{type(value).__qualname__}"
            raise TypeError(f"{name} must be an array of Dask, not {kind}")
        value = numpy.asarray(value)
        chunks = like if like is not None and _fits(value.shape, like) else -1
        return da.from_array(value, chunks=chunks)  # type: ignore[no-untyped-call]
    if any(math.isnan(length) for lengths in value.chunks for length in lengths):
        raise ValueError(
            f"{name} has chunks of unknown sizes, so that its windows are not known either; "
            "call compute_chunk_sizes() on it first"
        )
    return value


def _fits(shape: tuple[int, ...], chunks: Sequence[Sequence[int]]) -> bool:
    return shape == tuple(sum(lengths) for lengths in chunks)


def threads() -> int:
    """Threads of ndpool in each task: one, unless the configuration says otherwise."""
    count = dask.config.get("ndpool.threads", 1)
    if type(count) is not int or not 1 <= count <= 1024:
        raise ValueError(
            f"ndpool.threads of Dask's configuration is {count!r}; it must be 1 to 1024"
        )
    return count


def chunk_bytes() -> int:
    """What a chunk may be large: array.chunk-size of the configuration."""
    return int(dask.utils.parse_bytes(dask.config.get("array.chunk-size")))


def make_array(
    name: str,
    tasks: Mapping[Any, tuple[Any, ...]],
    sources: Sequence[Any],
    chunks: tuple[tuple[int, ...], ...],
    dtype: Any,
) -> Any:
    """The array of which the task with the key (name, *position) makes each chunk.

    A task is a function and its arguments, of which those that are keys stand for their results.
    """
    meta = numpy.empty((0,) * len(chunks), dtype=dtype)
    if da.array_expr_enabled():
        return _make_expression(name, tasks, sources, chunks, meta)
    graph = HighLevelGraph.from_collections(name, tasks, dependencies=list(sources))
    return da.Array(graph, name, chunks=chunks, dtype=dtype, meta=meta)  # type: ignore[no-untyped-call]


def _make_expression(
    name: str,
    tasks: Mapping[Any, tuple[Any, ...]],
    sources: Sequence[Any],
    chunks: tuple[tuple[int, ...], ...],
    meta: numpy.ndarray,
) -> Any:
    """With array.query-planning: the graph of the sources becomes part of one expression."""
    from dask.array._array_expr._collection import from_graph

    layer: dict[Any, Any] = {}
    for source in sources:
        layer.update(source.__dask_graph__())
    layer.update(tasks)
    keys = [key for key in tasks if key[0] == name]
    return from_graph(layer, meta, chunks, keys, name)  # type: ignore[no-untyped-call]
