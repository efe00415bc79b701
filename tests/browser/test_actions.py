"""Actions of the console, done in the browser and seen in the cluster."""

import pytest

import aerobee
from aerobee.model.flags import is_writable
from tests.browser_kit import (
    DESKTOP,
    PHONE,
    Look,
    breaches,
    choose,
    finish,
    follow,
    log_in,
    open_page,
    press_button,
    send_raw,
    visit,
)
from tests.console_kit import ConsoleClient
from tools.browser.devtools import Browser

LOOKS = pytest.mark.parametrize("look", [DESKTOP, PHONE], ids=["desktop", "phone"])


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


@LOOKS
def test_topics_and_groups_are_changed_reset_and_deleted(
    browser: Browser, console: ConsoleClient, look: Look
) -> None:
    topic = group = f"browser-{look.scheme}"
    console.change("POST", "/api/topics", {"name": topic, "queues": 2})
    with aerobee.connect_sync(console.name_server) as client:
        client.send(topic, "one")
        with client.consumer(topic, group=group, start="earliest") as consumer:
            next(iter(consumer)).ack()

    page = open_page(browser, console, f"/topics/{topic}", look)
    press_button(page, "Change")
    page.fill("#field-queues", "3")
    choose(page, "permission", "r")
    page.wait("document.querySelector('.foreseen')")
    assert breaches(page, console) == []
    finish(page, "Change topic")
    told = console.get(f"/api/topics/{topic}")["configs"][0]
    assert (told["write_queues"], told["permission"]) == (3, "r")

    follow(page, f"/groups/{group}")
    press_button(page, "Change")
    page.fill("#field-retry_max", "5")
    choose(page, "broadcast", "false")
    finish(page, "Change group")
    told = console.get(f"/api/groups/{group}")["configs"][0]
    assert (told["retry_max"], told["broadcast"]) == (5, False)
    press_button(page, "Reset offsets")
    choose(page, "to", "earliest")
    page.wait("document.querySelector('.foreseen')?.innerText.includes('1 messages are consumed')")
    assert breaches(page, console) == []
    finish(page, "Reset offsets", group)
    queues = console.get(f"/api/groups/{group}")["queues"]
    assert sum(one["offset"] for one in queues if not one["is_retry"]) == 0
    press_button(page, "Delete")
    finish(page, "Delete group", group)
    page.wait("location.pathname === '/groups'")
    assert console.ask("GET", f"/api/groups/{group}").status == 404
    console.change("DELETE", f"/api/topics/{topic}", {"confirm": topic})

    press_button(page, "New group")
    page.fill("#field-name", f"{group}-made")
    finish(page, "New group")
    page.wait(f"location.pathname === '/groups/{group}-made'")
    assert console.get(f"/api/groups/{group}-made")["configs"][0]["retry_max"] == 16


@LOOKS
def test_messages_and_dead_letters_are_sent_again_and_a_long_resend_is_stopped(
    browser: Browser, console: ConsoleClient, look: Look
) -> None:
    topic = group = f"browser-given-up-{look.scheme}"
    with aerobee.connect_sync(console.name_server) as client:
        sent = [client.send(topic, f"number {number}") for number in range(4)]
        with client.consumer(topic, group=group, start="earliest") as consumer:
            for count, message in enumerate(consumer):
                message.reject(reason=f"reason {count % 2}")
                if count == 3:
                    break
        while client.admin.dead_letters.count(group) < 4:
            pass  # name servers hear of its topic a moment later

    page = open_page(browser, console, f"/messages/{topic}/{sent[0].offset_id}", look)
    press_button(page, "Resend")
    choose(page, "group", "")
    assert breaches(page, console) == []
    finish(page, "Resend")
    assert console.get(f"/api/topics/{topic}")["messages"] == 5

    visit(page, console, f"/dead-letters/{group}")
    for link in page.evaluate("[...document.querySelectorAll('a[download]')].map(a => a.href)"):
        got = console.ask("GET", link.partition(console.address)[2])
        assert "attachment" in got.headers["content-disposition"]
        assert got.body
    press_button(page, "Resend", ".table-body")
    page.wait("document.querySelector('.foreseen')?.innerText.includes('send 2 dead letters')")
    finish(page, "Resend dead letters", group)

    press_button(page, "Resend", ".page-actions")
    page.fill("#field-per_second", "0.1")
    page.wait("document.querySelector('.foreseen')")
    page.fill("#confirm", group)
    press_button(page, "Resend dead letters", "dialog")
    page.wait("document.querySelector('dialog progress')")
    assert breaches(page, console) == []
    press_button(page, "Stop", "dialog")
    page.wait("!document.querySelector('dialog')")
    ended: list[str] = []
    while not ended:  # the server hears a moment later that nobody waits any more
        rows = console.get(f"/api/audit?q={group}")["rows"]
        ended = [one["detail"] for one in rows if one["outcome"] == "failed"]
    assert "of 4 were sent" in ended[0]


@LOOKS
def test_open_transactions_are_ended_by_hand(
    browser: Browser, console: ConsoleClient, look: Look
) -> None:
    topic = f"browser-halves-{look.scheme}"
    console.change("POST", "/api/topics", {"name": topic, "type": "TRANSACTION"})
    ids = [f"{topic}-{number}" for number in range(2)]
    half = {"TRAN_MSG": "true", "PGROUP": "browser-payers"}
    send_raw(console, topic, [("half", {**half, "UNIQ_KEY": one}) for one in ids])
    page = open_page(browser, console, "/transactions", look)
    rows = (
        "[...document.querySelectorAll('.table-body [role=row]')]"
        f".filter(row => row.innerHTML.includes({topic!r}))"
    )
    titles = {"Commit": "Commit transaction", "Roll back": "Roll back transaction"}
    for left, (button, title) in zip((2, 1), titles.items(), strict=True):
        page.wait(f"{rows}.length === {left}")
        page.evaluate(
            f"[...{rows}[0].querySelectorAll('button')]"
            f".find(one => one.innerText.trim() === {button!r}).click()"
        )
        page.wait("document.querySelector('dialog code')")
        named = page.evaluate("document.querySelector('dialog code').innerText")
        assert breaches(page, console) == []
        finish(page, title, named)
    page.wait(f"{rows}.length === 0")
    open_ones = console.get("/api/transactions?limit=1000")["open"]
    assert [one for one in open_ones if one["topic"] == topic] == []
    assert console.get(f"/api/topics/{topic}")["messages"] == 1


@LOOKS
def test_a_broker_is_changed_and_its_writes_stopped_and_allowed(
    browser: Browser, console: ConsoleClient, look: Look
) -> None:
    page = open_page(browser, console, "/brokers/broker-a?q=transactionCheckMax", look)
    press_button(page, "Change", ".table-body")
    page.fill("#field-value", "14" if look.is_phone else "13")
    page.wait("document.querySelector('.foreseen')?.innerText.includes('transactionCheckMax')")
    assert breaches(page, console) == []
    finish(page, "Change transactionCheckMax", "broker-a")
    page.wait("document.querySelector('.table-body b')")
    for allowed in ("false", "true"):
        press_button(page, "Stop or allow writes")
        choose(page, "allowed", allowed)
        finish(page, "Stop or allow writes", "broker-a")
        with aerobee.connect_sync(console.name_server) as client:
            (queue,) = client.admin.topics.route("demo-orders").queues
        assert is_writable(queue.permission) == (allowed == "true")


@LOOKS
def test_users_and_rights_are_made_changed_asked_about_and_deleted(
    browser: Browser, guarded: ConsoleClient, look: Look
) -> None:
    name = f"browser-{look.scheme}"
    page = browser.open_page()
    page.resize(look.width, look.height, phone=look.is_phone)
    page.go(f"http://{guarded.address}/users?q={name}")
    page.wait("document.querySelector('.log-in')")
    log_in(page, "root", "root-secret")
    press_button(page, "New user")
    page.fill("#field-name", name)
    page.fill("#field-password", "a-long-secret")
    page.wait("document.querySelector('dialog .copy-as')?.innerText.includes('aerobee')")
    recipes = page.evaluate("document.querySelector('dialog .copy-as').innerHTML")
    assert "a-long-secret" not in recipes
    assert breaches(page, guarded) == []
    finish(page, "New user")
    page.wait(f"document.querySelector('.table-body')?.innerText.includes({name!r})")
    press_button(page, "Change", ".table-body")
    choose(page, "enabled", "false")
    finish(page, "Change user")
    page.wait("document.querySelector('.table-body')?.innerText.includes('disabled')")

    press_button(page, "New right")
    page.fill("#field-user", name)
    page.fill("#field-resource", "Topic:orders")
    page.fill("#field-actions", "Sub")
    assert breaches(page, guarded) == []
    finish(page, "New right")
    rights = "[...document.querySelectorAll('.section')][1]"
    page.wait(f"{rights}.innerText.includes('Topic:orders')")
    page.evaluate(f"{rights}.querySelector('.table-body button').click()")
    choose(page, "decision", "deny")
    finish(page, "Change right")
    page.wait(f"{rights}.innerText.includes('Deny')")
    page.fill("#asked-user", name)
    page.fill("#asked-resource", "Topic:orders")
    press_button(page, "Ask")
    page.wait("document.querySelector('.findings li')")
    assert breaches(page, guarded) == []
    page.evaluate(f"[...{rights}.querySelectorAll('.table-body button')].at(-1).click()")
    finish(page, "Delete right", name)
    press_button(page, "Delete", ".table-body")
    finish(page, "Delete user", name)
    assert name not in {one["name"] for one in guarded.get("/api/users")["rows"]}


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
    assert breaches(page, console, ("dark",)) == []
    page.resize(PHONE.width, PHONE.height, phone=True)
    assert breaches(page, console, ("light",)) == []
    press_button(page, "Delete")
    finish(page, "Delete result", row["name"])
    page.wait("location.pathname === '/bench'")
    assert console.get("/api/bench")["rows"] == []


def test_an_action_that_fails_says_why_and_stays_open(
    browser: Browser, console: ConsoleClient
) -> None:
    page = open_page(browser, console, "/topics", DESKTOP)
    press_button(page, "New topic")
    page.fill("#field-name", "not a name!")
    press_button(page, "New topic", "dialog")
    page.wait("document.querySelector('dialog .notice.bad')")
    page.expect("status of 400")
