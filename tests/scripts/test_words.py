"""scripts/words.py on a small repository."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "scripts").mkdir()
    shutil.copy(SCRIPTS / "words.py", tmp_path / "scripts")
    (tmp_path / "scripts" / "words.txt").write_text("# comment\n\\bmost_ -> max_...\n")
    (tmp_path / "scripts" / "words_exceptions.txt").write_text("# counts\n2 a/old \\bmost_\n")
    (tmp_path / "a" / "old" / "deep").mkdir(parents=True)
    (tmp_path / "a" / "old" / "deep" / "x.cpp").write_text("int most_rows, most_lanes;\n")
    (tmp_path / "new.cpp").write_text("int almost_done;\n")
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True, capture_output=True)
    return tmp_path


def words(repository: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(repository / "scripts" / "words.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_counted_exceptions_and_parts_of_words_pass(repository: Path) -> None:
    result = words(repository)
    assert (result.returncode, result.stdout) == (0, "words: 0 failed, 2 exceptions left\n")


@pytest.mark.parametrize(
    ("name", "folder", "allowed"), [("a/old/deep/x.cpp", "a/old", 2), ("new.cpp", "new.cpp", 0)]
)
def test_one_more_fails_with_place_and_replacement(
    repository: Path, name: str, folder: str, allowed: int
) -> None:
    with (repository / name).open("a") as file:
        file.write("int most_columns;\n")
    result = words(repository)
    assert result.returncode == 1
    found = f"{folder}: {allowed + 1} of \\bmost_, allowed {allowed}; say: max_...\n"
    assert found in result.stdout and f"  {name}:2\n" in result.stdout


def test_update_lowers_a_count_and_never_raises_one(repository: Path) -> None:
    (repository / "a" / "old" / "deep" / "x.cpp").write_text("int most_rows;\n")
    (repository / "new.cpp").write_text("int most_columns;\n")
    assert words(repository, "--update").returncode == 0
    assert (repository / "scripts" / "words_exceptions.txt").read_text() == (
        "# counts\n1 a/old \\bmost_\n"
    )
    assert words(repository).returncode == 1
