"""What a task does: copies edges, or runs a map of a pool on the cells of some chunks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy

from ndpool import _core
from ndpool._parts.axes import Ranges

Block = tuple[Ranges, Any]  # an array, and where it lies in the whole


class Problem:
    """A pool on arrays of one shape: what every task of a graph is told.

    `axes` are the pooled ones. Unpooling by indices alone has no pool.
    """

    def __init__(
        self, pool: Any, shape: tuple[int, ...], axes: tuple[int, ...], threads: int
    ) -> None:
        self.pool, self.shape, self.axes, self.threads = pool, shape, axes, threads


class Source(NamedTuple):
    """What a task reads of one array."""

    box: Ranges  # the positions that it needs; () for nothing
    chunks: tuple[Ranges, ...]  # where the chunks lie that it is given
    dropped: tuple[int, ...] = ()  # axes that these chunks lack


class Step:
    """What a task makes of which chunks. No tuple, so that no engine takes it for a task."""

    __slots__ = ("problem", "kind", "result", "outputs", "sources", "dtype", "dropped")

    def __init__(
        self,
        problem: Problem,
        kind: str,
        result: Ranges,
        outputs: Ranges,
        sources: tuple[Source, ...],
        dtype: Any,
        dropped: tuple[int, ...] = (),
    ) -> None:
        self.problem, self.kind, self.result = problem, kind, result
        self.outputs, self.sources, self.dtype = outputs, sources, dtype
        self.dropped = dropped  # axes of length 1 that the result lacks

    def __reduce__(self) -> Any:
        return Step, tuple(getattr(self, name) for name in Step.__slots__)


class Copies:
    """The boxes that a task copies: for each chunk it is given where that lies, and the boxes."""

    __slots__ = ("entries",)

    def __init__(
        self, entries: tuple[tuple[int, Ranges, tuple[Ranges, ...], tuple[int, ...]], ...]
    ) -> None:
        self.entries = entries  # (source, place of the chunk, boxes, axes that it lacks)

    def __reduce__(self) -> Any:
        return Copies, (self.entries,)


def copy_edges(copies: Copies, *chunks: Any) -> dict[int, list[Block]]:
    """Copies of boxes of chunks, by the number of their source."""
    edges: dict[int, list[Block]] = {}
    for (source, place, boxes, dropped), chunk in zip(copies.entries, chunks):
        whole = _all_axes(chunk, dropped)
        edges[source] = [(box, cut(whole, place, box).copy()) for box in boxes]
    return edges


def _all_axes(chunk: Any, dropped: tuple[int, ...]) -> Any:
    return numpy.expand_dims(chunk, dropped) if dropped else chunk


def cut(array: Any, place: Ranges, box: Ranges) -> Any:
    return array[tuple([slice(b - low, e - low) for (b, e), (low, _) in zip(box, place)])]


def _shape_of(box: Ranges) -> tuple[int, ...]:
    return tuple([end - begin for begin, end in box])


def gather(box: Ranges, blocks: Sequence[Block]) -> Any:
    """The array at `box`: a view of a block that has all of it, else a packed copy."""
    first_place, first = blocks[0]
    for _, block in blocks:
        if isinstance(block, numpy.ma.MaskedArray):
            raise TypeError(
                "x is a masked array, and pools know no mask; fill the masked elements first"
            )
    if all(low <= b and e <= high for (b, e), (low, high) in zip(box, first_place)):
        return cut(numpy.asarray(first), first_place, box)
    made = numpy.empty(_shape_of(box), dtype=first.dtype)
    for place, block in blocks:
        shared = tuple([(max(b, low), min(e, high)) for (b, e), (low, high) in zip(box, place)])
        if all(b < e for b, e in shared):
            cut(made, box, shared)[...] = cut(block, place, shared)
    return made


def run(step: Step, *inputs: Any) -> Any:
    """Runs the map of a step on the chunks, and on the edges behind them, that it is given."""
    return _core.with_threads(step.problem.threads, _run, step, inputs)


def _run(step: Step, inputs: tuple[Any, ...]) -> Any:
    return drop_axes(step, _maps[step.kind](step, *gathered(step, inputs)))


def gathered(step: Step, inputs: tuple[Any, ...]) -> list[Any]:
    """What the step reads of each source, of chunks and of the edges behind them."""
    arrays = []
    taken = 0
    edges = inputs[sum([len(source.chunks) for source in step.sources]) :]
    for number, source in enumerate(step.sources):
        given = inputs[taken : taken + len(source.chunks)]
        blocks = [
            (box, _all_axes(chunk, source.dropped)) for box, chunk in zip(source.chunks, given)
        ]
        taken += len(source.chunks)
        for copies in edges:
            blocks += copies.get(number, ())
        arrays.append(gather(source.box, blocks))
    return arrays


def drop_axes(step: Step, made: Any) -> Any:
    """A result without the axes that a global pool drops."""
    if not step.dropped:
        return made
    if isinstance(made, tuple):
        return tuple(numpy.squeeze(array, step.dropped) for array in made)
    return numpy.squeeze(made, step.dropped)


def _part(step: Step) -> tuple[Any, Ranges, int]:
    return step.problem.pool.part(step.problem.shape, step.outputs)


def _forward(step: Step, x: Any) -> Any:
    return _part(step)[0].forward(x)


def _forward_with_indices(step: Step, x: Any) -> Any:
    pool, _, offset = _part(step)
    y, indices = pool.forward(x, None, True)
    _core.shift_indices(indices, offset)
    return y, indices


def _jvp(step: Step, x: Any, dx: Any) -> Any:
    return _part(step)[0].jvp(x, dx)


def _linear_jvp(step: Step, dx: Any) -> Any:
    return _part(step)[0].forward(dx)


def _beta_derivative(step: Step, x: Any) -> Any:
    return _part(step)[0].beta_derivative(x)


def _placed(step: Step, gx: Any, cells: Ranges) -> Any:
    """The gradients of the cells of a chunk; of those that no window reads they are 0."""
    if cells == step.result:
        return gx
    made = numpy.zeros(_shape_of(step.result), dtype=gx.dtype)
    both = [(max(b, low), min(e, high)) for (b, e), (low, high) in zip(step.result, cells)]
    if all(b < e for b, e in both):
        shared = tuple(both)
        cut(made, step.result, shared)[...] = cut(gx, cells, shared)
    return made


def _vjp(step: Step, gy: Any, x: Any) -> Any:
    pool, cells, _ = _part(step)
    return _placed(step, pool.vjp(x, gy), cells)


def _linear_vjp(step: Step, gy: Any) -> Any:
    pool, cells, _ = _part(step)
    return _placed(step, pool.vjp(_shape_of(cells), gy), cells)


def _zeros(step: Step) -> Any:
    return numpy.zeros(_shape_of(step.result), dtype=step.dtype)


def _local(step: Step, indices: Any, outputs: Ranges, cells: Ranges) -> Any:
    """Flat indices of `outputs` as those of a box of cells."""
    problem = step.problem
    return _core.local_indices(problem.pool, problem.shape, problem.axes, indices, outputs, cells)


def _placing(step: Step, outputs: Ranges) -> Any:
    """A pool of as many outputs, of which the windows do not matter: indices tell the cells."""
    lengths = _shape_of(outputs)
    axes = step.problem.axes
    return _core.Pool.adaptive("max", tuple(lengths[axis] for axis in axes), axes)


def _jvp_by_indices(step: Step, indices: Any, dx: Any) -> Any:
    local = _local(step, indices, step.result, step.sources[1].box)
    return _placing(step, step.result).jvp_from_indices(local, dx)


def _vjp_by_indices(step: Step, indices: Any, gy: Any) -> Any:
    local = _local(step, indices, step.outputs, step.result)
    pool = _placing(step, step.outputs)
    return pool.vjp_from_indices(local, gy, None, _shape_of(step.result))


def _unpool_at(step: Step, cells: Ranges) -> Any:
    lengths = _shape_of(cells)
    axes = step.problem.axes
    return _core.Unpool(tuple(lengths[axis] for axis in axes), axes)


def _unpool(step: Step, indices: Any, y: Any) -> Any:
    local = _local(step, indices, step.outputs, step.result)
    return _unpool_at(step, step.result).forward(y, local)


def _unpool_vjp(step: Step, indices: Any, gx: Any) -> Any:
    """Gradients of the values of a chunk, some of which others, around it, overwrite."""
    outputs, cells = step.sources[0].box, step.sources[1].box
    local = _local(step, indices, outputs, cells)
    return cut(_unpool_at(step, cells).vjp(local, gx), outputs, step.result).copy()


_maps: dict[str, Callable[..., Any]] = {
    "forward": _forward,
    "forward_with_indices": _forward_with_indices,
    "jvp": _jvp,
    "linear_jvp": _linear_jvp,
    "beta_derivative": _beta_derivative,
    "vjp": _vjp,
    "linear_vjp": _linear_vjp,
    "zeros": _zeros,
    "jvp_by_indices": _jvp_by_indices,
    "vjp_by_indices": _vjp_by_indices,
    "unpool": _unpool,
    "unpool_vjp": _unpool_vjp,
}
