"""What axe-core has against a page."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe

# Styles are not fetched again: a page from a file may not.
OPTIONS = {"preload": False}


def serious_violations(page) -> list[str]:
    """Violations that axe-core calls serious or critical, with the first element of each."""
    found = Axe().run(page, options=OPTIONS).response["violations"]
    return [
        f"{one['impact']} {one['id']}: {one['help']}; {one['nodes'][0]['html'][:200]}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
