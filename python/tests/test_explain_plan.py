"""explain_plan: what runs each map, without an array."""

import os
import subprocess
import sys

import numpy as np
import pytest

import ndpool

VALUES = {"forward"}
INDICES = {"forward_with_indices"}
DERIVATIVES = {"jvp", "vjp"}
BY_INDICES = {"jvp_from_indices", "vjp_from_indices"}


@pytest.mark.parametrize(
    "operator, dtype, maps",
    [
        ("max", "f4", VALUES | INDICES | DERIVATIVES | BY_INDICES),
        ("min", "bfloat16", VALUES | INDICES | DERIVATIVES | BY_INDICES),
        ("max", np.uint8, VALUES | INDICES),
        ("min", bool, VALUES | INDICES),
        ("avg", np.dtype("f2"), VALUES | DERIVATIVES),
        ("sum", "int64", VALUES),
        ("smooth_max", float, VALUES | DERIVATIVES),
    ],
)
def test_the_maps_that_the_dtype_has(operator, dtype, maps):
    plan = ndpool.explain_plan(operator, (3, 20, 20), (3, 3), stride=2, dtype=dtype)
    assert isinstance(plan, ndpool.PlanSummary)
    for column in plan:
        assert set(column) == maps
    assert all(isinstance(name, str) and name for name in plan.implementations.values())
    assert all(tiles >= 1 for tiles in plan.tiles.values())
    assert all(scratch >= 0 for scratch in plan.scratch_bytes.values())


@pytest.mark.parametrize("operator", list(ndpool._operators._descriptions))
def test_every_pool_has_a_plan(operator):
    if operator == "max_unpool":
        with pytest.raises(ValueError, match="operator must be one of max, .*, not 'max_unpool'"):
            ndpool.explain_plan(operator, (2, 3), (8, 8))
        return
    p = (2.0,) if operator.endswith("lp") else ()
    described = {} if operator.startswith("global") else {"axes": (1, 2)}
    if operator.startswith("adaptive"):
        described["output_size"] = (3, 3)
    elif described:
        described["kernel"] = (3, 3)
    plan = ndpool.explain_plan(operator, (3, 20, 20), *p, **described)
    assert plan.implementations["forward"] != "reference"


def test_more_tiles_for_more_work():
    tiles = [
        ndpool.explain_plan("avg", (planes, 64, 64), (5, 5)).tiles["forward"]
        for planes in (1, 64, 4096)
    ]
    assert tiles[0] < tiles[1] < tiles[2]


def test_strides_are_bytes_and_packed_if_they_are_left_out():
    x = np.zeros((4, 40, 40), "f4")
    packed = ndpool.explain_plan("max", x.shape, (3, 3), stride=1)
    assert ndpool.explain_plan("max", x.shape, (3, 3), stride=1, strides=x.strides) == packed
    last = np.zeros((40, 40, 4), "f4").transpose(2, 0, 1)  # channels last
    moved = ndpool.explain_plan("max", last.shape, (3, 3), stride=1, strides=last.strides)
    assert moved != packed
    with pytest.raises(ValueError, match="strides has 6 bytes, no multiple of the 4 of float32"):
        ndpool.explain_plan("max", (8,), (2,), strides=(6,))
    with pytest.raises(ValueError, match="strides has 1 entry, but there must be 2, one for"):
        ndpool.explain_plan("max", (8, 8), (2, 2), strides=(4,))


CODE = """
import ndpool
plan = ndpool.explain_plan("max", (8, 64, 64), (3, 3), stride=2)
print(*plan.implementations.values(), *plan.tiles.values(), *plan.scratch_bytes.values())
"""


def explained_with(name):
    return subprocess.run(
        [sys.executable, "-c", CODE],
        env={**os.environ, "NDPOOL_FORCE_IMPLEMENTATION": name},
        capture_output=True,
        text=True,
    )


def test_a_forced_implementation_is_shown():
    assert explained_with("reference").stdout.split() == ["reference"] * 6 + ["1"] * 6 + ["0"] * 6
    assert explained_with("general").stdout.split()[0] == "general"
    wrong = explained_with("rwos")
    assert "ValueError: no implementation rwos accepts this problem; these do:" in wrong.stderr


@pytest.mark.parametrize(
    "dtype, error, text",
    [
        (None, TypeError, "dtype must be a dtype, such as 'f4', not None"),
        ("f5", TypeError, "dtype must be a dtype, such as 'f4', not 'f5'"),
        ("c8", TypeError, "dtype has dtype complex64, which cannot be pooled"),
        (">f4" if sys.byteorder == "little" else "<f4", TypeError, "bytes are not in the order"),
    ],
)
def test_wrong_dtypes(dtype, error, text):
    with pytest.raises(error, match=text):
        ndpool.explain_plan("max", (8,), (2,), dtype=dtype)


def test_wrong_arguments_are_named():
    with pytest.raises(TypeError, match="operator must be a name, not int"):
        ndpool.explain_plan(3, (8,), (2,))
    with pytest.raises(TypeError, match="shape must be a tuple of ints, not int"):
        ndpool.explain_plan("max", 8, (2,))
    with pytest.raises(TypeError, match="strides must be a tuple of ints, not int"):
        ndpool.explain_plan("max", (8,), (2,), strides=4)
    with pytest.raises(ValueError, match="kernel"):
        ndpool.explain_plan("max", (8,), (9,))
    with pytest.raises(TypeError, match="dtype int32 has no exp, log and pow"):
        ndpool.explain_plan("smooth_max", (8,), (2,), dtype="i4")
    with pytest.raises(ValueError, match="shape"):
        ndpool.explain_plan("max", (1,) * 65, (2,))
