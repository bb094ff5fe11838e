"""Checks what a wheel is made of: python check_wheel.py WHEEL."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

MAX_BYTES = 11_200_000  # kernels for four instruction sets; 8 MB is the goal
NEWEST_GLIBC = 34  # manylinux_2_34
FILES = [
    "ndpool/__init__.py",
    "ndpool/__init__.pyi",
    "ndpool/_core.pyi",
    "ndpool/py.typed",
    "ndpool/bin/ndpool",
    "ndpool/libndpool.so",
]


def dynamic(file: Path, entry: str) -> list[str]:
    """Values of a kind of entry, such as NEEDED, of the dynamic section."""
    text = subprocess.run(["readelf", "-d", file], capture_output=True, text=True, check=True)
    return re.findall(rf"\({entry}\).*\[(.*)\]", text.stdout)


def check_loading(folder: Path) -> list[str]:
    """What is wrong with how the module and the command find the library."""
    wrong = []
    (module,) = folder.glob("ndpool/_core.*so")
    (handlers,) = folder.glob("ndpool/jax/_native.*so")
    for file, path in (
        (module, "$ORIGIN"),
        (handlers, "$ORIGIN/.."),
        (folder / "ndpool/bin/ndpool", "$ORIGIN/.."),
    ):
        if "libndpool.so" not in dynamic(file, "NEEDED"):
            wrong.append(f"{file.name} is not linked to libndpool.so: {dynamic(file, 'NEEDED')}")
        paths = ":".join(dynamic(file, "RUNPATH") + dynamic(file, "RPATH")).split(":")
        if path not in paths:
            wrong.append(f"{file.name} looks for libraries in {paths}, not in {path}")
        if any(not p.startswith("$ORIGIN") for p in paths):
            wrong.append(f"{file.name} looks for libraries outside of the wheel: {paths}")
    return wrong


def check(wheel: Path) -> list[str]:
    wrong = []
    if wheel.stat().st_size > MAX_BYTES:
        wrong.append(f"{wheel.stat().st_size} bytes are more than {MAX_BYTES}")
    tags = [int(minor) for minor in re.findall(r"manylinux_2_(\d+)", wheel.name)]
    if not tags or min(tags) > NEWEST_GLIBC:
        wrong.append(f"no tag of manylinux_2_{NEWEST_GLIBC} or older")
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        wrong += [f"there is no {name}" for name in FILES if name not in names]
        libraries = [name for name in names if "libndpool" in name]
        if len(libraries) != 1:
            wrong.append(f"libndpool is there {len(libraries)} times: {libraries}")
        if wrong:
            return wrong
        archive.extractall(folder)
        return check_loading(Path(folder))


def main() -> None:
    wheel = Path(sys.argv[1])
    wrong = check(wheel)
    for sentence in wrong:
        print(f"{wheel.name}: {sentence}", file=sys.stderr)
    if wrong:
        sys.exit(1)
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
