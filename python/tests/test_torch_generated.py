"""Generated calls against torch: values, indices, gradients and tangents.

Maxima and indices must be equal. A sum of n terms, in whatever order, is within n eps of the sum of
their magnitudes, and each of the two sums was rounded once more to its dtype: that is the bound
here, with the eps of what torch accumulates in, and with scales that torch computes. Short floats
must also be as near to what torch makes of the same numbers in float64 as sums in float32, rounded
once, are: torch's own are not always.
"""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch_cases import Case, generate, one_thread, strides

import ndpool.torch.functional as N

BATCHES, CASES_PER_BATCH = 32, 110
# Forward mode of torch itself uses what torch has deprecated.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")


def accumulator(case: Case) -> torch.dtype:
    """What torch adds up in. ndpool always adds short floats up as float32."""
    if case.family == "adaptive_avg" and case.rank == 3:
        return case.dtype
    return torch.float64 if case.dtype == torch.float64 else torch.float32


def eps(dtype: torch.dtype) -> float:
    return torch.finfo(dtype).eps


def assert_equal(actual: torch.Tensor, expected: torch.Tensor, what: str) -> None:
    assert actual.dtype == expected.dtype and actual.shape == expected.shape, what
    assert torch.equal(actual.isnan(), expected.isnan()), what
    assert torch.equal(actual.nan_to_num(), expected.nan_to_num()), what


def assert_near(
    actual: torch.Tensor, expected: torch.Tensor, scale: torch.Tensor, bound: float, what: str
) -> None:
    """`bound` is relative to `scale`, the same result of magnitudes."""
    assert actual.dtype == expected.dtype and actual.shape == expected.shape, what
    assert torch.equal(actual.isnan(), expected.isnan()), what
    wrong = (actual.double() - expected.double()).nan_to_num().abs()
    limit = bound * scale.double().nan_to_num() + torch.finfo(actual.dtype).tiny
    worst = (wrong / limit).max().item() if wrong.numel() else 0
    assert worst <= 1, f"{what}: {worst:.3g} times the bound"


def assert_rounded_once(
    case: Case, actual: torch.Tensor, exact: torch.Tensor, scale: torch.Tensor, what: str
) -> None:
    if case.dtype in (torch.float16, torch.bfloat16) and case.family != "lp":
        bound = taps(case) * eps(torch.float32) + eps(case.dtype)
        smallest = torch.finfo(case.dtype).smallest_normal * eps(case.dtype)
        scale = scale.double() + smallest / bound  # half a step of numbers near 0
        assert_near(actual.double(), exact, scale, bound, f"{what} in float64")


def taps(case: Case) -> int:
    """No window has more elements, and no element is in more windows, than this."""
    if case.family.startswith("adaptive"):
        return math.prod(case.shape[-case.rank :])
    kernel = case.arguments[1 if case.family == "lp" else 0]
    return kernel**case.rank if isinstance(kernel, int) else math.prod(kernel)


def call(module, case: Case, x: torch.Tensor, indices: torch.Tensor | None = None):
    function = getattr(module, case.function)
    arguments = case.arguments if indices is None else (indices, *case.arguments)
    return function(x, *arguments, **case.options)


def check_values(case: Case, actual, expected, x: torch.Tensor) -> None:
    if isinstance(expected, tuple):
        real = (
            expected[1]
            if case.family != "max"
            else torch.where(expected[0] == lowest(case.dtype), -1, expected[1])
        )
        mine = torch.where(actual[0] == lowest(case.dtype), -1, actual[1])
        assert_equal(mine, real, "indices")
        actual, expected = actual[0], expected[0]
    if case.family in ("max", "adaptive_max", "max_unpool") or not case.dtype.is_floating_point:
        assert_equal(actual, expected, "values")
        return
    magnitudes = call(F, case, x.abs().double().contiguous())
    if case.options.get("divisor_override", 1) < 0:
        magnitudes = magnitudes.abs()
    bound = taps(case) * eps(accumulator(case)) + 2 * eps(case.dtype)
    if case.family == "lp":  # torch rounds powers, averages, products and roots one by one
        bound = taps(case) * eps(accumulator(case)) + 8 * eps(case.dtype)
    assert_near(actual, expected, magnitudes, bound, "values")
    assert_rounded_once(case, actual, call(F, case, x.double()), magnitudes, "values")


def lowest(dtype: torch.dtype):
    return -math.inf if dtype.is_floating_point else torch.iinfo(dtype).min


def derivative_scale(case: Case, x: torch.Tensor, gy: torch.Tensor, indices) -> torch.Tensor:
    has_norm = case.family == "lp" and case.arguments[0] not in (1, 3)
    at = (x.abs() if has_norm else x).double().contiguous().requires_grad_()
    y = call(F, case, at, indices)
    y = y[0] if isinstance(y, tuple) else y
    return torch.autograd.grad(y, at, gy.abs().double())[0].abs()


def check_gradient(case: Case, x: torch.Tensor, indices) -> None:
    gradients = []
    for module in (N, F):
        at = x.detach().requires_grad_()
        y = call(module, case, at, indices)
        y = y[0] if isinstance(y, tuple) else y
        gy = torch.linspace(-1, 2, y.numel(), dtype=torch.float64).reshape(y.shape).to(y.dtype)
        gradients.append(torch.autograd.grad(y, at, gy)[0])
    if case.family == "max_unpool":
        return assert_equal(*gradients, "gradient")
    scale = derivative_scale(case, x, gy, indices)
    # torch adds the gradients of short floats up in their own dtype.
    bound = (taps(case) + 8) * eps(case.dtype)
    assert_near(*gradients, scale, bound, "gradient")
    at = x.double().requires_grad_()
    y = call(F, case, at, indices)
    (exact,) = torch.autograd.grad(y[0] if isinstance(y, tuple) else y, at, gy.double())
    assert_rounded_once(case, gradients[0], exact, scale, "gradient")


def check_tangent(case: Case, x: torch.Tensor, indices) -> None:
    tangents = []
    dx = torch.linspace(-2, 1, x.numel(), dtype=torch.float64).reshape(x.shape).to(x.dtype)
    for module in (N, F):

        def value(at, module=module):
            y = call(module, case, at, indices)
            return y[0] if isinstance(y, tuple) else y

        tangents.append(torch.func.jvp(value, (x,), (dx,))[1])
    if "max" in case.family:
        return assert_equal(*tangents, "tangent")

    if case.family == "lp":  # torch's gradient of a window of zeros is 0, but its tangent NaN
        tangents = [tangent.masked_fill(tangents[1].isnan(), 0) for tangent in tangents]

    def magnitude(at):
        return call(F, case, at)

    has_norm = case.family != "lp" or case.arguments[0] not in (1, 3)
    at = (x.abs() if has_norm else x).double().contiguous()
    scale = torch.func.jvp(magnitude, (at,), (dx.abs().double(),))[1].abs()
    bound = (taps(case) + 8) * eps(accumulator(case)) + 8 * eps(case.dtype)
    assert_near(*tangents, scale, bound, "tangent")
    exact = torch.func.jvp(magnitude, (x.double(),), (dx.double(),))[1]
    assert_rounded_once(case, tangents[0], exact, scale, "tangent")


def check(case: Case) -> None:
    x = case.tensor()
    indices = None
    if case.family == "max_unpool":
        # Indices as a pool makes them: of all that a window could have had, none twice.
        size = math.prod(
            F.max_unpool1d(torch.zeros(1, n), torch.zeros(1, n, dtype=torch.int64), k).shape[-1]
            for n, k in zip(case.shape[-case.rank :], kernel_of(case))
        )
        cells = math.prod(case.shape[-case.rank :])
        generator = torch.Generator().manual_seed(case.seed)
        planes = [
            torch.randperm(size, generator=generator)[:cells]
            for _ in range(math.prod(case.shape[: -case.rank]))
        ]
        indices = torch.stack(planes).reshape(case.shape)
    actual, expected = call(N, case, x, indices), call(F, case, x, indices)
    check_values(case, actual, expected, x)
    for mine, theirs in zip(*(r if isinstance(r, tuple) else (r,) for r in (actual, expected))):
        assert strides(mine) == strides(theirs), "memory"
    if case.dtype.is_floating_point and not has_empty_window(case, expected):
        check_gradient(case, x, indices)
        check_tangent(case, x, indices)


def has_empty_window(case: Case, y) -> bool:
    """Of which torch's index names a cell outside the window, or outside the tensor."""
    y = y[0] if isinstance(y, tuple) else y
    return case.family == "max" and bool((y == -math.inf).any())


def kernel_of(case: Case) -> tuple[int, ...]:
    kernel = case.arguments[0]
    return (kernel,) * case.rank if isinstance(kernel, int) else kernel


@pytest.mark.parametrize("batch", range(BATCHES))
def test_generated_calls_give_what_torch_gives(batch):
    with one_thread():
        for seed in range(batch * CASES_PER_BATCH, (batch + 1) * CASES_PER_BATCH):
            case = generate(seed)
            try:
                check(case)
            except Exception as error:
                raise AssertionError(f"{case}: {error}") from error


def test_there_are_enough_of_them():
    cases = [generate(seed) for seed in range(BATCHES * CASES_PER_BATCH)]
    assert len({repr(case) for case in cases}) >= 3000
    assert {case.rank for case in cases} == {1, 2, 3}
    assert {case.dtype for case in cases if case.family == "max"} >= {
        torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.uint8,
        torch.int16, torch.int32, torch.int64,
    }  # fmt: skip
