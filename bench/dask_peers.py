"""Lazy pools of ndpool beside what users of Dask and xarray call today, in one table.

    bench/dask_peers.py [--size 8192] [--chunk 1024] [--rounds 5] [--memory 1GiB]

Same source, chunks and consumer (a sum) for both; a fresh cluster of two worker processes for every
run; the calls of a row in turn; medians. "Above generation" subtracts the time of a graph that only
makes the source and sums it. Results are compared before they are timed.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np
import scipy.ndimage
import xarray
from dask_cluster import cluster, generated, totals

import ndpool
import ndpool.dask


class Row(NamedTuple):
    name: str
    peer: str
    own: Callable[[Any], Any]
    other: Callable[[Any], Any]


def overlapped(function: Callable[..., Any]) -> Callable[[Any], Any]:
    """A filter of 3 cells by scipy on chunks with their neighbours' edges."""

    def call(x: Any) -> Any:
        depth = {axis: 1 for axis in range(x.ndim)}
        return da.map_overlap(
            function, x, depth=depth, boundary="nearest", dtype=x.dtype, size=3,
            meta=np.empty((0,) * x.ndim, x.dtype),
        )  # fmt: skip

    return call


def labelled(x: Any) -> Any:
    return xarray.DataArray(x, dims=("y", "x"))


ROWS = [
    Row(
        "max 3x3 stride 1",
        "map_overlap + scipy",
        lambda x: ndpool.max_pool(x, (3, 3), 1, 1),
        overlapped(scipy.ndimage.maximum_filter),
    ),
    Row(
        "min 3x3 stride 1",
        "map_overlap + scipy",
        lambda x: ndpool.min_pool(x, (3, 3), 1, 1),
        overlapped(scipy.ndimage.minimum_filter),
    ),
    Row(
        "max 2x2",
        "dask.array.coarsen",
        lambda x: ndpool.max_pool(x, (2, 2)),
        lambda x: da.coarsen(np.max, x, {0: 2, 1: 2}),
    ),
    Row(
        "mean 4x4",
        "dask.array.coarsen",
        lambda x: ndpool.avg_pool(x, (4, 4)),
        lambda x: da.coarsen(np.mean, x, {0: 4, 1: 4}),
    ),
    Row(
        "mean 2x2",
        "xarray.coarsen",
        lambda x: ndpool.avg_pool(x, (2, 2)),
        lambda x: labelled(x).coarsen(y=2, x=2).mean().data,
    ),
    Row(
        "mean 3x3 stride 1",
        "xarray.rolling",
        lambda x: ndpool.avg_pool(x, (3, 3), 1, 1, count_include_pad=False),
        lambda x: labelled(x).rolling(y=3, x=3, center=True, min_periods=1).mean().data,
    ),
]


class Run(NamedTuple):
    seconds: float
    tasks: int
    memory: int  # of the worker with most, above idle
    spilled: int


def count_tasks(array: Any) -> int:
    graph = dict(dask.optimize(array)[0].__dask_graph__())
    return sum(type(task).__name__ != "Alias" for task in graph.values())


def measure(call: Callable[[Any], Any], x: Any, memory: str) -> tuple[Run, float]:
    with tempfile.TemporaryDirectory() as folder, cluster(memory, folder) as client:
        client.run(lambda: __import__("ndpool") and __import__("scipy.ndimage") and None)
        idle = totals(client)["peak"]
        begin = time.perf_counter()
        y = call(x)
        tasks = count_tasks(y) - count_tasks(x)
        begin = time.perf_counter()
        value = float(y.sum(dtype="f8").compute())
        seconds = time.perf_counter() - begin
        used = totals(client)
    return Run(seconds, tasks, used["peak"] - idle, used["spilled"]), value


def median(runs: list[Run]) -> Run:
    return Run(*(statistics.median(column) for column in zip(*runs)))  # type: ignore[arg-type]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--size", type=int, default=8192)
    parser.add_argument("--chunk", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--memory", default="1GiB")
    arguments = parser.parse_args()
    x = generated((arguments.size,) * 2, (arguments.chunk,) * 2)
    print(
        f"{x.nbytes / 1e9:.2f} GB float32 in {x.npartitions} chunks, two workers of "
        f"{arguments.memory}, median of {arguments.rounds}; load {os.getloadavg()[0]:.1f}"
    )
    titles = ("s", "tasks", "MB above idle", "MB spilled", "faster", "above generation")
    print(f"{'pool':20s} {'beside':20s}", *(f"{title:>16s}" for title in titles))
    ratios, above = [], []
    missed = []
    for row in ROWS:
        calls = {"own": row.own, "other": row.other, "generation": lambda array: array}
        runs: dict[str, list[Run]] = {name: [] for name in calls}
        values: dict[str, float] = {}
        for _ in range(arguments.rounds):
            for name, call in calls.items():
                run, values[name] = measure(call, x, arguments.memory)
                runs[name].append(run)
        assert math.isclose(values["own"], values["other"], rel_tol=1e-3), (row.name, values)
        own, other, made = (median(runs[name]) for name in calls)
        ratios.append(other.seconds / own.seconds)
        floor = 0.01 * made.seconds  # what is left cannot be told from noise
        above.append((other.seconds - made.seconds) / max(own.seconds - made.seconds, floor))
        pairs = [
            f"{own.seconds:.2f} / {other.seconds:.2f}",
            f"{own.tasks:.0f} / {other.tasks:.0f}",
            f"{own.memory / 1e6:.0f} / {other.memory / 1e6:.0f}",
            f"{own.spilled / 1e6:.0f} / {other.spilled / 1e6:.0f}",
            f"{ratios[-1]:.2f}",
            f"{above[-1]:.2f}",
        ]
        print(f"{row.name:20s} {row.peer:20s}", *(f"{p:>16s}" for p in pairs), flush=True)
        if own.seconds >= other.seconds or own.tasks > other.tasks or own.memory > other.memory:
            missed.append(row.name)
    whole = statistics.geometric_mean(ratios)
    part = statistics.geometric_mean([max(ratio, 1e-9) for ratio in above])
    print(f"geometric mean: {whole:.2f} times as fast; {part:.2f} above generation")
    if missed:
        print(f"slower, or more tasks or memory: {', '.join(missed)}")
        sys.exit(1)


if __name__ == "__main__":
    main()
