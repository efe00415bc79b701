"""Text that clients write, with markup in it, stays text in every page that shows it."""

import contextlib
import socket
from collections.abc import Iterator

import pytest

import aerobee
from aerobee.model.subscription import Subscription
from aerobee.protocol.bodies.heartbeat import ConsumerBeat, Heartbeat, encode_heartbeat
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from aerobee.protocol.request_codes import RequestCode
from tests.browser_kit import DESKTOP, breaches, follow, open_page, visit
from tests.console_kit import ConsoleClient
from tools.browser.devtools import Browser, Page

_CALL = "window.pwned=1"
_ELEMENTS = (
    "<script>{0}</script>",
    "<img src=x onerror={0}>",
    "<svg onload={0}>",
    "<svg><script>{0}</script></svg>",
    "<body onload={0}>",
    "<iframe srcdoc='<script>parent.{0}</script>'></iframe>",
    "<iframe src=javascript:{0}></iframe>",
    "<a href=javascript:{0}>x</a>",
    "<input autofocus onfocus={0}>",
    "<select autofocus onfocus={0}>",
    "<textarea autofocus onfocus={0}>",
    "<video><source onerror={0}></video>",
    "<audio src=x onerror={0}>",
    "<details open ontoggle={0}>",
    "<object data=javascript:{0}>",
    "<embed src=javascript:{0}>",
    "<math><mtext><script>{0}</script></mtext></math>",
    "<style>@import 'javascript:{0}'</style>",
    "<link rel=stylesheet href=javascript:{0}>",
    "<meta http-equiv=refresh content='0;url=javascript:{0}'>",
)
_BREAKS = ("{0}", '">{0}', "'>{0}", "</pre></title></textarea>{0}")
PAYLOADS = [
    break_out.format(element.format(_CALL)) for element in _ELEMENTS for break_out in _BREAKS
]


@pytest.fixture(scope="module")
def hostile(console: ConsoleClient) -> Iterator[aerobee.SyncClient]:
    """A client that has sent every payload in every field of a message."""
    with aerobee.connect_sync(console.name_server) as client:
        for payload in PAYLOADS:
            word = payload.replace(" ", "/")  # a space would make two keys of it
            client.send("hostile", payload, tag=word, keys=[word], headers={"note": payload})
        yield client


def is_untouched(page: Page) -> bool:
    strangers = "main :is(script, iframe, object, embed, video, audio, math, style, link, meta)"
    return not page.evaluate(f"window.pwned || document.querySelector('{strangers}')")


def test_there_are_as_many_payloads_as_promised() -> None:
    assert len(set(PAYLOADS)) >= 60


def test_markup_in_messages_is_text(
    browser: Browser, console: ConsoleClient, hostile: aerobee.SyncClient
) -> None:
    page = open_page(browser, console, "/messages?topic=hostile", DESKTOP)
    page.wait(f"document.querySelector('[role=table]')?.ariaRowCount > {len(PAYLOADS)}")
    page.wait("document.querySelector('.table-body')?.innerText.includes('pwned')")
    assert is_untouched(page)
    rows = console.get("/api/messages?topic=hostile&limit=64")["rows"]
    for row in rows[:: len(rows) // 4]:
        visit(page, console, f"/messages/hostile/{row['offset_id']}")
        page.wait("document.querySelector('.pairs')?.innerText.includes('pwned')")
        assert is_untouched(page)
    assert breaches(page, console) == []


def test_markup_in_what_a_client_says_of_itself_is_text(
    browser: Browser, console: ConsoleClient
) -> None:
    """Its id, the group that it sends as, and its subscriptions come with a heartbeat."""
    broker = console.get("/api/brokers")["rows"][0]["address"]
    host, _, port = broker.rpartition(":")
    with contextlib.ExitStack() as stack:
        for number, payload in enumerate(PAYLOADS):
            text = f"{number}{payload}"
            group = ConsumerBeat("hostile-group", subscriptions=(Subscription("hostile", text),))
            beat = Heartbeat(text, (text,), (group,))
            request = RemotingCommand(RequestCode.HEART_BEAT, body=encode_heartbeat(beat))
            peer = stack.enter_context(socket.create_connection((host, int(port))))
            peer.sendall(b"".join(encode(request)))
            assert peer.recv(4)
        console.until("group.hostile-group.members", len(PAYLOADS))
        page = open_page(browser, console, "/groups/hostile-group", DESKTOP)
        for path in ("/groups/hostile-group", "/clients?q=pwned"):
            follow(page, path)
            page.wait("document.querySelector('main')?.innerText.includes('pwned')")
            assert is_untouched(page)
        assert breaches(page, console) == []


def test_markup_in_an_address_is_text(browser: Browser, console: ConsoleClient) -> None:
    page = open_page(browser, console, "/topics", DESKTOP)
    for payload in PAYLOADS[:: len(PAYLOADS) // 6]:
        page.evaluate(
            f"history.pushState(null, '', '/topics?q=' + encodeURIComponent({payload!r}));"
            " dispatchEvent(new PopStateEvent('popstate'))"
        )
        page.wait("document.querySelector('main .empty')")
        assert is_untouched(page)
    assert page.troubles == []
