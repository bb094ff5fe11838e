"""A tab of a browser with the explorer in it."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = Path(os.environ.get("NDPOOL_EXPLORER", ROOT / "build/web/explorer.html"))
SEED = int(os.environ.get("NDPOOL_SEED", "25"))


class Tab:
    """A page of the explorer, with everything that it asked for or complained about."""

    def __init__(self, browser, width=1400, scheme="light", link=""):
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme
        )
        self.page = self.context.new_page()
        self.complaints = []
        self.requests = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(PAGE.as_uri() + link)
        self.page.wait_for_selector("body[data-ready]")

    def open(self, link):
        """Shows a link, and gives what the page then knows."""
        return self.page.evaluate("link => { explorer.open(link); return explorer.shown(); }", link)

    def shown(self):
        return self.page.evaluate("explorer.shown()")

    def close(self):
        self.context.close()
        assert self.complaints == []
        outside = [url for url in self.requests if not url.startswith(("data:", PAGE.as_uri()))]
        assert outside == []
