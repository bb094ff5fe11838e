"""Arrays in files: what NumPy writes is read, what the command writes is read by NumPy."""

import ml_dtypes
import numpy as np
import pytest
from command import done, fails, start

import ndpool

DTYPES = ["f4", "f8", "f2", "i1", "u1", "i2", "u2", "i4", "i8", "u4", "u8", "b1"]


def numbers(shape, dtype, seed=0):
    random = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return random.normal(size=shape).astype(dtype)
    if np.dtype(dtype).kind == "b":
        return random.integers(0, 2, shape).astype(bool)
    return random.integers(0, 100, shape).astype(dtype)


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("byteorder", "<>")
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_order_and_byte_order(tmp_path, dtype, byteorder, order):
    x = np.asarray(numbers((3, 6, 8), dtype), dtype=byteorder + dtype, order=order)
    np.save(tmp_path / "x.npy", x)
    done("max", tmp_path / "x.npy", "-o", tmp_path / "y.npy", "--kernel", "2,2")
    y = np.load(tmp_path / "y.npy")
    expected = x.reshape(3, 3, 2, 4, 2).max(axis=(2, 4))
    assert y.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(y, expected)
    assert y.flags.f_contiguous == (order == "F")


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_every_version(tmp_path, version):
    x = numbers((4, 6), "f4")
    with open(tmp_path / "x.npy", "wb") as file:
        np.lib.format.write_array(file, x, version=version)
    done("avg", tmp_path / "x.npy", "-o", tmp_path / "y.npy", "--kernel", "2,2")
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), ndpool.avg_pool(x, (2, 2)))


def test_data_that_is_not_aligned(tmp_path):
    x = numbers((4, 6), "f8")
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (4, 6)}"
    start = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    assert len(start) % 8 != 0
    (tmp_path / "x.npy").write_bytes(start + x.tobytes())
    done("max", tmp_path / "x.npy", "-o", tmp_path / "y.npy", "--kernel", "2,2")
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), ndpool.max_pool(x, (2, 2)))


def test_bfloat16_has_to_be_named(tmp_path):
    x = numbers((4, 6), "f4").astype(ml_dtypes.bfloat16)
    np.save(tmp_path / "x.npy", x)
    words = ["max", tmp_path / "x.npy", "-o", tmp_path / "y.npy", "--kernel", "2,2"]
    assert "--dtype bfloat16" in fails(1, *words)
    done(*words, "--dtype", "bfloat16")
    y = np.load(tmp_path / "y.npy").view(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(y, ndpool.max_pool(x, (2, 2)))


def test_bools_of_any_byte(tmp_path):
    np.save(tmp_path / "x.npy", np.array([0, 7, 0, 0], dtype=np.uint8).view(bool))
    done("max", tmp_path / "x.npy", "-o", tmp_path / "y.npy", "--kernel", "2")
    assert np.load(tmp_path / "y.npy").view(np.uint8).tolist() == [1, 0]


def test_pipes(tmp_path):
    x = numbers((5, 30), "f4")
    np.save(tmp_path / "x.npy", x)
    first = done("max", "-", "-o", "-", "--kernel", "2", "--axes", "-1",
                 stdin=(tmp_path / "x.npy").read_bytes())  # fmt: skip
    second = done("avg", "-", "-o", "-", "--kernel", "3", "--axes", "-1", stdin=first)
    (tmp_path / "y.npy").write_bytes(second)
    expected = ndpool.avg_pool(ndpool.max_pool(x, (2,)), (3,))
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), expected)


def test_standard_input_that_is_a_file(tmp_path):
    np.save(tmp_path / "x.npy", numbers((5, 30), "f4"))
    with open(tmp_path / "x.npy", "rb") as file:
        process = start("info", "-", stdin=file)
        text, _ = process.communicate()
    assert b"5x30 float32" in text


def test_indices(tmp_path):
    x = numbers((3, 9, 7), "f4")
    np.save(tmp_path / "x.npy", x)
    done("min", tmp_path / "x.npy", "-o", tmp_path / "y.npy", "--indices", tmp_path / "i.npy",
         "--kernel", "3,3", "--stride", "2", "--padding", "1")  # fmt: skip
    y, indices = ndpool.min_pool(x, (3, 3), (2, 2), (1, 1), return_indices=True)
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), y)
    np.testing.assert_array_equal(np.load(tmp_path / "i.npy"), indices)


OPERATORS = {
    "max": ("max_pool", {}),
    "min": ("min_pool", {}),
    "sum": ("sum_pool", {}),
    "avg": ("avg_pool", {}),
    "smooth-max": ("smooth_max_pool", {"beta": 3.0}),
    "lp": ("lp_pool", {}),
}
GEOMETRIES = {
    "": (["--kernel", "3,2", "--stride", "2,2", "--padding", "1,0:1"],
         {"kernel": (3, 2), "stride": (2, 2), "padding": ((1, 1), (0, 1))}),
    "adaptive-": (["--output-size", "4,3"], {"output_size": (4, 3)}),
    "global-": (["--axes", "-2,-1"], {"axes": (-2, -1)}),
}  # fmt: skip


def python_call(name, geometry):
    function, options = OPERATORS[name]
    words, arguments = GEOMETRIES[geometry]
    words = words + (["--beta", "3"] if name == "smooth-max" else [])
    arguments = dict(arguments, **options)
    positional = (2.0,) if name == "lp" else ()
    return getattr(ndpool, geometry.replace("-", "_") + function), positional, arguments, words


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_and_its_derivatives(tmp_path, name, geometry):
    function, positional, arguments, words = python_call(name, geometry)
    x, dx = numbers((4, 11, 9), "f8", 1), numbers((4, 11, 9), "f8", 2)
    y = function(x, *positional, **arguments)
    gy = numbers(y.shape, "f8", 3)
    for file, array in {"x": x, "dx": dx, "gy": gy}.items():
        np.save(tmp_path / f"{file}.npy", array)
    files = {file: tmp_path / f"{file}.npy" for file in ("x", "y", "dx", "dy", "gy", "gx")}
    done(geometry + name, files["x"], "-o", files["y"], *words)
    np.testing.assert_array_equal(np.load(files["y"]), y)
    done("jvp", geometry + name, files["x"], "--tangent", files["dx"], "-o", files["dy"], *words)
    np.testing.assert_array_equal(
        np.load(files["dy"]), function.jvp(x, dx, *positional, **arguments)[1]
    )
    done("vjp", geometry + name, files["x"], "--gradient", files["gy"], "-o", files["gx"], *words)
    np.testing.assert_array_equal(
        np.load(files["gx"]), function.vjp(x, gy, *positional, **arguments)
    )


def test_empty_batches(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((0, 4, 4), "f4"))
    done("max", tmp_path / "x.npy", "-o", tmp_path / "y.npy", "--kernel", "2,2")
    assert np.load(tmp_path / "y.npy").shape == (0, 2, 2)


def test_info(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((3, 4), ">i2", order="F"))
    text = done("info", tmp_path / "x.npy").decode()
    assert "3x4 int16, 12 elements, 24 bytes" in text and "Fortran" in text and "other byte" in text
