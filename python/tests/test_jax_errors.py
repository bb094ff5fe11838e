"""What `ndpool.jax` refuses, and what importing it needs."""

import subprocess
import sys

import numpy
import pytest
from jax_cases import cells, jax, pool_jax

jnp = jax.numpy
export = pytest.importorskip("jax.export")
X = cells((4, 8, 8), "f4")


@pytest.mark.parametrize("dtype", ["complex64", "float8_e4m3fn", "int4"])
def test_dtypes_that_ndpool_lacks(dtype):
    with pytest.raises(TypeError, match=f"x has dtype {dtype}, which cannot be pooled"):
        pool_jax.max_pool(jnp.zeros((4, 4), dtype), (2, 2))


def test_smooth_maxima_of_integers():
    with pytest.raises(TypeError, match="int32 has no exp, log and pow"):
        pool_jax.smooth_max_pool(jnp.zeros((4, 4), "int32"), (2, 2))


def test_random_keys():
    with pytest.raises(TypeError, match="x has dtype key"):
        pool_jax.max_pool(jax.random.split(jax.random.key(0)), (2,))


@pytest.mark.parametrize(
    "call, error, sentence",
    [
        (lambda: pool_jax.max_pool(X, (9, 2)), ValueError, "kernel 9 on axis 1 does not fit"),
        (lambda: pool_jax.max_pool(X, (2, 2, 2, 2)), ValueError, "4 axes are to be pooled"),
        (lambda: pool_jax.max_pool(X, 2), ValueError, "kernel 2 is one number"),
        (lambda: pool_jax.max_pool(X, (2,), axes=(5,)), ValueError, "axes names axis 5"),
        (lambda: pool_jax.max_pool(X, (2,), out=X), TypeError, "out"),
        (lambda: pool_jax.avg_pool(X, (2,), return_indices=True), TypeError, "return_indices"),
        (lambda: pool_jax.max_pool(X, (2,), return_indices=2), TypeError, "return_indices"),
        (lambda: pool_jax.max_pool(X, (1,), padding=1), ValueError, "without an input element"),
        (lambda: pool_jax.max_unpool(X, X, (8,)), TypeError, "expected integers"),
        (lambda: pool_jax.max_unpool(X, X[0].astype(int), (8,)), ValueError, "indices have shape"),
        (
            lambda: jax.jit(lambda b: pool_jax.smooth_max_pool(X, (2,), beta=b))(1.0),
            TypeError,
            "beta",
        ),
    ],
)
def test_wrong_arguments_are_found_when_a_function_is_traced(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call()


FUNCTIONS = {
    "forward": lambda x: pool_jax.max_pool(x, (2, 2)),
    "gradient": jax.grad(lambda x: pool_jax.smooth_max_pool(x, (2, 2)).sum()),
    "unpool": lambda x: pool_jax.max_unpool(x, jnp.zeros(x.shape, int), (8, 8)),
}


@pytest.mark.parametrize("platforms", [["cuda"], ["rocm"], ["cpu", "tpu"]], ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_other_platforms(name, platforms):
    with pytest.raises(NotImplementedError, match=f"on the CPU alone.*{platforms[-1]}"):
        export.export(jax.jit(FUNCTIONS[name]), platforms=platforms)(X)


@pytest.mark.parametrize("name", ["forward", "gradient"])
def test_symbolic_dimensions(name):
    shape = export.symbolic_shape("batch, 8, 8")
    with pytest.raises(NotImplementedError, match="batch, 8, 8.*symbolic dimensions"):
        export.export(jax.jit(FUNCTIONS[name]))(jax.ShapeDtypeStruct(shape, numpy.float32))


def test_without_jit():
    with jax.disable_jit():
        gx = jax.grad(lambda x: pool_jax.max_pool(x, (2, 2)).sum())(X)
    assert gx.sum() == 64


def _run(program):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


def test_importing_ndpool_does_not_import_jax():
    assert _run("import sys, ndpool; sys.exit('jax' in sys.modules)").returncode == 0


def test_the_import_says_what_is_missing():
    hide = (
        "import importlib.util as u; find = u.find_spec;"
        "u.find_spec = lambda name, *rest: None if name == '{}' else find(name, *rest);"
        "import ndpool.jax"
    )
    without_jax = _run(hide.format("jax"))
    assert without_jax.returncode == 1 and "pip install 'ndpool[jax]'" in without_jax.stderr
    without_handlers = _run(hide.format("ndpool.jax._native"))
    assert without_handlers.returncode == 1
    assert "built without the headers of jaxlib" in without_handlers.stderr
