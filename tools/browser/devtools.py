"""A browser driven by its DevTools protocol, over two pipes: no port, no driver, no package.

    with Browser(find_program(), folder) as browser:
        page = browser.open_page()
        page.go("http://127.0.0.1:8080/")
        page.wait("document.querySelector('h1')")
        page.click("a[href='/topics']")
        page.picture(Path("topics.png"))
        page.troubles           errors on the console, exceptions, dialogs, reports of the CSP
        page.strangers()        requests to anything but the sites that it was sent to

Messages are JSON, each ended by a NUL; one thread writes them and reads until the answer comes, and
notes the events that arrive meanwhile.
"""

import base64
import itertools
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from tools.browser.chromium import Program

ANSWER_SECONDS_MAX = 60
WAIT_SECONDS_MAX = 100
"""A busy machine takes ten times as long as a quick one."""
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
# The browser reads descriptor 3 and writes descriptor 4. Either may be another's now: copies first.
_PLACE_PIPES = """
import fcntl, os, sys
pipes = [fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3]]
for place, pipe in zip((3, 4), pipes):
    os.dup2(pipe, place)
os.execv(sys.argv[3], sys.argv[3:])
"""
_ISSUES = ("ContentSecurityPolicyIssue", "MixedContentIssue", "CookieIssue", "CorsIssue")
_WITHIN = ("data", "about", "blob")
"""Schemes of what a page makes itself."""
_KEYS = {"Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "Tab": 9}


class BrowserError(Exception):
    """The browser refused a command, or did not answer."""


class Browser:
    """A browser process with a profile folder of its own."""

    def __init__(self, program: Program, folder: Path, flags: Sequence[str] = ()) -> None:
        """`flags`: more than those that every browser is started with."""
        self._reader, theirs_out = os.pipe()
        theirs_in, self._writer = os.pipe()
        command = [program.path, *FLAGS, *flags, f"--user-data-dir={folder}", "about:blank"]
        with (folder.parent / f"{folder.name}.err").open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _PLACE_PIPES, str(theirs_in), str(theirs_out), *command],
                env={**os.environ, **program.environment},
                pass_fds=(theirs_in, theirs_out),
                stdout=errors,
                stderr=errors,
            )
        os.close(theirs_in)
        os.close(theirs_out)
        self._numbers = itertools.count(1)
        self._unread = b""
        self._pages: dict[str, Page] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(10)
        os.close(self._reader)
        os.close(self._writer)

    def open_page(self) -> "Page":
        """A page in a context of its own: no cookie or stored preference of another page."""
        context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=context)
        session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        page = Page(self, session["sessionId"], context)
        self._pages[session["sessionId"]] = page
        page.prepare()
        return page

    def close_pages(self) -> list[str]:
        """Close all pages; what went wrong in them, and was not expected."""
        found = []
        for page in list(self._pages.values()):
            found += page.faults()
            self.call("Target.disposeBrowserContext", browserContextId=page.context)
        self._pages.clear()
        return found

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._writer, data) :]
        end = time.monotonic() + ANSWER_SECONDS_MAX
        while time.monotonic() < end:
            for answer in self.read(end - time.monotonic()):
                if answer.get("id") == number:
                    if "error" in answer:
                        raise BrowserError(f"{method}: {answer['error']['message']}")
                    result: dict[str, Any] = answer["result"]
                    return result
        raise BrowserError(f"{method}: no answer in {ANSWER_SECONDS_MAX} s")

    def read(self, seconds: float) -> list[dict[str, Any]]:
        """The messages that have arrived, after waiting for one; events are noted by their page."""
        if b"\0" not in self._unread:
            if not select.select([self._reader], [], [], max(seconds, 0))[0]:
                return []
            data = os.read(self._reader, 1 << 20)
            if not data:
                raise BrowserError(f"the browser ended with {self._process.wait(10)}")
            self._unread += data
        *whole, self._unread = self._unread.split(b"\0")
        messages: list[dict[str, Any]] = [json.loads(text) for text in whole]
        for message in messages:
            page = self._pages.get(message.get("sessionId", ""))
            if page is not None and "method" in message:
                page.note(message["method"], message["params"])
        return messages


class Page:
    """A tab: its address, its document, and what went wrong in it."""

    def __init__(self, browser: Browser, session: str, context: str) -> None:
        self._browser = browser
        self._session = session
        self.context = context
        self.troubles: list[str] = []
        self.requests: list[str] = []
        self._sites: set[str] = set()

    def prepare(self) -> None:
        for domain in ("Page", "Runtime", "Log", "Network", "Audits"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._browser.call(method, self._session, **parameters)

    def note(self, method: str, event: Mapping[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            self.requests.append(event["request"]["url"])
        elif method == "Network.webSocketCreated":
            self.requests.append(event["url"])
        elif method == "Runtime.exceptionThrown":
            details = event["exceptionDetails"]
            said = details.get("exception", {}).get("description", details["text"])
            self.troubles.append(f"exception: {said}")
        elif method == "Runtime.consoleAPICalled" and event["type"] in ("error", "assert"):
            words = [str(one.get("value", one.get("description"))) for one in event["args"]]
            self.troubles.append(f"console: {' '.join(words)}")
        elif method == "Log.entryAdded" and event["entry"]["level"] == "error":
            entry = event["entry"]
            self.troubles.append(f"log: {entry['text']} {entry.get('url', '')}")
        elif method == "Page.javascriptDialogOpening":
            self.troubles.append(f"dialog: {event['message']}")
        elif method in ("Page.windowOpen", "Page.frameAttached"):
            self.troubles.append(f"{method}: {event.get('url', '')}")
        elif method == "Audits.issueAdded" and event["issue"]["code"] in _ISSUES:
            self.troubles.append(f"{event['issue']['code']}: {event['issue']['details']}")

    def faults(self) -> list[str]:
        """Everything that a page must not do and this one did until now."""
        self.evaluate("true")  # what was on its way has come before the answer
        return [*self.troubles, *(f"asked for {url}" for url in self.strangers())]

    def strangers(self) -> list[str]:
        """Requests to anything but the sites that the page was sent to by `go`."""
        return [url for url in self.requests if not self._is_own(url)]

    def expect(self, *texts: str) -> None:
        """Take troubles with these texts, each of which there must be, for right."""
        self.evaluate("true")  # what was on its way has come before the answer
        for text in texts:
            if not any(text in one for one in self.troubles):
                raise BrowserError(f"nothing said {text!r}: {self.troubles}")
        self.troubles = [one for one in self.troubles if not any(text in one for text in texts)]

    def _is_own(self, url: str) -> bool:
        parts = urlsplit(url)
        return parts.scheme in _WITHIN or f"{parts.scheme}://{parts.netloc}" in self._sites

    def resize(self, width: int, height: int, *, phone: bool = False, scale: float = 1) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=phone,
        )

    def prefer(self, scheme: str) -> None:
        """`dark` or `light`."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def go(self, url: str) -> None:
        parts = urlsplit(url)
        self._sites.add(f"{parts.scheme}://{parts.netloc}")
        said = self.call("Page.navigate", url=url)
        if said.get("errorText"):
            raise BrowserError(f"{url}: {said['errorText']}")

    def evaluate(self, expression: str) -> Any:
        """The value of an expression, of a promise its outcome."""
        said = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in said:
            details = said["exceptionDetails"]
            text = details.get("exception", {}).get("description", details["text"])
            raise BrowserError(f"{expression[:200]}: {text}")
        return said["result"].get("value")

    def wait(self, expression: str, seconds: float = WAIT_SECONDS_MAX) -> Any:
        """The first true value of an expression; it is asked whenever something happens."""
        end = time.monotonic() + seconds
        while True:
            value = self.evaluate(f"(() => {{ const v = ({expression}); return v && true }})()")
            if value:
                return value
            if time.monotonic() > end:
                shown = self.evaluate("document.body?.innerText?.slice(0, 1500)")
                raise BrowserError(f"never true: {expression}\n{self.troubles}\n{shown}")
            self._browser.read(0.05)

    def settle(self, seconds: float) -> None:
        """Let the page run for a while, and note what it tells."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._browser.read(left)

    def click(self, selector: str) -> None:
        """A click of the mouse on the middle of an element, when it is there."""
        quoted = json.dumps(selector)
        self.wait(f"document.querySelector({quoted})")
        x, y = self.evaluate(
            f"(() => {{ const e = document.querySelector({quoted});"
            " e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect();"
            " return [r.x + r.width / 2, r.y + r.height / 2] })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def type(self, text: str) -> None:
        """Text into the element that has the focus."""
        self.call("Input.insertText", text=text)

    def fill(self, selector: str, text: str) -> None:
        """Other text into a field, when it takes the focus: one of a dialog that is not open yet
        does not."""
        element = f"document.querySelector({json.dumps(selector)})"
        self.wait(f"{element} && ({element}.focus(), document.activeElement === {element})")
        self.evaluate(f"{element}.select?.()")
        self.type(text)

    def press(self, key: str) -> None:
        code = _KEYS.get(key, ord(key[0].upper()))
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                windowsVirtualKeyCode=code,
                **(text if kind == "keyDown" else {}),
            )

    def picture(self, path: Path) -> None:
        data = self.call("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(data))
