#!/usr/bin/env python3
"""Makes the explorer: one HTML file with the library in it, compiled to WebAssembly.

web/explorer/build.py [build/web/explorer.html]
"""

import base64
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = HERE / "page"
# What the issue allows, and what a link on a slow connection bears.
MAX_BYTES = 400 * 1024
COMPILE = [
    os.environ.get("WASM_CXX", "clang++-19"), "--target=wasm32-wasi", "-mexec-model=reactor",
    "-std=c++20", "-Oz", "-flto", "-fno-exceptions", "-fno-rtti", "-ffp-contract=off",
    "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wno-sign-conversion", "-Werror",
    f"-I{ROOT / 'include'}", f"-I{ROOT / 'src'}", "-Wl,--strip-all", "-Wl,-z,stack-size=1048576",
]  # fmt: skip


def compile_library(module: Path) -> None:
    sources = [*sorted(HERE.glob("*.cpp")), ROOT / "src/sentences.cpp"]
    subprocess.run([*COMPILE, *map(str, sources), "-o", str(module)], check=True)


def modules(name: str, found: list[str]) -> list[str]:
    """The scripts that `name` imports, each after those that it needs, then itself."""
    text = (PAGE / name).read_text()
    for imported in re.findall(r'^import .* from "\./(.*)";$', text, re.MULTILINE):
        if imported not in found:
            modules(imported, found)
    found.append(name)
    return found


def script() -> str:
    """All scripts as one: their names are distinct, so that imports and exports can be left out."""
    parts = []
    for name in modules("main.js", []):
        text = re.sub(r"^import .*;\n", "", (PAGE / name).read_text(), flags=re.MULTILINE)
        parts.append(f"// {name}\n" + re.sub(r"^export ", "", text, flags=re.MULTILINE))
    return "\n".join(parts)


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/web/explorer.html"
    target.parent.mkdir(parents=True, exist_ok=True)
    module = target.with_suffix(".wasm")
    compile_library(module)
    library = base64.b64encode(module.read_bytes()).decode()
    page = (PAGE / "index.html").read_text()
    page = page.replace("/* style.css */", (PAGE / "style.css").read_text())
    page = page.replace("/* page.js */", script().replace("/* explorer.wasm */", library))
    target.write_text(page)
    size = target.stat().st_size
    print(f"{target}: {size} bytes, {module.stat().st_size} of them compiled from the library")
    if size > MAX_BYTES:
        sys.exit(f"the explorer may have {MAX_BYTES} bytes")


if __name__ == "__main__":
    main()
