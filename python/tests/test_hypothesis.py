"""Any array and argument: the meaning in `cells.py`, or a ValueError or TypeError that says why.

The same examples are tried in every run, unless NDPOOL_EXAMPLES asks for so many times as many.
"""

import inspect
import math
import os

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cells
import ndpool
import oracle

GEOMETRIES = {"": cells.window, "adaptive_": cells.bins, "global_": cells.whole}
FUNCTIONS = [f"{kind}{reducer}_pool" for kind in GEOMETRIES for reducer in cells.REDUCERS]
DTYPES = (*oracle.FLOATS, *oracle.INTEGERS, "bool")
LARGE = 2**31  # a call with larger numbers may say that it is too large


def examples(count: int):
    times = os.environ.get("NDPOOL_EXAMPLES")
    return settings(
        max_examples=count * int(times or 1),
        derandomize=times is None,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


@pytest.fixture(autouse=True)
def silence(capfd):
    """Nothing is printed, not by C++ either."""
    yield
    assert capfd.readouterr() == ("", "")


# ---- arrays


@st.composite
def values(draw, shape, name):
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    dtype = oracle.dtype(name)
    kind = draw(st.sampled_from(["plain", "ties", "special"]))
    if not cells.is_float(dtype):
        low, high = cells.limits(dtype)
        if kind == "special":
            return rng.choice(np.array([low, high, 0, 1], dtype), shape)
        reach = 3 if kind == "ties" else 120
        return rng.integers(max(low, -reach), min(high, reach), shape, endpoint=True).astype(dtype)
    array = rng.standard_normal(shape) * 10
    if kind == "ties":
        array = np.round(array / 5)
    if kind == "special":
        extremes = [np.nan, np.inf, -np.inf, 0.0, -0.0, float(ml_dtypes.finfo(dtype).max)]
        special = rng.choice(np.array(extremes), shape)
        array = np.where(rng.random(shape) < draw(st.sampled_from([0.1, 0.5, 1])), special, array)
    return np.asarray(array).astype(dtype)


@st.composite
def placed(draw, array):
    """The same values in memory of some other order, with other strides."""
    array = np.asarray(array)
    order = draw(st.permutations(range(array.ndim)))
    steps = [draw(st.sampled_from([1, 1, 2, -1, -2])) for _ in order]
    room = [n * abs(steps[a]) for a, n in enumerate(array.shape)]
    memory = np.empty([room[a] for a in order], array.dtype).transpose(np.argsort(order))
    view = memory[(..., *(slice(None, None, step) for step in steps))]
    view[...] = array
    view.flags.writeable = draw(st.booleans())
    return view


shapes = st.lists(st.integers(1, 5), min_size=1, max_size=4).filter(lambda s: math.prod(s) <= 120)
any_shapes = st.lists(st.integers(0, 5), min_size=0, max_size=5).filter(
    lambda s: math.prod(s) <= 120
)


@st.composite
def arrays(draw, shapes=any_shapes, dtypes=DTYPES):
    shape = tuple(draw(shapes))
    return draw(placed(draw(values(shape, draw(st.sampled_from(dtypes))))))


# ---- arguments that mostly make sense


@st.composite
def some_axes(draw, rank):
    """The axes, how they are given, and how many there are."""
    if rank == 0:
        return None, 1
    if draw(st.booleans()):
        return None, draw(st.integers(1, rank))
    chosen = draw(st.lists(st.integers(0, rank - 1), min_size=1, max_size=rank, unique=True))
    return tuple(a - rank * draw(st.booleans()) for a in chosen), len(chosen)


def per_axis(draw, count, numbers):
    entries = tuple(draw(numbers) for _ in range(count))
    return entries[0] if draw(st.booleans()) else entries


@st.composite
def window_arguments(draw, rank):
    axes, count = draw(some_axes(rank))
    kernel = tuple(draw(st.integers(1, 4)) for _ in range(count))
    arguments = {"kernel": kernel, "axes": axes}
    if draw(st.booleans()):
        arguments["stride"] = per_axis(draw, count, st.integers(1, 4))
    if draw(st.booleans()):
        pad = st.integers(0, 3)
        arguments["padding"] = draw(
            st.one_of(
                st.sampled_from(["same", "same_lower", "valid"]),
                st.integers(0, 2),
                st.tuples(*[st.one_of(pad, st.tuples(pad, pad))] * count),
            )
        )
    if draw(st.booleans()):
        arguments["dilation"] = per_axis(draw, count, st.integers(1, 3))
    if draw(st.booleans()):
        arguments["ceil_mode"] = draw(st.booleans())
    return arguments


@st.composite
def bin_arguments(draw, rank):
    axes, count = draw(some_axes(rank))
    return {"output_size": tuple(draw(st.integers(1, 6)) for _ in range(count)), "axes": axes}


@st.composite
def whole_arguments(draw, rank):
    axes, _ = draw(some_axes(rank))
    return {"axes": axes, "keepdims": draw(st.booleans())}


ARGUMENTS = {"": window_arguments, "adaptive_": bin_arguments, "global_": whole_arguments}
REDUCER_OPTIONS = {
    "ties": st.sampled_from(["first", "all", "split"]),
    "nan": st.sampled_from(["propagate", "ignore"]),
    "empty": st.sampled_from(["error", "identity"]),
    "count_include_pad": st.booleans(),
    "divisor": st.sampled_from([None, 1, 3, -2, 7]),
    "rounding": st.sampled_from(list(cells.ROUNDINGS)),
    "beta": st.sampled_from([1.0, 0.25, -1.5, 4]),
    "pad_mode": st.sampled_from(["zero", "ignore"]),
    "p": st.sampled_from([1, 2, 3, 2.5, 0.75, math.inf]),
}


def parts(name: str) -> tuple[str, str]:
    """Geometry and reducer of a function."""
    kind = next(kind for kind in ("adaptive_", "global_", "") if name.startswith(kind))
    return kind, name[len(kind) :].removesuffix("_pool")


def options_of(name: str) -> list[str]:
    return [o for o in inspect.signature(getattr(ndpool, name)).parameters if o in REDUCER_OPTIONS]


@st.composite
def calls(draw, rank):
    """A function and its arguments after x, by name."""
    name = draw(st.sampled_from(FUNCTIONS))
    kind, reducer = parts(name)
    arguments = draw(ARGUMENTS[kind](rank))
    for option in options_of(name):
        wanted = option == "p" or (draw(st.booleans()) and not (option, reducer) == ("ties", "lp"))
        if wanted:
            arguments[option] = draw(REDUCER_OPTIONS[option])
    if arguments.get("p") == math.inf:
        arguments["ties"] = draw(REDUCER_OPTIONS["ties"])
    return name, arguments


def meaning(name: str, x: np.ndarray, arguments: dict) -> cells.Pool:
    kind, reducer = parts(name)
    options = {k: v for k, v in arguments.items() if k in REDUCER_OPTIONS}
    for word in ("ties", "nan", "empty", "rounding", "pad_mode"):
        if options.get(word, "") is None:
            del options[word]
    if kind == "global_" and reducer in ("max", "min"):
        options.setdefault("ties", "all")
    others = {k: v for k, v in arguments.items() if k not in REDUCER_OPTIONS}
    geometry = GEOMETRIES[kind](x.shape, **others)
    return cells.Pool(geometry, cells.REDUCERS[reducer](**options), x)


# ---- comparison


def close(actual: np.ndarray, expected: np.ndarray, scale: np.ndarray, factor: float) -> None:
    """Within `factor` roundings of `scale`, except where sums leave the range of the dtype."""
    info = ml_dtypes.finfo(actual.dtype)
    wide = actual.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        bound = factor * float(info.eps) * scale + 4 * float(info.smallest_subnormal)
        near = np.abs(wide - expected) <= bound
    same = (wide == expected) | (np.isnan(wide) & np.isnan(expected))
    out_of_range = scale > float(info.max) / 8
    assert np.all(near | same | out_of_range), f"{actual!r} instead of {expected!r}"


def same(actual: np.ndarray, expected: np.ndarray) -> None:
    """Equal; NaN is NaN, of any dtype."""
    assert actual.dtype == expected.dtype
    if cells.is_float(actual.dtype):
        actual, expected = actual.astype(float), expected.astype(float)
    np.testing.assert_array_equal(actual, expected)


def equal_values(y: np.ndarray, pool: cells.Pool) -> None:
    expected = pool.forward()
    dtype = pool.x.dtype
    assert y.dtype == dtype and y.shape == expected.shape
    if isinstance(pool.reducer, cells.Extreme) or not cells.is_float(dtype):
        np.testing.assert_array_equal(y.astype(expected.dtype), expected)
        return
    p = getattr(pool.reducer, "p", 1)
    close(y, expected, pool.scales, 8 * (1 + 1 / p))


def attempt(call, is_large=False):
    """What a call gives, or None if it is refused as it should be."""
    refusals = (ValueError, TypeError, MemoryError) if is_large else (ValueError, TypeError)
    try:
        return call()
    except refusals as error:
        assert str(error).strip(), "an error without a sentence"
        return None


def expect(call, interpretation, compare, is_large=False) -> None:
    """`compare(result, meaning)`, or a refusal where there is no meaning or too much of it."""
    result = attempt(call, is_large)
    try:
        with np.errstate(all="ignore"):
            pool = interpretation()
    except cells.Wrong:
        assert result is None, f"{result!r}, which has no meaning"
        return
    if result is None:
        assert is_large, f"refused, but it means {pool.forward()!r}"
        return
    with np.errstate(all="ignore"):
        compare(result, pool)


# ---- the tests


@examples(400)
@given(st.data())
def test_values(data):
    x = data.draw(arrays())
    name, arguments = data.draw(calls(x.ndim))
    f = getattr(ndpool, name)
    expect(lambda: f(x, **arguments), lambda: meaning(name, x, arguments), equal_values)
    if attempt(lambda: f(x, **arguments)) is None:
        return
    described = dict(arguments)
    p = (described.pop("p"),) if "p" in described else ()
    operator = name.removesuffix("_pool")
    y = f(x, **arguments)
    assert ndpool.output_shape(operator, x.shape, *p, **described) == y.shape
    out = np.full(y.shape, 1).astype(y.dtype)
    assert f(x, **arguments, out=out) is out
    same(out, y)


def equal_indices(result, pool: cells.Pool) -> None:
    y, indices = result
    equal_values(y, pool)
    assert indices.dtype == np.int64
    np.testing.assert_array_equal(indices, pool.indices())


@examples(200)
@given(st.data())
def test_indices(data):
    x = data.draw(arrays(shapes))
    name, arguments = data.draw(calls(x.ndim).filter(lambda c: parts(c[0])[1] in ("max", "min")))
    f = getattr(ndpool, name)
    expect(
        lambda: f(x, **arguments, return_indices=True),
        lambda: meaning(name, x, arguments),
        equal_indices,
    )


def factor_of(pool: cells.Pool) -> float:
    """How many roundings a weight may be off."""
    if isinstance(pool.reducer, cells.SmoothMax):
        largest = float(np.max(np.abs(pool.x.astype(float)), initial=1))
        return 32 * (1 + abs(pool.reducer.beta) * largest)
    return 32 * (1 + getattr(pool.reducer, "p", 1))


def moderate(x: np.ndarray) -> np.ndarray:
    return np.where(np.abs(x.astype(float)) < 1e3, x, 1).astype(x.dtype)


def float_meaning(name, x, arguments) -> cells.Pool:
    cells.need(cells.is_float(x.dtype), "integers have no derivatives")
    return meaning(name, x, arguments)


@examples(250)
@given(st.data())
def test_derivatives(data):
    dtypes = (*oracle.FLOATS, *oracle.FLOATS, "int32", "bool")
    x = data.draw(arrays(shapes, dtypes))
    name, arguments = data.draw(calls(x.ndim))
    f = getattr(ndpool, name)
    if parts(name)[1] not in ("max", "min"):
        x = moderate(x)
    dx = moderate(data.draw(arrays(st.just(x.shape), [x.dtype.name])))

    def equal_jvp(result, pool):
        y, dy = result
        equal_values(y, pool)
        assert dy.dtype == x.dtype and dy.shape == y.shape
        close(dy, pool.jvp(dx), pool.jvp(np.abs(dx), absolute=True), factor_of(pool))

    def interpretation():
        return float_meaning(name, x, arguments)

    expect(lambda: f.jvp(x, dx, **arguments), interpretation, equal_jvp)
    forward = attempt(lambda: f(x, **arguments))
    shape = () if forward is None else forward.shape
    gy = np.random.default_rng(1).standard_normal(shape).astype(x.dtype)

    def equal_vjp(gx, pool):
        assert gx.dtype == x.dtype and gx.shape == x.shape
        close(gx, pool.vjp(gy), pool.vjp(np.abs(gy), absolute=True), factor_of(pool))

    expect(lambda: f.vjp(x, gy, **arguments), interpretation, equal_vjp)


@examples(150)
@given(st.data())
def test_unpooling(data):
    y = data.draw(arrays(shapes))
    axes, count = data.draw(some_axes(y.ndim))
    sizes = tuple(data.draw(st.integers(1, 4)) for _ in range(count))
    seed = data.draw(st.integers(0, 2**20))
    low, high = data.draw(st.sampled_from([(0, 0), (-1, 0), (-1, 1), (-2, 0)]))
    rng = np.random.default_rng(seed)
    indices = rng.integers(low, math.prod(sizes) + high, y.shape)
    arguments = dict(output_size=sizes, axes=axes)

    class Unpooled:
        def forward(self):
            return cells.unpool(y, indices, **arguments)

    def equal(x, expected):
        same(x, expected.forward())

    def interpretation():
        cells.unpool(y, indices, **arguments)
        return Unpooled()

    expect(lambda: ndpool.max_unpool(y, indices, **arguments), interpretation, equal)
    if not cells.is_float(y.dtype):
        assert attempt(lambda: ndpool.max_unpool.jvp(y, y, indices, **arguments)) is None
        return
    x = attempt(lambda: ndpool.max_unpool(y, indices, **arguments))
    if x is None:
        assert attempt(lambda: ndpool.max_unpool.jvp(y, y, indices, **arguments)) is None
        return
    dy = rng.standard_normal(y.shape).astype(y.dtype)
    gx = rng.standard_normal(x.shape).astype(y.dtype)
    value, dx = ndpool.max_unpool.jvp(y, dy, indices, **arguments)
    same(value, x)
    same(dx, cells.unpool(dy, indices, **arguments))
    gy = ndpool.max_unpool.vjp(y.shape, gx, indices, **arguments)
    # One at a time: the entries that arrive get what is where they arrive.
    numbers = np.arange(1, y.size + 1, dtype=float).reshape(y.shape)
    arrived = cells.unpool(numbers, indices, **arguments)
    expected = np.zeros(y.size + 1)
    expected[arrived.astype(int).ravel()] = gx.astype(float).ravel()
    np.testing.assert_array_equal(gy.astype(float).ravel(), expected[1:])


# ---- arguments that mostly make no sense

# Nothing between few and too many: results of some gigabytes would really be made.
huge = [2**62, 2**63 - 1, 2**63, 2**64, 10**30, -(2**63), -(10**30)]
strange_numbers = st.one_of(
    st.integers(-2, 5),
    st.sampled_from(huge),
    st.booleans(),
    st.sampled_from([np.int8(2), np.uint64(2**63), np.int64(3), np.bool_(True), np.array(2)]),
)
no_numbers = st.sampled_from(
    [1.0, 2.5, math.nan, math.inf, -math.inf, None, "", "2", "same", "\ud800", b"22", 1j, ..., {},
     {1: 2}, object(), slice(2), np.float32(2), np.array([1.5]), np.array(["a"]),
     np.datetime64("2020-01-01")]
)  # fmt: skip
strange_entries = st.one_of(strange_numbers, strange_numbers, no_numbers)
strange_lists = st.one_of(
    st.lists(strange_entries, max_size=4),
    st.lists(strange_entries, max_size=4).map(tuple),
    st.lists(st.integers(1, 3), max_size=4).map(np.array),
    st.lists(st.integers(1, 3), max_size=3).map(set),
    st.sampled_from(
        [(1,) * 64, (1,) * 65, (1,) * 1000, [2] * 100_000, ((1, 1),) * 70, range(1, 3)]
    ),
    st.lists(st.tuples(strange_entries, strange_entries), max_size=3),
)
strange = st.one_of(strange_entries, strange_lists)
known_words = ["first", "all", "split", "error", "identity", "floor", "ignore", "valid"]
strange_words = st.one_of(st.sampled_from(known_words), strange)
strange_flags = st.sampled_from([0, 1, None, "", "no", 2.5, [], np.bool_(False)])
strange_reals = st.one_of(
    st.sampled_from([-1, 0, 1e-300, 1e300, math.nan, math.inf, 10**400, "2", np.float16(2), True]),
    strange_entries,
)
strange_steps = st.one_of(
    st.sampled_from([2**31, 2**32 + 1]), strange
)  # these make results smaller
STRANGE = {
    **dict.fromkeys(["stride", "dilation"], strange_steps),
    **dict.fromkeys(["ties", "nan", "empty", "rounding", "pad_mode"], strange_words),
    **dict.fromkeys(["ceil_mode", "count_include_pad", "keepdims"], strange_flags),
    **dict.fromkeys(["beta", "p"], strange_reals),
}


def numbers_in(value):
    """Every integer in an argument."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (str, bytes)):
        return
    if cells.is_sequence(value) and np.ndim(np.asarray(value, object)) > 0:
        for entry in value:
            yield from numbers_in(entry)
    elif isinstance(value, (int, np.integer)):
        yield abs(int(value))


def has_large(arguments) -> bool:
    return any(number >= LARGE for number in numbers_in(arguments))


@st.composite
def strange_calls(draw, name):
    """Arguments of a function, some of them from another world."""
    kind, _ = parts(name)
    arguments = draw(ARGUMENTS[kind](draw(st.integers(1, 4))))
    accepted = inspect.signature(getattr(ndpool, name)).parameters
    for argument in accepted:
        required = accepted[argument].default is inspect.Parameter.empty
        if argument in ("x", "out", "return_indices"):
            continue
        if draw(st.integers(0, 3)) == 0 or (required and argument not in arguments):
            arguments[argument] = draw(STRANGE.get(argument, strange))
    return arguments


@examples(1200)
@given(st.data())
def test_strange_arguments(data):
    x = data.draw(arrays())
    name = data.draw(st.sampled_from(FUNCTIONS))
    arguments = data.draw(strange_calls(name))
    f = getattr(ndpool, name)
    expect(
        lambda: f(x, **arguments),
        lambda: meaning(name, x, arguments),
        equal_values,
        has_large(arguments),
    )


@examples(300)
@given(st.data())
def test_strange_shapes(data):
    name = data.draw(st.sampled_from(FUNCTIONS))
    arguments = data.draw(strange_calls(name))
    shape = data.draw(st.one_of(any_shapes, strange))
    p = (arguments.pop("p"),) if "p" in arguments else ()
    operator = data.draw(st.sampled_from([name.removesuffix("_pool")] * 9 + [name, "", None, 3]))
    result = attempt(lambda: ndpool.output_shape(operator, shape, *p, **arguments))
    if result is None:
        return
    kind, _ = parts(name)
    others = {k: v for k, v in arguments.items() if k not in REDUCER_OPTIONS}
    assert result == GEOMETRIES[kind](cells.integers(list(shape), 0), **others).result_shape


STRANGE_ARRAYS = [
    None, 3, 2.5, True, "abc", b"abc", object(), {}, ..., 10**30,
    [], [[]], [[1, 2], [3]], [None], ["a", 1], [2**63], [2**64], [1j], [[1.5, 2], [3, 4]],
    [math.nan, 1], range(6), (1, 2, 3), memoryview(b"abcd"),
    np.zeros((), np.float32), np.zeros((3, 0)), np.zeros((1,) * 64), np.ma.masked_array([1, 2.0]),
    np.broadcast_to(np.float32(2), (3, 4)),
    np.array([1 + 1j]), np.array(["a"]), np.array([None]), np.longdouble([1, 2]),
    np.zeros(3, ">f4"),
    np.zeros(3, "M8[s]"), np.zeros(3, "m8[s]"), np.zeros(3, "V4"),
    np.zeros((2, 3), ml_dtypes.float8_e4m3fn), np.zeros(4, ml_dtypes.int4),
    np.zeros(3, "f4,f4")["f1"], np.zeros(3, "i1,f8")["f1"], np.zeros(13, "i1")[1:].view("f4"),
]  # fmt: skip
strange_arrays = st.one_of(st.sampled_from(STRANGE_ARRAYS), arrays(), strange)


def as_array(x):
    """The array that a call pools, or none if there is none to pool."""
    array = np.asarray(x)
    cells.need(array.dtype in map(oracle.dtype, DTYPES), "a dtype without pools")
    return array


@examples(400)
@given(st.data())
def test_strange_arrays(data):
    x = data.draw(strange_arrays)
    name, arguments = data.draw(calls(data.draw(st.integers(1, 2))))
    f = getattr(ndpool, name)
    result = attempt(lambda: f(x, **arguments))
    if result is not None:
        with np.errstate(all="ignore"):
            equal_values(result, meaning(name, as_array(x), arguments))


@examples(500)
@given(st.data())
def test_strange_derivatives(data):
    x = data.draw(st.one_of(arrays(dtypes=oracle.FLOATS), strange_arrays))
    rank = np.ndim(x) if isinstance(x, np.ndarray) else 1
    name, arguments = data.draw(calls(rank))
    f = getattr(ndpool, name)
    other = data.draw(strange_arrays)
    if parts(name)[1] in ("max", "min") and data.draw(st.booleans()):
        arguments["indices"] = data.draw(
            st.one_of(strange_arrays, arrays(dtypes=["int64", "uint8"]))
        )
    if data.draw(st.booleans()):
        arguments["out"] = data.draw(strange_arrays)
    # Shapes are all that can be said of results in general; `test_derivatives` says the rest.
    gx = attempt(lambda: f.vjp(x, other, **arguments))
    if gx is not None:
        is_shape = isinstance(x, tuple) and "indices" in arguments
        assert gx.shape == (x if is_shape else np.shape(x))
    pair = attempt(lambda: f.jvp(x, other, **arguments))
    if pair is not None:
        assert pair[1].shape == (np.shape(pair[0]) if pair[0] is not None else pair[1].shape)


@examples(400)
@given(st.data())
def test_strange_unpooling(data):
    y, indices = data.draw(strange_arrays), data.draw(strange_arrays)
    size, axes = data.draw(strange), data.draw(st.one_of(st.none(), strange))
    is_large = has_large([size])
    x = attempt(lambda: ndpool.max_unpool(y, indices, size, axes=axes), is_large)
    if x is not None:
        same(x, cells.unpool(as_array(y), as_array(indices), size, axes=axes))
    attempt(lambda: ndpool.max_unpool.jvp(y, y, indices, size, axes=axes), is_large)
    attempt(lambda: ndpool.max_unpool.vjp(y, data.draw(strange_arrays), indices, size, axes=axes))


@examples(300)
@given(st.data())
def test_outputs(data):
    """An array to write is written, or refused and left alone."""
    x = data.draw(arrays(shapes))
    name, arguments = data.draw(calls(x.ndim))
    f = getattr(ndpool, name)
    y = attempt(lambda: f(x, **arguments))
    if y is None:
        return
    wanted = data.draw(st.booleans())
    shape = y.shape if wanted else tuple(data.draw(any_shapes))
    dtype = x.dtype.name if wanted else data.draw(st.sampled_from(DTYPES))
    out = data.draw(arrays(st.just(shape), [dtype]))
    before = out.copy()
    fits = out.flags.writeable and out.shape == y.shape and out.dtype == y.dtype
    result = attempt(lambda: f(x, **arguments, out=out))
    assert (result is out) if fits else (result is None)
    same(out, y if fits else before)
    assert attempt(lambda: f(x, **arguments, out=x)) is None
