"""The Python examples of the documentation's guides give what the guides show."""

from __future__ import annotations

import pytest
from guides import COMPARED, PAGES, example, run

IN_PYTHON = [p for p in PAGES if p.stem not in COMPARED and example(p).examples]


def test_pages_with_examples_are_found():
    found = {page.stem for page in IN_PYTHON}
    assert found >= {"index", "start", "choosing", "derivatives", "speed", "from-torch"}


@pytest.mark.parametrize("page", IN_PYTHON, ids=lambda page: page.stem)
def test_a_guide_shows_what_is_printed(page):
    assert run(page) > 3
