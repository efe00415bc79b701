"""The console's pages in a real browser: opened, looked at by axe, and used.

page = open_page(browser, console, "/topics", DESKTOP)
assert breaches(page) == []
"""

import json
import socket
from collections.abc import Iterable
from typing import NamedTuple

from aerobee.model.properties import encode_properties
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from aerobee.protocol.request_codes import RequestCode
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


def log_in(page: Page, user: str, password: str) -> None:
    page.fill("#field-user", user)
    page.fill("#field-password", password)
    page.press("Enter")
    page.wait("document.querySelector('.top-tools .link-button')")


def press_button(page: Page, text: str, within: str = "main") -> None:
    """Click the button that says this."""
    page.wait(f"{_button(text, within)} && !{_button(text, within)}.disabled")
    page.evaluate(f"{_button(text, within)}.click()")


def _button(text: str, within: str) -> str:
    return (
        f"[...document.querySelectorAll({json.dumps(within + ' button')})]"
        f".find(button => button.innerText.trim() === {json.dumps(text)})"
    )


def choose(page: Page, field: str, value: str) -> None:
    """Another value in a field that is no text."""
    element = f"document.getElementById({json.dumps(f'field-{field}')})"
    page.wait(element)
    page.evaluate(
        f"(() => {{ const field = {element}; field.value = {json.dumps(value)};"
        " field.dispatchEvent(new Event('change', {bubbles: true})) })()"
    )


def finish(page: Page, button: str, confirm: str = "") -> None:
    """Press the button of the dialog that is open, with the name repeated, until it is done."""
    page.wait("document.querySelector('dialog .copy-as')?.innerText.includes('Python')")
    if confirm:
        page.fill("#confirm", confirm)
    press_button(page, button, "dialog")
    page.wait("!document.querySelector('dialog')")


def breaches(page: Page, console: ConsoleClient, colours: tuple[str, ...] = ()) -> list[str]:
    """Errors of the page, requests that leave the console, findings of axe, what is too wide;
    contrast again in these other colours."""
    strangers = [url for url in page.requests if not _is_own(url, console)]
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text("utf-8") + "; true")
    found: list[str] = page.evaluate(_AXE)
    for scheme in colours:
        page.prefer(scheme)
        told: list[str] = page.evaluate(_AXE.replace("{res", "{runOnly: 'color-contrast', res"))
        found += [f"{scheme}: {one}" for one in told]
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        found.append("the page is wider than its window")
    return [*page.troubles, *(f"asked for {url}" for url in strangers), *found]


def _is_own(url: str, console: ConsoleClient) -> bool:
    return url.startswith((f"http://{console.address}/", "data:", "about:"))


def send_raw(
    console: ConsoleClient, topic: str, messages: Iterable[tuple[str, dict[str, str]]]
) -> None:
    """Have bodies stored with any properties, as no client of ours would."""
    host, _, port = console.get("/api/brokers")["rows"][0]["address"].rpartition(":")
    with socket.create_connection((host, int(port))) as peer:
        for body, properties in messages:
            fields = {
                "producerGroup": "raw",
                "topic": topic,
                "defaultTopic": "TBW102",
                "defaultTopicQueueNums": "4",
                "queueId": "0",
                "sysFlag": "4" if "TRAN_MSG" in properties else "0",
                "bornTimestamp": "1",
                "flag": "0",
                "properties": encode_properties(properties).decode(),
            }
            code = RequestCode.SEND_MESSAGE
            request = RemotingCommand(code, ext_fields=fields, body=body.encode())
            peer.sendall(b"".join(encode(request)))
            size = int.from_bytes(peer.recv(4, socket.MSG_WAITALL), "big")
            assert b'"code":0' in peer.recv(size, socket.MSG_WAITALL)
