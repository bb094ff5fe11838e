"""The shell examples of the README and of the guides print what they show."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command import COMMAND

ROOT = Path(__file__).resolve().parents[2]
# Each page, and how many commands it shows.
PAGES = {"README.md": 4, "docs/guide/start.md": 1, "docs/guide/large-arrays.md": 8}


@pytest.mark.parametrize("page", PAGES)
def test_the_shell_examples_print_what_is_shown(tmp_path, page):
    blocks = re.findall(r"```console\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    commands = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", "".join(blocks), re.MULTILINE)
    assert len(commands) == PAGES[page]
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ndpool").symlink_to(Path(COMMAND).resolve())
    (tmp_path / "bin" / "python3").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (tmp_path / "bin" / "python3").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    for line, shown in commands:
        process = subprocess.run(
            line,
            shell=True,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (process.returncode, process.stdout, process.stderr) == (0, shown, ""), line
