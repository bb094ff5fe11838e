"""Graphs of lazy pools: how many tasks, when they run, and what a task holds."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest

import ndpool
import ndpool.dask
from ndpool._core import Pool
from ndpool._parts import tasks


def tasks_of(array: Any, source: Any, *more: Any) -> int:
    """Tasks after optimisation, without aliases and without those of the source."""
    (optimized,) = dask.optimize(array)
    graph = dict(optimized.__dask_graph__())
    sources = set(dict(source.__dask_graph__()))
    for other in more:
        sources |= set(dict(other.__dask_graph__()))
    counted = [k for k, task in graph.items() if type(task).__name__ != "Alias"]
    return len([key for key in counted if key not in sources])


def generated(shape: tuple[int, ...], chunk: int, dtype: str = "f4") -> Any:
    """An array whose chunks are made by tasks that are not fused into others."""
    return (
        da.random.default_rng(0).random(shape, chunks=chunk).astype(dtype).persist(scheduler="sync")
    )


def test_crossing_windows_take_two_tasks_per_chunk() -> None:
    x = generated((60, 60), 10)
    y = ndpool.dask.max_pool(x, (3, 3), stride=1, padding=1)
    assert tasks_of(y, x) == 2 * y.npartitions == 72
    dx = generated((60, 60), 10)
    assert tasks_of(ndpool.dask.max_pool.jvp(x, dx, (3, 3), 1, 1)[1], x, dx) == 72
    gy = generated((60, 60), 10)
    assert tasks_of(ndpool.dask.max_pool.vjp(x, gy, (3, 3), 1, 1), x, gy) == 72
    assert tasks_of(ndpool.dask.avg_pool.vjp(x, gy, (3, 3), 1, 1), x, gy) == 72


def test_windows_inside_of_chunks_take_one_task_per_chunk() -> None:
    x = generated((60, 60), 10)
    y = ndpool.dask.avg_pool(x, (2, 2))
    assert y.chunks == ((5,) * 6,) * 2 and tasks_of(y, x) == 36
    gy = generated((30, 30), 5)
    assert tasks_of(ndpool.dask.max_pool.vjp(x, gy, (2, 2)), x, gy) == 36


@pytest.mark.parametrize("chunk", [1, 2, 7])
@pytest.mark.parametrize("window", [(3, 1, 1), (4, 2, 1), (2, 5, 0), (9, 3, 4)])
def test_never_more_than_two_tasks_per_chunk(chunk: int, window: tuple[int, int, int]) -> None:
    x = generated((23, 19), chunk)
    kernel, stride, padding = window
    for chunks in (None, 5):
        y = ndpool.dask.sum_pool(x, (kernel, kernel), stride, padding, chunks=chunks)
        assert tasks_of(y, x) <= 2 * y.npartitions


def test_global_pools_combine_partial_results_in_a_tree() -> None:
    x = generated((64, 64), 8)
    y = ndpool.dask.global_max_pool(x)
    counted = tasks_of(y, x)
    assert counted == 64 + 8 + 1  # partial results, two levels of eight; the value is fused
    np.testing.assert_array_equal(y.compute(scheduler="sync"), x.compute().max())


def test_windows_larger_than_a_chunk_may_be_are_combined_in_a_tree() -> None:
    x = generated((40, 40), 8, "f8")
    options: dict[str, Any] = {"kernel": (20, 20), "stride": 20}
    gathered = ndpool.dask.avg_pool(x, **options)
    with dask.config.set({"array.chunk-size": "1kiB"}):
        tree = ndpool.dask.avg_pool(x, **options)
        indexed = ndpool.dask.max_pool(x, return_indices=True, **options)
        gy = da.ones(tree.shape, chunks=1)
        gradient = ndpool.dask.avg_pool.vjp(x, gy, **options)
        extreme = ndpool.dask.max_pool.vjp(x, gy, **options)
        dy = ndpool.dask.smooth_max_pool.jvp(x, x, **options)[1]
    assert any("partial" in str(key) for key in tree.__dask_graph__())
    assert not any("partial" in str(key) for key in gathered.__dask_graph__())
    whole = x.compute()
    np.testing.assert_allclose(*dask.compute(tree, gathered, scheduler="sync"), rtol=1e-15)
    for made, expected in zip(
        dask.compute(*indexed, scheduler="sync"),
        ndpool.max_pool(whole, return_indices=True, **options),
    ):
        np.testing.assert_array_equal(made, expected)
    ones = np.ones(tree.shape)
    for made, expected in (
        (gradient, ndpool.avg_pool.vjp(whole, ones, **options)),
        (extreme, ndpool.max_pool.vjp(whole, ones, **options)),
        (dy, ndpool.smooth_max_pool.jvp(whole, whole, **options)[1]),
    ):
        np.testing.assert_allclose(made.compute(scheduler="sync"), expected, rtol=1e-13)


def test_nothing_runs_before_compute() -> None:
    runs = []

    def make(block_info: Any = None) -> np.ndarray:
        runs.append(block_info)
        return np.ones((4, 4))

    x = da.map_blocks(make, chunks=((4, 4), (4, 4)), dtype="f8", meta=np.empty((0, 0)))
    y = ndpool.max_pool(x, (3, 3), stride=1)
    g = ndpool.max_pool.vjp(x, y, (3, 3), stride=1)
    assert type(y) is da.Array and type(g) is da.Array and runs == []
    y.compute(scheduler="sync")
    assert len(runs) == 4  # each chunk once


def test_both_of_a_pair_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = []
    run = tasks._maps["forward_with_indices"]
    monkeypatch.setitem(
        tasks._maps, "forward_with_indices", lambda *args: (runs.append(1), run(*args))[1]
    )
    x = generated((20, 20), 5)
    dask.compute(*ndpool.dask.max_pool(x, (5, 5), return_indices=True), scheduler="sync")
    assert len(runs) == 16


def test_names_follow_from_the_arguments() -> None:
    x = da.ones((20, 20), chunks=5)
    first, second = (ndpool.dask.max_pool(x, (3, 3)) for _ in range(2))
    assert first.name == second.name
    others = [
        ndpool.dask.max_pool(x, (3, 3), stride=2),
        ndpool.dask.max_pool(x, (3, 3), chunks=3),
        ndpool.dask.min_pool(x, (3, 3)),
        ndpool.dask.max_pool(x + 1, (3, 3)),
    ]
    assert len({array.name for array in [first, *others]}) == 5


def test_a_task_holds_its_inputs_a_copy_and_its_output() -> None:
    from ndpool._parts.tables import Grid, plan, reads_of_outputs
    from ndpool._parts.tasks import Problem, Source, Step, run

    pool = Pool.window("max", (3, 3), 1, 1)
    grid = Grid(((512, 512), (512, 512)))
    outputs = Grid(((512, 512), (512, 512)))
    part = plan(outputs, [reads_of_outputs(pool, grid, outputs)]).parts[(0, 0)][0]
    assert part is not None and part.box == ((0, 513), (0, 513))
    home = np.ones((512, 512), "f4")
    edges = {0: [(box, np.ones([e - b for b, e in box], "f4")) for _, box in part.edges]}
    problem = Problem(pool, grid.shape, (0, 1), 1)
    source = Source(part.box, (grid.box((0, 0)),))
    step = Step(problem, "forward", outputs.box((0, 0)), outputs.box((0, 0)), (source,), home.dtype)
    run(step, home, edges)
    tracemalloc.start()
    run(step, home, edges)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.1 * home.nbytes  # the copy and the output


def test_tasks_are_small_when_pickled() -> None:
    x = da.ones((400, 400), chunks=10)
    y = ndpool.dask.max_pool(x, (3, 3), stride=1)
    graph = {k: v for k, v in dict(y.__dask_graph__()).items() if "ones" not in str(k)}
    assert len(pickle.dumps(list(graph.values()))) / len(graph) < 1500


def test_a_graph_of_100_000_chunks_is_built_in_five_seconds() -> None:
    # A tenth of it in the usual run.
    side = 3170 if os.environ.get("NDPOOL_DASK_CLUSTER") == "1" else 1000
    x = da.zeros((side, side), chunks=10, dtype="f4")
    begin = time.process_time()
    y = ndpool.dask.max_pool(x, (3, 3), stride=1, padding=1)
    seconds = time.process_time() - begin
    assert y.npartitions >= (side // 10) ** 2 and seconds < 5e-5 * y.npartitions


def test_uniform_chunks_give_uniform_chunks() -> None:
    for length, chunk, window in ((100, 10, (3, 1, 1)), (96, 16, (2, 2, 0)), (100, 10, (3, 3, 0))):
        y = ndpool.dask.max_pool(da.ones(length, chunks=chunk), (window[0],), *window[1:])
        (lengths,) = y.chunks
        assert len(set(lengths[:-1])) <= 1 and lengths[-1] <= lengths[0]
    lengths = ndpool.dask.max_pool(da.ones(10, chunks=((2, 5, 3),)), (3,), 1, 1).chunks[0]
    assert lengths == (2, 5, 3)


def test_chunks_of_unknown_sizes_are_an_error() -> None:
    x = da.ones(20, chunks=5)
    with pytest.raises(ValueError, match="unknown sizes.*compute_chunk_sizes"):
        ndpool.dask.max_pool(x[x > 0], (2,))


def test_empty_windows_are_found_when_the_graph_is_built() -> None:
    x = da.ones(4, chunks=2)
    with pytest.raises(ValueError, match="leaves output"):
        ndpool.dask.max_pool(x, (2,), 1, 3)
    with pytest.raises(TypeError):
        ndpool.dask.max_pool.vjp(x.astype("i4"), x.astype("i4"), (2,))


def test_an_index_outside_of_its_window_is_an_error_when_computed() -> None:
    y, indices = da.ones(4, chunks=2), da.from_array(np.array([0, 3, 5, 6]), chunks=2)
    assert ndpool.dask.max_unpool(y, indices, (8,), (2,)).compute(scheduler="sync").sum() == 4
    wrong = ndpool.dask.max_unpool(y, indices[::-1], (8,), (2,))
    with pytest.raises(ValueError, match="indices"):
        wrong.compute(scheduler="sync")


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_schedulers_agree(scheduler: str) -> None:
    x = da.from_array(np.arange(144.0).reshape(12, 12) % 7, chunks=5)
    y = ndpool.dask.max_pool(x, (3, 3), stride=1)
    expected = ndpool.max_pool(x.compute(), (3, 3), stride=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks in processes with threads
        made = y.compute(scheduler=scheduler, num_workers=1)
        np.testing.assert_array_equal(made, expected)


def test_threads_of_a_task_come_from_the_configuration() -> None:
    x = da.ones(20, chunks=5)
    before = ndpool.get_threads()
    with dask.config.set({"ndpool.threads": 2}):
        np.testing.assert_array_equal(ndpool.dask.max_pool(x, (2,)).compute(), np.ones(10))
    with dask.config.set({"ndpool.threads": 0}), pytest.raises(ValueError, match="threads"):
        ndpool.dask.max_pool(x, (2,))
    assert ndpool.get_threads() == before


def run_python(code: str) -> str:
    """The output of a program that finds the same package."""
    environment = {"PYTHONPATH": str(Path(ndpool.__file__).parent.parent), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_ndpool_imports_no_dask() -> None:
    code = "import sys, ndpool, numpy; ndpool.max_pool(numpy.ones(4), (2,)); "
    assert (
        run_python(code + "print([n for n in ('dask', 'xarray', 'zarr') if n in sys.modules])")
        == "[]"
    )


def test_a_missing_dask_says_what_to_install() -> None:
    code = """
import sys
sys.modules["dask"] = None
try:
    import ndpool.dask
except ImportError as error:
    print(error)
"""
    assert "pip install 'ndpool[dask]'" in run_python(code)


def test_query_planning_works() -> None:
    code = """
import dask
dask.config.set({"array.query-planning": True})
import dask.array as da, numpy, ndpool
x = numpy.arange(100.0).reshape(10, 10) % 7
lazy = da.from_array(x, chunks=4)
y = ndpool.max_pool(lazy, (3, 3), stride=1)
assert (y.compute() == ndpool.max_pool(x, (3, 3), stride=1)).all()
assert ((y + 1).sum().compute() == (ndpool.max_pool(x, (3, 3), stride=1) + 1).sum())
print("fine")
"""
    assert run_python(code) == "fine"


def test_the_eager_functions_reject_what_they_would_compute_in_silence() -> None:
    class Chunked:  # as cubed's arrays
        chunks = ((2, 2),)
        shape = (4,)

    with pytest.raises(TypeError, match="chunked arrays"):
        ndpool.max_pool(Chunked(), (2,))
    with pytest.raises(TypeError, match="out"):
        ndpool.max_pool(da.ones(4), (2,), out=np.ones(2))
    xarray = pytest.importorskip("xarray")
    with pytest.raises(TypeError, match=r"x\.ndpool\.max_pool"):
        ndpool.max_pool(xarray.DataArray(np.ones(4)), (2,))


def test_zarr_in_and_out(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    x = np.random.default_rng(0).random((100, 90)).astype("f4")
    zarr.create_array(str(tmp_path / "x.zarr"), data=x, chunks=(20, 30))
    y = ndpool.max_pool(da.from_zarr(str(tmp_path / "x.zarr")), (3, 3), stride=1, padding=1)
    assert not any("rechunk" in str(key) for key in y.__dask_graph__())
    y.to_zarr(str(tmp_path / "y.zarr"))
    expected = ndpool.max_pool(x, (3, 3), stride=1, padding=1)
    np.testing.assert_array_equal(zarr.open_array(str(tmp_path / "y.zarr"))[:], expected)
    # An existing target with chunks of its own: each of them is written by one task.
    target = zarr.create_array(str(tmp_path / "z.zarr"), shape=y.shape, chunks=(25, 40), dtype="f4")
    z = ndpool.max_pool(da.from_zarr(str(tmp_path / "x.zarr")), (3, 3), 1, 1, chunks=target.chunks)
    assert z.chunksize == target.chunks
    da.store(z, target, lock=False)
    np.testing.assert_array_equal(target[:], expected)


def test_hdf5_in_and_out(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    x = np.random.default_rng(0).integers(0, 255, (60, 50)).astype("u1")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        source = file.create_dataset("x", data=x, chunks=(16, 16))
        y = ndpool.avg_pool(da.from_array(source, chunks=16), (4, 4))
        target = file.create_dataset("y", shape=y.shape, dtype=y.dtype)
        da.store(y, target)
        np.testing.assert_array_equal(target[:], ndpool.avg_pool(x, (4, 4)))
