"""`torch.jit.script`: a scripted model holds torch's own pools, as a traced one does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch._jit_internal import boolean_dispatched
from torch.jit._builtins import _find_builtin, _register_builtin


def script_as(function: Callable[..., Any], original: Callable[..., Any]) -> None:
    """Makes `torch.jit.script` see torch's function in the place of the one that replaces it.

    It knows three kinds: two functions and a flag that chooses, operators, and Python to compile.
    """
    if original in boolean_dispatched:
        boolean_dispatched[function] = boolean_dispatched[original]
    elif operator := _find_builtin(original):
        _register_builtin(function, operator)
    else:
        function.__prepare_scriptable__ = lambda: original  # type: ignore[attr-defined]
