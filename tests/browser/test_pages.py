"""Every page of the console, opened at desktop and phone width on a cluster with live traffic."""

import pytest

from tests.browser_kit import DESKTOP, PHONE, Look, breaches, follow, open_page, visit
from tests.console_kit import ConsoleClient
from tools.browser.devtools import Browser

LISTS = (
    *("/", "/topics", "/groups", "/messages", "/brokers", "/clients"),
    *("/dead-letters", "/transactions", "/delayed", "/pipeline", "/bench", "/users", "/audit"),
)
THINGS = (
    *("/topics/demo-orders", "/groups/demo-billing", "/messages?topic=demo-orders"),
    *("/brokers/broker-a", "/dead-letters/demo-guard"),
)


@pytest.mark.parametrize("look", [DESKTOP, PHONE], ids=["desktop, light", "phone, dark"])
def test_every_page_opens_without_an_error_or_a_finding_of_axe(
    browser: Browser, console: ConsoleClient, look: Look
) -> None:
    """Things are opened by their addresses, lists by links."""
    page = open_page(browser, console, THINGS[0], look)
    found = {}
    for path in (*LISTS, *THINGS):
        if path in LISTS:
            follow(page, path)
        else:
            visit(page, console, path)
        found[path] = breaches(page, console)
        page.troubles.clear()
    assert found == {path: [] for path in found}


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
    assert breaches(page, console) == []


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
