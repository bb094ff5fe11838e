"""A browser with the explorer in it. `make explorer` has written the page."""

import shutil

import pytest
from playwright.sync_api import sync_playwright

from explorer_tab import Tab


@pytest.fixture(scope="session")
def browser():
    program = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def tab(browser):
    """One tab for many settings; at the end it must have been silent and have asked for nothing."""
    opened = Tab(browser)
    yield opened
    opened.close()


@pytest.fixture
def fresh(browser):
    """Opens tabs of a width and a colour scheme."""
    opened = []

    def make(**options):
        opened.append(Tab(browser, **options))
        return opened[-1]

    yield make
    for one in opened:
        one.close()
