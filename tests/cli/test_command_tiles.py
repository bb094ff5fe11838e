"""The result does not depend on how much memory there is, and the memory is kept."""

import json

import numpy as np
import pytest
from command import done, run_and_weigh
from test_command_arrays import GEOMETRIES, OPERATORS, numbers, python_call

# Tiles are at least a megabyte, so that arrays of some megabytes are cut into a few of them.
SHAPE = (24, 400, 330)
WINDOWS = [
    ["--kernel", "2,2,2"],
    ["--kernel", "5,3,3", "--stride", "2,1,2", "--padding", "2,1,1"],
    ["--kernel", "3,3,3", "--dilation", "4,2,1", "--stride", "3,3,1"],
    ["--kernel", "4,2,2", "--stride", "5,3,2", "--ceil"],
    ["--kernel", "3,3", "--stride", "2,2"],
    ["--kernel", "3", "--axes", "0", "--stride", "1"],
]


def both_ways(tmp_path, out, *words):
    """The bytes of the file `out` with little memory and with much."""
    results = []
    for memory in ("32M", "8G"):
        done(*words, "--memory", memory)
        results.append((tmp_path / out).read_bytes())
    return results


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("window", WINDOWS, ids=" ".join)
def test_windows_in_tiles(tmp_path, window, order):
    x, y, i = tmp_path / "x.npy", tmp_path / "y.npy", tmp_path / "i.npy"
    np.save(x, np.asarray(numbers(SHAPE, "f4"), order=order))
    for op in ("max", "avg", "sum"):
        few, many = both_ways(tmp_path, "y.npy", op, x, "-o", y, *window)
        assert few == many
    few, many = both_ways(tmp_path, "i.npy", "max", x, "-o", y, "--indices", i, *window)
    assert few == many


@pytest.mark.parametrize("window", WINDOWS[:4], ids=" ".join)
def test_derivatives_in_tiles(tmp_path, window):
    x, gy = tmp_path / "x.npy", tmp_path / "gy.npy"
    np.save(x, numbers(SHAPE, "f4"))
    np.save(tmp_path / "dx.npy", numbers(SHAPE, "f4", 1))
    done("max", x, "-o", gy, *window)
    for op in ("max", "avg"):
        few, many = both_ways(
            tmp_path, "o.npy", "jvp", op, x, "--tangent", tmp_path / "dx.npy", "-o",
            tmp_path / "o.npy", *window)  # fmt: skip
        assert few == many
        few, many = both_ways(
            tmp_path, "o.npy", "vjp", op, x, "--gradient", gy, "-o", tmp_path / "o.npy",
            *window)  # fmt: skip
        assert few == many


@pytest.mark.parametrize(
    "window",
    [
        ["--kernel", "4,3,3", "--stride", "2,2,1", "--ceil"],
        ["--kernel", "3,3,3", "--stride", "1,1,1", "--padding", "1,1,1", "--count-exclude-pad"],
        ["--kernel", "3,3,3", "--stride", "2,1,2", "--padding", "1,1,1", "--count-exclude-pad"],
        ["--kernel", "4,3,3", "--stride", "2,2,1", "--divisor", "7"],
    ],
    ids=" ".join,
)
def test_gradients_of_averages_with_several_divisors(tmp_path, window):
    # A tile without edges has one divisor where the whole array has several.
    x, gy = tmp_path / "x.npy", tmp_path / "gy.npy"
    np.save(x, numbers(SHAPE, "f4"))
    done("avg", x, "-o", gy, *window)
    few, many = both_ways(
        tmp_path, "o.npy", "vjp", "avg", x, "--gradient", gy, "-o", tmp_path / "o.npy",
        *window)  # fmt: skip
    assert few == many


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_in_tiles(tmp_path, name, geometry):
    x, y = tmp_path / "x.npy", tmp_path / "y.npy"
    np.save(x, numbers((40, 300, 260), "f4"))
    words = python_call(name, geometry)[3]
    few, many = both_ways(tmp_path, "y.npy", geometry + name, x, "-o", y, *words)
    if name in ("smooth-max", "lp"):
        few, many = (np.frombuffer(data[128:], "f4") for data in (few, many))
        np.testing.assert_allclose(few, many, rtol=1e-6)
    else:
        assert few == many


@pytest.mark.parametrize("dtype", ["f4", "f2", "u1", "i4", "i8"])
@pytest.mark.parametrize("op", ["global-max", "global-avg", "global-sum", "adaptive-avg"])
def test_windows_larger_than_a_tile(tmp_path, op, dtype):
    x, y = tmp_path / "x.npy", tmp_path / "y.npy"
    np.save(x, numbers((12, 800, 900), dtype))
    words = ["--output-size", "1,2,1"] if op.startswith("adaptive") else []
    few, many = both_ways(tmp_path, "y.npy", op, x, "-o", y, *words)
    assert few == many


def test_swapped_bytes_in_tiles(tmp_path):
    x = numbers(SHAPE, "f4")
    for file, array in {"x": x, "s": x.astype(">f4")}.items():
        np.save(tmp_path / f"{file}.npy", array)
        done("avg", tmp_path / f"{file}.npy", "-o", tmp_path / f"{file}y.npy", "--kernel", "3,3,3",
             "--stride", "1,1,1", "--memory", "32M")  # fmt: skip
    assert (tmp_path / "xy.npy").read_bytes() == (tmp_path / "sy.npy").read_bytes()


def sparse(path, shape):
    """A large array that takes no place on the disk, with a few numbers in it."""
    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": "|u1", "fortran_order": False, "shape": shape}
        )
        file.truncate(file.tell() + int(np.prod(shape, dtype=np.int64)))
    array = np.lib.format.open_memmap(path, mode="r+")
    random = np.random.default_rng(0)
    for _ in range(2000):
        array[tuple(int(random.integers(0, n)) for n in shape)] = random.integers(1, 256)
    return array


def peak_of(words):
    process, weight = run_and_weigh(*words)
    assert process.returncode == 0, process.stderr
    return weight


def test_six_gigabytes_in_256_megabytes(tmp_path):
    shape = (1500, 2000, 2000)
    x = sparse(tmp_path / "x.npy", shape)
    words = [tmp_path / "x.npy", "-o", tmp_path / "y.npy", "--memory", "256M"]
    assert peak_of(["max", *words, "--kernel", "2,2,2"]) <= 256 << 20
    y = np.load(tmp_path / "y.npy", mmap_mode="r")
    assert y.shape == (750, 1000, 1000)
    for i in range(0, 750, 50):  # whole planes, some with numbers in them
        expected = x[2 * i : 2 * i + 2].reshape(2, 1000, 2, 1000, 2).max(axis=(0, 2, 4))
        np.testing.assert_array_equal(y[i], expected)
    assert peak_of(["global-max", *words]) <= 256 << 20
    assert np.load(tmp_path / "y.npy") == 255


def test_pyramid(tmp_path):
    x = numbers((13, 70, 33), "u1")
    np.save(tmp_path / "x.npy", x)
    for edges in ("keep", "drop"):
        for op in ("avg", "max", "min"):
            done("pyramid", tmp_path / "x.npy", "-o", tmp_path / "levels", "-q", "--op", op,
                 "--kernel", "2,2,2", "--levels", "3", "--edges", edges)  # fmt: skip
            description = json.loads((tmp_path / "levels/pyramid.json").read_text())
            assert description["operator"] == op and description["edges"] == edges
            for level in (1, 2, 3):
                step = 2**level
                y = np.load(tmp_path / f"levels/level-{level}.npy")
                entry = description["levels"][level - 1]
                assert entry["shape"] == list(y.shape) and entry["scale"] == [step] * 3
                left_over = step - 1 if edges == "keep" else 0
                assert y.shape == tuple((n + left_over) // step for n in x.shape)
                for at in np.ndindex(y.shape):
                    block = x[tuple(slice(step * p, step * p + step) for p in at)]
                    mean = np.rint(block.astype("i8").sum() / block.size)
                    assert y[at] == {"avg": mean, "max": block.max(), "min": block.min()}[op]
