"""Unmodified clients over kills of the leader of a Raft group: nothing that was acknowledged is
lost, and each goes on by itself.

A send that a client gives up, by its own rules, is sent again here, as an application would.
"""

import asyncio
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

import pytest

from aerobee import connect
from aerobee.errors import AerobeeError
from tests.fault.raft.raft_group import RaftBroker, RaftGroup
from tests.fault.replication.group import Mode
from tests.fault.replication.network import Loopback
from tests.interop.features.conftest import check_tools
from tests.interop.features.install import install, language, missing
from tests.interop.features.program import Event, Program, ProgramError, bodies
from tests.interop.features.waiting import until
from tests.score import show

KILLS = 3
BEFORE, MESSAGES = 30, 120
"""Of each round: acknowledged before the kill, and in all."""
SECONDS_MAX = 120
"""Clients ask for routes every 30 s."""
CLIENTS = ("java-5.5.0", "java-4.9.8", "go", "cpp")


@pytest.fixture(scope="module")
def group(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RaftGroup]:
    """Three brokers on loopback, where every client reaches all of them."""
    network = Loopback(3)
    try:
        made = RaftGroup(tmp_path_factory.mktemp("group"), network, Mode(slaves=2, copies=2))
        yield made
        made.close()
    finally:
        network.close()


class Sends(Protocol):
    """Sends texts one after another; returns how many were acknowledged before the first error.
    Calls back when so many were."""

    def __call__(self, texts: Sequence[str], enough: int, then: Callable[[], None]) -> int: ...


def over_kills(group: RaftGroup, sends: Sends, what: str) -> list[str]:
    """Send in rounds in which the leader is killed; everything that was acknowledged."""
    rounds = [Round(group, sends, kill) for kill in range(KILLS)]
    for one in rounds:
        try:
            until(one.goes_on, SECONDS_MAX, f"{what} goes on")
        finally:
            for broker in one.killed:
                broker.start(is_master=False)
        group.until_followed()
    acknowledged = [text for one in rounds for text in one.acknowledged]
    failures = sum(one.failures for one in rounds)
    gaps = ", ".join(f"{one.seconds:.1f}" for one in rounds)
    show(f"{what}: all sent {gaps} s after the kills, {failures} errors at the application")
    return acknowledged


class Round:
    """Messages, among which the leader is killed."""

    def __init__(self, group: RaftGroup, sends: Sends, kill: int) -> None:
        self._group = group
        self._sends = sends
        self._left = [f"{kill}-{number}" for number in range(MESSAGES)]
        self.killed: list[RaftBroker] = []
        self.acknowledged: list[str] = []
        self.failures = 0
        self._killed_s = 0.0
        self.seconds = 0.0
        """From the kill until everything was acknowledged."""

    def goes_on(self) -> bool:
        """Send what is left; whether all of it was acknowledged."""
        enough, then = (0, _nothing) if self.killed else (BEFORE, self._kill)
        count = self._sends(self._left, enough, then)
        self.acknowledged += self._left[:count]
        self._left = self._left[count:]
        self.failures += bool(self._left)
        self.seconds = time.monotonic() - self._killed_s
        return not self._left

    def _kill(self) -> None:
        self.killed.append(self._group.leader())
        self.killed[0].kill()
        self._killed_s = time.monotonic()


def _nothing() -> None:
    pass


@pytest.mark.parametrize(
    "client",
    [
        pytest.param(one, marks=pytest.mark.java if language(one) == "java" else pytest.mark.night)
        for one in CLIENTS
    ],
)
def test_a_client_of_others_goes_on_and_has_lost_nothing(
    group: RaftGroup, client: str, tmp_path: Path
) -> None:
    check_tools(client, missing(client))
    topic, readers = (f"{one}-{client}".replace(".", "-") for one in ("Killed", "readers"))
    made = group.run("topic", "create", topic, "--queues", "4")
    assert made.status == 0, made.error
    command = install(client)
    numbers = itertools.count(1)
    running: list[Program] = []

    def started() -> Program:
        """One that was ended by its own fault is started again, as an application would be."""
        if not running or not running[-1].is_running:
            folder = tmp_path / f"client-{next(numbers)}"
            running.append(Program(command(group.name_server, folder.name, folder), folder))
        return running[-1]

    def send(texts: Sequence[str], enough: int, then: Callable[[], None]) -> int:
        program = started()
        begun = program.begin("send", how="sync", topic=topic, body=texts)
        told: list[Event] = []
        try:
            program.events_of(begun, partial(_is_enough, enough), SECONDS_MAX)
            then()
            told = program.events_of(begun, _has_ended, SECONDS_MAX)
        except ProgramError as error:
            show(f"{client}: {str(error)[-300:]}")
            program.kill()
            return 0
        return sum(one["event"] == "sent" and one["status"] == "SEND_OK" for one in told)

    try:
        started().subscribe("reader", readers, topic)
        acknowledged = over_kills(group, send, client)
        check_stored(group, topic, acknowledged)
        program = started()
        if len(running) > 1:
            program.subscribe("reader", readers, topic)
        else:
            received = program.receive(
                "reader", lambda events: set(bodies(events)) >= set(acknowledged), SECONDS_MAX
            )
            assert set(bodies(received)) >= set(acknowledged)
    finally:
        for one in running:
            if one.is_running:
                one.kill()


def _is_enough(enough: int, events: list[Event]) -> bool:
    return len(events) >= enough or _has_ended(events)


def _has_ended(events: list[Event]) -> bool:
    return any(one["event"] in ("done", "failed") for one in events)


@pytest.mark.night
def test_our_own_client_goes_on_and_sees_no_error(group: RaftGroup) -> None:
    made = group.run("topic", "create", "Killed-ours", "--queues", "4")
    assert made.status == 0, made.error
    errors: list[str] = []

    def send(texts: Sequence[str], enough: int, then: Callable[[], None]) -> int:
        async def run() -> int:
            async with connect(group.name_server, timeout=30) as client:
                for count, text in enumerate(texts):
                    if count == enough:
                        await asyncio.to_thread(then)
                    try:
                        await client.send("Killed-ours", text, timeout=30)
                    except AerobeeError as error:
                        errors.append(str(error))
                        return count
            return len(texts)

        return asyncio.run(run())

    check_stored(group, "Killed-ours", over_kills(group, send, "our own client"))
    assert not errors


def check_stored(group: RaftGroup, topic: str, acknowledged: Sequence[str]) -> None:
    """All of them are in the log of the leader."""

    async def stored() -> list[str]:
        found: list[str] = []
        async with (
            connect(group.name_server, timeout=30) as client,
            client.reader(topic, start="earliest") as reader,
        ):
            while messages := await reader.read(1_000):
                found += [message.body.decode() for message in messages]
        return found

    found = asyncio.run(stored())
    assert set(found) >= set(acknowledged), sorted(set(acknowledged) - set(found))[:10]
    show(f"{topic}: {len(found) - len(set(found))} stored twice")
