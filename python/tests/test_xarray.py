"""The accessor `ndpool` of xarray's objects: ndpool's functions by the names of dimensions."""

from __future__ import annotations

import inspect
import subprocess
import sys

import numpy as np
import pytest

import ndpool

xarray = pytest.importorskip("xarray")

import ndpool.xarray  # noqa: E402

OPERATORS = [n for n in ndpool.__all__ if n.endswith("pool") and n != "max_unpool"]
SHAPE = (3, 8, 11)


def data(dtype="f8", seed=0):
    return np.random.default_rng(seed).normal(size=SHAPE).astype(dtype)


def array(dtype="f8"):
    return xarray.DataArray(
        data(dtype),
        {
            "t": np.array("2001-02-03", "M8[s]") + np.arange(3),
            "y": ("y", np.arange(8) * 2, {"units": "m"}),
            "x": ("x", np.arange(11, dtype="f4") / 8),
            "row": ("y", [f"row {i}" for i in range(8)]),
            "height": (("y", "x"), np.add.outer(np.arange(8.0), np.arange(11.0))),
            "scalar": 7.0,
        },
        ("t", "y", "x"),
        "v",
        {"long_name": "a value"},
    )


def arguments(name):
    """The same windows over t and x by name, in another order than theirs, and for arrays."""
    p = (3.0,) if "lp" in name else ()
    if name.startswith("global_"):
        return (*p, ("x", "t")), {}, p, {"axes": (0, 2)}
    if name.startswith("adaptive_"):
        return (*p, {"x": 4, "t": 2}), {}, (*p, (2, 4)), {"axes": (0, 2)}
    named = {"stride": {"x": 2}, "padding": {"x": (1, 0)}, "dilation": {"t": 2}, "ceil_mode": True}
    plain = {"stride": (2, 2), "padding": (0, (1, 0)), "dilation": (2, 1), "ceil_mode": True}
    return (*p, {"x": 3, "t": 2}), named, (*p, (2, 3)), {**plain, "axes": (0, 2)}


@pytest.mark.parametrize("name", OPERATORS)
def test_functions_are_those_of_arrays(name):
    x, function = array(), getattr(ndpool, name)
    args, options, plain, plain_options = arguments(name)
    y = getattr(x.ndpool, name)(*args, **options)
    np.testing.assert_array_equal(y.values, function(x.values, *plain, **plain_options))
    assert y.dims == (("y",) if name.startswith("global_") else x.dims)
    assert y.name == "v" and y.attrs == x.attrs and y.dtype == x.dtype


@pytest.mark.parametrize("name", OPERATORS)
def test_derivatives_are_those_of_arrays(name):
    x, function = array(), getattr(ndpool, name)
    args, options, plain, plain_options = arguments(name)
    pool = getattr(x.ndpool, name)
    y, dx = pool(*args, **options), x.copy(data=data(seed=1))
    shown = pool.jvp(dx.transpose(), *args, **options)
    expected = function.jvp(x.values, dx.values, *plain, **plain_options)
    for ours, theirs in zip(shown, expected):
        np.testing.assert_array_equal(ours.values, theirs)
        assert ours.dims == y.dims and list(ours.coords) == list(y.coords)
    gy = y.copy(data=np.random.default_rng(2).normal(size=y.shape))
    gx = pool.vjp(gy.transpose(), *args, **options)
    np.testing.assert_array_equal(
        gx.values, function.vjp(x.values, gy.values, *plain, **plain_options)
    )
    assert gx.dims == x.dims and gx.coords.identical(x.coords)
    if "smooth" in name:
        np.testing.assert_array_equal(
            pool.beta_derivative(*args, **options).values,
            function.beta_derivative(x.values, *plain, **plain_options),
        )


@pytest.mark.parametrize("name", ["max_pool", "adaptive_min_pool", "global_max_pool"])
def test_indices(name):
    x, function = array(), getattr(ndpool, name)
    args, options, plain, plain_options = arguments(name)
    pool = getattr(x.ndpool, name)
    y, indices = pool(*args, **options, return_indices=True)
    values, flat = function(x.values, *plain, **plain_options, return_indices=True)
    np.testing.assert_array_equal(y.values, values)
    np.testing.assert_array_equal(indices.values, flat)
    assert indices.dtype == "i8" and indices.attrs == {} and indices.coords.identical(y.coords)
    gx = pool.vjp(y, *args, **options, indices=indices)
    expected = function.vjp(x.values, values, *plain, **plain_options, indices=flat)
    np.testing.assert_array_equal(gx.values, expected)


def test_unpooling():
    x = array()
    y, indices = x.ndpool.max_pool({"y": 2, "x": 3}, return_indices=True)
    back = y.ndpool.max_unpool(indices.transpose(), {"x": 11, "y": 8})
    expected = ndpool.max_unpool(y.values, indices.values, (8, 11))
    np.testing.assert_array_equal(back.values, expected)
    assert back.dims == x.dims and sorted(back.coords) == ["scalar", "t"]


def test_labels_are_those_of_the_cells():
    x = array()
    y = x.ndpool.max_pool({"y": 3, "x": 3}, stride={"y": 2, "x": 4}, padding={"y": 1})
    np.testing.assert_array_equal(y.y, [1, 4, 8, 12])  # the first window sees rows 0 and 1
    np.testing.assert_array_equal(y.x, np.array([1, 5, 9], "f4") / 8)
    assert y.x.dtype == "f4" and y.y.attrs == {"units": "m"} and "row" not in y.coords
    np.testing.assert_array_equal(y.height[:, 0], np.array([1, 4, 8, 12]) / 2 + 1)
    assert y.t.identical(x.t) and float(y.scalar) == 7
    t = x.ndpool.avg_pool({"t": 2}, stride=1)
    assert t.t.dtype == x.t.dtype and "row" in t.coords and t.y.identical(x.y)
    np.testing.assert_array_equal(t.t, x.t[:2])  # half seconds are rounded down


@pytest.mark.parametrize("word", ["min", "max"])
def test_labels_by_other_functions(word):
    x = array()
    y = x.ndpool.max_pool({"y": 4, "t": 3}, coord_func=word)
    assert y.y.values.tolist() == ([0, 8] if word == "min" else [6, 14])
    assert y.t.values == x.t.values[0 if word == "min" else 2]
    y = x.ndpool.adaptive_max_pool({"y": 2}, coord_func={"y": word})
    assert y.y.values.tolist() == ([0, 8] if word == "min" else [6, 14])
    assert y.height[0, 0] == 1.5
    with pytest.raises(ValueError, match="coord_func must be one of mean, min, max, not 'sum'"):
        x.ndpool.max_pool({"y": 4}, coord_func="sum")


def test_windows_without_a_cell_or_with_missing_labels():
    times = np.array([1, "NaT", 5], "M8[s]")
    x = xarray.DataArray([1.0, 2, 3], {"x": [0.0, 1, 2], "t": ("x", times)}, ("x",))
    y = x.ndpool.sum_pool({"x": 1}, padding=1)
    np.testing.assert_array_equal(y.x, [np.nan, 0, 1, 2, np.nan])
    np.testing.assert_array_equal(y.t, np.array(["NaT", 1, "NaT", 5, "NaT"], "M8[s]"))
    np.testing.assert_array_equal(y, [0, 1, 2, 3, 0])


def test_global_pools():
    x = array()
    kept = x.ndpool.global_max_pool(["x", "y"], keepdims=True)
    assert kept.sizes == {"t": 3, "y": 1, "x": 1} and kept.y == 7
    everything = x.ndpool.global_avg_pool()
    assert everything.dims == () and list(everything.coords) == ["scalar"]
    assert x.ndpool.global_max_pool("x").identical(x.ndpool.global_max_pool(dim=["x"]))
    assert "height" not in x.ndpool.global_max_pool("x").coords


def test_levels_of_a_multiindex_are_left_out():
    x = xarray.DataArray(np.arange(12.0).reshape(2, 6), {"y": [0, 1]}, ("y", "z"))
    levels = xarray.Coordinates.from_pandas_multiindex(
        __import__("pandas").MultiIndex.from_product([[0, 1, 2], [0, 1]], names=["a", "b"]), "z"
    )
    x = x.assign_coords(levels)
    assert list(x.ndpool.max_pool({"z": 2}).coords) == ["y"]
    assert x.ndpool.max_pool({"y": 2}).xindexes.keys() >= {"z", "a", "b"}


def test_datasets():
    x = array()
    whole = xarray.Dataset(
        {"v": x, "line": x[0, 0].reset_coords(drop=True), "other": ("z", [1, 2], {"a": 1})},
        attrs={"title": "all"},
    )
    y, indices = whole.ndpool.max_pool({"y": 2, "x": 3}, stride=1, return_indices=True)
    v, v_indices = x.ndpool.max_pool({"y": 2, "x": 3}, stride=1, return_indices=True)
    assert y.attrs == whole.attrs and list(y) == list(whole) and list(indices) == ["v", "line"]
    assert y.v.identical(v) and indices.v.equals(v_indices)
    np.testing.assert_array_equal(y.line, ndpool.max_pool(whole.line.values, (3,), stride=1))
    assert y.other.identical(whole.other.drop_vars("scalar").assign_coords(scalar=7.0))
    mean = whole.ndpool.global_avg_pool("x", keep_attrs=False)
    assert mean.line.dims == () and mean.attrs == mean.v.attrs == mean.other.attrs == {}
    with pytest.raises(ValueError, match="variable 'v': kernel 12"):
        whole.ndpool.max_pool({"x": 12})
    with pytest.raises(TypeError, match="variable 'name': .*dtype"):
        whole.assign(name=("x", list("abcdefghijk"))).ndpool.max_pool({"x": 2})


def test_attributes_follow_xarrays_option():
    x = array()
    assert x.ndpool.max_pool({"x": 2}, keep_attrs=False).attrs == {}
    with xarray.set_options(keep_attrs=False):
        assert x.ndpool.max_pool({"x": 2}).attrs == {}
        assert x.ndpool.max_pool({"x": 2}, keep_attrs=True).attrs == x.attrs


def test_files_have_other_byte_orders():
    x = array(">f4")
    y = x.ndpool.max_pool({"x": 2})
    assert y.dtype == np.dtype("f4")
    np.testing.assert_array_equal(y, ndpool.max_pool(x.values.astype("f4"), (2,)))
    packed = np.zeros(8, np.dtype([("a", "u1"), ("v", "f4")]))["v"]
    assert xarray.DataArray(packed, dims="x").ndpool.max_pool({"x": 2}).size == 4


@pytest.mark.parametrize(
    ("error", "sentence", "call"),
    [
        (TypeError, "kernel must be a dict from dimensions to sizes, not int",
         lambda p: p.max_pool(3)),
        (TypeError, "missing a required argument: 'kernel'", lambda p: p.max_pool()),
        (TypeError, "unexpected keyword argument 'axes'", lambda p: p.max_pool({"x": 2}, axes=1)),
        (ValueError, "kernel names no dimension", lambda p: p.max_pool({})),
        (ValueError, r"kernel names \['q'\], but the dimensions are \['t', 'y', 'x'\]",
         lambda p: p.max_pool({"q": 3})),
        (ValueError, r"stride names \['y'\], but the dimensions of kernel are \['x'\]",
         lambda p: p.max_pool({"x": 3}, stride={"y": 1})),
        (TypeError, "padding must be a dict by dimension, or one value for all, not tuple",
         lambda p: p.max_pool({"x": 3}, padding=(1, 1))),
        (ValueError, "dim names", lambda p: p.global_max_pool("q")),
        (ValueError, "chunks are for Dask arrays", lambda p: p.max_pool({"x": 2}, chunks=2)),
        (ValueError, "coord_func must be one of mean, min, max, not 'sum'",
         lambda p: p.max_pool({"t": 2}, coord_func={"x": "sum"})),
        (TypeError, "without the kernel", lambda p: p.max_unpool(p, {"x": 11}, stride=2)),
        (ValueError, "stride", lambda p: p.max_pool({"x": 3}, stride={"x": 0})),
        (AttributeError, "no function 'median_pool'", lambda p: p.median_pool({"x": 3})),
    ],
)  # fmt: skip
def test_wrong_calls(error, sentence, call):
    with pytest.raises(error, match=sentence):
        call(array().ndpool)


def test_functions_of_arrays_name_the_accessor():
    for x in (array(), array().to_dataset(name="v")):
        with pytest.raises(TypeError, match=r"accessor, as in x.ndpool.max_pool\("):
            ndpool.max_pool(x, (2, 2))


def test_functions_describe_themselves():
    pools = array().ndpool
    for name in OPERATORS:
        pool = getattr(pools, name)
        parameters = inspect.signature(pool).parameters
        assert "axes" not in parameters and "out" not in parameters and "x" not in parameters
        assert {"coord_func", "keep_attrs", "chunks"} <= set(parameters)
        assert name in pool.__doc__ and name in repr(pool) and name in dir(pools)
    assert "max_unpool" in dir(pools) and "coarsen" in dir(pools)
    assert "max_unpool" not in dir(array().to_dataset().ndpool)


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)


def test_xarray_is_optional():
    said = run("import sys, ndpool; print({'xarray', 'pandas', 'dask'} & set(sys.modules))")
    assert said.stdout.strip() == "set()", said.stderr
    said = run("import sys; sys.modules['xarray'] = None\nimport ndpool.xarray")
    assert "pip install 'ndpool[xarray]'" in said.stderr.splitlines()[-1]
    said = run("import sys, ndpool.xarray; print('dask.array' in sys.modules)")
    assert said.stdout.strip() == "False", said.stderr


def test_doctest():
    import doctest

    finished = doctest.testmod(ndpool.xarray)
    assert finished.attempted >= 4 and finished.failed == 0
