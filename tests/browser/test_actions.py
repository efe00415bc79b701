"""Actions of the console, done in the browser and seen in the cluster."""

import json

import aerobee
from tests.browser_kit import DESKTOP, breaches, follow, open_page
from tests.console_kit import ConsoleClient
from tools.browser.devtools import Browser, Page


def press_button(page: Page, text: str, within: str = "main") -> None:
    """Click the button that says this."""
    page.wait(f"{_button(text, within)} && !{_button(text, within)}.disabled")
    page.evaluate(f"{_button(text, within)}.click()")


def _button(text: str, within: str) -> str:
    return (
        f"[...document.querySelectorAll({json.dumps(within + ' button')})]"
        f".find(button => button.innerText.trim() === {json.dumps(text)})"
    )


def test_a_topic_is_made_written_to_and_deleted_by_its_name(
    browser: Browser, console: ConsoleClient
) -> None:
    page = open_page(browser, console, "/topics", DESKTOP)
    press_button(page, "New topic")
    page.fill("#field-name", "browser-made")
    page.wait("document.querySelector('dialog .copy-as')?.innerText.includes('curl')")
    assert breaches(page, console) == []
    press_button(page, "New topic", "dialog")
    page.wait("location.pathname === '/topics/browser-made'")
    assert console.get("/api/topics/browser-made")["name"] == "browser-made"

    press_button(page, "Send message")
    page.fill("#field-body", '{"from": "a browser"}')
    press_button(page, "Send message", "dialog")
    page.wait("!document.querySelector('dialog')")
    assert console.get("/api/topics/browser-made")["messages"] == 1

    press_button(page, "Delete")
    page.wait("document.querySelector('.foreseen')?.innerText.includes('browser-made')")
    page.fill("#confirm", "another-name")
    assert page.evaluate("document.querySelector('dialog [type=submit]').disabled")
    page.fill("#confirm", "browser-made")
    assert breaches(page, console) == []
    press_button(page, "Delete topic", "dialog")
    page.wait("location.pathname === '/topics'")
    names = [row["name"] for row in console.get("/api/topics")["rows"]]
    assert "browser-made" not in names


def test_a_reset_shows_first_what_would_be_repeated(
    browser: Browser, console: ConsoleClient
) -> None:
    page = open_page(browser, console, "/groups/demo-ledger", DESKTOP)
    press_button(page, "Reset offsets")
    page.evaluate(
        "(() => { const to = document.getElementById('field-to'); to.value = 'earliest';"
        " to.dispatchEvent(new Event('change', {bubbles: true})) })()"
    )
    page.wait("document.querySelector('.foreseen table tbody tr')")
    assert breaches(page, console) == []
    press_button(page, "Cancel", "dialog")
    page.wait("!document.querySelector('dialog')")


def test_a_message_with_a_time_is_seen_before_it_and_taken_back(
    browser: Browser, console: ConsoleClient
) -> None:
    with aerobee.connect_sync(console.name_server) as client:
        payload = "<img src=x onerror=window.pwned=1>"
        sent = client.send("browser-later", payload, delay=1200)
    page = open_page(browser, console, "/delayed?topic=browser-later", DESKTOP)
    page.wait("document.querySelector('.table-body')?.innerText.includes('onerror')")
    page.wait("document.querySelectorAll('.histogram li').length === 30")
    assert not page.evaluate("window.pwned || document.querySelector('main img')")
    press_button(page, "Recall")
    page.fill("#confirm", sent.message_id)
    assert breaches(page, console) == []
    press_button(page, "Recall message", "dialog")
    page.wait("document.querySelector('main .empty')")
    assert console.get("/api/delayed?topic=browser-later")["rows"] == []


def test_a_load_test_is_started_watched_stopped_and_looked_at(
    browser: Browser, console: ConsoleClient
) -> None:
    page = open_page(browser, console, "/bench", DESKTOP)
    press_button(page, "Start a load test")
    page.fill("#field-rate", "100")
    page.fill("#field-duration", "600")
    page.wait("document.querySelector('dialog .copy-as')?.innerText.includes('aerobee')")
    press_button(page, "Start a load test", "dialog")
    page.wait("document.querySelector('.chart [role=img]')?.ariaLabel?.includes('/s')")
    assert breaches(page, console) == []
    press_button(page, "Stop")
    press_button(page, "Stop the load test", "dialog")
    page.wait("document.querySelector('.table-body .cell-link')")
    (row,) = console.get("/api/bench")["rows"]
    follow(page, f"/bench/{row['name']}?with={row['name']}")
    page.wait("document.querySelector('.table-body')?.innerText.includes('sent rate')")
    assert breaches(page, console) == []


def test_an_action_that_fails_says_why_and_stays_open(
    browser: Browser, console: ConsoleClient
) -> None:
    page = open_page(browser, console, "/topics", DESKTOP)
    press_button(page, "New topic")
    page.fill("#field-name", "not a name!")
    press_button(page, "New topic", "dialog")
    page.wait("document.querySelector('dialog .notice.bad')")
