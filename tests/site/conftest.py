"""The site and the demo page in Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "build/docs/html"
COMMAND = os.environ.get("NDPOOL_COMMAND", str(ROOT / "build/release/bin/ndpool"))
VIEWS = [(width, scheme) for width in (400, 1400) for scheme in ("light", "dark")]


@pytest.fixture(scope="session")
def browser():
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    assert path is not None, "make test-site installs chromium"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def look(browser):
    """Opens files; fails at the end if a page wrote to the console or asked for more than files."""
    complaints: list[str] = []
    contexts = []

    def open_page(path: Path, width: int = 1400, scheme: str = "light", wait: str = "load"):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(f"{path.name}: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(f"{path.name}: {error}"))
        page.on(
            "request",
            lambda request: (
                request.url.startswith(("file:", "data:", "blob:"))
                or complaints.append(f"{path.name} asks for {request.url}")
            ),
        )
        page.on("requestfailed", lambda request: complaints.append(f"{request.url} is missing"))
        page.goto(path.as_uri(), wait_until=wait)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    """The page of the demo, with measurements: the whole of it is looked at."""
    folder = tmp_path_factory.mktemp("demo")
    command = [COMMAND, "demo", "--out", folder, "--link", "Explorer=explorer.html"]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return folder / "index.html"
