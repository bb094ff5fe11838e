"""Which arrays are read and written, and how."""

import ml_dtypes
import numpy as np
import pytest

import ndpool
import oracle

SHAPE, KERNEL = (6, 8), (3, 2)


def grid(dtype="float32"):
    return np.random.default_rng(3).standard_normal(SHAPE).astype(dtype)


STRIDED = {
    "reversed": lambda x: np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1],
    "Fortran": np.asfortranarray,
    "every other": lambda x: np.repeat(np.repeat(x, 2, 0), 3, 1)[::2, ::3],
    "negative and sparse": lambda x: np.repeat(x[::-1], 2, 1)[::-1, ::2],
    "inside": lambda x: np.pad(x, 3)[3:-3, 3:-3],
}


@pytest.mark.parametrize("layout", STRIDED)
@pytest.mark.parametrize("dtype", ["float32", "float16", "uint8", "uint64"])
@pytest.mark.parametrize("reducer", ["max", "avg"])
def test_inputs_of_any_strides(reducer, dtype, layout):
    f = getattr(ndpool, f"{reducer}_pool")
    x = (10 * np.abs(grid())).astype(dtype)
    view = STRIDED[layout](x)
    np.testing.assert_array_equal(view, x)
    view.flags.writeable = False
    for _ in range(2):
        np.testing.assert_array_equal(f(view, KERNEL), f(x, KERNEL))


@pytest.mark.parametrize("layout", STRIDED)
def test_derivatives_of_any_strides(layout):
    x, dx, gy = (
        grid(),
        grid() + 1,
        np.random.default_rng(1).standard_normal((2, 4)).astype("float32"),
    )
    lay = STRIDED[layout]
    for f in (ndpool.max_pool, ndpool.sum_pool, ndpool.smooth_max_pool):
        for _ in range(2):
            np.testing.assert_array_equal(
                f.jvp(lay(x), lay(dx), KERNEL)[1], f.jvp(x, dx, KERNEL)[1]
            )
            np.testing.assert_array_equal(f.vjp(lay(x), lay(gy), KERNEL), f.vjp(x, gy, KERNEL))
            out = lay(np.zeros_like(x))
            assert f.vjp(x, gy, KERNEL, out=out) is out
            np.testing.assert_array_equal(out, f.vjp(x, gy, KERNEL))


def test_broadcast_inputs():
    x = np.broadcast_to(np.arange(8.0), SHAPE)
    assert x.strides[0] == 0
    np.testing.assert_array_equal(ndpool.sum_pool(x, KERNEL), ndpool.sum_pool(x.copy(), KERNEL))


@pytest.mark.parametrize("layout", STRIDED)
def test_out(layout):
    x = grid()
    expected, indices = ndpool.max_pool(x, KERNEL, return_indices=True)
    out = STRIDED[layout](np.zeros((2, 4), np.float32))
    for _ in range(2):
        assert ndpool.max_pool(x, KERNEL, out=out) is out
        np.testing.assert_array_equal(out, expected)
        pair = ndpool.max_pool(x, KERNEL, out=out, return_indices=True)
        assert pair[0] is out
        np.testing.assert_array_equal(pair[1], indices)
    dy = np.empty((2, 4), np.float32)
    assert ndpool.max_pool.jvp(x, x, KERNEL, out=dy)[1] is dy
    np.testing.assert_array_equal(dy, expected)


def test_out_is_checked_before_it_is_written():
    x = grid()
    whole = np.zeros((2, 8), np.float32)
    wrong = {
        "out has length 3 on axis 0; expected 2": np.zeros((3, 4), np.float32),
        "out has 1 axis; expected 2": np.zeros(4, np.float32),
        "out overlaps the memory of another argument": x[:2, :4],
        "out has stride 0 on axis 0": np.lib.stride_tricks.as_strided(whole, (2, 4), (0, 4)),
        "out is read-only": np.broadcast_to(np.float32(0), (2, 4)),
    }
    for _ in range(2):
        before = x.copy()
        for text, out in wrong.items():
            with pytest.raises(ValueError, match=text):
                ndpool.max_pool(x, KERNEL, out=out)
        np.testing.assert_array_equal(x, before)
        ndpool.max_pool(x, KERNEL, out=np.zeros((2, 4), np.float32))
    with pytest.raises(TypeError, match="out has dtype float64; expected float32, that of x"):
        ndpool.max_pool(x, KERNEL, out=np.zeros((2, 4)))
    with pytest.raises(TypeError, match="out must be an array, not list"):
        ndpool.max_pool(x, KERNEL, out=[1])
    with pytest.raises(ValueError, match="out has length 2 on axis 1; expected 8"):
        ndpool.max_pool.vjp(
            x, np.zeros((2, 4), np.float32), KERNEL, out=np.zeros((6, 2), np.float32)
        )


def test_overlap_is_found_for_known_plans():
    memory = np.zeros(100, np.float32)
    x = memory[:48].reshape(SHAPE)
    for start in (60, 60, 44, 40, 60):
        out = memory[start : start + 8].reshape(2, 4)
        if start < 48:
            with pytest.raises(ValueError, match="out overlaps"):
                ndpool.max_pool(x, KERNEL, out=out)
        else:
            ndpool.max_pool(x, KERNEL, out=out)


@pytest.mark.parametrize(
    "dtype",
    [
        "complex64",
        "complex128",
        "object",
        "longdouble",
        "datetime64[s]",
        "U3",
        "S2",
        "V4",
        ml_dtypes.int4,
    ],
)
def test_dtypes_that_cannot_be_pooled(dtype):
    with pytest.raises(TypeError, match="which cannot be pooled"):
        ndpool.max_pool(np.zeros(4, dtype), (2,))


def test_arrays_that_cannot_be_read_in_place():
    with pytest.raises(
        TypeError, match="x has dtype >f4, whose bytes are not in the order of this machine"
    ):
        ndpool.max_pool(np.zeros(4, ">f4"), (2,))
    misaligned = np.zeros(17, np.uint8)[1:].view(np.float32)
    with pytest.raises(ValueError, match="x is not aligned"):
        ndpool.max_pool(misaligned, (2,))
    packed = np.zeros(4, [("a", "u1"), ("b", "f4")])["b"]
    with pytest.raises(ValueError, match="x is not aligned"):
        ndpool.max_pool(packed, (2,))


def test_arrays_of_other_dtypes_beside_x():
    with pytest.raises(TypeError, match="dx has dtype float32; expected float64, that of x"):
        ndpool.max_pool.jvp(np.zeros(4), np.zeros(4, np.float32), (2,))
    with pytest.raises(TypeError, match="gy has dtype int64; expected float64, that of x"):
        ndpool.max_pool.vjp(np.zeros(4), np.zeros(2, np.int64), (2,))


class Capsules:
    """An array that is known by its DLPack capsules only."""

    def __init__(self, array, versioned):
        self.array, self.versioned = array, versioned

    def __dlpack__(self, **options):
        if options and not self.versioned:
            raise TypeError("no such argument")
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("versioned", [False, True])
@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "float16", "int8", "uint16", "int64", "uint64", "bool"]
)
def test_capsules(dtype, versioned):
    x = (10 * np.abs(grid())).astype(dtype)
    if versioned:
        x.flags.writeable = False
    y = ndpool.max_pool(Capsules(x, versioned), KERNEL)
    assert type(y) is np.ndarray and y.dtype == x.dtype
    np.testing.assert_array_equal(y, ndpool.max_pool(x, KERNEL))
    out = np.zeros_like(y)
    given = Capsules(out, versioned)
    assert ndpool.max_pool(x, KERNEL, out=given) is not None
    np.testing.assert_array_equal(out, y)
    if versioned:
        with pytest.raises(ValueError, match="out is read-only"):
            ndpool.max_pool(grid(x.dtype), (1, 1), out=Capsules(x, True))


def test_capsules_are_released():
    import gc
    import weakref

    x = grid().view(type("Tracked", (np.ndarray,), {}))
    reference = weakref.ref(x)
    ndpool.max_pool(Capsules(x, True), KERNEL)
    del x
    gc.collect()
    assert reference() is None


def test_jax_arrays_are_read():
    numpy_of_jax = pytest.importorskip("jax.numpy")
    for name in ("float32", "bfloat16", "int32", "uint8"):
        x = numpy_of_jax.arange(48).reshape(6, 8).astype(name)
        y = ndpool.max_pool(x, (2, 2))
        expected = ndpool.max_pool(np.arange(48).reshape(6, 8), (2, 2))
        assert y.dtype == oracle.dtype(name)
        np.testing.assert_array_equal(y.astype(np.int64), expected)


torch = pytest.importorskip("torch")


@pytest.mark.parametrize(
    "name",
    [
        "float32",
        "float64",
        "float16",
        "bfloat16",
        "int8",
        "uint8",
        "int16",
        "int32",
        "int64",
        "bool",
    ],
)
def test_torch_in_and_out(name):
    t = (10 * torch.rand(2, 3, 6, 8)).to(getattr(torch, name))
    x = t.to(torch.float64).numpy().astype(oracle.dtype(name))
    expected, indices = ndpool.max_pool(x, (2, 2), return_indices=True)
    y = ndpool.max_pool(t, (2, 2))
    assert type(y) is np.ndarray and y.dtype == x.dtype
    np.testing.assert_array_equal(y, expected)
    pool = ndpool._core.Pool.window("max", (2, 2))
    last = t.contiguous(memory_format=torch.channels_last)
    out = torch.empty(2, 3, 3, 4, dtype=t.dtype).contiguous(memory_format=torch.channels_last)
    winners = torch.empty_like(out, dtype=torch.int64)
    for _ in range(2):
        assert pool.forward(last, out, winners)[0] is out
        np.testing.assert_array_equal(out.to(torch.float64).numpy(), expected.astype(np.float64))
        np.testing.assert_array_equal(winners.numpy(), indices)
    assert out.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("name", oracle.FLOATS)
def test_torch_derivatives(name):
    dtype = getattr(torch, name)
    t = (
        torch.randn(2, 3, 6, 8)
        .to(dtype)
        .contiguous(memory_format=torch.channels_last)
        .requires_grad_()
    )
    with torch.no_grad():
        pool = ndpool._core.Pool.window("max", (2, 2))
        y, indices = (
            torch.empty(2, 3, 3, 4, dtype=dtype),
            torch.empty(2, 3, 3, 4, dtype=torch.int64),
        )
        pool.forward(t, y, indices)
        gy = torch.randn(2, 3, 3, 4).to(dtype)
        results = [torch.empty_like(t), torch.empty_like(t)]
        pool.vjp(t, gy, results[0])
        pool.vjp_from_indices(indices, gy, results[1])
    torch.nn.functional.max_pool2d(t, 2).backward(gy)
    for gx in results:
        assert torch.equal(gx, t.grad)


def test_torch_elsewhere():
    with pytest.raises((ValueError, TypeError, BufferError, RuntimeError)):
        ndpool.max_pool(torch.empty(4, device="meta"), (2,))
    with pytest.raises(TypeError, match="which cannot be pooled"):
        ndpool.max_pool(torch.zeros(4, dtype=torch.complex64), (2,))


def test_negated_view_of_torch_is_refused():
    view = torch.view_as_complex(torch.rand(4, 6, 2)).conj().imag
    assert view.is_neg()
    with pytest.raises(ValueError, match=r"x is a negated view.*resolve_neg\(\)"):
        ndpool.max_pool(view, (2, 2))
    expected = ndpool.max_pool(view.resolve_neg().numpy(), (2, 2))
    np.testing.assert_array_equal(ndpool.max_pool(view.resolve_neg(), (2, 2)), expected)
