"""The guides that compare ndpool with other libraries, call by call."""

import pytest
from guides import COMPARED, PAGES, run


@pytest.mark.parametrize("page", [p for p in PAGES if p.stem in COMPARED], ids=lambda p: p.stem)
def test_the_calls_give_the_same_numbers(page):
    assert run(page) > 5
