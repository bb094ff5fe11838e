"""A call as one line, to be printed by a benchmark and pasted back into it.

  max_pool2d shape=1,64,112,112 dtype=f32 kernel=3,3 stride=2,2

A name, then options: words without spaces, or integers with commas between them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

Value = str | int | tuple[int, ...]


def format_line(name: str, options: Mapping[str, Value]) -> str:
    """The line of a call. A tuple of one ends with its comma, as in Python."""
    return " ".join([name, *(f"{key}={_format(value)}" for key, value in options.items())])


def parse_line(line: str) -> tuple[str, dict[str, Value]]:
    """The inverse of `format_line`."""
    name, *words = line.split()
    options: dict[str, Value] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not (key and equals and value):
            raise ValueError(f"{word!r} in {line!r} is not key=value")
        options[key] = _parse(value)
    return name, options


def _format(value: Value) -> str:
    if not isinstance(value, tuple):
        return str(value)
    return ",".join(map(str, value)) + "," * (len(value) == 1)


def _parse(value: str) -> Value:
    if re.fullmatch(r"-?\d+", value):
        return int(value)
    if re.fullmatch(r"(-?\d+,)+(-?\d+)?", value):
        return tuple(int(part) for part in value.split(",") if part)
    return value
