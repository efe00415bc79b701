"""The leader of a Raft group hands over on the console's page, while a producer sends."""

import contextlib
import threading
from collections.abc import Iterator

import pytest

import aerobee
from aerobee.errors import AerobeeError
from tests.browser_kit import DESKTOP, breaches, choose, finish, open_page, press_button
from tests.console_kit import ConsoleClient, free_ports, running_console
from tools.browser.devtools import Browser, BrowserError, Page

TOPIC = "handed-over"
ATTEMPTS_MAX = 10
WAIT_SECONDS = 10


@pytest.fixture(scope="module")
def group(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleClient]:
    """Of three members, each in a process of its own."""
    # Its members must know each other's ports.
    flags = ("--nodes", "3", "--replication", "raft", "--port", str(free_ports()))
    with running_console(tmp_path_factory.mktemp("group"), *flags) as console:
        yield console


class Producer(threading.Thread):
    """Sends one message after the other, and knows which were acknowledged."""

    def __init__(self, name_server: str) -> None:
        super().__init__(name="producer")
        self._name_server = name_server
        self._ended = threading.Event()
        self.acknowledged: list[str] = []

    def run(self) -> None:
        with aerobee.connect_sync(self._name_server) as client:
            number = 0
            while not self._ended.is_set():
                number += 1
                try:
                    client.send(TOPIC, str(number))
                except AerobeeError:
                    continue  # the leader has just changed
                self.acknowledged.append(str(number))
                self._ended.wait(0.005)  # traffic, and no load test

    def __enter__(self) -> "Producer":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self.join()


def test_leadership_goes_to_the_member_that_was_chosen_and_nothing_is_lost(
    browser: Browser, group: ConsoleClient
) -> None:
    name = group.get("/api/brokers")["rows"][0]["name"]
    group.change("POST", "/api/topics", {"name": TOPIC, "queues": 1})
    with Producer(group.name_server) as producer:
        page = open_page(browser, group, f"/brokers/{name}", DESKTOP)
        old = leader_on(page)
        address = hand_over(page, group, name)
        assert address != old
        assert leader_of(group, name) == address
        so_far = len(producer.acknowledged)
        while len(producer.acknowledged) < so_far + 10:
            page.settle(0.05)
    assert breaches(page, group) == []
    with (
        aerobee.connect_sync(group.name_server) as client,
        client.consumer(TOPIC, group="readers", start="earliest") as consumer,
    ):
        missing = set(producer.acknowledged)
        for message in consumer:
            missing.discard(message.body.decode())
            message.ack()
            if not missing:
                break
    rows = group.get("/api/audit?q=transferLeadership")["rows"]
    assert {(row["of"], row["outcome"]) for row in rows} == {(name, "done")}


LEADER = (
    "[...document.querySelectorAll('.table-body')[0].querySelectorAll('[role=row]')]"
    ".find(row => row.querySelector('.pill.accent'))?.innerText.split('\\n')[0]"
)


def hand_over(page: Page, group: ConsoleClient, name: str) -> str:
    """Have another member lead; its address. One that is behind, as on a busy machine, is not
    waited for by its leader: then it is asked for once more."""
    for _ in range(ATTEMPTS_MAX):
        press_button(page, "Transfer leadership")
        page.wait("document.querySelector('#field-to')?.options.length === 3")
        new, address = page.evaluate(
            "(one => [one.value, one.textContent])(document.querySelector('#field-to').options[2])"
        )
        choose(page, "to", new)
        assert breaches(page, group) == []
        finish(page, "Transfer leadership", name)
        with contextlib.suppress(BrowserError):
            page.wait(f"{LEADER} === {address!r}", WAIT_SECONDS)
            return str(address)
    raise AssertionError(f"{name} was never led by another member")


def leader_on(page: Page) -> str:
    """The address of the leader that the page shows."""
    page.wait(LEADER)
    address: str = page.evaluate(LEADER)
    return address


def leader_of(group: ConsoleClient, name: str) -> str:
    members = group.get(f"/api/brokers/{name}")["members"]
    (address,) = (one["address"] for one in members if one["is_master"])
    return str(address)
