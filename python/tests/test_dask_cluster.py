"""Lazy pools on a cluster of two worker processes.

NDPOOL_DASK_CLUSTER=1, which `make test-dask` sets, adds 4 GB with 512 MB per worker, and workers
that are killed.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest
from dask_cluster import chunk_at, cluster, generated, totals

import ndpool

pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore")  # of the cluster's own threads and sockets
long = pytest.mark.skipif(
    os.environ.get("NDPOOL_DASK_CLUSTER") != "1", reason="minutes long; NDPOOL_DASK_CLUSTER=1"
)
window = {"kernel": (3, 3), "stride": (2, 2), "padding": (1, 1)}
gigabytes = float(os.environ.get("NDPOOL_DASK_GB", "4"))
side = -(-int((gigabytes * 1e9 / 4) ** 0.5) // 1024) * 1024
memory = int(os.environ.get("NDPOOL_DASK_WORKER_MB", "512")) << 20


def test_a_cluster_computes_what_one_process_does(tmp_path: Path) -> None:
    x = generated((300, 200), (64, 64))
    with cluster("1GiB", str(tmp_path)):
        y = ndpool.max_pool(x, **window)
        gx = ndpool.max_pool.vjp(x, da.ones(y.shape, chunks=y.chunks, dtype="f4"), **window)
        made, gradient = da.compute(y, gx)
    whole = x.compute(scheduler="sync")
    np.testing.assert_array_equal(made, ndpool.max_pool(whole, **window))
    ones = np.ones(made.shape, "f4")
    np.testing.assert_array_equal(gradient, ndpool.max_pool.vjp(whole, ones, **window))


def checksum(array: Any) -> Any:
    """A number that every element and its place enter into, made chunk by chunk."""

    def weigh(values: np.ndarray, block_info: Any = None) -> np.ndarray:
        (rows, columns) = block_info[0]["array-location"]
        weights = (np.arange(*rows)[:, None] * 3 + np.arange(*columns)[None, :]) % 7 + 1
        return np.array([[float((values * weights).sum(dtype="f8"))]])

    return array.map_blocks(weigh, chunks=((1,) * array.numblocks[0], (1,) * array.numblocks[1]),
                            dtype="f8", meta=np.empty((0, 0))).sum()  # fmt: skip


def by_slabs(shape: tuple[int, int], chunk: int, gradient: bool) -> float:
    """The checksum of the eager result, slab by slab with rows around it that its windows read."""
    total = 0.0
    rows, columns = shape
    for begin in range(0, rows, 4 * chunk):
        end = min(rows, begin + 4 * chunk)
        low, high = max(0, begin - 4), min(rows, end + 4)
        place = {None: {"array-location": [(low, high), (0, columns)]}}
        x = chunk_at(place)
        if gradient:
            y = ndpool.output_shape("max", x.shape, **window)
            values = ndpool.max_pool.vjp(x, np.ones(y, "f4"), **window)
            first, count, skip = begin, end - begin, begin - low
        else:
            values = ndpool.max_pool(x, **window)
            first, count, skip = begin // 2, (end - begin) // 2, (begin - low) // 2
        kept = values[skip : skip + count]
        across = np.arange(kept.shape[1])[None, :]
        weights = (np.arange(first, first + count)[:, None] * 3 + across) % 7 + 1
        total += float((kept * weights).sum(dtype="f8"))
    return total


@long
@pytest.mark.parametrize("gradient", [False, True])
def test_four_gigabytes_with_little_memory(tmp_path: Path, gradient: bool) -> None:
    x = generated((side, side), (1024, 1024))
    with cluster(memory, str(tmp_path)) as client:
        result: Any = ndpool.max_pool(x, **window)
        if gradient:
            ones = da.ones(result.shape, chunks=result.chunks, dtype="f4")
            result = ndpool.max_pool.vjp(x, ones, **window)
        begin = time.perf_counter()
        made = float(checksum(result).compute())
        seconds = time.perf_counter() - begin
        used = totals(client)
    name = "VJP" if gradient else "forward"
    print(f"\n{name} of {x.nbytes / 1e9:.2f} GB, workers of {memory >> 20} MB: {seconds:.0f} s, "
          f"{used['spilled'] / 1e6:.1f} MB spilled, {used['peak'] / 1e6:.0f} MB peak")  # fmt: skip
    assert made == by_slabs((side, side), 1024, gradient)
    assert gradient or used["spilled"] == 0


@long
@pytest.mark.parametrize("seed", range(3))
def test_a_killed_worker_changes_nothing(tmp_path: Path, seed: int) -> None:
    small = side // 2048 * 1024
    x = generated((small, small), (1024, 1024))
    with cluster(memory, str(tmp_path)) as client:
        pids = list(client.run(os.getpid).values())
        delay = random.Random(seed).uniform(0.5, 5)
        killer = threading.Timer(delay, os.kill, (pids[seed % 2], signal.SIGKILL))
        killer.start()
        made = float(checksum(ndpool.max_pool(x, **window)).compute())
        killer.join()
    assert made == by_slabs((small, small), 1024, False)
