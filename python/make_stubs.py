"""Writes the type stubs into the folder of a built package: python make_stubs.py FOLDER."""

from __future__ import annotations

import inspect
import pathlib
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

HEADER = '''"""{doc}"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, overload

import numpy
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ndpool import _core as _core

class SupportsDLPack(Protocol):
    """An array of another library."""

    def __dlpack__(self) -> Any: ...

Array = ArrayLike | SupportsDLPack
_T = TypeVar("_T", bound=numpy.generic)
_Out = TypeVar("_Out", bound=SupportsDLPack)
'''
# What stands for the annotations "Array" of the array that decides the dtype, and "Any" of `out`:
# results have the dtype of a NumPy array and no known one otherwise; `out` is returned.
RESULTS = [
    ("NDArray[_T]", None, "NDArray[_T]"),
    ("Array", None, "NDArray[Any]"),
    ("Array", "_Out", "_Out"),
]
INDICES = "NDArray[numpy.int64]"

# An overload: annotations that replace those of the signature, without a default if the text
# begins with "!", and the type of the result.
Overload = tuple[dict[str, str], str]


def forward_overloads(first: str, has_indices: bool) -> Iterator[Overload]:
    for array, out, result in RESULTS:
        types = {first: array, "out": f"!{out}" if out else "None"}
        if not has_indices:
            yield types, result
            continue
        pair = f"tuple[{result}, {INDICES}]"
        yield {**types, "return_indices": "Literal[False]"}, result
        yield {**types, "return_indices": "!Literal[True]"}, pair
        yield {**types, "return_indices": "!bool"}, f"{result} | {pair}"


def derivative_overloads(
    first: str, direction: str, has_indices: bool, is_pair: bool
) -> Iterator[Overload]:
    def returned(value: str, result: str) -> str:
        return f"tuple[{value}, {result}]" if is_pair else result

    if has_indices:  # in place of x its shape
        for array, out, result in RESULTS:
            types = {first: "tuple[int, ...]", direction: array, "indices": "!Array"}
            yield {**types, "out": f"!{out}" if out else "None"}, returned("None", result)
    for array, out, result in RESULTS:
        value = "NDArray[Any]" if out else result
        yield {first: array, "out": f"!{out}" if out else "None"}, returned(value, result)


def written(name: str, function: Callable[..., Any], types: dict[str, str], result: str) -> str:
    """A method of a stub with the parameters of a function."""
    required: list[str] = []
    optional: list[str] = []
    keywords: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        annotation = types.get(parameter.name, str(parameter.annotation))
        is_required = annotation.startswith("!") or parameter.default is inspect.Parameter.empty
        default = "" if is_required else f" = {parameter.default!r}"
        text = f"{parameter.name}: {annotation.lstrip('!')}{default}"
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            keywords.append(text)
        else:
            (required if is_required else optional).append(text)
    parts = [*required, *optional, *(["*", *keywords] if keywords else [])]
    return f"def {name}({', '.join(parts)}) -> {result}:"


def method(name: str, function: Callable[..., Any], overloads: Iterator[Overload]) -> str:
    """All overloads of a function, as a method; derivatives are static methods."""
    lines = (inspect.getdoc(function) or "").replace("\n", "\n        ")
    body = f'        """{lines}\n        """\n'
    text = ""
    for types, result in overloads:
        head = written(name, function, types, result)
        if name == "__call__":
            head = head.replace("(", "(self, ", 1)
        static = "" if name == "__call__" else "    @staticmethod\n"
        text += f"    @overload\n{static}    {head}\n{body}"
        body = "        ...\n"
    return text


def operator_stub(name: str, function: Any) -> str:
    first, *_ = inspect.signature(function).parameters
    has_indices = "return_indices" in inspect.signature(function).parameters
    text = f"class _{name}(Protocol):\n"
    text += method("__call__", function, forward_overloads(first, has_indices))
    for kind in ("jvp", "vjp"):
        derivative = getattr(function, kind)
        direction = list(inspect.signature(derivative).parameters)[1]
        overloads = derivative_overloads(first, direction, has_indices, kind == "jvp")
        text += method(kind, derivative, overloads)
    if hasattr(function, "beta_derivative"):
        derivative = function.beta_derivative
        text += method("beta_derivative", derivative, forward_overloads(first, False))
    return f"{text}\n{name}: _{name}\n\n"


def package_stub(package: Any, operators: Any) -> str:
    text = HEADER.format(doc=inspect.getdoc(package))
    text += 'Executor = Literal["auto", "own", "openmp"]\n'
    source = inspect.getsource(operators)
    # The names of types, as they are written in the package.
    text += source[source.index("Ints = ") : source.index("# Descriptions by")] + "\n"
    for name in package.__all__:
        if hasattr(getattr(package, name), "vjp"):
            text += operator_stub(name, getattr(package, name))
    text += "def output_shape(operator: str, shape: Sequence[int], *args: Any, **options: Any) "
    text += "-> tuple[int, ...]: ...\n"
    text += "class PlanSummary(NamedTuple):\n    implementations: dict[str, str]\n"
    text += "    tiles: dict[str, int]\n    scratch_bytes: dict[str, int]\n"
    text += "def explain_plan(operator: str, shape: Sequence[int], *args: Any, "
    text += "dtype: DTypeLike = 'f4', strides: Sequence[int] | None = None, **options: Any) "
    text += "-> PlanSummary: ...\n"
    text += "def set_threads(count: int) -> None: ...\ndef get_threads() -> int: ...\n"
    text += "def set_executor(name: Executor) -> None: ...\ndef get_executor() -> Executor: ...\n"
    text += "def targets() -> list[str]: ...\n\n__version__: str\n"
    text += f"__all__: list[str] = {package.__all__!r}\n"
    return text


def core_stub(generated: str) -> str:
    """What nanobind says of the compiled module, with the types that it leaves open."""
    for vague, exact in {
        "**options) -> object:": "**options: Any) -> Pool:",
        "-> object:": "-> Any:",
        "-> tuple:": "-> tuple[Any, ...]:",
        "-> dict:": "-> dict[str, tuple[str, int, int]]:",
    }.items():
        assert vague in generated, vague
        generated = generated.replace(vague, exact)
    for untyped, typed in {  # what nanobind has no types for
        r"(\*args|\*\*kwargs)(?=[,)])": r"\1: Any",
        r"(?m)^( *def [^\n>]*\)):$": r"\1 -> Any:",
        r": PyCapsule =": ": Any =",
    }.items():
        generated = re.sub(untyped, typed, generated)
    return f"from typing import Any\n\n{generated}"


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    sys.path.insert(0, str(folder.parent))
    from nanobind.stubgen import StubGen

    import ndpool
    from ndpool import _core, _operators

    generator = StubGen(_core)
    generator.put(_core)
    (folder / "_core.pyi").write_text(core_stub(generator.get()))
    (folder / "__init__.pyi").write_text(package_stub(ndpool, _operators))


if __name__ == "__main__":
    main()
