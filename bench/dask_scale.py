"""Arithmetic: what a pool of 100 TB on 1000 workers takes, beside the same pool by map_overlap.

Counts tasks and edges on a small grid of the same chunks, without data, and multiplies. Measures
here how long a graph of 100,000 chunks takes to build, to optimise and to be handed to a scheduler.
"""

from __future__ import annotations

import math
import pickle
import time
from typing import Any

import dask
import dask.array as da
import numpy as np

import ndpool
import ndpool.dask
from ndpool import _core
from ndpool._parts.tables import Grid, plan, reads_of_outputs

TERABYTES, WORKERS, PER_TASK = 100, 1000, 200e-6  # seconds of Dask's scheduler, its own figure
SIDE, GRID = 320, 6  # cells along a chunk of 131 MB, and chunks along the small grid


def tasks(array: Any) -> int:
    graph = dict(dask.optimize(array)[0].__dask_graph__())
    return sum(type(task).__name__ != "Alias" for task in graph.values())


def own_edges() -> tuple[int, int]:
    """Bytes of the copies of a chunk in the middle, and how many tasks read them."""
    grid = Grid(((SIDE,) * 3,) * 3)
    pool = _core.Pool.window("max", (3, 3, 3), 1, 1)
    made = plan(grid, [reads_of_outputs(pool, grid, grid)])
    (boxes,) = made.edges[(1, 1, 1)]
    cells = sum(math.prod(end - begin for begin, end in box) for box in boxes)
    readers = sum(
        any(chunk == (1, 1, 1) for part in parts if part for chunk, _ in part.edges)
        for parts in made.parts.values()
    )
    return 4 * cells, readers


def main() -> None:
    x = da.zeros((SIDE * GRID,) * 3, chunks=SIDE, dtype="f4")
    per_chunk = x.npartitions
    source = tasks(x)
    own = (tasks(ndpool.max_pool(x, (3, 3, 3), 1, 1)) - source) / per_chunk
    overlap = da.map_overlap(
        lambda a: a, x, depth=1, boundary="nearest", meta=np.empty((0,) * 3, "f4")
    )
    other = (tasks(overlap) - source) / per_chunk
    chunk = 4 * SIDE**3
    chunks = TERABYTES * 1e12 / chunk
    edges, readers = own_edges()
    print(f"{TERABYTES} TB of float32 in {chunks:,.0f} chunks of {chunk / 1e6:.0f} MB, max 3x3x3, "
          f"{WORKERS} workers (arithmetic, not a measurement)")  # fmt: skip
    print(f"{'':34s}{'ndpool':>12s}{'map_overlap':>12s}")
    for name, a, b in (
        ("tasks per chunk", own, other),
        ("million tasks", own * chunks / 1e6, other * chunks / 1e6),
        (
            f"scheduler minutes at {PER_TASK * 1e6:.0f} us",
            own * chunks * PER_TASK / 60,
            other * chunks * PER_TASK / 60,
        ),
        ("MB of a task beside its result", (2 * chunk + readers * edges) / 1e6, 2 * chunk / 1e6),
        ("TB of edges copied", edges * chunks / 1e12, edges * chunks / 1e12),
        ("TB moved at most", edges * readers * chunks / 1e12, edges * chunks / 1e12),
    ):
        print(f"{name:34s}{a:12.2f}{b:12.2f}")
    large = da.zeros((3170, 3170), chunks=10, dtype="f4")
    begin = time.process_time()
    y = ndpool.max_pool(large, (3, 3), 1, 1)
    built = time.process_time() - begin
    (optimized,) = dask.optimize(y)
    done = time.process_time() - begin - built
    graph = dict(optimized.__dask_graph__())
    begin = time.process_time()
    size = len(pickle.dumps(graph))
    sent = time.process_time() - begin
    print(
        f"a graph of {y.npartitions:,} chunks, seconds of CPU: built in {built:.1f}, "
        f"optimised in {done:.1f}, pickled in {sent:.1f} to {size / 1e6:.0f} MB"
    )


if __name__ == "__main__":
    main()
