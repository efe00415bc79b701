"""Every page of the console, opened at desktop and phone width on a cluster with live traffic."""

import contextlib
from urllib.parse import quote

import pytest

from tests.browser.conftest import RESULTS
from tests.browser_kit import (
    DESKTOP,
    PHONE,
    Look,
    breaches,
    follow,
    log_in,
    open_page,
    press_button,
    visit,
)
from tests.console_kit import ConsoleClient
from tools.browser.devtools import Browser, BrowserError, Page

FILL_SECONDS_MAX = 20
LISTS = (
    *("/", "/topics", "/groups", "/messages", "/brokers", "/clients"),
    *("/dead-letters", "/transactions", "/delayed", "/pipeline", "/bench", "/users", "/audit"),
)
THINGS = (
    *("/topics/demo-orders", "/groups/demo-billing", "/messages?topic=demo-orders"),
    *("/brokers/broker-a?all=yes", "/dead-letters/browser-filled", "/nothing"),
)
UNFILLED = {"/nothing", "/users", "/messages"}
"""Pages that have nothing to show here: the cluster asks nobody who they are (the next test), and
messages are those of a topic."""


MAY_BE_EMPTY = ["None was given up", "Nothing was traced"]
"""Titles of parts that have nothing in a cluster that does well."""


def nothing_to_show(page: Page) -> list[str]:
    """Titles of the parts of a page that stay empty."""
    titles = "[...document.querySelectorAll('main .empty-title')].map(one => one.innerText)"
    left = f"{titles}.filter(one => !{MAY_BE_EMPTY}.includes(one))"
    with contextlib.suppress(BrowserError):
        page.wait(f"{left}.length === 0", FILL_SECONDS_MAX)
    found: list[str] = page.evaluate(left)
    return found


@pytest.mark.parametrize("look", [DESKTOP, PHONE], ids=["desktop, light", "phone, dark"])
def test_every_page_opens_without_an_error_or_a_finding_of_axe(
    browser: Browser, filled: ConsoleClient, look: Look
) -> None:
    """Things are opened by their addresses, lists by links; all have something to show. Contrast is
    looked at in light and dark at both widths."""
    console = filled
    (message,) = console.get("/api/messages?topic=demo-orders&limit=1")["rows"]
    (client, *_) = console.get("/api/clients")["rows"]
    things = (
        *THINGS,
        f"/messages/demo-orders/{message['offset_id']}",
        f"/clients/{quote(client['client_id'], safe='')}?stacks=yes",
        f"/bench/{RESULTS[1]}?with={RESULTS[0]}",
    )
    other = "light" if look.scheme == "dark" else "dark"
    page = open_page(browser, console, things[0], look)
    found = {}
    for path in (*LISTS, *things):
        page.prefer(look.scheme)
        if path in LISTS:
            follow(page, path)
        else:
            visit(page, console, path)
        empty = [] if path in UNFILLED else nothing_to_show(page)
        found[path] = [*empty, *breaches(page, console, (other,))]
        page.troubles.clear()
    assert found == {path: [] for path in found}


@pytest.mark.parametrize("look", [DESKTOP, PHONE], ids=["desktop, light", "phone, dark"])
def test_who_is_not_logged_in_sees_the_log_in_page_alone_and_then_the_page_of_the_link(
    browser: Browser, guarded: ConsoleClient, look: Look
) -> None:
    other = "light" if look.scheme == "dark" else "dark"
    page = browser.open_page()
    page.resize(look.width, look.height, phone=look.is_phone)
    page.prefer(look.scheme)
    page.go(f"http://{guarded.address}/users?q=carol")
    page.wait("document.querySelector('.log-in')")
    assert breaches(page, guarded, (other,)) == []
    log_in(page, "root", "root-secret")
    page.wait("document.querySelector('main')?.innerText.includes('carol')")
    for path in ("/users", "/audit", "/"):
        page.prefer(look.scheme)
        follow(page, path)
        assert breaches(page, guarded, (other,)) == [], path
    press_button(page, "Log out root", ".top-tools")
    page.wait("document.querySelector('.log-in')")


def test_a_viewer_is_not_offered_what_it_may_not_do(
    browser: Browser, guarded: ConsoleClient
) -> None:
    page = browser.open_page()
    page.go(f"http://{guarded.address}/topics")
    page.wait("document.querySelector('.log-in')")
    log_in(page, "carol", "carol-secret")
    page.wait("document.querySelector('main .filter')")
    assert not page.evaluate("document.querySelector('main .button.primary')")
    linked = page.evaluate("[...document.querySelectorAll('nav li a')].map(one => one.pathname)")
    assert "/topics" in linked
    assert not {"/users", "/audit"} & set(linked)


def test_the_navigation_leads_to_every_list(browser: Browser, console: ConsoleClient) -> None:
    page = open_page(browser, console, "/", DESKTOP)
    linked = page.evaluate(
        "[...document.querySelectorAll('nav li a')].map(link => link.getAttribute('href'))"
    )
    assert set(LISTS) <= set(linked)
    for path in linked:
        page.click(f"nav a[href='{path}']")
        page.wait(f"location.pathname === '{path}' && document.querySelector('main h1')")


def test_messages_are_searched_and_opened(browser: Browser, console: ConsoleClient) -> None:
    page = open_page(browser, console, "/messages?topic=demo-orders&text=created", DESKTOP)
    page.click(".table-body .cell-link")
    page.wait("document.querySelector('.body-text')?.innerText.includes('\"step\": \"created\"')")
    page.wait("!document.querySelector('main .loading')")
    page.wait("document.querySelector('.findings li')")
    facts = page.evaluate("[...document.querySelectorAll('.facts a')].map(one => one.pathname)")
    assert {"/brokers/broker-a", "/messages"} <= set(facts)
    assert breaches(page, console) == []


def test_a_slaves_distance_is_drawn(browser: Browser, console: ConsoleClient) -> None:
    page = open_page(browser, console, "/", DESKTOP)
    page.wait(
        "[...document.querySelectorAll('.chart [role=img]')].some(one =>"
        " one.ariaLabel.startsWith('Replicas behind') && / B$/.test(one.ariaLabel))"
    )


def test_new_messages_appear_in_the_tail_until_it_is_stopped(
    browser: Browser, console: ConsoleClient
) -> None:
    page = open_page(browser, console, "/messages", DESKTOP)
    visit_tail = "/messages?topic=demo-orders&by=tail"
    page.go(f"http://{console.address}{visit_tail}")
    page.wait("document.querySelectorAll('.table-body .cell-link').length > 2")
    page.click(".stream-state .button")
    page.wait("document.querySelector('.stream-state')?.innerText === 'Stopped'")
    assert breaches(page, console) == []


def test_charts_move_and_their_values_are_text(browser: Browser, console: ConsoleClient) -> None:
    page = open_page(browser, console, "/", DESKTOP)
    page.wait("document.querySelector('.chart [role=img]')?.ariaLabel?.includes('/s')")
    before = page.evaluate("document.querySelector('.chart [role=img]').ariaLabel")
    now = f"document.querySelector('.chart [role=img]')?.ariaLabel ?? {before!r}"
    page.wait(f"({now}) !== {before!r}")
    assert page.evaluate("document.querySelectorAll('.chart canvas').length") >= 6


def test_a_range_and_a_filter_are_kept_in_the_address(
    browser: Browser, console: ConsoleClient
) -> None:
    page = open_page(browser, console, "/", DESKTOP)
    page.evaluate(
        "[...document.querySelectorAll('.segments button')]"
        ".find(button => button.textContent === '6h').click()"
    )
    page.wait("location.search === '?range=6h'")
    visit(page, console, "/topics?q=orders&sort=-messages")
    rows = "[...document.querySelectorAll('.table-body .cell-link')].map(one => one.textContent)"
    page.wait(f"{rows}.length > 0 && {rows}.every(name => name.includes('orders'))")
    assert page.evaluate("document.querySelector('.filter input').value") == "orders"


def test_the_keyboard_searches_and_opens_pages(browser: Browser, console: ConsoleClient) -> None:
    page = open_page(browser, console, "/", DESKTOP)
    page.press("/")
    page.wait("document.activeElement.id === 'search'")
    page.type("demo-bill")
    page.wait(
        "document.querySelector('.search-hit[aria-selected=true]')?.innerText"
        ".includes('demo-billing')"
    )
    page.press("Enter")
    page.wait("location.pathname === '/groups/demo-billing'")
    page.press("g")
    page.press("t")
    page.wait("location.pathname === '/topics'")


def test_the_language_and_the_colours_are_switched_and_kept(
    browser: Browser, console: ConsoleClient
) -> None:
    page = open_page(browser, console, "/topics", DESKTOP)
    page.click(".top-tools .icon-button.wide")
    page.wait("document.querySelector('main h1')?.textContent === '主题'")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    for _ in range(2):  # of the system, light, dark
        page.click(".top-tools .icon-button:not(.wide)")
    page.wait("document.documentElement.dataset.theme === 'dark'")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    visit(page, console, "/groups")
    page.wait("document.querySelector('main h1')?.textContent === '消费组'")
    assert breaches(page, console) == []
