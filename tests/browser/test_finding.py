"""Ways to messages and to the calls behind pages: the search box, schemas, kept searches, roles."""

import asyncio

import aerobee
from tests.browser_kit import DESKTOP, PHONE, breaches, log_in, open_page, press_button
from tests.console_kit import ConsoleClient
from tools.browser.devtools import Browser

SCHEMA = '{"type": "record", "name": "r", "fields": [{"name": "answer", "type": "long"}]}'
TEXT = "[...document.querySelectorAll('.search-hit')].find(one => one.innerText.includes('{}'))"


def _packed(console: ConsoleClient, topic: str) -> None:
    """A topic with one body in Avro."""

    async def send() -> None:
        async with aerobee.connect(console.name_server) as client:
            await client.send(topic, b"\x54", keys=[f"{topic}-key"])

    assert console.change("POST", "/api/topics", {"name": topic, "queues": 1}).status == 200
    asyncio.run(send())


def test_a_key_in_the_search_box_leads_to_the_message_wherever_it_is(
    browser: Browser, console: ConsoleClient
) -> None:
    _packed(console, "found-by-key")
    page = open_page(browser, console, "/", DESKTOP)
    page.press("/")
    page.type("found-by-key-key")
    hit = TEXT.format("in all topics")
    page.wait(hit)
    page.evaluate(f"{hit}.click()")
    page.wait("location.search === '?by=lookup&word=found-by-key-key'")
    page.wait("document.querySelector('.table-body .cell-link')?.innerText === 'found-by-key'")
    assert breaches(page, console) == []
    page.click(".table-body .cell-link")
    page.wait("location.pathname.startsWith('/messages/found-by-key/')")


def test_a_topic_and_an_offset_or_a_time_in_the_search_box_open_that_search(
    browser: Browser, console: ConsoleClient
) -> None:
    page = open_page(browser, console, "/", DESKTOP)
    page.press("/")
    page.type("demo-orders broker-a:0:1")
    hit = TEXT.format("offset 1 of queue 0 in demo-orders")
    page.wait(hit)
    page.evaluate(f"{hit}.click()")
    page.wait("location.search.includes('by=offset')")
    page.wait("document.querySelector('.table-body .cell-link')")
    page.press("/")
    page.type("demo-orders 00:00")
    hit = TEXT.format("in demo-orders since 00:00")
    page.wait(hit)
    page.evaluate(f"{hit}.click()")
    page.wait("document.querySelector('#search-from')?.value.endsWith('T00:00')")


def test_bodies_are_read_by_a_schema_that_the_browser_keeps(
    browser: Browser, console: ConsoleClient
) -> None:
    _packed(console, "packed-bodies")
    page = open_page(browser, console, "/messages?topic=packed-bodies", DESKTOP)
    page.wait("document.querySelector('.table-body .mono')")
    page.click(".schema summary")
    page.fill("#schema-text", "no schema")
    press_button(page, "Use", ".schema")
    page.wait("document.querySelector('main').innerText.includes('ends too early')")
    page.troubles.clear()  # the answer that refuses it
    page.fill("#schema-text", SCHEMA)
    press_button(page, "Use", ".schema")
    page.wait("document.querySelector('.table-body .mono')?.innerText === '{\"answer\": 42}'")
    assert breaches(page, console) == []
    page.click(".table-body .cell-link")
    page.wait("document.querySelector('.body-text')?.innerText.includes('\"answer\": 42')")
    assert breaches(page, console) == []


def test_a_search_is_kept_opened_again_and_forgotten(
    browser: Browser, console: ConsoleClient
) -> None:
    page = open_page(browser, console, "/messages?topic=demo-orders&text=created", PHONE)
    press_button(page, "Keep this search")
    page.wait("document.querySelector('.saved li')")
    assert breaches(page, console) == []
    page.go(f"http://{console.address}/messages")
    name = "demo-orders · Search · text=created"
    press_button(page, name, ".saved")
    page.wait("location.search === '?topic=demo-orders&text=created'")
    page.wait("document.querySelector('#search-text').value === 'created'")
    page.evaluate("document.querySelector('.saved .icon-button').click()")
    page.wait("!document.querySelector('.saved')")


def test_a_page_tells_the_call_behind_it(browser: Browser, console: ConsoleClient) -> None:
    page = open_page(browser, console, "/topics/demo-orders", DESKTOP)
    page.click(".page-request summary")
    page.wait("document.querySelector('.page-request .copy-as')?.innerText.includes('aerobee')")
    assert breaches(page, console) == []


def test_a_log_out_elsewhere_brings_the_log_in_to_a_page_that_only_watches(
    browser: Browser, guarded: ConsoleClient
) -> None:
    made = {"name": "watcher", "password": "watcher-secret"}
    assert guarded.change("POST", "/api/users", made).status == 200
    page = browser.open_page()
    page.go(f"http://{guarded.address}/")
    page.wait("document.querySelector('.log-in')")
    log_in(page, "watcher", "watcher-secret")
    page.wait("document.querySelector('.chart')")
    assert not page.evaluate(
        "[...document.querySelectorAll('nav a')].some(one => one.pathname === '/users')"
    )
    gone = {"confirm": "watcher"}
    assert guarded.change("DELETE", "/api/users/watcher", gone).status == 200
    page.wait("document.querySelector('.log-in')")
