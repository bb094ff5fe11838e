"""Windows that are larger than a tile: the same results, in the memory that there may be."""

import numpy as np
import pytest
from command import done, run_and_weigh
from test_command_arrays import numbers

# With 32M of memory a tile has 4 MB. Windows of these arrays have more: all of it, bins and
# blocks that do not divide it, blocks with gaps and padding, and one long axis.
WINDOWS = {
    "global": ("global-", (7, 800, 500), []),
    "channels": ("global-", (900, 600, 3), ["--axes", "0,1"]),
    "long axis": ("global-", (3000000,), []),
    "bins": ("adaptive-", (5, 1201, 901), ["--output-size", "2,2,1"]),
    "blocks": ("", (9, 900, 700), ["--kernel", "5,800,500", "--stride", "4,600,350", "--ceil"]),
    "dilated": (
        "",
        (12, 900, 700),
        ["--kernel", "3,400,700", "--stride", "9,900,700", "--dilation", "2,2,1",
         "--padding", "1,100:0,0", "--ceil"],
    ),
    "long and padded": ("", (3000000,), ["--kernel", "2400000", "--stride", "1500000",
                                         "--padding", "900000"]),
    "overlapping": ("", (3, 1400, 900), ["--kernel", "3,1380,890", "--stride", "1,3,2"]),
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


def operator(window, reducer):
    """Its name, the shape of its input, and its other words."""
    prefix, shape, words = WINDOWS[window]
    return prefix + reducer.split()[0], shape, words + REDUCERS[reducer]


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


@pytest.mark.parametrize("reducer", REDUCERS)
@pytest.mark.parametrize("window", WINDOWS)
def test_values_and_derivatives(tmp_path, window, reducer):
    op, shape, words = operator(window, reducer)
    exact = reducer not in ("smooth-max", "lp")
    x, dx, gy = (tmp_path / f"{name}.npy" for name in ("x", "dx", "gy"))
    np.save(x, with_ties(shape, "f4", 1))
    np.save(dx, numbers(shape, "f4", 2))
    y = compare(tmp_path, exact, op, x, *words)
    np.save(gy, numbers(y.shape, "f4", 3))
    compare(tmp_path, exact, "jvp", op, x, "--tangent", dx, *words)
    compare(tmp_path, exact, "vjp", op, x, "--gradient", gy, *words)
