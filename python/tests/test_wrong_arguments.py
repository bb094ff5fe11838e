"""Every argument of every function with values of the wrong kind: errors name it, in the package's
own words.

A value is taken or refused with a TypeError or ValueError whose sentence starts with the name of
the argument. Exceptions are listed one by one.
"""

from __future__ import annotations

import collections
import inspect

import numpy as np
import pytest

import ndpool

X = np.ones((4, 6))
INDICES = np.zeros((2, 3), np.int64)
FUNCTIONS = [n for n in ndpool.__all__ if n.endswith("pool")]
LISTS = ("kernel", "stride", "padding", "dilation", "axes", "output_size")
FLAGS = ("ceil_mode", "keepdims", "count_include_pad", "return_indices")
WORDS = ("ties", "nan", "empty", "rounding", "pad_mode")
REALS = ("beta", "p")
NO_NUMBERS = {
    "text": "2", "bytes": b"22", "bytearray": bytearray(b"22"), "dict": {2: 2, 3: 3}, "set": {2, 3},
    "complex": 2j, "object": object(), "generator": (i for i in (2, 2)), "nested": [[1], [2]],
    "array of floats": np.array([2.0, 2.0]), "function": len,
}  # fmt: skip
FRACTIONS = {"float": 2.5, "whole float": 2.0, "NaN": float("nan"), "infinity": float("inf")}
HUGE = {"2**40": 2**40, "2**62": 2**62, "10**30": 10**30, "-2**40": -(2**40), "-10**30": -(10**30)}


def right_call(name: str) -> dict:
    """Arguments after x that a function takes."""
    parameters = inspect.signature(getattr(ndpool, name)).parameters
    right = {"kernel": (2, 2), "p": 2, "output_size": (9, 9)}
    call = {key: value for key, value in right.items() if key in parameters}
    if "indices" in parameters:
        call["indices"] = np.zeros((4, 6), np.int64)
    return call


def arguments_among(names):
    return [
        (function, argument)
        for function in FUNCTIONS
        for argument in inspect.signature(getattr(ndpool, function)).parameters
        if argument in names
    ]


def assert_names_it(function: str, argument: str, value, kind) -> None:
    call = {**right_call(function), argument: value}
    with pytest.raises(kind) as caught:
        getattr(ndpool, function)(X, **call)
    text = str(caught.value)
    assert text.startswith(f"{argument} "), text
    assert "\n" not in text and "incompatible" not in text, text
    assert argument == "output_size" or "output_size" not in text, text


@pytest.mark.parametrize("function, argument", arguments_among(LISTS))
def test_lists_of_ints(function, argument):
    for value in (*NO_NUMBERS.values(), *FRACTIONS.values()):
        if argument == "padding" and isinstance(value, str):
            assert_names_it(function, argument, value, ValueError)  # text may be right
            continue
        if argument == "padding" and value is NO_NUMBERS["nested"]:
            continue  # of pairs it is, or has too few
        assert_names_it(function, argument, value, TypeError)
        assert_names_it(function, argument, (value, 2), TypeError)
    for value in HUGE.values():
        if argument in ("kernel", "output_size"):
            assert_names_it(function, argument, value, ValueError)  # needs axes
        if argument == "output_size" and 0 < value < 2**63 or argument == "stride" and value > 0:
            continue  # memory that is not there; a stride beyond the array has one output
        if argument == "padding" and value == 2**40:
            continue  # likewise; on both axes it is below
        if argument == "axes" or (argument == "dilation" and 0 < value < 2**63):
            continue  # other sentences, below
        assert_names_it(function, argument, (value, 1), ValueError)


@pytest.mark.parametrize("function, argument", arguments_among(FLAGS))
def test_flags(function, argument):
    for value in (*NO_NUMBERS.values(), *FRACTIONS.values(), None, [], np.array([True])):
        assert_names_it(function, argument, value, TypeError)
    for value in (True, False, np.True_, np.False_, 0, 1):
        getattr(ndpool, function)(X, **{**right_call(function), argument: value})
    for value in (2, -1, 10**30):
        kind = TypeError if argument == "return_indices" else ValueError
        assert_names_it(function, argument, value, kind)


@pytest.mark.parametrize("function, argument", arguments_among(WORDS))
def test_words(function, argument):
    for value in (*NO_NUMBERS.values(), *FRACTIONS.values(), *HUGE.values(), True, []):
        kind = ValueError if isinstance(value, str) else TypeError
        assert_names_it(function, argument, value, kind)
    if argument != "ties":  # which Lp pools have only if p is infinite
        assert_names_it(function, argument, None, TypeError)


@pytest.mark.parametrize("function, argument", arguments_among(REALS))
def test_reals(function, argument):
    for value in (*NO_NUMBERS.values(), None, []):
        assert_names_it(function, argument, value, TypeError)
    for value in (10**400, float("nan"), 0):
        assert_names_it(function, argument, value, ValueError)


@pytest.mark.parametrize("function, argument", arguments_among(("divisor",)))
def test_divisor(function, argument):
    for value in (*NO_NUMBERS.values(), *FRACTIONS.values(), []):
        assert_names_it(function, argument, value, TypeError)
    for value in (0, 10**30, -(2**63)):
        assert_names_it(function, argument, value, ValueError)


@pytest.mark.parametrize(
    "call, text",
    [
        (
            lambda: ndpool.max_pool(X, (2, 2), padding=2**40),
            "padding 1099511627776 on axis 0 makes a number of elements that does not fit",
        ),
        (
            lambda: ndpool.sum_pool(X, (1, 1), padding=(1, (0, 2**62))),
            "padding 4611686018427387904 on axis 1 makes a number of elements",
        ),
        (
            lambda: ndpool.max_pool(X, (2, 2), dilation=2**40),
            "kernel 2 on axis 0 with dilation 1099511627776 does not fit: it spans 1099511627777",
        ),
        (lambda: ndpool.max_pool(X, (3, 7)), "kernel 7 on axis 1 does not fit: it spans 7 cells"),
        (lambda: ndpool.max_pool(X, (2,), axes=2**40), "axes names axis 1099511627776"),
        (lambda: ndpool.max_pool(X, (2,), axes=()), "axes is empty and leaves no axis to pool"),
        (lambda: ndpool.max_pool(X, (2, 2), padding=((1, 2, 3), 1)), "padding has an entry with 3"),
        (
            lambda: ndpool.adaptive_max_pool(X, (2**62, 1)),
            r"the result would have the shape \(4611686018427387904, 1\), with more bytes",
        ),
        (lambda: ndpool.set_threads(10**30), f"threads {10**30} does not fit in 64 bits"),
        (lambda: ndpool.set_threads(-1), "threads -1 must be from 1 to 1024"),
        (lambda: ndpool.output_shape("median", (4,), (2,)), "operator must be one of"),
    ],
)
def test_sentences_of_values(call, text):
    with pytest.raises(ValueError, match=text):
        call()


@pytest.mark.parametrize("value", [*NO_NUMBERS.values(), *FRACTIONS.values(), None, []])
def test_functions_without_an_array(value):
    for call in (
        lambda: ndpool.set_threads(value),
        lambda: ndpool.output_shape(value, (4,), (2,)),
        lambda: ndpool.output_shape("max", value, (2,)),
    ):
        with pytest.raises((TypeError, ValueError)) as caught:
            call()
        text = str(caught.value)
        assert text.startswith(("threads must be an int, not", "operator must be", "shape must be",
                                "1 axes are to be pooled")), text  # fmt: skip


# Arrays that are not what they look like.


def masked():
    return np.ma.masked_array(X.copy(), mask=X > 0)


@pytest.mark.parametrize(
    "call, name",
    [
        (lambda: ndpool.max_pool(masked(), (2, 2)), "x"),
        (lambda: ndpool.max_pool(np.ma.masked_array(X), (2, 2)), "x"),
        (lambda: ndpool.max_pool([masked(), masked()], (2, 2, 2)), "x"),
        (lambda: ndpool.max_pool([[1.0, 2.0], [np.ma.masked, 3.0]], (2, 2)), "x"),
        (lambda: ndpool.global_avg_pool(masked()), "x"),
        (lambda: ndpool.max_pool(collections.deque([masked(), masked()]), (2, 2, 2)), "x"),
        (lambda: ndpool.max_pool.vjp(masked(), np.ones((2, 3)), (2, 2), indices=INDICES), "x"),
        (lambda: ndpool.max_pool.jvp(masked(), X, (2, 2), indices=INDICES), "x"),
        (
            lambda: ndpool.max_unpool.vjp(np.ma.masked_array([1.0]), np.ones(4), [1], (4,)),
            "y",
        ),
        (lambda: ndpool.avg_pool(X, (2, 2), out=np.ma.masked_array(np.ones((2, 3)))), "out"),
        (lambda: ndpool.avg_pool.jvp(X, masked(), (2, 2)), "dx"),
        (lambda: ndpool.avg_pool.vjp(X, np.ma.masked_array(np.ones((2, 3))), (2, 2)), "gy"),
        (
            lambda: ndpool.max_unpool(
                np.ones(2), np.ma.masked_array([0, 1], mask=[True, False]), (4,)
            ),
            "indices",
        ),
    ],
)
def test_masks_are_refused(call, name):
    with pytest.raises(TypeError, match=f"{name} is a masked array, and pools know no mask"):
        call()


def test_sequences_are_read_as_numpy_reads_them():
    endless = []
    endless.append(endless)
    with pytest.raises((TypeError, ValueError)):
        ndpool.max_pool(endless, (2,))
    assert ndpool.max_pool(collections.deque([1.0, 3.0, 2.0]), (3,)).tolist() == [3.0]
    assert ndpool.max_pool(range(4), (2,)).tolist() == [1, 3]


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_matrices_and_other_subclasses_are_arrays():
    y = ndpool.max_pool(np.asmatrix(X), (2, 2))
    assert type(y) is np.ndarray and y.shape == (2, 3)
    record = np.rec.array([(1.0, 2)], dtype=[("a", "f8"), ("b", "i4")])
    assert ndpool.max_pool(record["a"], (1,)).tolist() == [1.0]


@pytest.mark.parametrize(
    "array, text",
    [
        (np.array([1, None, 2.0], object), "x has dtype object, which cannot be pooled"),
        (np.zeros(3, [("a", "f4"), ("b", "i2")]), r"x has dtype \[\('a', '<f4'\)"),
        (np.zeros(3, ">f8"), "x has dtype >f8, whose bytes are not in the order"),
        (np.zeros(3, ">i4"), "x has dtype >i4, whose bytes are not in the order"),
        (np.array(["a", "b"]), "x has dtype <U1, which cannot be pooled"),
        (np.array(["2020-01-01"], "M8[D]"), "x has dtype datetime64"),
        (np.zeros(3, complex), "x has dtype complex128"),
        (np.zeros(3, np.longdouble), "x has dtype float128"),
        (None, "x has dtype object"),
        ("text", "x has dtype <U4"),
    ],
)
def test_arrays_that_cannot_be_pooled(array, text):
    with pytest.raises(TypeError, match=text):
        ndpool.max_pool(array, (1,))
