"""The `ndpool` command of an installed package: the program that was built with it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import ndpool

_PROGRAM = Path(__file__).parent / "bin" / "ndpool"
_MISSING = """ndpool {version}: this package was built without the command, because CLI11, fmt,
libpng or nlohmann-json was missing then (Debian: libcli11-dev, libfmt-dev, libpng-dev,
nlohmann-json3-dev).
Install them and the package again. `python -m ndpool` checks the package."""


def main() -> int:
    """Becomes the program, with the same arguments; 1 if the package has none."""
    if _PROGRAM.exists():
        os.execv(_PROGRAM, ["ndpool", *sys.argv[1:]])
    print(_MISSING.format(version=ndpool.__version__), file=sys.stderr)
    return 1
