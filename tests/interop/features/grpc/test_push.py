"""Push consumers over gRPC: the client asks for messages, and answers for each."""

from collections import defaultdict
from collections.abc import Sequence

import pytest

from tests.interop.features.conftest import Names, Programs
from tests.interop.features.ground import Ground
from tests.interop.features.program import Program, bodies
from tests.interop.features.test_consume import fill
from tests.interop.features.waiting import until

RETRIES = 2
DEAD_LETTER_SECONDS_MAX = 90
HOLD_MS = 75_000
"""Longer than the minute for which a message is first invisible."""


def prepare(
    ground: Ground,
    names: Names,
    kind: str = "NORMAL",
    retries: int = 16,
    *,
    is_orderly: bool = False,
) -> None:
    ground.create_topic(names.topic, kind=kind)
    ground.create_group(names.group, retries, is_orderly=is_orderly)


@pytest.mark.feature("grpc-push")
def test_a_consumer_gets_every_message_once(client: Program, ground: Ground, names: Names) -> None:
    prepare(ground, names)
    before = fill(ground, names.topic, 5)
    client.subscribe(names.one, names.group, names.topic)
    client.receive(names.one, lambda events: len(events) >= len(before))
    # This finds a consumer that waits.
    client.send("sync", names.topic, "later", tags="red", keys="k1", colour="teal")
    client.receive(names.one, lambda events: "later" in bodies(events))
    client.linger(1)
    received = client.received(names.one)
    assert sorted(bodies(received)) == sorted([*before, "later"])
    assert {(event["topic"], event["attempt"], event["tags"]) for event in received} == {
        (names.topic, 1, "red")
    }


@pytest.mark.feature("grpc-push-retry")
def test_a_message_that_failed_comes_again(client: Program, ground: Ground, names: Names) -> None:
    prepare(ground, names)
    ground.send(names.topic, 0, "not now", TAGS="red", KEYS="k1")
    client.subscribe(names.one, names.group, names.topic, verdict="retry")
    received = client.receive(names.one, lambda events: len(events) >= 2, 60)
    assert [event["attempt"] for event in received[:2]] == [1, 2]
    assert {(event["body"], event["tags"], event["keys"]) for event in received} == {
        ("not now", "red", "k1")
    }


@pytest.mark.feature("grpc-push-fifo")
def test_messages_of_a_group_come_in_order(client: Program, ground: Ground, names: Names) -> None:
    prepare(ground, names, "FIFO", is_orderly=True)
    groups = {word: [f"{word} {number}" for number in range(6)] for word in ("a", "b", "c")}
    for word, sent in groups.items():
        client.send("sync", names.topic, *sent, shard=word)
    client.subscribe(names.one, names.group, names.topic)
    received = client.receive(names.one, lambda events: len(events) >= 18, 60)
    by_group = defaultdict(list)
    for event in received:
        by_group[event["messageGroup"]].append(event["body"])
    assert by_group == groups


def check_that_it_ends_aside(
    client: Program, ground: Ground, names: Names, attempts: Sequence[int]
) -> None:
    client.subscribe(names.one, names.group, names.topic, verdict="retry")
    dead = f"%DLQ%{names.group}"
    until(
        lambda: ground.has_topic(dead) and ground.stored(dead, queues=1),
        DEAD_LETTER_SECONDS_MAX,
        "nothing is aside",
    )
    (aside,) = ground.stored(dead, queues=1)
    assert aside.body == b"useless"
    assert (aside.tag, aside.keys) == ("red", ("k1",))
    client.linger(1)
    received = client.received(names.one)
    assert set(bodies(received)) == {"useless"}
    assert [event["attempt"] for event in received] == attempts


@pytest.mark.feature("grpc-dead-letter")
def test_a_message_that_always_fails_ends_in_the_dead_letter_topic(
    client: Program, ground: Ground, names: Names
) -> None:
    prepare(ground, names, retries=RETRIES)
    ground.send(names.topic, 0, "useless", TAGS="red", KEYS="k1")
    check_that_it_ends_aside(client, ground, names, [1, 2, 3])


@pytest.mark.feature("grpc-fifo-dead-letter")
def test_an_ordered_message_that_always_fails_ends_there_too(
    programs: Programs, client: Program, ground: Ground, names: Names
) -> None:
    prepare(ground, names, "FIFO", RETRIES, is_orderly=True)
    client.send("sync", names.topic, "useless", shard="one", tags="red", keys="k1")
    # Such a message is tried again inside the client: Node never does, Python does not count.
    attempts = {"node-grpc": [1], "python-grpc": [1, 1, 1]}.get(programs.client, [1, 2, 3])
    check_that_it_ends_aside(client, ground, names, attempts)


@pytest.mark.feature("grpc-renewal")
def test_a_message_does_not_come_again_while_it_is_handled(
    client: Program, ground: Ground, names: Names
) -> None:
    prepare(ground, names)
    client.subscribe(names.one, names.group, names.topic, hold=HOLD_MS)
    ground.send(names.topic, 0, "slow")
    client.receive(names.one, lambda events: len(events) >= 1)
    client.linger(HOLD_MS / 1000 + 5)
    assert bodies(client.received(names.one)) == ["slow"]
    until(
        lambda: ground.committed(names.topic, names.group) == 1,
        30,
        "the group is not done with it",
    )
