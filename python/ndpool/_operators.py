"""The public functions. Each is described once; its map and both derivatives follow from that."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy
import numpy.typing

from ndpool._core import Pool, Unpool, require_no_mask
from ndpool._lazy import lazy_function

Array = numpy.typing.ArrayLike
Ints = int | Sequence[int]
Padding = int | Sequence[int | Sequence[int]] | Literal["same", "same_lower", "valid"]
Ties = Literal["first", "all", "split"]
Nan = Literal["propagate", "ignore"]
Empty = Literal["error", "identity"]
Rounding = Literal["half_even", "toward_zero", "floor", "half_away"]
PadMode = Literal["zero", "ignore"]

# Descriptions by the name of their operator, for output_shape and explain_plan.
_descriptions: dict[str, Callable[..., Pool | Unpool]] = {}


def _parameter(
    name: str, annotation: Any, default: Any = inspect.Parameter.empty
) -> inspect.Parameter:
    is_positional = default is inspect.Parameter.empty
    kind = (
        inspect.Parameter.POSITIONAL_OR_KEYWORD if is_positional else inspect.Parameter.KEYWORD_ONLY
    )
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


def finish(
    function: Callable[..., Any],
    name: str,
    doc: str,
    parameters: list[inspect.Parameter],
    returns: str,
) -> Callable[..., Any]:
    """Gives a function its public name, by which it is pickled, its text and its signature."""
    function.__module__ = "ndpool"
    function.__qualname__ = name
    function.__name__ = name.rpartition(".")[2]
    function.__doc__ = doc
    ordered = sorted(parameters, key=lambda parameter: parameter.kind)
    function.__signature__ = inspect.Signature(ordered, return_annotation=returns)  # type: ignore[attr-defined]
    function.__annotations__ = {parameter.name: parameter.annotation for parameter in ordered}
    function.__annotations__["return"] = returns
    return function


_derivative_doc = {
    "jvp": "The pair (y, dy) of `{name}`: its value at `x`, and its derivative applied to `dx`.",
    "vjp": "The gradient gx of `{name}` at `x`: the transposed derivative applied to `gy`.",
}
_by_indices_doc = {
    "jvp": """

With `indices`, from `return_indices`, dy is made of the tangents of these winners, whatever `ties`
says; `x` may then be its shape, and y is None.""",
    "vjp": """

With `indices`, from `return_indices`, the gradient goes to these winners, whatever `ties` says; `x`
may then be its shape.""",
}


def description(name: str) -> Callable[..., Any]:
    """What makes the Pool of the arguments of a function, by its public name."""
    return _descriptions[name.replace("_pool", "")]


def _operator(describe: Callable[..., Pool]) -> Any:
    """Makes the public function of the pool that `describe` describes by the arguments after x."""
    name = describe.__name__
    arguments = list(inspect.signature(describe).parameters.values())
    has_winners = "nan" in inspect.signature(describe).parameters
    _descriptions[name.replace("_pool", "")] = describe

    def forward(x: Array, *args: Any, out: Any = None, **options: Any) -> Any:
        if lazy := lazy_function(name, out, x):
            return lazy(x, *args, **options)
        return describe(*args, **options).forward(x, out)

    def forward_with_indices(
        x: Array, *args: Any, return_indices: bool = False, out: Any = None, **options: Any
    ) -> Any:
        if lazy := lazy_function(name, out, x):
            return lazy(x, *args, return_indices=return_indices, **options)
        return describe(*args, **options).forward(x, out, flag(return_indices))

    def jvp(x: Array, dx: Array, *args: Any, out: Any = None, **options: Any) -> Any:
        if lazy := lazy_function(f"{name}.jvp", out, x, dx):
            return lazy(x, dx, *args, **options)
        pool = describe(*args, **options)
        dy = pool.jvp(x, dx, out)
        return pool.forward(x), dy

    def jvp_with_indices(
        x: Array, dx: Array, *args: Any, indices: Any = None, out: Any = None, **options: Any
    ) -> Any:
        if lazy := lazy_function(f"{name}.jvp", out, x, dx, indices):
            return lazy(x, dx, *args, indices=indices, **options)
        pool = describe(*args, **options)
        if indices is None:
            dy = pool.jvp(x, dx, out)
            return pool.forward(x), dy
        dy = pool.jvp_from_indices(indices, dx, out, _shape(x))
        return None if isinstance(x, tuple) else pool.forward(x), dy

    def vjp(x: Array, gy: Array, *args: Any, out: Any = None, **options: Any) -> Any:
        if lazy := lazy_function(f"{name}.vjp", out, x, gy):
            return lazy(x, gy, *args, **options)
        return describe(*args, **options).vjp(x, gy, out)

    def vjp_with_indices(
        x: Array, gy: Array, *args: Any, indices: Any = None, out: Any = None, **options: Any
    ) -> Any:
        if lazy := lazy_function(f"{name}.vjp", out, x, gy, indices):
            return lazy(x, gy, *args, indices=indices, **options)
        pool = describe(*args, **options)
        if indices is None:
            return pool.vjp(x, gy, out)
        return pool.vjp_from_indices(indices, gy, out, _shape(x))

    x = _parameter("x", "Array")
    out = _parameter("out", "Any", None)
    indices = _parameter("indices", "Any", None)
    ends = {
        "forward": [_parameter("return_indices", "bool", False)] if has_winners else [],
        "derivative": [indices] if has_winners else [],
    }
    doc = inspect.cleandoc(describe.__doc__ or "")
    public = forward_with_indices if has_winners else forward
    for kind, function, tangent in (
        ("jvp", jvp_with_indices if has_winners else jvp, "dx"),
        ("vjp", vjp_with_indices if has_winners else vjp, "gy"),
    ):
        text = _derivative_doc[kind].format(name=name)
        if has_winners:
            text += _by_indices_doc[kind]
        parameters = [x, _parameter(tangent, "Array"), *arguments, *ends["derivative"], out]
        returns = "tuple[Any, Any]" if kind == "jvp" else "Any"
        setattr(public, kind, finish(function, f"{name}.{kind}", text, parameters, returns))
    if "beta" in inspect.signature(describe).parameters:
        _add_beta_derivative(public, describe, [x, *arguments, out])
    return finish(public, name, doc, [x, *arguments, *ends["forward"], out], "Any")


def _add_beta_derivative(
    public: Callable[..., Any],
    describe: Callable[..., Pool],
    parameters: list[inspect.Parameter],
) -> None:
    """Gives the function of a smooth maximum its derivative by beta."""

    name = describe.__name__

    def beta_derivative(x: Array, *args: Any, out: Any = None, **options: Any) -> Any:
        if lazy := lazy_function(f"{name}.beta_derivative", out, x):
            return lazy(x, *args, **options)
        return describe(*args, **options).beta_derivative(x, out)

    doc = f"""The derivative dy/dbeta of each output of `{name}` by `beta`, of the shape of y.

It is (sum(softmax_i * x_i) - y) / beta, and never positive. Padding that is a 0 takes part."""
    finish(beta_derivative, f"{name}.beta_derivative", doc, parameters, "Any")
    public.beta_derivative = beta_derivative  # type: ignore[attr-defined]


def _make(factory: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Pool | Unpool:
    """What a pickled Pool or Unpool is made by."""
    if factory == "_part":
        pool, shape, outputs = arguments
        return pool.part(shape, outputs)[0]
    return (
        Unpool(*arguments) if factory == "Unpool" else getattr(Pool, factory)(*arguments, **options)
    )


def flag(return_indices: Any) -> bool:
    if return_indices is True or return_indices is False:
        return return_indices
    is_bit = isinstance(return_indices, int) and return_indices in (0, 1)
    if is_bit or isinstance(return_indices, numpy.bool):
        return bool(return_indices)
    raise TypeError(f"return_indices must be True or False, not {type(return_indices).__name__}")


def _shape(x: Any, name: str = "x") -> tuple[int, ...]:
    """Shape of an array, or the tuple that is given in its place."""
    if isinstance(x, tuple):
        return x
    require_no_mask(x, name)
    return numpy.shape(x)


@_operator
def max_pool(
    kernel: Ints,
    stride: Ints | None = None,
    padding: Padding = 0,
    dilation: Ints = 1,
    *,
    axes: Ints | None = None,
    ceil_mode: bool = False,
    ties: Ties = "first",
    nan: Nan = "propagate",
    empty: Empty = "error",
) -> Pool:
    """The largest element of each window; padding never takes part.

    With `return_indices` the pair (y, indices): int64, flat and row-major over the pooled axes.
    `ties` says which of several largest elements carry the derivative.

    >>> ndpool.max_pool(numpy.array([[1, 3, 2, 9], [4, 0, 5, 3]]), (2, 2))
    array([[4, 9]])
    """
    return Pool.window(
        "max", kernel, stride, padding, dilation, axes, ceil_mode, ties=ties, nan=nan, empty=empty
    )


@_operator
def min_pool(
    kernel: Ints,
    stride: Ints | None = None,
    padding: Padding = 0,
    dilation: Ints = 1,
    *,
    axes: Ints | None = None,
    ceil_mode: bool = False,
    ties: Ties = "first",
    nan: Nan = "propagate",
    empty: Empty = "error",
) -> Pool:
    """The smallest element of each window; see `max_pool`.

    >>> ndpool.min_pool(numpy.array([1, 3, 2, 9]), (2,), return_indices=True)
    (array([1, 2]), array([0, 2]))
    """
    return Pool.window(
        "min", kernel, stride, padding, dilation, axes, ceil_mode, ties=ties, nan=nan, empty=empty
    )


@_operator
def sum_pool(
    kernel: Ints,
    stride: Ints | None = None,
    padding: Padding = 0,
    dilation: Ints = 1,
    *,
    axes: Ints | None = None,
    ceil_mode: bool = False,
) -> Pool:
    """The sum of each window. Sums of integers are exact and then clamped to the dtype.

    >>> ndpool.sum_pool(numpy.array([1, 3, 2, 9]), (3,), stride=1)
    array([ 6, 14])
    """
    return Pool.window("sum", kernel, stride, padding, dilation, axes, ceil_mode)


@_operator
def avg_pool(
    kernel: Ints,
    stride: Ints | None = None,
    padding: Padding = 0,
    dilation: Ints = 1,
    *,
    axes: Ints | None = None,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor: int | None = None,
    rounding: Rounding = "half_even",
    empty: Empty = "error",
) -> Pool:
    """The average of each window: its sum over the number of its elements, or over `divisor`.

    Padded elements count unless `count_include_pad` is False. Integers are rounded by `rounding`.

    >>> ndpool.avg_pool(numpy.array([1.0, 3.0, 2.0, 8.0]), (2,))
    array([2., 5.])
    """
    return Pool.window(
        "avg", kernel, stride, padding, dilation, axes, ceil_mode,
        count_include_pad=count_include_pad, divisor=divisor, rounding=rounding, empty=empty,
    )  # fmt: skip


@_operator
def smooth_max_pool(
    kernel: Ints,
    stride: Ints | None = None,
    padding: Padding = 0,
    dilation: Ints = 1,
    *,
    beta: float = 1.0,
    pad_mode: PadMode = "zero",
    axes: Ints | None = None,
    ceil_mode: bool = False,
    empty: Empty = "error",
) -> Pool:
    """The smooth maximum log(sum(exp(beta * x))) / beta of each window.

    A negative `beta` makes it a smooth minimum. Padding is a 0 unless `pad_mode` is "ignore".

    >>> ndpool.smooth_max_pool(numpy.array([0.0, 0.0, 1.0, 9.0]), (2,)).round(4)
    array([0.6931, 9.0003])
    """
    return Pool.window(
        "smooth_max", kernel, stride, padding, dilation, axes, ceil_mode,
        empty=empty, beta=beta, pad_mode=pad_mode,
    )  # fmt: skip


@_operator
def lp_pool(
    p: float,
    kernel: Ints,
    stride: Ints | None = None,
    padding: Padding = 0,
    dilation: Ints = 1,
    *,
    axes: Ints | None = None,
    ceil_mode: bool = False,
    ties: Ties | None = None,
    empty: Empty = "error",
) -> Pool:
    """The p-norm of each window; for an infinite `p` its largest magnitude.

    Only for an infinite `p` has `ties` a meaning.

    >>> ndpool.lp_pool(numpy.array([3.0, -4.0, 0.0, 2.0]), 2, (2,))
    array([5., 2.])
    """
    return Pool.window(
        "lp", kernel, stride, padding, dilation, axes, ceil_mode, ties=ties, empty=empty, p=p
    )


@_operator
def adaptive_max_pool(
    output_size: Ints,
    *,
    axes: Ints | None = None,
    ties: Ties = "first",
    nan: Nan = "propagate",
) -> Pool:
    """The largest element of each of `output_size` bins of nearly equal length; see `max_pool`.

    >>> ndpool.adaptive_max_pool(numpy.arange(25).reshape(5, 5), (3, 3))[0]
    array([6, 8, 9])
    """
    return Pool.adaptive("max", output_size, axes, ties=ties, nan=nan)


@_operator
def adaptive_min_pool(
    output_size: Ints,
    *,
    axes: Ints | None = None,
    ties: Ties = "first",
    nan: Nan = "propagate",
) -> Pool:
    """The smallest element of each of `output_size` bins; see `adaptive_max_pool`.

    >>> ndpool.adaptive_min_pool(numpy.array([4, 3, 2, 1, 0]), (2,))
    array([2, 0])
    """
    return Pool.adaptive("min", output_size, axes, ties=ties, nan=nan)


@_operator
def adaptive_sum_pool(output_size: Ints, *, axes: Ints | None = None) -> Pool:
    """The sum of each of `output_size` bins; see `adaptive_max_pool`.

    >>> ndpool.adaptive_sum_pool(numpy.array([4, 3, 2, 1]), (2,))
    array([7, 3])
    """
    return Pool.adaptive("sum", output_size, axes)


@_operator
def adaptive_avg_pool(
    output_size: Ints, *, axes: Ints | None = None, rounding: Rounding = "half_even"
) -> Pool:
    """The average of each of `output_size` bins; see `adaptive_max_pool`.

    >>> ndpool.adaptive_avg_pool(numpy.array([4.0, 3.0, 2.0, 1.0]), (2,))
    array([3.5, 1.5])
    """
    return Pool.adaptive("avg", output_size, axes, rounding=rounding)


@_operator
def adaptive_smooth_max_pool(
    output_size: Ints, *, beta: float = 1.0, axes: Ints | None = None
) -> Pool:
    """The smooth maximum of each of `output_size` bins; see `smooth_max_pool`.

    >>> ndpool.adaptive_smooth_max_pool(numpy.array([0.0, 0.0, 1.0, 9.0]), (2,)).round(4)
    array([0.6931, 9.0003])
    """
    return Pool.adaptive("smooth_max", output_size, axes, beta=beta)


@_operator
def adaptive_lp_pool(
    p: float, output_size: Ints, *, axes: Ints | None = None, ties: Ties | None = None
) -> Pool:
    """The p-norm of each of `output_size` bins; see `lp_pool`.

    >>> ndpool.adaptive_lp_pool(numpy.array([3.0, -4.0, 0.0, 2.0]), 2, (2,))
    array([5., 2.])
    """
    return Pool.adaptive("lp", output_size, axes, ties=ties, p=p)


@_operator
def global_max_pool(
    *,
    axes: Ints | None = None,
    keepdims: bool = False,
    ties: Ties = "all",
    nan: Nan = "propagate",
) -> Pool:
    """The largest element over `axes`, by default all of them.

    Every largest element carries the derivative, unless `ties` says otherwise.

    >>> ndpool.global_max_pool(numpy.array([[1, 3], [4, 0]]), axes=(1,))
    array([3, 4])
    """
    return Pool.global_("max", axes, keepdims, ties=ties, nan=nan)


@_operator
def global_min_pool(
    *,
    axes: Ints | None = None,
    keepdims: bool = False,
    ties: Ties = "all",
    nan: Nan = "propagate",
) -> Pool:
    """The smallest element over `axes`; see `global_max_pool`.

    >>> ndpool.global_min_pool(numpy.array([[1, 3], [4, 0]]), axes=(1,), keepdims=True)
    array([[1],
           [0]])
    """
    return Pool.global_("min", axes, keepdims, ties=ties, nan=nan)


@_operator
def global_sum_pool(*, axes: Ints | None = None, keepdims: bool = False) -> Pool:
    """The sum over `axes`; see `global_max_pool`.

    >>> ndpool.global_sum_pool(numpy.array([[1, 3], [4, 0]]), axes=(0,))
    array([5, 3])
    """
    return Pool.global_("sum", axes, keepdims)


@_operator
def global_avg_pool(
    *, axes: Ints | None = None, keepdims: bool = False, rounding: Rounding = "half_even"
) -> Pool:
    """The average over `axes`; see `global_max_pool`.

    >>> ndpool.global_avg_pool(numpy.array([[1.0, 3.0], [4.0, 0.0]]), axes=(0,))
    array([2.5, 1.5])
    """
    return Pool.global_("avg", axes, keepdims, rounding=rounding)


@_operator
def global_smooth_max_pool(
    *, beta: float = 1.0, axes: Ints | None = None, keepdims: bool = False
) -> Pool:
    """The smooth maximum over `axes`; see `smooth_max_pool`.

    >>> ndpool.global_smooth_max_pool(numpy.array([[0.0, 0.0], [1.0, 9.0]]), axes=(1,)).round(4)
    array([0.6931, 9.0003])
    """
    return Pool.global_("smooth_max", axes, keepdims, beta=beta)


@_operator
def global_lp_pool(
    p: float, *, axes: Ints | None = None, keepdims: bool = False, ties: Ties | None = None
) -> Pool:
    """The p-norm over `axes`; see `lp_pool`.

    >>> ndpool.global_lp_pool(numpy.array([[3.0, -4.0], [0.0, 2.0]]), 2, axes=(1,))
    array([5., 2.])
    """
    return Pool.global_("lp", axes, keepdims, ties=ties, p=p)


def max_unpool(
    y: Array, indices: Array, output_size: Ints, *, axes: Ints | None = None, out: Any = None
) -> Any:
    """The way back from a max pool with its indices: `y` at the elements they name, 0 elsewhere.

    >>> ndpool.max_unpool(numpy.array([4, 9]), numpy.array([1, 2]), (4,))
    array([0, 4, 9, 0])
    """
    if lazy := lazy_function("max_unpool", out, y, indices):
        return lazy(y, indices, output_size, axes=axes)
    return Unpool(output_size, axes).forward(y, indices, out)


def _max_unpool_jvp(
    y: Array,
    dy: Array,
    indices: Array,
    output_size: Ints,
    *,
    axes: Ints | None = None,
    out: Any = None,
) -> tuple[Any, Any]:
    """The pair (x, dx) of `max_unpool`: its value at `y`, and its derivative applied to `dy`."""
    if lazy := lazy_function("max_unpool.jvp", out, y, dy, indices):
        return lazy(y, dy, indices, output_size, axes=axes)
    unpool = Unpool(output_size, axes)
    dx = unpool.jvp(dy, indices, out)
    return unpool.forward(y, indices), dx


def _max_unpool_vjp(
    y: Array,
    gx: Array,
    indices: Array,
    output_size: Ints,
    *,
    axes: Ints | None = None,
    out: Any = None,
) -> Any:
    """The gradient gy of `max_unpool`, which does not depend on `y`: its shape will do."""
    if lazy := lazy_function("max_unpool.vjp", out, y, gx, indices):
        return lazy(y, gx, indices, output_size, axes=axes)
    shape, expected = _shape(y, "y"), _shape(indices, "indices")
    if shape != expected:
        raise ValueError(f"y has shape {shape}; expected {expected}, that of indices")
    return Unpool(output_size, axes).vjp(indices, gx, out)


def _name_unpool() -> None:
    _descriptions["max_unpool"] = Unpool
    for name, function in (
        ("max_unpool", max_unpool),
        ("max_unpool.jvp", _max_unpool_jvp),
        ("max_unpool.vjp", _max_unpool_vjp),
    ):
        signature = inspect.signature(function)
        parameters = list(signature.parameters.values())
        finish(
            function,
            name,
            inspect.cleandoc(function.__doc__ or ""),
            parameters,
            signature.return_annotation,
        )
    max_unpool.jvp = _max_unpool_jvp  # type: ignore[attr-defined]
    max_unpool.vjp = _max_unpool_vjp  # type: ignore[attr-defined]


_name_unpool()


def _describe(
    operator: str, known: dict[str, Any], args: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """The pool of an operator that is one of the names in `known`."""
    if not isinstance(operator, str):
        raise TypeError(f"operator must be a name, not {type(operator).__name__}")
    if operator not in known:
        raise ValueError(f"operator must be one of {', '.join(known)}, not {operator!r}")
    return known[operator](*args, **options)


def _require_ints(value: Any, name: str) -> None:
    if hasattr(value, "__index__") and not hasattr(value, "__len__"):
        raise TypeError(f"{name} must be a tuple of ints, not {type(value).__name__}")


def output_shape(
    operator: str, shape: Sequence[int], *args: Any, **options: Any
) -> tuple[int, ...]:
    """Shape of the result of an operator, named without its `_pool`, on an array of `shape`.

    >>> ndpool.output_shape("max", (64, 112, 112), (3, 3), stride=2, padding=1)
    (64, 56, 56)
    """
    pool = _describe(operator, _descriptions, args, options)
    _require_ints(shape, "shape")
    return pool.output_shape(shape)


class PlanSummary(NamedTuple):
    """How each map of a pool runs, by the name of the map."""

    implementations: dict[str, str]
    tiles: dict[str, int]
    scratch_bytes: dict[str, int]


def explain_plan(
    operator: str,
    shape: Sequence[int],
    *args: Any,
    dtype: numpy.typing.DTypeLike = "f4",
    strides: Sequence[int] | None = None,
    **options: Any,
) -> PlanSummary:
    """What runs each map of an operator on an array of `shape`, without an array.

    The implementation that the plan has chosen, the pieces that threads can share, and the scratch
    that each thread keeps. `strides` are bytes, as those of NumPy; results and gradients of results
    are packed.

    >>> plan = ndpool.explain_plan("max", (64, 112, 112), (3, 3), stride=2, padding=1)
    >>> sorted(plan.implementations)
    ['forward', 'forward_with_indices', 'jvp', 'jvp_from_indices', 'vjp', 'vjp_from_indices']
    """
    pools = {name: pool for name, pool in _descriptions.items() if name != "max_unpool"}
    pool = _describe(operator, pools, args, options)
    _require_ints(shape, "shape")
    _require_ints(strides, "strides")
    maps = pool.explain(shape, dtype, strides)
    columns = ({name: row[column] for name, row in maps.items()} for column in range(3))
    return PlanSummary(*columns)


for _public in (output_shape, PlanSummary, explain_plan):
    _public.__module__ = "ndpool"
