"""Pooling of torch tensors: `functional`, `nn`, and a switch for models that are already there.

>>> with ndpool.torch.install():
...     torch.nn.functional.max_pool2d(torch.arange(16.0).reshape(1, 4, 4), 2)
tensor([[[ 5.,  7.],
         [13., 15.]]])
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

import torch.nn.functional as _torch_functional

from ndpool.torch import functional, nn
from ndpool.torch._script import script_as

# What torch has under the names of the functions that replace it.
_originals: dict[str, Any] = {
    name: getattr(_torch_functional, name)
    for name in functional.__all__
    if hasattr(_torch_functional, name)
}
for _name, _original in _originals.items():
    script_as(getattr(functional, _name), _original)


class _Installed:
    """What `install` returns: leaving a `with` block brings back what was there before it."""

    def __init__(self, was_installed: bool) -> None:
        self._was_installed = was_installed

    def __enter__(self) -> _Installed:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not self._was_installed:
            uninstall()


def is_installed() -> bool:
    return _torch_functional.max_pool2d is functional.max_pool2d


def install() -> _Installed:
    """Replaces torch's pools in `torch.nn.functional`, and so in its modules.

    Models run on ndpool from then on; names that were imported from there before keep torch's.
    """
    was_installed = is_installed()
    for name in _originals:
        setattr(_torch_functional, name, getattr(functional, name))
    return _Installed(was_installed)


def uninstall() -> None:
    """Puts torch's own functions back."""
    for name, original in _originals.items():
        setattr(_torch_functional, name, original)


__all__ = ["functional", "install", "is_installed", "nn", "uninstall"]
