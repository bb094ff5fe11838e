"""explain --plan: the table of what runs each map, beside what the Python package says of it."""

import os
import re

import numpy as np
import pytest
from command import done

import ndpool

PLANS = [
    ("max", (64, 112, 112), "float32", {"kernel": (3, 3), "stride": (2, 2), "padding": (1, 1)}),
    ("max", (3, 70, 71), "uint8", {"kernel": (2, 2)}),
    ("min", (300,), "float64", {"kernel": (31,), "stride": (1,)}),
    ("sum", (9, 9), "int32", {"kernel": (5, 5), "dilation": (2, 2)}),
    ("avg", (8, 40, 40), "float16", {"kernel": (5, 5), "stride": (2, 2)}),
    ("smooth-max", (4, 30, 30), "float32", {"kernel": (3, 3)}),
    ("adaptive-max", (2, 30, 30), "bfloat16", {"output_size": (7, 7)}),
    ("global-avg", (16, 14, 14), "float32", {"axes": (1, 2)}),
]


def table(text):
    """The rows of the plan: {map: (implementation, tiles, scratch bytes, others)}."""
    _, _, plan = text.decode().partition("\nPlan for ")
    head, columns, *rows = plan.splitlines()
    assert re.split(r"  +", columns.strip())[:2] == ["map", "implementation"]
    found = {}
    for row in rows:
        name, implementation, tiles, scratch, *others = row.split()
        found[name] = (implementation, int(tiles), int(scratch), [o.strip(",") for o in others])
    return head, found


def explain(operator, shape, dtype, described, **options):
    words = ["explain", "--op", operator, "--shape", ",".join(map(str, shape))]
    for name, value in described.items():
        words += [f"--{name.replace('_', '-')}", ",".join(map(str, value))]
    return table(done(*words, "--plan", "--dtype", dtype, **options))


@pytest.mark.parametrize("operator, shape, dtype, described", PLANS)
def test_the_table_says_what_the_package_says(operator, shape, dtype, described):
    head, rows = explain(operator, shape, dtype, described)
    assert head.startswith(f"{dtype}, packed, on {ndpool.targets()[0]} with ")
    plan = ndpool.explain_plan(operator.replace("-", "_"), shape, dtype=dtype, **described)
    assert {name: row[0] for name, row in rows.items()} == plan.implementations
    assert {name: row[1] for name, row in rows.items()} == plan.tiles
    assert {name: row[2] for name, row in rows.items()} == plan.scratch_bytes


def test_every_other_implementation_can_be_forced():
    """The table has more than one name for a map, and each of them takes the place of the first."""
    problem = ("max", (64, 112, 112), "float32", {"kernel": (3, 3), "stride": (2, 2)})
    _, rows = explain(*problem)
    assert len(rows["forward"][3]) >= 2 and rows["forward"][3][-1] == "reference"
    for other in rows["forward"][3]:
        environment = {**os.environ, "NDPOOL_FORCE_IMPLEMENTATION": other}
        _, forced = explain(*problem, env=environment)
        assert forced["forward"][0] == other
        assert other == "reference" or rows["forward"][0] in forced["forward"][3]


def test_float32_is_the_dtype_if_none_is_given():
    words = ["explain", "--shape", "8,8", "--kernel", "2,2"]
    text = done(*words, "--plan")
    assert b"\nPlan for float32, packed" in text
    assert text.startswith(done(*words))  # the rest stays what it is


def test_windows_that_see_nothing():
    """Max refuses them, so that there is no plan; a sum of nothing is 0."""
    words = [
        "explain",
        "--shape",
        "4",
        "--kernel",
        "1",
        "--padding",
        "1",
        "--stride",
        "1",
        "--plan",
    ]
    text = done(*words, "--op", "max")
    assert b"\nWarning: " in text and text.endswith(
        b"\nNo plan: pools by this operator refuse empty windows.\n"
    )
    assert "forward" in table(done(*words, "--op", "sum"))[1]
    assert np.array_equal(ndpool.sum_pool(np.ones(4), (1,), padding=1), [0, 1, 1, 1, 1, 0])
