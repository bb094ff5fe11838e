"""The shell example of the README prints what the README shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

from command import COMMAND

README = Path(__file__).resolve().parents[2] / "README.md"


def test_the_shell_example_prints_what_the_readme_shows(tmp_path):
    blocks = re.findall(r"```console\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(blocks) == 1
    commands = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", blocks[0], re.MULTILINE)
    assert len(commands) > 1
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
