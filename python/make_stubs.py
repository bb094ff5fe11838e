"""Writes the type stubs into the folder of a built package: python make_stubs.py FOLDER."""

from __future__ import annotations

import inspect
import pathlib
import sys

HEADER = '''"""{doc}"""

from collections.abc import Sequence
from typing import Any, Literal, Protocol

import numpy.typing

from ndpool import _core as _core

'''


def method(name: str, function, is_call: bool) -> str:
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    if is_call:
        parameters.insert(0, inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD))
    text = str(signature.replace(parameters=parameters))
    for parameter in signature.parameters.values():
        text = text.replace(f": {parameter.annotation!r}", f": {parameter.annotation}")
    text = text.replace(f"-> {signature.return_annotation!r}", f"-> {signature.return_annotation}")
    head = "" if is_call else "    @staticmethod\n"
    lines = (inspect.getdoc(function) or "").replace("\n", "\n        ")
    return f'{head}    def {name}{text}:\n        """{lines}\n        """\n'


def package_stub(package, operators) -> str:
    text = HEADER.format(doc=inspect.getdoc(package))
    source = inspect.getsource(operators)
    # The names of types, as they are written in the package.
    text += source[source.index("Array = ") : source.index("# Descriptions by")] + "\n"
    for name in package.__all__:
        value = getattr(package, name)
        if hasattr(value, "vjp"):
            text += f"class _{name}(Protocol):\n"
            text += (
                method("__call__", value, True)
                + method("jvp", value.jvp, False)
                + method("vjp", value.vjp, False)
            )
            text += f"\n{name}: _{name}\n\n"
    text += "def output_shape(operator: str, shape: Sequence[int], *args: Any, **options: Any) "
    text += "-> tuple[int, ...]: ...\n"
    text += "def set_threads(count: int) -> None: ...\ndef get_threads() -> int: ...\n"
    text += "def targets() -> list[str]: ...\n\n__version__: str\n"
    text += f"__all__: list[str] = {package.__all__!r}\n"
    return text


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    sys.path.insert(0, str(folder.parent))
    from nanobind.stubgen import StubGen

    import ndpool
    from ndpool import _core, _operators

    generator = StubGen(_core)
    generator.put(_core)
    (folder / "_core.pyi").write_text(generator.get())
    (folder / "__init__.pyi").write_text(package_stub(ndpool, _operators))


if __name__ == "__main__":
    main()
