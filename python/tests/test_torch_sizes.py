"""Sizes that are no ints of Python, and windows larger than the input."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import ndpool.torch.functional as N


def outcome(function, x, *arguments):
    """The result, or the type and the text of the error."""
    try:
        return function(x, *arguments)
    except Exception as error:
        return type(error), str(error)


def assert_twins_agree(name, x, *arguments):
    """Returns True if there is a result."""
    expected = outcome(getattr(F, name), x, *arguments)
    for _ in range(2):  # the second time with what the first has left behind
        actual = outcome(getattr(N, name), x, *arguments)
        if not isinstance(expected, torch.Tensor):
            assert actual == expected, (name, arguments)
            return False
        assert isinstance(actual, torch.Tensor), (name, arguments, actual)
        torch.testing.assert_close(actual, expected)
    return True


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_sizes_may_be_numbers_of_numpy_and_tensors(rank):
    x, results = torch.randn((2,) + (6,) * rank), 0
    for single in (np.int64(2), np.int32(2), np.array(2), torch.tensor(2)):
        for size in (single, (single,), (single,) * rank):
            for name, arguments in {
                f"max_pool{rank}d": (size, size),
                f"avg_pool{rank}d": (size, size),
                f"lp_pool{rank}d": (2, size, size),
                f"adaptive_max_pool{rank}d": (size,),
                f"adaptive_avg_pool{rank}d": (size,),
            }.items():
                results += assert_twins_agree(name, x, *arguments)
    for size in (np.array([2] * rank), torch.tensor([2] * rank)):
        results += assert_twins_agree(f"adaptive_avg_pool{rank}d", x, size)
    assert results > 10


def test_sizes_that_change_are_read_anew():
    x, size, bins = torch.randn(1, 6, 6), torch.tensor(2), np.array([2, 2])
    for wanted in (2, 3):
        size.fill_(wanted)
        bins.fill(wanted)
        assert N.adaptive_avg_pool1d(x, size).shape == (1, 6, wanted)
        assert N.adaptive_avg_pool2d(x, (size, size)).shape == (1, wanted, wanted)
        assert N.adaptive_max_pool2d(x, bins).shape == (1, wanted, wanted)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_lp_windows_may_overhang_a_shorter_input_in_ceil_mode(rank):
    results = 0
    for length, kernel, stride in itertools.product((1, 2, 3), (2, 3, 4), (None, 1)):
        x = torch.randn((2,) + (4,) * (rank - 1) + (length,))
        results += assert_twins_agree(f"lp_pool{rank}d", x, 2.0, kernel, stride, True)
    assert results >= 6
