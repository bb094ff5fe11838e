"""What the page computes, beside the Python package, on generated settings."""

import math

import numpy as np
import pytest

from explorer_settings import generate
from explorer_tab import SEED

EPS = np.finfo(float).eps
SETTINGS = list(generate(288, SEED))
CHUNKS = 4


def numbers(shown, name):
    return np.array([float(text) for text in shown["numbers"][name]])


def ulps(value):
    return np.spacing(np.abs(value))


def assert_equal_bits(got, wanted, context):
    """Zeros of both signs are equal, and so are all NaNs: semantics.md leaves those open."""
    np.testing.assert_array_equal(got, np.ravel(wanted), err_msg=context)


def largest(setting, y):
    """What the error of smooth max and Lp is measured in, for each output (semantics.md, 20)."""
    taps = math.prod(setting.options.get("kernel", setting.shape)) + 1
    if setting.op == "lp":
        p = setting.options["p"]
        return np.abs(y) * max(1.0, math.log(taps) / p if p < math.inf else 1.0)
    beta = abs(setting.options["beta"])
    return np.maximum(np.maximum(np.abs(y), np.abs(setting.x).max()), math.log(taps) / beta)


def assert_close(got, wanted, bound, context):
    same = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
    with np.errstate(invalid="ignore"):
        far = ~same & ~(np.abs(got - wanted) <= bound)
    assert not far.any(), f"{context}\n{got[far]} instead of {wanted[far]}"


def gradient_bound(setting, gx):
    """The terms of a cell have one sign, so that the bound of a sum is relative to it."""
    outputs = math.prod(setting.shape) + 8
    sum_bound = 2 * EPS * (1 + math.log2(outputs))
    if setting.op == "smooth-max":
        spread = setting.x.max() - setting.x.min()
        return np.abs(gx) * (sum_bound + 2 * 32 * (1 + abs(setting.options["beta"]) * spread) * EPS)
    if setting.op == "lp" and setting.options["p"] < math.inf:
        sizes = np.abs(setting.x[setting.x != 0])
        spread = math.log(sizes.max() / sizes.min()) if sizes.size else 0
        return np.abs(gx) * (sum_bound + 2 * 32 * (1 + setting.options["p"] * spread) * EPS)
    return np.abs(gx) * sum_bound


def compare(setting, shown):
    context = setting.link
    try:
        y, indices, gx = setting.run()
    except ValueError as error:
        assert shown["sentence"] == str(error), context
        return "wrong"
    assert shown["outcome"] == "fine", (context, shown["sentence"])
    assert tuple(map(int, shown["visibleShape"])) == y.shape, context
    if setting.op in ("smooth-max", "lp"):
        # Each of the two is within 4 units in the last place of what is exact.
        bound = 8 * ulps(largest(setting, np.ravel(y)))
        assert_close(numbers(shown, "y"), np.ravel(y), bound, context)
    else:
        assert_equal_bits(numbers(shown, "y"), y, context)
    if indices is not None:
        assert_equal_bits(numbers(shown, "indices"), indices, context)
    flat = np.ravel(gx)
    assert_close(numbers(shown, "gx"), flat, gradient_bound(setting, flat), context)
    return "fine"


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_the_page_gives_the_numbers_of_the_library(tab, chunk):
    outcomes = []
    for setting in SETTINGS[chunk::CHUNKS]:
        outcomes.append(compare(setting, tab.open(setting.link)))
        shown = tab.shown()
        cells = tab.page.locator("#output [role=gridcell]").count()
        assert shown["outcome"] == "nothing" or cells == len(shown["gy"]), setting.link
    # Enough that errors do not take the place of numbers: more than 200 over all chunks.
    assert outcomes.count("fine") >= 52, (outcomes.count("fine"), len(outcomes))
    assert outcomes.count("wrong") >= 1


def unit_gradients(setting, y):
    """For each output the weights of all cells: the VJP of a gradient that is 1 there alone."""
    first, options = setting.arguments
    for output in range(y.size):
        gy = np.zeros(y.size)
        gy[output] = 1
        yield np.ravel(setting.function.vjp(setting.x, gy.reshape(y.shape), *first, **options))


def test_windows_weights_and_gradients_of_single_cells(tab):
    checked = 0
    for setting in SETTINGS:
        if checked == 36 or setting.x.size > 60 or not np.isfinite(setting.x).all():
            continue
        shown = tab.open(setting.link)
        if shown["outcome"] != "fine":
            continue
        checked += 1
        y = setting.run()[0]
        weights = np.array(list(unit_gradients(setting, y)))
        seen = [[] for _ in range(setting.x.size)]
        windows = tab.page.evaluate(
            "count => Array.from({length: count}, (_, i) => explorer.window(i))", y.size
        )
        for output, window in enumerate(windows):
            row = np.zeros(setting.x.size)
            for tap in window["taps"]:
                assert (tap["cell"] >= 0) == (tap["ground"] == 0)
                if tap["cell"] >= 0:
                    row[int(tap["cell"])] = tap["weight"]
                    seen[int(tap["cell"])].append(output)
            bound = gradient_bound(setting, weights[output])
            assert_close(row, weights[output], bound, setting.link)
            if setting.has_indices:
                winner = int(window["winner"])
                assert (winner < 0) == (shown["indices"][output] < 0)
                assert winner < 0 or setting.x.flat[winner] == y.flat[output]
        cells = tab.page.evaluate(
            "count => Array.from({length: count}, (_, i) => explorer.cell(i))", setting.x.size
        )
        for cell, seeing in enumerate(cells):
            assert [one["output"] for one in seeing] == seen[cell], setting.link
            total = sum(one["share"] for one in seeing)
            gx = shown["gx"][cell]
            assert total == gx or abs(total - gx) <= 1e-13 * abs(gx), setting.link
        drawn = [seen for seen, ground in zip(shown["seen"], shown["grounds"]) if ground == 0]
        assert drawn == [len(outputs) for outputs in seen]
    assert checked == 36
