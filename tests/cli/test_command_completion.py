"""What the command says of itself: its version, completions that a shell runs, the manual page."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command import COMMAND, done, fails

import ndpool


def test_the_version_names_compiler_and_targets():
    version, compiler, targets = done("--version").decode().splitlines()
    assert version == f"ndpool {ndpool.__version__}"
    assert re.fullmatch(r"compiler: (GCC|Clang) \d+\.\d+\.\d+", compiler)
    assert targets.startswith(f"targets: {', '.join(ndpool.targets())} (in use: ")


def bash_offers(line, folder):
    """What bash offers at the end of a line."""
    script = (
        f'source "{folder}/ndpool.bash"; COMP_WORDS=({line} "$1"); '
        f"COMP_CWORD={len(line.split())}; "
        '_ndpool; printf "%s\\n" "${COMPREPLY[@]}"'
    )

    def offers(current):
        shell = ["bash", "--norc", "-c", script, "bash", current]
        process = subprocess.run(shell, capture_output=True, text=True, cwd=folder, timeout=60)
        assert process.returncode == 0 and process.stderr == "", process.stderr
        return process.stdout.split()

    return offers


@pytest.mark.parametrize(
    "line, current, expected",
    [
        ("ndpool", "adaptive-m", ["adaptive-max", "adaptive-min"]),
        ("ndpool", "--v", ["--version"]),
        ("ndpool vjp", "smooth", ["smooth-max"]),
        ("ndpool max", "--ker", ["--kernel"]),
        ("ndpool max in.npy -o out.npy", "--st", ["--stride"]),
        ("ndpool max --ties", "", ["first", "all", "split"]),
        ("ndpool vjp max --ties", "a", ["all"]),
        ("ndpool avg", "--ti", []),
        ("ndpool max", "photo", []),
    ],
)
def test_bash_completes(tmp_path, line, current, expected):
    (tmp_path / "ndpool.bash").write_bytes(done("completion", "bash"))
    assert bash_offers(line, tmp_path)(current) == expected


def test_other_shells_get_the_same_commands_and_options():
    help_text = done("--help").decode()
    commands = re.findall(
        r"^  ([a-z-]+) {2,}\S", help_text.partition("Subcommands:")[2], re.MULTILINE
    )
    assert len(commands) > 24
    for shell in ("zsh", "fish"):
        script = done("completion", shell).decode()
        assert [name for name in commands if name not in script] == []
        assert "kernel" in script and "count-exclude-pad" in script
    assert "SHELL must be bash, zsh or fish, not 'tcsh'" in fails(2, "completion", "tcsh")


def test_the_manual_describes_every_command_and_option():
    manual = done("manual").decode()
    assert manual.startswith('.TH NDPOOL 1 ""')
    plain = manual.replace("\\-", "-")
    for command in re.findall(r"^\.SS ndpool (\S+)$", plain, re.MULTILINE):
        section = plain.partition(f".SS ndpool {command}\n")[2].partition("\n.S")[0]
        shown = done(command, "--help").decode()
        for option in re.findall(r"--[a-z-]+", shown.partition("Options:")[2].partition("\n\n")[0]):
            assert option in section, (command, option)
    for section in ("NAME", "SYNOPSIS", "COMMANDS", "EXIT STATUS", "ENVIRONMENT", "EXAMPLES"):
        assert f".SH {section}\n" in manual


def test_the_python_package_starts_the_command():
    """The entry point of an installed package, in the build tree."""
    code = "import sys; from ndpool._command import main; sys.exit(main())"
    process = subprocess.run(
        [sys.executable, "-c", code, "--version"],
        capture_output=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(Path(ndpool.__file__).parents[1])},
    )
    assert (process.returncode, process.stderr) == (0, b"")
    assert process.stdout == subprocess.run([COMMAND, "--version"], capture_output=True).stdout
