"""Arguments by the names of dimensions, turned into those of ndpool's functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

# What a dimension gets that a dict leaves out; None stands for the kernel's size.
_left_out: dict[str, Any] = {"stride": None, "padding": 0, "dilation": 1}
_sizes = ("kernel", "output_size")


def is_global(function: Callable[..., Any]) -> bool:
    return "keepdims" in inspect.signature(function).parameters


def named_parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters after the arrays of one of ndpool's functions, as they are by name."""
    parameters = inspect.signature(function).parameters.values()
    left_out = {"x", "y", "dx", "gy", "dy", "gx", "indices", "axes", "out"}
    own = [p.replace(annotation=_annotation(p)) for p in parameters if p.name not in left_out]
    if is_global(function):
        dim = inspect.Parameter("dim", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)
        own.insert(1 if own and own[0].name == "p" else 0, dim)
    return own


def _annotation(parameter: inspect.Parameter) -> Any:
    if parameter.name in _sizes:
        return "Mapping[Hashable, int]"
    if parameter.name in _left_out:
        return f"{parameter.annotation} | Mapping[Hashable, Any]"
    return parameter.annotation


@dataclass(frozen=True)
class NamedWindows:
    """Windows, bins or whole dimensions by name; `of` makes them arguments for some dimensions."""

    dims: tuple[Hashable, ...]
    by_dimension: Mapping[str, Any]  # the arguments that may be dicts

    @classmethod
    def read(cls, arguments: dict[str, Any], known: tuple[Hashable, ...]) -> NamedWindows:
        """Takes what is by dimension, among `known` ones, out of the arguments."""
        if "dim" in arguments:
            dims = _dims(arguments.pop("dim"), known)
            _require_known("dim", dims, known)
            return cls(dims, {})
        by_dimension = {
            name: arguments.pop(name) for name in (*_sizes, *_left_out) if name in arguments
        }
        main = next(name for name in ("output_size", "kernel") if name in by_dimension)
        sizes = by_dimension[main]
        if not isinstance(sizes, Mapping):
            raise TypeError(
                f"{main} must be a dict from dimensions to sizes, not {type(sizes).__name__}"
            )
        if not sizes:
            raise ValueError(f"{main} names no dimension")
        _require_known(main, sizes, known)
        for name, value in by_dimension.items():
            if isinstance(value, Mapping):
                _require_known(name, value, tuple(sizes), f"dimensions of {main}")
            elif isinstance(value, (tuple, list)):
                raise TypeError(
                    f"{name} must be a dict by dimension, or one value for all, not "
                    f"{type(value).__name__}"
                )
        return cls(tuple(sizes), by_dimension)

    def of(self, dims: tuple[Hashable, ...]) -> dict[str, Any]:
        """The arguments for an array with dimensions `dims`, some of which are pooled."""
        pooled = [d for d in dims if d in self.dims]
        arguments: dict[str, Any] = {"axes": tuple(dims.index(d) for d in pooled)}
        for name, value in self.by_dimension.items():
            if isinstance(value, Mapping):
                value = tuple(self._entry(name, value, d) for d in pooled)
            arguments[name] = value
        return arguments

    def _entry(self, name: str, value: Mapping[Hashable, Any], dimension: Hashable) -> Any:
        entry = value.get(dimension, _left_out.get(name))
        is_kernel = name == "stride" and entry is None
        return self.by_dimension["kernel"][dimension] if is_kernel else entry


def _dims(given: Any, known: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
    """Dimensions as xarray takes them: one, several, or None or an ellipsis for all."""
    if given is None or given is ...:
        return known
    if isinstance(given, str) or not isinstance(given, Iterable):
        return (given,)
    return tuple(given)


def _require_known(
    name: str, given: Iterable[Hashable], known: tuple[Hashable, ...], what: str = "dimensions"
) -> None:
    missing = [d for d in given if d not in known]
    if missing:
        raise ValueError(f"{name} names {missing}, but the {what} are {list(known)}")


def family(function: Callable[..., Any], reducer: str) -> str:
    """The name of the function of another reducer over the same kind of windows."""
    prefix = next((p for p in ("adaptive_", "global_") if function.__name__.startswith(p)), "")
    return f"{prefix}{reducer}_pool"
