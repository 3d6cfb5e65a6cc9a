"""Debian's Chromium, which opens the pages as people do.

It is driven by Playwright, and axe-core looks for barriers. Where one is missing tests are skipped.
"""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[3]
AXE = ROOT / ".clients" / "node_modules" / "axe-core" / "axe.min.js"
CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 800}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1280, "height": 800}},
    "narrow": {"color_scheme": "light", "viewport": {"width": 390, "height": 844}},
}


def missing() -> str:
    """Return what tests in a browser lack here, nothing if all is there."""
    try:
        import playwright  # noqa: F401, PLC0415  # may be missing
    except ImportError:
        return "needs Playwright: pip install playwright"
    if not os.access(CHROMIUM, os.X_OK):
        return "needs Chromium (Debian: chromium)"
    return "" if AXE.exists() else "needs axe-core: scripts/install_clients.sh"


@contextlib.contextmanager
def browsing() -> "Iterator[Browser]":
    """Run Chromium, which as root needs to be without its sandbox."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  # may be missing

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


class Visit(NamedTuple):
    """A window on the pages at an address, and all that went wrong in it."""

    page: "Page"
    url: str
    troubles: list[str]

    def go(self, path: str) -> None:
        """Open a page, and wait until all of it is there."""
        self.page.goto(f"{self.url}/{path}", wait_until="networkidle")

    def barriers(self) -> list[str]:
        """Return what axe-core finds on the page that is open."""
        self.page.evaluate(AXE.read_text("utf-8"))
        found = self.page.evaluate("axe.run()")
        return [
            f"{each['id']}: {node['target']} {node['failureSummary']}"
            for each in found["violations"]
            for node in each["nodes"]
        ]

    def overflow(self) -> int:
        """Return by how many pixels the page is wider than its window."""
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        return int(self.page.evaluate(wide))


@contextlib.contextmanager
def visiting(browser: "Browser", url: str, look: str) -> Iterator[Visit]:
    """Open a window that notes every error, and every request to another host."""
    context, troubles = browser.new_context(**LOOKS[look]), list[str]()
    page = context.new_page()

    def noted(request: Any) -> None:
        if not request.url.startswith((f"{url}/", "data:")):
            troubles.append(f"a request to {request.url}")

    def told(message: Any) -> None:
        if message.type in ("error", "warning"):
            troubles.append(f"{message.type}: {message.text}")

    page.on("request", noted)
    page.on("console", told)
    page.on("pageerror", lambda error: troubles.append(f"an error: {error}"))
    try:
        yield Visit(page, url, troubles)
    finally:
        context.close()
