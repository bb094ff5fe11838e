"""What tests and measurements on a cluster share: a source without state, and counters."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import dask
import dask.array as da
import numpy as np


def chunk_at(block_info: Any = None) -> np.ndarray:
    """A chunk that is a function of its place alone."""
    place = block_info[None]["array-location"]
    grids = np.ix_(*(np.arange(begin, end, dtype=np.uint32) for begin, end in place))
    value = np.uint32(17)
    for grid in grids:
        value = (value * np.uint32(31)) ^ (grid * np.uint32(2654435761))
    return ((value >> np.uint32(8)) & np.uint32(0xFFFF)).astype("f4")


def generated(shape: tuple[int, ...], chunk: tuple[int, ...]) -> Any:
    chunks = da.core.normalize_chunks(chunk, shape=shape, dtype="f4")
    meta = np.empty((0,) * len(shape), "f4")
    return da.map_blocks(chunk_at, chunks=chunks, dtype="f4", meta=meta)


@contextlib.contextmanager
def cluster(memory: str | int, folder: str, workers: int = 2) -> Iterator[Any]:
    """A client of worker processes of one thread each, limited to so much memory."""
    from distributed import Client, LocalCluster

    settings = {
        "distributed.worker.memory.spill-compression": None,
        "distributed.scheduler.allowed-failures": 20,
        "distributed.admin.system-monitor.gil.enabled": False,
    }
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, memory_limit=memory,
            dashboard_address=None, local_directory=folder,
        ) as made,
        Client(made) as client,
    ):  # fmt: skip
        yield client


def counters(dask_worker: Any) -> dict[str, int]:
    """Bytes that a worker has written to disk, and its resident memory."""
    data = dask_worker.data
    written = 0
    for key, count in dask_worker.digests_total.items():
        if isinstance(key, tuple) and "disk-write" in key and key[-1] == "bytes":
            written += int(count)
    with open("/proc/self/status") as file:
        status = dict(line.split(":", 1) for line in file if line.startswith(("VmHWM", "VmRSS")))
    kilobytes = {name: int(text.split()[0]) for name, text in status.items()}
    on_disk = getattr(data, "spilled_total", None)
    return {
        "spilled": max(written, int(on_disk.disk) if on_disk is not None else 0),
        "peak": kilobytes["VmHWM"] * 1024,
        "resident": kilobytes["VmRSS"] * 1024,
        "pid": os.getpid(),
    }


def totals(client: Any) -> dict[str, int]:
    """Sums over the workers; `peak` is that of the worker with most."""
    all_counters = list(client.run(counters).values())
    made = {name: sum(c[name] for c in all_counters) for name in ("spilled", "resident")}
    made["peak"] = max(c["peak"] for c in all_counters)
    return made
