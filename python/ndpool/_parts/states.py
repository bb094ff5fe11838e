"""Tasks of windows that are made of several chunks: states of parts, combined in a tree."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy

from ndpool import _core
from ndpool._parts.axes import Ranges
from ndpool._parts.tasks import Step, cut, drop_axes, gathered


def fold(step: Step, x: Any) -> Any:
    """States of the outputs of a step over the cells that one chunk has of their windows."""
    (cells,) = gathered(step, (x,))
    return _on_threads(step, step.problem.pool.partial, step.outputs, step.sources[0].box, cells)


def fold_jvp(step: Step, *inputs: Any) -> Any:
    """The same for sums of weights times tangents; states of whole windows come last."""
    count = len(step.sources)
    arrays = gathered(step, inputs[:count])
    states = inputs[count] if len(inputs) > count else None
    x, dx = arrays if count == 2 else (arrays[0], arrays[0])
    box = step.sources[0].box
    return _on_threads(step, step.problem.pool.partial_jvp, step.outputs, box, states, x, dx)


def _on_threads(step: Step, function: Any, *arguments: Any) -> Any:
    problem = step.problem
    return _core.with_threads(problem.threads, function, problem.shape, *arguments)


def combine(step: Step, *states: Any) -> Any:
    def join(a: Any, b: Any) -> Any:
        return step.problem.pool.combine_partial(step.dtype, a, b)

    return reduce(join, states)


def add(step: Step, *sums: Any) -> Any:
    return reduce(numpy.add, sums)


def finish(step: Step, states: Any) -> Any:
    problem = step.problem
    with_indices = step.kind == "forward_with_indices"
    made = problem.pool.finish_partial(
        problem.shape, step.dtype, step.outputs, states, with_indices
    )
    return drop_axes(step, made)


def finish_jvp(step: Step, sums: Any, *states: Any) -> Any:
    problem = step.problem
    known = states[0] if states else None
    made = problem.pool.finish_partial_jvp(problem.shape, step.dtype, step.outputs, known, sums)
    return drop_axes(step, made)


def vjp(step: Step, *inputs: Any) -> Any:
    """gx of a chunk: gradients, then x unless it does not matter, then states unless likewise."""
    gradients = len(step.sources[0].chunks)
    given = sum(len(source.chunks) for source in step.sources)
    arrays = gathered(step, inputs[:given])
    states = None
    if len(inputs) > given:
        states = _gather_states(step.outputs, step.sources[0].chunks, inputs[given:])
    assert gradients == len(inputs) - given or states is None
    x = arrays[1] if len(arrays) > 1 else None
    function = step.problem.pool.partial_vjp
    return _on_threads(step, function, step.outputs, step.result, states, x, arrays[0])


def _gather_states(box: Ranges, places: tuple[Ranges, ...], states: tuple[Any, ...]) -> Any:
    size = states[0].shape[-1]
    made = numpy.empty([end - begin for begin, end in box] + [size], dtype=numpy.uint8)
    for place, array in zip(places, states):
        shared = tuple([(max(b, low), min(e, high)) for (b, e), (low, high) in zip(box, place)])
        if all(b < e for b, e in shared):
            cut(made, box, shared)[...] = cut(array, place, shared)
    return made
