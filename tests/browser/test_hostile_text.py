"""Text that clients write, with markup in it, stays text in every page that shows it."""

import ast
import contextlib
import shlex
import socket
from collections.abc import Iterator
from urllib.parse import quote, unquote

import pytest

import aerobee
from aerobee.client.core.trace_records import FIELD_END, RECORD_END
from aerobee.model.names import TRACE_TOPIC
from aerobee.model.subscription import Subscription
from aerobee.protocol.bodies.heartbeat import ConsumerBeat, Heartbeat, encode_heartbeat
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from aerobee.protocol.request_codes import RequestCode
from tests.browser_kit import (
    DESKTOP,
    breaches,
    follow,
    log_in,
    open_page,
    press_button,
    send_raw,
    visit,
)
from tests.console_kit import ConsoleClient, running_console
from tests.hostile_text_kit import (
    MEMBER,
    MEMBER_GROUP,
    PAYLOADS,
    WORDS,
    broker_of,
    hostile_queries,
    plant_captures,
    plant_names,
    plant_results,
    talkative,
)
from tests.web_kit import served_text
from tools.browser.devtools import Browser, Page

_REST = ("1", "1", "0", "x", "true")
"""The rest of a record of a trace: size, cost, kind, offset id, success."""


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleClient]:
    """Of a cluster of its own, with a page of metrics and results of load tests."""
    folder = tmp_path_factory.mktemp("hostile")
    with served_text("\n".join(hostile_queries())) as page:
        jobs = {"AEROBEE_CONSOLE_PIPELINE_PAGES": page}
        with running_console(folder, **jobs) as console:
            plant_results(console.folder)
            yield console


@pytest.fixture(scope="module")
def hostile(console: ConsoleClient) -> Iterator[aerobee.SyncClient]:
    """A client that has sent every payload in every field of a message."""
    with aerobee.connect_sync(console.name_server) as client:
        for payload, word in zip(PAYLOADS, WORDS, strict=True):
            client.send("hostile", payload, tag=word, keys=[word], headers={"note": payload})
        yield client


_STRANGERS = "script, iframe, object, embed, video, audio, math, style, link, meta, img, image, use"
_EVERY_ROW = f"""
(async () => {{
  const address = one => one.href?.baseVal ?? one.href ?? one.src;
  const isStrange = one => one.matches('main :is({_STRANGERS})')
    || one.getAttributeNames().some(name => name.startsWith('on') || name === 'background')
    || typeof address(one) === 'string' && new URL(address(one), location).host !== location.host;
  const look = () => [...document.body.querySelectorAll('*')].filter(isStrange)
    .map(one => one.outerHTML.slice(0, 200));
  const strange = look();
  for (const table of document.querySelectorAll('main [role=table]')) {{
    for (let top = 0; top <= table.scrollHeight; top += table.clientHeight) {{
      table.scrollTop = top;
      await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
      strange.push(...look());
    }}
  }}
  return window.pwned ? ['it ran'] : strange;
}})()
"""


def strange_parts(page: Page) -> list[str]:
    """What is not text, in every row of every table of the page: elements and attributes that run
    or load something, addresses that leave the console."""
    parts: list[str] = page.evaluate(_EVERY_ROW)
    return parts


def test_there_are_as_many_payloads_as_promised() -> None:
    assert len(set(PAYLOADS)) >= 80


def test_markup_in_messages_is_text(
    browser: Browser, console: ConsoleClient, hostile: aerobee.SyncClient
) -> None:
    page = open_page(browser, console, "/messages?topic=hostile", DESKTOP)
    page.wait(f"document.querySelector('[role=table]')?.ariaRowCount > {len(PAYLOADS)}")
    page.wait("document.querySelector('.table-body')?.innerText.includes('pwned')")
    assert strange_parts(page) == []
    rows = console.get("/api/messages?topic=hostile&limit=64")["rows"]
    for row in rows[:: len(rows) // 4]:
        visit(page, console, f"/messages/hostile/{row['offset_id']}")
        page.wait("document.querySelector('.pairs')?.innerText.includes('pwned')")
        assert strange_parts(page) == []
    assert breaches(page, console) == []


def test_markup_in_what_a_client_says_of_itself_is_text(
    browser: Browser, console: ConsoleClient
) -> None:
    """Its id, the group that it sends as, and its subscriptions come with a heartbeat."""
    with contextlib.ExitStack() as stack:
        for number, payload in enumerate(PAYLOADS):
            text = f"{number}{payload}"
            group = ConsumerBeat("hostile-group", subscriptions=(Subscription("hostile", text),))
            beat = Heartbeat(text, (text,), (group,))
            request = RemotingCommand(RequestCode.HEART_BEAT, body=encode_heartbeat(beat))
            peer = stack.enter_context(socket.create_connection(broker_of(console)))
            peer.sendall(b"".join(encode(request)))
            assert peer.recv(4)
        console.until("group.hostile-group.members", len(PAYLOADS))
        page = open_page(browser, console, "/groups/hostile-group", DESKTOP)
        for path in ("/groups/hostile-group", "/clients?q=pwned"):
            follow(page, path)
            page.wait("document.querySelector('main')?.innerText.includes('pwned')")
            assert strange_parts(page) == []
        text = f"0{PAYLOADS[0]}"
        follow(page, f"/clients/{quote(text, safe='')}")
        assert strange_parts(page) == []
        assert breaches(page, console) == []


def test_markup_in_an_address_is_text(browser: Browser, console: ConsoleClient) -> None:
    page = open_page(browser, console, "/topics", DESKTOP)
    for payload in PAYLOADS[:: len(PAYLOADS) // 6]:
        page.evaluate(
            f"history.pushState(null, '', '/topics?q=' + encodeURIComponent({payload!r}));"
            " dispatchEvent(new PopStateEvent('popstate'))"
        )
        page.wait("document.querySelector('main .empty')")
        assert strange_parts(page) == []
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
    assert strange_parts(page) == []
    assert breaches(page, console) == []


def test_markup_in_open_transactions_is_text(browser: Browser, console: ConsoleClient) -> None:
    halves = [
        (payload, {"TRAN_MSG": "true", "PGROUP": payload, "UNIQ_KEY": payload, "TAGS": payload})
        for payload in PAYLOADS
    ]
    send_raw(console, "hostile-halves", halves)
    page = open_page(browser, console, "/transactions", DESKTOP)
    page.wait(f"document.querySelector('[role=table]').ariaRowCount > {len(PAYLOADS)}")
    assert strange_parts(page) == []
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
    assert strange_parts(page) == []
    assert breaches(page, console) == []


def test_markup_in_the_record_of_actions_is_text(browser: Browser, console: ConsoleClient) -> None:
    for payload in PAYLOADS:
        assert console.change("POST", "/api/topics", {"name": payload}).status in (400, 502)
    page = open_page(browser, console, "/audit?q=pwned", DESKTOP)
    page.wait("document.querySelector('.table-body')?.innerText.includes('pwned')")
    assert strange_parts(page) == []
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
        assert strange_parts(page) == []
    assert page.troubles == []


PLACES = (
    *("/", "/topics?kind=all&q=", "/groups?kind=all&q=", "/brokers", "/clients", "/dead-letters"),
    *("/transactions", "/delayed", "/pipeline", "/bench", "/users", "/audit", "/topics/hostile"),
    *("/messages?topic=hostile", "/messages?topic=hostile&text=pwned", "/groups/hostile-talkers"),
    *("/dead-letters/hostile-victims", "/brokers/broker-a?all=yes"),
)
THEIRS = ("/clients", "/pipeline", "/bench", "/delayed", f"/groups/{MEMBER_GROUP}")


def test_no_page_runs_or_loads_what_clients_wrote(
    browser: Browser, console: ConsoleClient, hostile: aerobee.SyncClient
) -> None:
    """All places at once: members, captures, queries, results, messages that wait for a time, names
    as far as brokers take them."""
    plant_names(console)
    plant_captures(hostile)
    for payload, word in zip(PAYLOADS, WORDS, strict=True):
        hostile.send("hostile-later", payload, tag=word, keys=[word], delay=1200)
    with talkative(console):
        console.until(f"group.{MEMBER_GROUP}.members", 1)
        page = open_page(browser, console, "/", DESKTOP)
        client = f"/clients/{quote(MEMBER, safe='')}?stacks=yes"
        (newest, *older) = [row["name"] for row in console.get("/api/bench")["rows"]]
        for path in (*PLACES, client, f"/bench/{newest}?with={older[0]}"):
            follow(page, path)
            if path in (*THEIRS, client):
                page.wait("document.querySelector('main').innerText.includes('pwned')")
            assert strange_parts(page) == [], path
        page.press("/")
        for payload in PAYLOADS[:: len(PAYLOADS) // 4]:
            page.fill("#search", payload)
            assert strange_parts(page) == []


def test_what_a_page_offers_to_copy_has_texts_of_clients_as_single_words(
    browser: Browser, console: ConsoleClient
) -> None:
    """Texts that a sender chose are arguments of the command, and no commands of their own."""
    evil = "x'; touch pwned; $(id) `id` \"\\ {id} #"
    send_raw(console, "hostile-ids", [("half", {"TRAN_MSG": "true", "UNIQ_KEY": evil})])
    page = open_page(browser, console, "/transactions", DESKTOP)
    bottom = (
        "(table => (table.scrollTop = table.scrollHeight))(document.querySelector('[role=table]'))"
    )
    page.wait(f"{bottom}, {_row_of('hostile-ids')}?.querySelector('button')")
    page.evaluate(f"{_row_of('hostile-ids')}.querySelector('button').click()")
    copied = _copied(page)
    assert shlex.split(copied["aerobee"])[-2:] == ["commit", evil]
    url = shlex.split(copied["curl"].splitlines()[-1])[-1]
    assert unquote(url.split("/")[-2]) == evil
    told = [
        one.value for one in ast.walk(ast.parse(copied["Python"])) if isinstance(one, ast.Constant)
    ]
    assert any(quote(evil, safe="!'()*") in str(one) for one in told)
    page.press("Escape")

    follow(page, "/topics/hostile")
    press_button(page, "Send message")
    page.fill("#field-keys", "{body}")
    page.fill("#field-body", f"two  spaces, {{tag}}, {evil}")
    words = shlex.split(_copied(page)["aerobee"])
    assert f"two  spaces, {{tag}}, {evil}" in words
    assert "{body}" in words


def _row_of(text: str) -> str:
    return (
        "[...document.querySelectorAll('.table-body [role=row]')]"
        f".find(row => row.innerHTML.includes({text!r}))"
    )


def _copied(page: Page) -> dict[str, str]:
    """What the open dialog offers to copy, by its kind."""
    page.wait("document.querySelector('dialog .copy-as')?.innerText.includes('aerobee')")
    told: dict[str, str] = page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('dialog .copy-as button')]"
        ".map(one => [one.innerText.trim(), one.title]))"
    )
    return told
