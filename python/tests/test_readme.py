"""The Python example of the README gives what the README shows."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "README.md"


def test_the_python_example_gives_what_the_readme_shows():
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(blocks) == 1 and ">>> " in blocks[0]
    example = doctest.DocTestParser().get_doctest(blocks[0], {}, "README", str(README), 0)
    said: list[str] = []
    result = doctest.DocTestRunner().run(example, out=said.append)
    assert result.attempted > 3
    assert result.failed == 0, "".join(said)
