"""The accessor on Dask-backed objects: lazy, and equal to what it makes of arrays in memory."""

from __future__ import annotations

import numpy as np
import pytest
from test_xarray import OPERATORS, arguments
from test_xarray import array as labelled
from test_xarray_windows import COARSEN, REDUCERS, ROLLING, assert_same, values
from test_xarray_windows import labelled as with_values

da = pytest.importorskip("dask.array")
xarray = pytest.importorskip("xarray")

import ndpool.xarray  # noqa: E402, F401

CHUNKS = {"t": 2, "y": 3, "x": 4}


def chunked(x):
    return x.copy(data=da.from_array(x.values, chunks=tuple(CHUNKS[d] for d in x.dims)))


class Source:
    """An array that says how often it has been read."""

    def __init__(self, data):
        self.data = data
        self.shape, self.dtype, self.ndim = data.shape, data.dtype, data.ndim
        self.reads = 0

    def __getitem__(self, key):
        self.reads += 1
        return self.data[key]


def assert_computes_to(lazy, eager, is_equal=True):
    assert isinstance(lazy.data, da.Array)
    computed = lazy.compute()
    assert_same(computed, eager, is_equal)
    if not is_equal and computed.dtype.kind in "fiu":
        eps = float(np.finfo(computed.dtype).eps) if computed.dtype.kind == "f" else 0
        np.testing.assert_allclose(computed.values, eager.values, 40 * eps, 40 * eps)


@pytest.mark.parametrize("name", OPERATORS)
def test_functions(name):
    eager, (args, options, _, _) = labelled(), arguments(name)
    lazy = chunked(eager)
    expected = getattr(eager.ndpool, name)(*args, **options)
    is_exact = "max" in name and "smooth" not in name or "min" in name
    assert_computes_to(getattr(lazy.ndpool, name)(*args, **options), expected, is_exact)
    pool = getattr(lazy.ndpool, name)
    gx = pool.vjp(chunked(expected) if expected.ndim == 3 else expected, *args, **options)
    expected_gx = getattr(eager.ndpool, name).vjp(expected, *args, **options)
    np.testing.assert_allclose(gx.compute().values, expected_gx.values, 1e-12, 1e-12)


def test_indices_unpooling_and_chunks():
    eager = labelled()
    lazy, windows = chunked(eager), {"y": 2, "x": 3}
    y, indices = lazy.ndpool.max_pool(windows, return_indices=True, chunks=(1, 2, 2))
    expected, expected_indices = eager.ndpool.max_pool(windows, return_indices=True)
    assert y.chunks == indices.chunks == ((1, 1, 1), (2, 2), (2, 1))
    assert_computes_to(y, expected)
    assert_computes_to(indices, expected_indices)
    back = y.ndpool.max_unpool(indices, {"y": 8, "x": 11}, kernel=windows)
    assert_computes_to(back, expected.ndpool.max_unpool(expected_indices, {"y": 8, "x": 11}))


@pytest.mark.parametrize("dtype", ["f4", "u1", "?"])
@pytest.mark.parametrize("method", ["coarsen", "rolling"])
def test_windows(method, dtype):
    eager = with_values(values(dtype, 0.3))
    lazy = chunked(eager)
    for windows, options in COARSEN[3:8:2] if method == "coarsen" else ROLLING[1:7:2]:
        for reducer in REDUCERS:
            shown, expected = (
                getattr(getattr(x.ndpool, method)(windows, **options), reducer)()
                for x in (lazy, eager)
            )
            assert_computes_to(shown, expected, reducer not in ("sum", "mean"))


def test_skipping_and_counting():
    eager = with_values(values("f4", 0.3))
    lazy = chunked(eager)
    for words in ({"skipna": False}, {"skipna": True}, {"min_count": 4}):
        shown, expected = (
            x.ndpool.coarsen(x=4, y=3, boundary="pad").sum(**words) for x in (lazy, eager)
        )
        assert_computes_to(shown, expected, is_equal=False)


def test_nothing_runs_before_compute():
    source = Source(values("f4", 0.3))
    x = xarray.DataArray(da.from_array(source, chunks=(2, 3, 4)), dims=("t", "y", "x"))
    reads = source.reads
    results = [
        getattr(windows, reducer)()
        for windows in (x.ndpool.coarsen(x=3, boundary="pad"), x.ndpool.rolling(x=3, y=2))
        for reducer in REDUCERS
    ]
    results += [x.ndpool.max_pool({"x": 3}), x.ndpool.global_avg_pool()]
    results += [x.to_dataset(name="v").ndpool.coarsen(x=2, boundary="trim").mean().v]
    assert source.reads == reads and all(isinstance(each.data, da.Array) for each in results)
    results[0].compute()
    assert source.reads > reads


def test_coordinates_may_be_lazy_too():
    eager = labelled()
    source = Source(eager.height.values)
    times = da.from_array(np.tile(eager.t.values[:, None], 8), chunks=2)
    lazy = chunked(eager).assign_coords(height=(("y", "x"), da.from_array(source, chunks=3)),
                                        times=(("t", "y"), times))  # fmt: skip
    reads = source.reads
    y = lazy.ndpool.max_pool({"y": 2, "t": 2}, padding={"y": 1})
    assert source.reads == reads and isinstance(y.height.data, da.Array)
    expected = lazy.compute().ndpool.max_pool({"y": 2, "t": 2}, padding={"y": 1})
    assert_computes_to(y, expected)


def test_datasets_of_both_kinds():
    eager = xarray.Dataset({"v": with_values(values("f4", 0.3)), "line": ("x", np.arange(11.0))})
    half = eager.assign(v=chunked(eager.v))
    for shown, expected in (
        (half.ndpool.coarsen(x=3, boundary="trim").max(),
         eager.ndpool.coarsen(x=3, boundary="trim").max()),
        (half.ndpool.max_pool({"x": 3}), eager.ndpool.max_pool({"x": 3})),
    ):  # fmt: skip
        assert isinstance(shown.v.data, da.Array) and isinstance(shown.line.data, np.ndarray)
        assert_same(shown.compute(), expected)


def test_arrays_without_a_name_stay_so():
    x = chunked(labelled().rename(None))
    y = x.ndpool.max_pool({"x": 2})
    gx = x.ndpool.max_pool.vjp(y, {"x": 2})
    for made in (y, gx, x.ndpool.rolling(x=2).mean(), x.ndpool.coarsen(t=3).max()):
        assert made.name is None


def test_what_is_left_to_xarray_stays_lazy():
    x = chunked(with_values(values("f4", 0)))
    assert_computes_to(x.ndpool.coarsen(y=2).std(), x.coarsen(y=2).std().compute())
    times = chunked(with_values(values("M8[ns]", 0)))
    assert_computes_to(times.ndpool.coarsen(y=2).max(), times.coarsen(y=2).max().compute())


@pytest.mark.parametrize("reducer", ["max", "sum", "mean", "count"])
def test_no_more_tasks_than_xarray(reducer):
    dask = pytest.importorskip("dask")
    x = xarray.DataArray(da.zeros((40, 40), chunks=8), dims=("y", "x"))
    for method, windows, options in (
        ("coarsen", {"y": 2, "x": 4}, {}),
        ("coarsen", {"y": 3, "x": 3}, {"boundary": "trim"}),
        ("coarsen", {"y": 3, "x": 3}, {"boundary": "pad", "side": "right"}),
        ("rolling", {"y": 3, "x": 3}, {"center": True}),
        ("rolling", {"x": 12}, {"min_periods": 4}),
    ):
        counts = []
        for at in (x.ndpool, x):
            result = getattr(getattr(at, method)(windows, **options), reducer)()
            (optimized,) = dask.optimize(result.data)
            tasks = dict(optimized.__dask_graph__()).values()
            counts.append(sum(type(task).__name__ != "Alias" for task in tasks))
        assert counts[0] <= counts[1], (method, windows, counts)
