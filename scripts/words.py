#!/usr/bin/env python3
"""Searches the sources for phrases and identifiers that scripts/words.txt replaces.

scripts/words.py            fails if a folder has more of them than words_exceptions.txt allows
scripts/words.py --update   lowers the counts of words_exceptions.txt, and never raises one
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent
ROOT = SCRIPTS.parent
EXCEPTIONS = SCRIPTS / "words_exceptions.txt"
# The licence's own words; what lists the words; recorded inputs.
SKIPPED = ("LICENSE", "scripts/words", "tests/fuzz/corpus/", "examples/digits/digits.txt")

Counts = dict[tuple[str, str], int]
Places = dict[tuple[str, str], list[str]]


def phrases() -> dict[str, str]:
    """What to write instead of each pattern."""
    lines = (SCRIPTS / "words.txt").read_text().splitlines()
    split = (line.split(" -> ") for line in lines if line and not line.startswith("#"))
    return {pattern: instead for pattern, instead in split}


def allowed() -> Counts:
    counts: Counts = {}
    for line in EXCEPTIONS.read_text().splitlines():
        if line and not line.startswith("#"):
            count, folder, pattern = line.split(" ", 2)
            counts[folder, pattern] = int(count)
    return counts


def sources() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [path for path in listed.stdout.splitlines() if not path.startswith(SKIPPED)]


def folder_of(path: str) -> str:
    """What is counted together, so that files can be renamed, split and merged."""
    return "/".join(path.split("/")[:-1][:2]) or path


def find() -> Places:
    """The lines that hold each pattern, one entry per match, by folder."""
    compiled = {pattern: re.compile(pattern) for pattern in phrases()}
    found: Places = {}
    for path in sources():
        try:
            text = (ROOT / path).read_text()
        except (UnicodeDecodeError, FileNotFoundError):
            continue
        for pattern, expression in compiled.items():
            for match in expression.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                found.setdefault((folder_of(path), pattern), []).append(f"{path}:{line}")
    return found


def update() -> None:
    found, before = find(), allowed()
    left = {key: min(count, len(found.get(key, ()))) for key, count in before.items()}
    head = [line for line in EXCEPTIONS.read_text().splitlines() if line.startswith("#")]
    lines = [f"{count} {' '.join(key)}" for key, count in sorted(left.items()) if count]
    EXCEPTIONS.write_text("\n".join(head + lines) + "\n")
    print(f"words: {sum(left.values())} left of {sum(before.values())} exceptions")


def check() -> int:
    instead, counts, failures = phrases(), allowed(), 0
    for (folder, pattern), places in find().items():
        limit = counts.get((folder, pattern), 0)
        if len(places) > limit:
            failures += 1
            print(f"{folder}: {len(places)} of {pattern}, allowed {limit}; say: {instead[pattern]}")
            print("  " + "\n  ".join(places[:20]))
    print(f"words: {failures} failed, {sum(counts.values())} exceptions left")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(update() if "--update" in sys.argv[1:] else check())
