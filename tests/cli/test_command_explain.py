"""explain: data for programs, colours and widths of terminals, plain text elsewhere."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios

import numpy as np
import pytest
from command import COMMAND, done

import ndpool

WINDOWS = [
    ((5, 5), {"kernel": (3, 3), "stride": (2, 2), "padding": (1, 1)}),
    ((9,), {"kernel": (2,), "stride": (3,)}),
    ((4, 12), {"kernel": (3,), "axes": (1,), "dilation": (2,), "stride": (2,)}),
    ((7, 6), {"kernel": (2, 4), "ceil": True}),
]


def words_of(shape, window):
    words = ["explain", "--shape", ",".join(map(str, shape))]
    for name, value in window.items():
        words += [f"--{name}"] if value is True else [f"--{name}", ",".join(map(str, value))]
    return words


@pytest.mark.parametrize("shape, window", WINDOWS)
def test_json_says_what_the_package_computes(shape, window):
    data = json.loads(done(*words_of(shape, window), "--json", "--op", "sum"))
    options = {("ceil_mode" if name == "ceil" else name): value for name, value in window.items()}
    assert data["shape"] == list(shape)
    assert tuple(data["output_shape"]) == ndpool.output_shape("sum", shape, **options)
    # How many outputs see a cell is the gradient of the sum of all sums.
    ones = np.ones(data["output_shape"], np.int64)
    seen = ndpool.sum_pool.vjp(np.zeros(shape), ones.astype(float), **options)
    product = np.ones(shape)
    for axis in data["axes"]:
        extents = [1] * len(shape)
        extents[axis["axis"]] = axis["input"]
        product = product * np.reshape(axis["seen_by"], extents)
        assert len(axis["windows"]) == axis["output"] == len(axis["divisors"])
    np.testing.assert_array_equal(product, seen)
    # Cells of the pooled axes: those of one slice along the others.
    slices = seen.size // data["cells"]
    assert data["never_seen"] == np.count_nonzero(seen == 0) // slices
    assert (data["warnings"] != []) == (data["never_seen"] > 0)


def test_json_has_the_plan():
    problem = ["explain", "--shape", "64,56,56", "--kernel", "2,2", "--plan", "--dtype", "uint8"]
    plan = json.loads(done(*problem, "--json"))["plan"]
    expected = ndpool.explain_plan("max", (64, 56, 56), (2, 2), dtype="u1")
    assert {row["map"]: row["implementation"] for row in plan["maps"]} == expected.implementations
    assert plan["dtype"] == "uint8"


def on_terminal(*words, columns=100, **variables):
    """What the command writes to a terminal of this width."""
    environment = {**os.environ, "TERM": "xterm-256color", **variables}
    if "NO_COLOR" not in variables:
        environment.pop("NO_COLOR", None)
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen([COMMAND, *words], stdout=follower, env=environment)
    os.close(follower)
    written = b""
    try:
        while piece := os.read(leader, 65536):
            written += piece
    except OSError:  # the other end is closed
        pass
    os.close(leader)
    assert process.wait(60) == 0
    return written.decode().replace("\r\n", "\n")


EXAMPLE = ("explain", "--shape", "5", "--kernel", "3", "--stride", "2", "--padding", "1")


def test_a_terminal_gets_colours_and_nothing_else_changes():
    plain = done(*EXAMPLE).decode()
    assert "\033" not in plain
    coloured = on_terminal(*EXAMPLE)
    assert "\033[1;32m##" in coloured and "\033[1;33mo" in coloured
    assert re.sub(r"\033\[[0-9;]*m", "", coloured) == plain


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_without_colours_gets_plain_text(variables):
    assert on_terminal(*EXAMPLE, **variables) == done(*EXAMPLE).decode()


def test_an_empty_no_color_asks_for_nothing():
    assert "\033" in on_terminal(*EXAMPLE, NO_COLOR="")


def test_drawings_fit_the_terminal():
    words = ("explain", "--shape", "60", "--kernel", "3")
    assert "window 0" in on_terminal(*words, columns=80, NO_COLOR="1")
    assert "(too long to draw)" in on_terminal(*words, columns=70, NO_COLOR="1")
    long = ("explain", "--shape", "120", "--kernel", "3")
    assert "(too long to draw)" in done(*long).decode()
    wide = on_terminal(*long, columns=140, NO_COLOR="1")
    drawn = [line for line in wide.splitlines() if "window" in line and "#" in line]
    assert drawn and max(map(len, drawn)) <= 140


def test_sentences_and_tables_fit_the_terminal():
    words = (
        "explain",
        "--shape",
        "14,20",
        "--kernel",
        "3,3",
        "--stride",
        "2,2",
        "--dilation",
        "2,2",
    )
    plain = done(*words).decode()
    assert max(map(len, plain.splitlines())) > 80
    visible = re.sub(r"\033\[[0-9;]*m", "", on_terminal(*words, columns=40))
    assert max(map(len, visible.splitlines())) <= 40
    text = " ".join(visible.split())
    for number in (0, 1):
        sentence = next(line for line in plain.splitlines() if line.startswith(f"Axis {number}:"))
        assert sentence in text
    # The table of 20 columns is not printed; its extremes are.
    assert "How many outputs see each cell: the product over the axes of" in text
