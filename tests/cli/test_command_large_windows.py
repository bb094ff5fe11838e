"""Windows that are larger than a tile: the same results, in the memory that there may be."""

import numpy as np
import pytest
from command import done, run_and_weigh
from test_command_arrays import numbers

# With 32M of memory a tile has 4 MB. Windows of these arrays have more: all of it, one long axis,
# bins and blocks that overlap, blocks with gaps and padding.
WINDOWS = {
    "global": ("global-", (5, 600, 500), []),
    "channels": ("global-", (700, 600, 3), ["--axes", "0,1"]),
    "long axis": ("global-", (1300000,), []),
    "bins": ("adaptive-", (5, 901, 701), ["--output-size", "2,2,1"]),
    "blocks": ("", (9, 700, 500), ["--kernel", "5,600,400", "--stride", "4,400,300", "--ceil"]),
    "dilated": ("", (12, 700, 500), ["--kernel", "3,300,500", "--stride", "9,700,500",
                                     "--dilation", "2,2,1", "--padding", "1,100:0,0", "--ceil"]),
    "padded axis": ("", (1300000,), ["--kernel", "1200000", "--stride", "650000",
                                     "--padding", "500000:60000"]),
}  # fmt: skip
REDUCERS = {
    "max": ["--ties", "first"],
    "max all": ["--ties", "all"],
    "min split": ["--ties", "split"],
    "sum": [],
    "avg": [],
    "smooth-max": ["--beta", "3"],
    "lp": [],
    "lp inf": ["--p", "inf", "--ties", "first"],
    "lp inf all": ["--p", "inf", "--ties", "all"],
}


def with_ties(shape, dtype, seed=0):
    """Few different numbers, so that extremes are not alone."""
    return np.round(numbers(shape, dtype, seed) * 8) / np.asarray(8, dtype)


def compare(tmp_path, exact, *words):
    """The array that the command makes with little memory; with much it makes the same."""
    results = []
    for memory in ("32M", "8G"):
        done(*words, "-o", tmp_path / f"{memory}.npy", "--memory", memory)
        results.append(np.load(tmp_path / f"{memory}.npy"))
    few, many = results
    if exact:
        assert few.tobytes() == many.tobytes()
    else:
        np.testing.assert_allclose(few, many, rtol=1e-5, atol=1e-6 * np.abs(many).max())
    return few


def compare_indices(tmp_path, op, x, *words):
    """The same for the indices of an operator, and for the values that come with them."""
    indices = []
    for memory in ("32M", "8G"):
        done(op, x, "-o", tmp_path / f"y{memory}.npy", "--indices", tmp_path / f"i{memory}.npy",
             "--memory", memory, *words)  # fmt: skip
        indices.append([np.load(tmp_path / f"{file}{memory}.npy") for file in "iy"])
    np.testing.assert_array_equal(indices[0][0], indices[1][0])
    np.testing.assert_array_equal(indices[0][1], indices[1][1])
    return indices[0][0]


def compare_all(tmp_path, op, words, x, exact=True):
    """Values and both derivatives, which are also adjoint: one is checked by the other."""
    files = [tmp_path / f"{name}.npy" for name in ("x", "dx", "gy")]
    np.save(files[0], x)
    y = compare(tmp_path, exact, op, files[0], *words)
    dx, gy = numbers(x.shape, x.dtype, 2), numbers(y.shape, x.dtype, 3)
    np.save(files[1], dx)
    np.save(files[2], gy)
    dy = compare(tmp_path, exact, "jvp", op, files[0], "--tangent", files[1], *words)
    gx = compare(tmp_path, exact, "vjp", op, files[0], "--gradient", files[2], *words)
    products = np.sum(np.multiply(dx, gx, dtype="f8")), np.sum(np.multiply(dy, gy, dtype="f8"))
    size = np.linalg.norm(dx.astype("f8")) * np.linalg.norm(gx.astype("f8"))
    assert abs(products[0] - products[1]) <= np.finfo(x.dtype).eps * size


@pytest.mark.parametrize("reducer", REDUCERS)
@pytest.mark.parametrize("window", WINDOWS)
def test_values_and_derivatives(tmp_path, window, reducer):
    prefix, shape, words = WINDOWS[window]
    op = prefix + reducer.split()[0]
    exact = reducer not in ("smooth-max", "lp")
    compare_all(tmp_path, op, words + REDUCERS[reducer], with_ties(shape, "f4"), exact)


@pytest.mark.parametrize("dtype", ["f2", "f8", ">f4"])
@pytest.mark.parametrize("op", ["global-max", "global-avg", "adaptive-min"])
def test_other_floats(tmp_path, op, dtype):
    words = ["--output-size", "1,2,1"] if op.startswith("adaptive") else []
    compare_all(tmp_path, op, words, with_ties((11, 601, 501), np.dtype(dtype)))


@pytest.mark.parametrize("window", WINDOWS)
def test_indices(tmp_path, window):
    prefix, shape, words = WINDOWS[window]
    x = with_ties(shape, "f4")
    np.save(tmp_path / "x.npy", x)
    compare_indices(tmp_path, prefix + "max", tmp_path / "x.npy", *words)
    x.flat[-3] = np.nan
    np.save(tmp_path / "x.npy", x)
    for nan in ("propagate", "ignore"):
        compare_indices(tmp_path, prefix + "min", tmp_path / "x.npy", *words, "--nan", nan)


def test_indices_of_what_loses_to_everything(tmp_path):
    _, shape, words = WINDOWS["padded axis"]
    for value in (-np.inf, np.nan):
        np.save(tmp_path / "x.npy", np.full(shape, value, "f4"))
        words_of_nan = ["--nan", "ignore", *words]
        indices = compare_indices(tmp_path, "max", tmp_path / "x.npy", *words_of_nan)
        assert indices.tolist() == [0, 150000]


def test_windows_that_overlap_all_over(tmp_path):
    words = ["--kernel", "3,800,500", "--stride", "1,7,5"]
    x = with_ties((3, 828, 520), "f4")
    np.save(tmp_path / "x.npy", x)
    compare_indices(tmp_path, "max", tmp_path / "x.npy", *words)
    for reducer in ("max", "avg"):
        compare_all(tmp_path, reducer, words, x)


@pytest.mark.parametrize("dtype", ["i8", "u8", "i4", "u4", "i2", "b1"])
@pytest.mark.parametrize("op", ["global-sum", "global-avg", "adaptive-avg", "global-min"])
def test_integers_of_all_sizes(tmp_path, op, dtype):
    bytes_ = np.random.default_rng(0).bytes(6 * 500 * 450 * 8)
    x = np.frombuffer(bytes_, "u8").reshape(6, 500, 450)
    if dtype == "b1":
        x = np.tile(x % 2 == 0, (2, 2, 2))
    else:
        x = np.tile(x.astype(dtype), (1, 1, 8 // np.dtype(dtype).itemsize))
    np.save(tmp_path / "x.npy", x)
    words = ["--output-size", "1,2,1"] if op.startswith("adaptive") else []
    y = compare(tmp_path, True, op, tmp_path / "x.npy", *words)
    if op == "global-avg" and dtype != "b1":
        total = sum(int(part) for part in x.astype(object).sum(axis=(1, 2)))
        assert abs(int(y) * x.size - total) * 2 <= x.size


LARGE = (64, 1024, 1024)


def large_file(path, dtype):
    """256 MB or more of all kinds of bytes."""
    x = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=LARGE)
    random = np.random.default_rng(0)
    for i in range(LARGE[0]):
        x[i] = np.frombuffer(random.bytes(x[i].nbytes), f"i{x.itemsize}").reshape(x[i].shape) >> 1
    return path


def test_memory_is_kept(tmp_path):
    x, y = large_file(tmp_path / "x.npy", "f4"), tmp_path / "y.npy"
    np.save(tmp_path / "gy.npy", np.ones((), "f4"))
    gradient, tangent = ["--gradient", tmp_path / "gy.npy"], ["--tangent", x]
    for words in (
        ["global-max", x, "--indices", tmp_path / "i.npy"],
        ["smooth-max", x, "--kernel", "70,1030,1030", "--padding", "3"],
        ["global-sum", large_file(tmp_path / "i8.npy", "i8")],
        ["jvp", "global-avg", x, *tangent],
        ["jvp", "global-max", x, *tangent, "--ties", "first"],
        ["jvp", "global-max", x, *tangent],
        ["vjp", "global-avg", x, *gradient],
        ["vjp", "global-max", x, *gradient, "--ties", "first"],
        ["vjp", "global-max", x, *gradient, "--ties", "split"],
        ["vjp", "global-lp", x, *gradient],
        ["avg", x, "--kernel", "64,64,64"],
    ):
        process, weight = run_and_weigh(*words, "-o", y, "--memory", "64M")
        assert process.returncode == 0, process.stderr
        assert weight <= 64 << 20, (words, weight)
