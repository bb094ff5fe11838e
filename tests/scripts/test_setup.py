"""scripts/setup.sh with apt, dpkg and sudo replaced by scripts that record how they are called."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SETUP = Path(__file__).resolve().parents[2] / "scripts" / "setup.sh"
PARTS = ("build", "lint", "bench", "fuzz", "python", "embedded", "explorer")
SHELL_TOOLS = ("sh", "env", "grep", "cat", "mktemp", "rm", "sleep")
BUILD_TOOLS = ("g++", "cmake", "ninja", "pkg-config")


class Machine:
    """A PATH that holds these tools alone, and a log of the calls of `apt-get`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "calls"
        for tool in SHELL_TOOLS:
            found = shutil.which(tool)
            assert found
            (folder / tool).symlink_to(found)
        self.add("id", "echo 0")

    def add(self, name: str, body: str) -> None:
        tool = self.folder / name
        tool.write_text(f"#!/bin/sh\n{body}\n")
        tool.chmod(0o755)

    def add_debian(self, update: str = "exit 0") -> None:
        for tool in BUILD_TOOLS:
            self.add(tool, "exit 0")
        self.add("dpkg-query", "exit 1")
        record = f'echo "$DEBIAN_FRONTEND $*" >>{self.log}'
        self.add("apt-get", f'{record}\ncase "$*" in *update*) {update} ;; esac')

    def run(self, part: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": str(self.folder), "NDPOOL_APT_WAIT": "0", "TMPDIR": str(self.folder)}
        return subprocess.run(
            [str(self.folder / "sh"), str(SETUP), part],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def calls(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.parametrize("part", PARTS)
def test_other_systems_get_the_names_of_their_packages(machine: Machine, part: str) -> None:
    result = machine.run(part)
    for manager in ("sudo dnf install ", "sudo pacman -S --needed ", "brew install "):
        assert manager in result.stderr
    assert (result.returncode == 0) == ("Not found" not in result.stderr)


def test_other_systems_with_the_tools_go_on(machine: Machine) -> None:
    assert machine.run("build").returncode == 1
    for tool in BUILD_TOOLS:
        machine.add(tool, "exit 0")
    assert machine.run("build").returncode == 0


@pytest.mark.parametrize("part", PARTS)
def test_missing_packages_are_installed_without_a_question(machine: Machine, part: str) -> None:
    machine.add_debian()
    result = machine.run(part)
    assert result.returncode == 0, result.stderr
    update, install = machine.calls()
    assert " update" in update
    assert install.startswith("noninteractive -o DPkg::Lock::Timeout=300 install -y ")
    packages = install.split("--no-install-recommends ")[1]
    assert result.stdout.startswith("Installing, to ") and packages in result.stdout


def test_the_lock_of_the_package_lists_is_waited_for(machine: Machine) -> None:
    count = machine.folder / "count"
    machine.add_debian(
        f"echo x >>{count}; [ $(grep -c x {count}) -ge 3 ] && exit 0;"
        " echo 'E: Could not get lock /var/lib/apt/lists/lock'; exit 100"
    )
    result = machine.run("build")
    assert result.returncode == 0
    assert "Waiting for another apt" in result.stdout
    assert [" update" in call for call in machine.calls()] == [True, True, True, False]


def test_nothing_is_done_when_everything_is_there(machine: Machine) -> None:
    machine.add_debian()
    machine.add("dpkg-query", "echo install ok installed")
    result = machine.run("build")
    assert (result.returncode, result.stdout, machine.calls()) == (0, "", [])


def test_without_root_the_command_to_run_is_printed(machine: Machine) -> None:
    machine.add_debian()
    machine.add("id", "echo 1000")
    machine.add("sudo", 'echo "sudo $*" >>' + str(machine.log) + "; exit 1")
    result = machine.run("bench")
    assert result.returncode == 1
    assert "sudo apt-get install --no-install-recommends libbenchmark-dev" in result.stderr
    assert machine.calls() == ["sudo -n true"]


def test_an_unknown_part_is_an_error(machine: Machine) -> None:
    assert machine.run("nonsense").returncode == 2
    assert os.path.basename(SETUP) in machine.run("nonsense").stderr
