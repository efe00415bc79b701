"""The broker is killed under clients of gRPC: what it said is so, and clients go on.

These are the last tests of a client: Apache's proxy takes its time to find its broker again.
"""

from functools import partial

import pytest

from tests.interop.features.conftest import Names, Programs
from tests.interop.features.ground import Ground
from tests.interop.features.grpc.test_transactions import transact
from tests.interop.features.program import Event, Program, ProgramError, bodies
from tests.interop.features.waiting import until

RESTART_SECONDS_MAX = 90
COME_BACK_LATE = ("go-grpc", "python-grpc", "rust-grpc")
"""These open a telemetry that has ended again with their next settings, within five minutes, or
with their next send. Until then, another producer of the topic is asked."""


@pytest.mark.feature("grpc-check-back-restart")
def test_a_producer_is_asked_after_the_broker_was_killed(
    programs: Programs, client: Program, ground: Ground, names: Names
) -> None:
    ground.create_topic(names.topic, kind="TRANSACTION")
    transact(client, names, "no", outcome="unknown", check="rollback")
    transact(client, names, "yes", outcome="unknown", check="commit")
    ground.restart_broker()
    asked = client
    if programs.client in COME_BACK_LATE:
        asked = programs.start()
        until(partial(_joined, asked, names), RESTART_SECONDS_MAX, "no transaction succeeds")
    until(partial(_asked_both, names, client, asked), RESTART_SECONDS_MAX, "nobody is asked")
    stored = ground.stored_all(names.topic, 1, RESTART_SECONDS_MAX)
    assert [message.body for message in stored] == [b"yes"]


def _asked_both(names: Names, *producers: Program) -> bool:
    """Whether one of the producers was asked for each of the two messages."""
    texts: set[str] = set()
    for producer in producers:
        producer.linger(0.1)
        texts.update(bodies(producer.checked(names.topic)))
    return {"no", "yes"} <= texts


def _joined(client: Program, names: Names) -> bool:
    """Another producer of the topic is there."""
    try:
        transact(client, names, "of another", outcome="rollback", check="rollback")
    except ProgramError:
        return False
    return True


@pytest.mark.feature("grpc-broker-restart")
def test_sending_and_receiving_go_on_after_the_broker_was_killed(
    client: Program, ground: Ground, names: Names
) -> None:
    ground.create_topic(names.topic, kind="NORMAL")
    ground.create_group(names.group, retries=16)
    client.open(names.one, names.group, names.topic)
    before = [f"before {number}" for number in range(10)]
    client.send("sync", names.topic, *before)
    found = client.take(names.one, 10, invisible_s=60)
    client.ack(names.one, found)
    assert sorted(bodies(found)) == before
    ground.restart_broker()
    assert sorted(message.body.decode() for message in ground.stored(names.topic)) == before
    after = [f"after {number}" for number in range(10)]
    for body in after:
        until(partial(_sent, client, names.topic, body), RESTART_SECONDS_MAX, "no send succeeds")
    received: list[str] = []
    until(
        partial(_all_taken, client, names.one, received, after), RESTART_SECONDS_MAX, "not all come"
    )
    # What was acknowledged shortly before the kill may come once more.
    assert set(received) <= {*before, *after}


def _sent(client: Program, topic: str, body: str) -> list[Event]:
    try:
        return client.send("sync", topic, body)
    except ProgramError:
        return []


def _all_taken(client: Program, consumer: str, received: list[str], wanted: list[str]) -> bool:
    try:
        found = client.take(consumer, 1, seconds=5, invisible_s=60)
        client.ack(consumer, found)
    except ProgramError:
        return False
    received += bodies(found)
    return set(wanted) <= set(received)
