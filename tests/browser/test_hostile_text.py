"""Text that clients write, with markup in it, stays text in every page that shows it."""

import contextlib
import socket
from collections.abc import Iterator
from urllib.parse import quote

import pytest

import aerobee
from aerobee.client.core.trace_records import FIELD_END, RECORD_END
from aerobee.model.names import TRACE_TOPIC
from aerobee.model.subscription import Subscription
from aerobee.protocol.bodies.heartbeat import ConsumerBeat, Heartbeat, encode_heartbeat
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from aerobee.protocol.request_codes import RequestCode
from tests.browser_kit import DESKTOP, breaches, follow, log_in, open_page, send_raw, visit
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
_REST = ("1", "1", "0", "x", "true")
"""The rest of a record of a trace: size, cost, kind, offset id, success."""
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


_STRANGERS = "main :is(script, iframe, object, embed, video, audio, math, style, link, meta)"
_EVERY_ROW = f"""
(async () => {{
  let strangers = document.querySelectorAll('{_STRANGERS}').length;
  for (const table of document.querySelectorAll('main [role=table]')) {{
    for (let top = 0; top <= table.scrollHeight; top += table.clientHeight) {{
      table.scrollTop = top;
      await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
      strangers += document.querySelectorAll('{_STRANGERS}').length;
    }}
  }}
  return strangers === 0 && !window.pwned;
}})()
"""


def is_untouched(page: Page) -> bool:
    """Whether all is text, in every row of every table of the page."""
    untouched: bool = page.evaluate(_EVERY_ROW)
    return untouched


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
        text = f"0{PAYLOADS[0]}"
        follow(page, f"/clients/{quote(text, safe='')}")
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


def test_markup_in_the_reasons_of_dead_letters_is_text(
    browser: Browser, console: ConsoleClient, hostile: aerobee.SyncClient
) -> None:
    group = "hostile-victims"
    with hostile.consumer("hostile", group=group, start="earliest") as consumer:
        for payload, message in zip(PAYLOADS, consumer, strict=False):
            message.reject(reason=payload)
    while hostile.admin.dead_letters.count(group) < len(PAYLOADS):
        pass  # name servers hear of its topic a moment later
    page = open_page(browser, console, f"/dead-letters/{group}", DESKTOP)
    page.wait(f"document.querySelector('[role=table]').ariaRowCount === '{len(PAYLOADS) + 1}'")
    assert is_untouched(page)
    assert breaches(page, console) == []


def test_markup_in_open_transactions_is_text(browser: Browser, console: ConsoleClient) -> None:
    halves = [
        (payload, {"TRAN_MSG": "true", "PGROUP": payload, "UNIQ_KEY": payload, "TAGS": payload})
        for payload in PAYLOADS
    ]
    send_raw(console, "hostile-halves", halves)
    page = open_page(browser, console, "/transactions", DESKTOP)
    page.wait(f"document.querySelector('[role=table]').ariaRowCount > {len(PAYLOADS)}")
    assert is_untouched(page)
    assert breaches(page, console) == []


def test_markup_in_a_trace_is_text(
    browser: Browser, console: ConsoleClient, hostile: aerobee.SyncClient
) -> None:
    sent = hostile.send("hostile", "traced")
    records = [
        FIELD_END.join(("Pub", "1", *(2 * [one]), "hostile", sent.message_id, *(3 * [one]), *_REST))
        for one in PAYLOADS
    ]
    body = RECORD_END.join(records)
    send_raw(console, TRACE_TOPIC, [(body, {"KEYS": sent.message_id})])
    path = f"/messages/hostile/{sent.message_id}"
    page = open_page(browser, console, path, DESKTOP)
    page.wait(f"document.querySelectorAll('.timeline li').length > {len(PAYLOADS)}")
    assert is_untouched(page)
    assert breaches(page, console) == []


def test_markup_in_the_record_of_actions_is_text(browser: Browser, console: ConsoleClient) -> None:
    for payload in PAYLOADS:
        assert console.change("POST", "/api/topics", {"name": payload}).status == 400
    page = open_page(browser, console, "/audit?q=pwned", DESKTOP)
    page.wait("document.querySelector('.table-body')?.innerText.includes('pwned')")
    assert is_untouched(page)
    assert breaches(page, console) == []


def test_markup_in_users_rights_and_log_ins_is_text(
    browser: Browser, guarded: ConsoleClient
) -> None:
    page = browser.open_page()
    page.go(f"http://{guarded.address}/users")
    page.wait("document.querySelector('.log-in')")
    log_in(page, "root", "root-secret")
    made = 0
    for payload in PAYLOADS:
        user = {"name": payload, "password": "a-long-secret"}
        made += guarded.change("POST", "/api/users", user).status == 200
        right = {"user": payload, "resource": f"Topic:{payload}", "actions": ["Sub"]}
        guarded.change("PUT", "/api/rights", right)
        guarded.change("POST", "/api/login", {"user": payload, "password": payload})
    assert made == len(PAYLOADS)
    for path in ("/users?q=pwned", "/audit?q=pwned"):
        follow(page, path)
        page.wait("document.querySelector('.table-body')?.innerText.includes('pwned')")
        assert is_untouched(page)
    assert page.troubles == []
