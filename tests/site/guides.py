"""The examples of the guides: Python in doctest's form, one program per page."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "docs/index.md",
    ROOT / "docs/dask.md",
    ROOT / "docs/xarray.md",
    *sorted((ROOT / "docs/guide").glob("*.md")),
]
# What a page imports that `make test` does not install: `make test-site` runs these.
COMPARED = {"from-opencv", "from-scikit-image", "from-scipy"}


def example(page: Path) -> doctest.DocTest:
    """The blocks of Python of a page one after the other, as they would be typed."""
    code = "\n\n".join(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
    return doctest.DocTestParser().get_doctest(code, {}, page.stem, str(page), 0)


def run(page: Path) -> int:
    """The number of examples that gave what the page shows; all of them, or it fails."""
    said: list[str] = []
    result = doctest.DocTestRunner().run(example(page), out=said.append)
    assert result.failed == 0, "".join(said)
    return result.attempted
