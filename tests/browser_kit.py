"""The console's pages in a real browser: opened, looked at by axe, and used.

page = open_page(browser, console, "/topics", DESKTOP)
assert breaches(page) == []
"""

import json
from typing import NamedTuple

from tests.console_kit import ConsoleClient
from tools.browser.devtools import Browser, Page
from tools.console_pages import AXE

# A page is there when it has its heading and nothing of it is on its way.
_IS_THERE = (
    "document.querySelector('main h1, main .empty')"
    " && !document.querySelector('main .loading, main [aria-busy=true]')"
)
# Only what a page contains: the browser's own pages and frames are none of ours.
_AXE = """
axe.run(document, {resultTypes: ['violations']}).then(found => found.violations.map(
  one => one.id + ': ' + one.help + ': ' + one.nodes.map(node => node.target.join(' ')).join(' | ')
))
"""


class Look(NamedTuple):
    """A window, and the colours that its reader prefers."""

    width: int
    height: int
    scheme: str

    @property
    def is_phone(self) -> bool:
        return self.width < 500


DESKTOP = Look(1400, 900, "light")
PHONE = Look(390, 844, "dark")


def open_page(browser: Browser, console: ConsoleClient, path: str, look: Look) -> Page:
    """A page in a tab of its own, as soon as it shows what was asked for."""
    page = browser.open_page()
    page.resize(look.width, look.height, phone=look.is_phone)
    page.prefer(look.scheme)
    visit(page, console, path)
    return page


def visit(page: Page, console: ConsoleClient, path: str) -> None:
    page.go(f"http://{console.address}{path}")
    _arrive(page, path)


def follow(page: Page, path: str) -> None:
    """Go on to another address without loading the page again, as links do."""
    page.evaluate(
        f"history.pushState(null, '', {json.dumps(path)});"
        " dispatchEvent(new PopStateEvent('popstate'))"
    )
    _arrive(page, path)


def _arrive(page: Page, path: str) -> None:
    page.wait(f"location.pathname + location.search === {json.dumps(path)}")
    page.wait(_IS_THERE)


def breaches(page: Page, console: ConsoleClient) -> list[str]:
    """Errors of the page, requests that leave the console, findings of axe, what is too wide."""
    strangers = [url for url in page.requests if not _is_own(url, console)]
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text("utf-8") + "; true")
    found: list[str] = page.evaluate(_AXE)
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        found.append("the page is wider than its window")
    return [*page.troubles, *(f"asked for {url}" for url in strangers), *found]


def _is_own(url: str, console: ConsoleClient) -> bool:
    return url.startswith((f"http://{console.address}/", "data:", "about:"))
