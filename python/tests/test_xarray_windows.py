"""`coarsen` and `rolling` of the accessor beside those of xarray, over a grid of arguments."""

from __future__ import annotations

import math
import os
import random

import numpy as np
import pytest

xarray = pytest.importorskip("xarray")

import ndpool.xarray  # noqa: E402, F401

# Every call for every dtype, which takes a minute.
EVERYTHING = "NDPOOL_EXAMPLES" in os.environ
REDUCERS = ("max", "min", "sum", "mean", "count")
DTYPES = ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", ">f4", ">i2")
OTHER_DTYPES = ("c16", "M8[ns]", "m8[s]", "O", "g")
SHAPE = (3, 8, 11)
DIMS = ("t", "y", "x")


def values(dtype, gaps, seed=0):
    random_numbers = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        low, high = max(limits.min, -(2**52)), min(limits.max, 2**52)
        x = random_numbers.integers(low, high, SHAPE, endpoint=True).astype(dtype)
    elif dtype.kind in "mM":
        x = random_numbers.integers(0, 10**9, SHAPE).astype(dtype)
    else:
        x = random_numbers.normal(size=SHAPE).astype(dtype)
    if dtype == bool:
        x = random_numbers.random(SHAPE) < 0.5
    if gaps and dtype.kind == "f":
        x[random_numbers.random(SHAPE) < gaps] = np.nan
    return x


def labelled(data, text=False):
    y, x = np.arange(SHAPE[1]), np.arange(SHAPE[2])
    coords = {
        "t": np.array("2001-02-03", "M8[s]") + np.arange(SHAPE[0]),
        "y": ("y", y * 2, {"units": "m"}),
        "x": ("x", x / 8, {"units": "km"}),
        "height": (("y", "x"), np.add.outer(y, x) * 1.5),
        "level": ("x", x % 3),
        "scalar": 7.0,
    }
    if text:
        coords["name"] = ("y", [f"row {i}" for i in y])
    return xarray.DataArray(data, coords, DIMS, name="v", attrs={"long_name": "a value"})


def dataset(dtype="f4", gaps=0.2):
    v = labelled(values(dtype, gaps))
    return xarray.Dataset(
        {
            "v": v,
            "line": v.isel(t=0, y=1).reset_coords(drop=True) * 2,
            "other": ("z", [0.5, 9.0], {"units": "s"}),
        },
        attrs={"title": "all of them"},
    )


def result(x, method, windows, options, reducer, **words):
    """What xarray's or the accessor's windows are reduced to, or the type of the error."""
    try:
        with np.errstate(all="ignore"):
            return getattr(getattr(x, method)(windows, **options), reducer)(**words)
    except Exception as error:
        return type(error)


def assert_same_labels(ours, theirs):
    assert ours.dims == theirs.dims and ours.sizes == theirs.sizes
    assert ours.attrs == theirs.attrs
    assert list(ours.coords) == list(theirs.coords)
    for name, coord in theirs.coords.items():
        xarray.testing.assert_identical(ours[name].variable, coord.variable)
        assert ours[name].dtype == coord.dtype
    assert set(ours.xindexes) == set(theirs.xindexes)


def assert_sums(ours, windows, sums, magnitudes, counts=1):
    """Sums, or means of `counts` cells, are within the semantics' bound of those in long double."""
    eps = float(np.finfo(ours.dtype).eps)
    depth = 1 + sum(math.log2(kernel) for kernel in windows.values())
    error = abs(ours.astype("g") - sums / counts).values
    limit = np.broadcast_to((2 * eps * depth * magnitudes / counts).values, error.shape)
    there = ~np.isnan(ours.values)
    assert (error[there] <= limit[there]).all(), np.nanmax(error / limit)


def assert_same(ours, theirs, is_equal=True):
    """The same labels and dtypes and missing cells, and the same values if they are to be equal."""
    if isinstance(theirs, type):
        assert ours is theirs, (ours, theirs)
        return
    assert type(ours) is type(theirs)
    if isinstance(theirs, xarray.Dataset):
        assert list(ours) == list(theirs) and list(ours.coords) == list(theirs.coords)
        assert ours.attrs == theirs.attrs
        for name in theirs.variables:
            assert_same(ours[name], theirs[name], is_equal)
        return
    assert ours.name == theirs.name and ours.dtype == theirs.dtype
    assert_same_labels(ours, theirs)
    if is_equal:
        assert ours.variable.equals(theirs.variable), (ours, theirs)
    elif ours.dtype.kind == "f":
        np.testing.assert_array_equal(np.isnan(ours.values), np.isnan(theirs.values))


class Windowed:
    """The same windows by xarray and by ndpool, and on long doubles what their sums are."""

    def __init__(self, method, x, windows, options):
        self.x, self.method, self.windows, self.options = x, method, windows, options
        self.is_summed = x.dtype.kind in "fiub" and x.dtype.itemsize <= 8
        if self.is_summed:
            if method == "rolling":
                options = {**options, "min_periods": 1}
            exact = (
                x.astype("g").drop_vars([c for c in x.coords if c != "scalar"]).drop_vars("scalar")
            )
            self.sums, self.magnitudes, self.counts = (
                getattr(getattr(each, method)(windows, **options), reducer)()
                for each, reducer in ((exact, "sum"), (abs(exact), "sum"), (exact, "count"))
            )

    def check(self):
        for reducer in REDUCERS:
            theirs, ours = (
                result(at, self.method, self.windows, self.options, reducer)
                for at in (self.x, self.x.ndpool)
            )
            rounds = reducer in ("sum", "mean") and getattr(theirs, "dtype", None) != object
            assert_same(ours, theirs, is_equal=not (self.is_summed and rounds))
            if self.is_summed and rounds and not isinstance(theirs, type) and self.windows:
                if ours.dtype.kind in "iu":
                    np.testing.assert_array_equal(ours.values, theirs.values)
                else:
                    counts = self.counts if reducer == "mean" else 1
                    assert_sums(ours, self.windows, self.sums, self.magnitudes, counts)


def grid(dtype, calls):
    """Calls with and without gaps: all of them for two dtypes, some for each other one."""
    kind = np.dtype(dtype).kind
    whole = [(gaps, call) for call in calls for gaps in ((0, 0.3) if kind in "fc" else (0,))]
    if EVERYTHING or dtype in ("f4", "i2"):
        return whole
    count = 2 if dtype in OTHER_DTYPES else 4
    return random.Random(f"{dtype} {len(calls)}").sample(whole, count)


TWO_SIDES = {"y": "right", "x": "left"}
COARSEN = [
    ({"y": 2}, {}),
    ({"x": 11}, {}),
    ({"x": 3, "y": 4}, {"boundary": "trim"}),
    ({"x": 3, "y": 3}, {"boundary": "trim", "side": "right"}),
    ({"x": 3, "y": 3}, {"boundary": "trim", "side": TWO_SIDES}),
    ({"x": 3, "y": 4}, {"boundary": "pad"}),
    ({"x": 4, "t": 2}, {"boundary": "pad", "side": "right"}),
    ({"y": 3, "x": 4}, {"boundary": {"y": "trim", "x": "pad"}, "side": TWO_SIDES}),
    ({"y": 4, "t": 3, "x": 11}, {"coord_func": {"y": "max", "height": "min"}}),
    ({"y": 2}, {"boundary": "pad", "coord_func": "min"}),
    ({"y": 1}, {"coord_func": np.max}),
    ({"y": np.int64(4)}, {"side": "nowhere", "boundary": "trim"}),
    ({}, {}),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [*DTYPES, *OTHER_DTYPES])
def test_coarsen_is_that_of_xarray(dtype):
    for gaps, (windows, options) in grid(dtype, COARSEN):
        Windowed("coarsen", labelled(values(dtype, gaps)), windows, options).check()


WRONG_COARSEN = [
    ({"y": 3}, {}), ({"y": 0}, {}), ({"y": -2}, {}), ({"y": 2.0}, {}), ({"q": 2}, {}),
    ({"y": 2}, {"boundary": "around"}), ({"y": 2}, {"boundary": {"x": "trim"}}),
    ({"y": 3}, {"boundary": "trim", "side": {"x": "left"}}), ({"y": 2}, {"coord_func": "nothing"}),
    ({"y": 9}, {"boundary": "trim"}), ({"y": 20}, {"boundary": "pad"}), ({"y": "2"}, {}),
    ({"y": 2}, {"coord_func": {"y": "nothing"}}), ({"y": None}, {}),
]  # fmt: skip


@pytest.mark.parametrize(("windows", "options"), WRONG_COARSEN, ids=str)
def test_calls_that_coarsen_refuses(windows, options):
    for x in (labelled(values("f4", 0.2)), labelled(values("i2", 0), text=True), dataset()):
        for reducer in REDUCERS:
            theirs, ours = (
                result(at, "coarsen", windows, options, reducer) for at in (x, x.ndpool)
            )
            assert_same(ours, theirs, is_equal=reducer not in ("sum", "mean"))


ROLLING = [
    ({"x": 3}, {}),
    ({"x": 4}, {"center": True}),
    ({"x": 3}, {"min_periods": 1}),
    ({"y": 3, "x": 2}, {"min_periods": 2}),
    ({"x": 4, "t": 2}, {"min_periods": 3, "center": {"x": True}}),
    ({"x": 3, "y": 5}, {"min_periods": 1, "center": True}),
    ({"x": 11}, {"min_periods": 4}),
    ({"x": 30}, {"min_periods": 2, "center": True}),
    ({"t": 1}, {}),
    ({"y": np.int64(2)}, {"min_periods": 7}),
]


@pytest.mark.parametrize("dtype", [*DTYPES, *OTHER_DTYPES])
def test_rolling_is_that_of_xarray(dtype):
    for gaps, (windows, options) in grid(dtype, ROLLING):
        Windowed("rolling", labelled(values(dtype, gaps), text=True), windows, options).check()


WRONG_ROLLING = [
    ({"q": 2}, {}), ({"x": 0}, {}), ({"x": -1}, {}), ({"x": 2.0}, {}),
    ({"x": 2}, {"min_periods": 0}), ({}, {}), ({"x": "2"}, {}), ({"x": 2}, {"min_periods": -1}),
]  # fmt: skip


@pytest.mark.parametrize(("windows", "options"), WRONG_ROLLING, ids=str)
def test_calls_that_rolling_refuses(windows, options):
    for x in (labelled(values("f4", 0.2)), dataset()):
        for reducer in REDUCERS:
            theirs, ours = (
                result(at, "rolling", windows, options, reducer) for at in (x, x.ndpool)
            )
            assert_same(ours, theirs, is_equal=reducer not in ("sum", "mean"))


@pytest.mark.parametrize("method", ["coarsen", "rolling"])
@pytest.mark.parametrize("keep_attrs", [None, True, False])
def test_datasets(method, keep_attrs):
    grid = COARSEN[2:9] if method == "coarsen" else ROLLING[1:7]
    for windows, options in grid:
        x = dataset(random.choice(["f4", "u1", "?"]))
        for reducer in REDUCERS:
            theirs = getattr(getattr(x, method)(windows, **options), reducer)(keep_attrs=keep_attrs)
            ours = getattr(getattr(x.ndpool, method)(windows, **options), reducer)(keep_attrs)
            assert_same(ours, theirs, is_equal=reducer not in ("sum", "mean"))
            for name in ("v", "line"):
                np.testing.assert_allclose(
                    ours[name].values.astype("f8"), theirs[name].values.astype("f8"), 1e-5, 1e-5
                )


@pytest.mark.parametrize("method", ["coarsen", "rolling"])
def test_attributes_and_names(method):
    x = labelled(values("f4", 0.2))
    index = x["x"]
    for default in ("default", True, False):
        with xarray.set_options(keep_attrs=default):
            for keep_attrs in (None, True, False):
                for each in (x, index, x.rename(None)):
                    for reducer in REDUCERS:
                        theirs, ours = (
                            getattr(getattr(at, method)(x=11), reducer)(keep_attrs)
                            for at in (each, each.ndpool)
                        )
                        assert_same(ours, theirs, is_equal=reducer not in ("sum", "mean"))


@pytest.mark.parametrize("method", ["coarsen", "rolling"])
def test_infinities(method):
    x = labelled(values("f4", 0.2))
    x[:, ::2, ::3] = np.inf
    x[:, ::3, ::4] = -np.inf
    options = {"min_periods": 1} if method == "rolling" else {"boundary": "pad"}
    with np.errstate(invalid="ignore"):
        for reducer in REDUCERS:
            theirs, ours = (
                getattr(getattr(at, method)(x=3, y=3, **options), reducer)() for at in (x, x.ndpool)
            )
            assert_same(ours, theirs, is_equal=reducer not in ("sum", "mean"))
            infinite = ~np.isfinite(theirs.values)
            np.testing.assert_array_equal(ours.values[infinite], theirs.values[infinite])


def blocks(x, windows, boundary):
    """The blocks as xarray takes them apart, and their dimensions."""
    names = {d: (d, f"{d} in block") for d in windows}
    apart = x.coarsen(windows, boundary=boundary).construct(names)
    return apart, [inside for _, inside in names.values()]


@pytest.mark.parametrize("dtype", ["f4", "f2", "i2", "u1", "?", "M8[ns]", "O"])
@pytest.mark.parametrize("skipna", [None, True, False])
def test_coarsen_skips_as_xarray_says_it_does(dtype, skipna):
    """xarray's coarsen raises TypeErrors here; its reductions of dimensions do what it says."""
    x = labelled(values(dtype, 0.4)).reset_coords(drop=True)
    calls = [(reducer, {}) for reducer in ("max", "min", "sum", "mean")]
    calls += [("sum", {"min_count": count}) for count in (0, 1, 3, 100)]
    for windows, boundary in (({"y": 2, "x": 3}, "trim"), ({"x": 4}, "pad"), ({"y": 4}, "exact")):
        if dtype == "?" and boundary == "pad":
            continue  # objects, of which xarray has a sum of its own
        apart, inside = blocks(x, windows, boundary)
        for reducer, words in calls:
            words = {**words, "skipna": skipna}
            try:
                with np.errstate(all="ignore"):
                    theirs = getattr(apart, reducer)(inside, **words)
            except TypeError:
                theirs = TypeError
            ours = result(x.ndpool, "coarsen", windows, {"boundary": boundary}, reducer, **words)
            if theirs is TypeError:
                assert issubclass(ours, TypeError)
                continue
            assert ours.dtype == theirs.dtype
            if reducer in ("max", "min") or ours.dtype.kind not in "f":
                assert ours.variable.equals(theirs.variable)
            else:
                precision = 10 * float(np.finfo(ours.dtype).eps)
                np.testing.assert_allclose(ours.values, theirs.values, precision, precision)


def test_only_documented_words_are_taken():
    coarsen = labelled(values("f4", 0)).ndpool.coarsen(y=2)
    for call in (
        lambda: coarsen.max(min_count=1),
        lambda: coarsen.mean(min_count=1),
        lambda: coarsen.count(skipna=True),
        lambda: coarsen.sum(dtype="f8"),
    ):
        with pytest.raises(TypeError, match="unexpected keyword"):
            call()


def test_skipna_changes_nothing_in_rolling_and_other_words_are_xarrays():
    x = labelled(values("f4", 0.3))
    for reducer in ("max", "min", "sum", "mean"):
        for options in ({"skipna": True}, {"skipna": False}, {"min_count": 2}, {"nonsense": 1}):
            theirs, ours = (
                result(at, "rolling", {"x": 3}, {"min_periods": 2}, reducer, **options)
                for at in (x, x.ndpool)
            )
            assert_same(ours, theirs, is_equal=reducer not in ("sum", "mean"))


def test_other_reducers_and_properties_are_those_of_xarray():
    x = labelled(values("f8", 0.1))
    coarsen, rolling = x.ndpool.coarsen(y=2), x.ndpool.rolling(x=3, min_periods=1)
    assert coarsen.std().identical(x.coarsen(y=2).std())
    assert coarsen.reduce(np.max).identical(x.coarsen(y=2).reduce(np.max))
    assert rolling.prod().identical(x.rolling(x=3, min_periods=1).prod())
    assert rolling.construct("w").identical(x.rolling(x=3).construct("w"))
    assert len(rolling) == 11 and len(list(rolling)) == 11
    assert coarsen.windows == {"y": 2} and rolling.window == [3]
    assert repr(coarsen) == f"ndpool {x.coarsen(y=2)!r}"
    assert repr(rolling) == f"ndpool {x.rolling(x=3)!r}"
    for object_ in (coarsen, rolling):
        with pytest.raises(AttributeError, match="nonsense"):
            object_.nonsense  # noqa: B018
        with pytest.raises(TypeError):
            object_.max(1, 2)


def test_windows_of_more_cells_than_a_byte_counts():
    x = xarray.DataArray(np.full((40, 40), 255, "u1"), dims=("y", "x"))
    whole, gaps = {"y": 40, "x": 40}, x.where(np.arange(40)[:, None] != 3)
    assert x.ndpool.coarsen(whole).sum().item() == 255 * 1600
    assert x.ndpool.coarsen(whole).count().item() == 1600
    assert x.ndpool.coarsen(whole).mean().item() == 255
    assert gaps.ndpool.coarsen(whole).count().item() == 1560
    assert gaps.ndpool.coarsen(whole).mean().item() == 255
    assert (x > 0).ndpool.coarsen(whole).sum().item() == 1600
    assert x.ndpool.rolling(whole).sum()[-1, -1] == 255 * 1600


def test_sums_that_do_not_fit_are_clamped():
    x = xarray.DataArray(np.full(4, 2**62), dims="x")
    assert x.ndpool.coarsen(x=4).sum().item() == 2**63 - 1
    assert x.ndpool.coarsen(x=4).mean().item() == 2**62
    x = xarray.DataArray(np.full(4, 2**62, "u8"), dims="x")
    assert x.ndpool.coarsen(x=2).sum().values.tolist() == [2**63] * 2
    assert x.ndpool.rolling(x=4).mean()[3].item() == 2**62


def test_a_window_is_pooled_by_the_kernels(monkeypatch):
    """Otherwise everything would be equal because xarray had done it."""
    called = []
    for name in ("max_pool", "min_pool", "sum_pool", "avg_pool"):
        function = getattr(ndpool, name)

        def recorded(*args, _name=name, _function=function, **options):
            called.append(_name)
            return _function(*args, **options)

        monkeypatch.setattr(ndpool, name, recorded)
    for dtype in ("f4", "u1", "?"):
        for x in (labelled(values(dtype, 0.2)), dataset(dtype)):
            for windows in (x.ndpool.coarsen(y=2), x.ndpool.rolling(y=2)):
                for reducer in REDUCERS:
                    called.clear()
                    getattr(windows, reducer)()
                    first = (
                        f"{reducer}_pool" if reducer in ("max", "min") else ("sum_pool", "avg_pool")
                    )
                    assert called and called[0] in first, (reducer, called)
