"""The stubs, by the two type checkers that people use."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import pytest

import ndpool

CALLS = pathlib.Path(__file__).parent / "types" / "calls.py"
PACKAGE = pathlib.Path(ndpool.__file__).parent


def run(*command: str, folder: pathlib.Path) -> str:
    result = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=600)
    return result.stdout + result.stderr


def mypy(folder: pathlib.Path, *files: pathlib.Path) -> str:
    pytest.importorskip("mypy")
    settings = folder / "mypy.ini"
    settings.write_text(f"[mypy]\nstrict = True\nmypy_path = {PACKAGE.parent}\n")
    return run(sys.executable, "-m", "mypy", *map(str, files), folder=folder)


def pyright(folder: pathlib.Path, *files: pathlib.Path) -> str:
    pytest.importorskip("basedpyright")
    settings = {
        "include": [str(file) for file in files],
        "extraPaths": [str(PACKAGE.parent)],
        "typeCheckingMode": "standard",
        "reportUnnecessaryTypeIgnoreComment": "error",
        "reportOverlappingOverload": "error",
        "reportInconsistentOverload": "error",
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    command = (sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable)
    return run(*command, "--project", str(folder), folder=folder)


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_calls_have_their_types(checker, tmp_path):
    said = checker(tmp_path, CALLS, PACKAGE / "__init__.pyi")
    assert said.startswith(("Success: no issues found", "0 errors, 0 warnings")), said


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_checkers_find_what_is_wrong(checker, tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "import ndpool, numpy\n"
        "x = numpy.ones((4, 4), numpy.float32)\n"
        "y: int = ndpool.max_pool(x, (2, 2))\n"
        "z: numpy.ndarray = ndpool.max_pool(x, (2, 2), return_indices=True)\n"
    )
    said = checker(tmp_path, wrong)
    assert ":3:" in said and ":4:" in said, said
