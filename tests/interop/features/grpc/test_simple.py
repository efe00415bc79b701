"""Simple consumers: a message is acknowledged, postponed, or comes again by itself."""

import pytest

from tests.interop.features.conftest import Names, Programs
from tests.interop.features.ground import QUEUES, Ground
from tests.interop.features.program import Program, bodies
from tests.interop.features.test_consume import fill

INVISIBLE_S = 10
"""Apache's proxy takes no less."""
LATE_MAX_MS = 15_000
"""Apache's broker brings messages back some seconds after their time."""


def prepare(ground: Ground, names: Names) -> None:
    ground.create_topic(names.topic, kind="NORMAL")
    ground.create_group(names.group, retries=16)


@pytest.mark.feature("grpc-simple")
def test_what_was_acknowledged_does_not_come_again_and_all_else_does(
    client: Program, ground: Ground, names: Names
) -> None:
    prepare(ground, names)
    sent = fill(ground, names.topic, 2)
    client.open(names.one, names.group, names.topic)
    found = client.take(names.one, len(sent), invisible_s=INVISIBLE_S)
    assert sorted(bodies(found)) == sorted(sent)
    left, done = found[:2], found[2:]
    client.ack(names.one, done)
    again = client.take(names.one, 3, seconds=INVISIBLE_S + 8, invisible_s=60)
    client.ack(names.one, again)
    assert sorted(bodies(again)) == sorted(bodies(left))
    assert {event["attempt"] for event in again} == {2}
    assert {event["msgId"] for event in again} == {event["msgId"] for event in left}
    first = {event["body"]: event["time"] for event in left}
    for event in again:
        # Received at once; the time at which the program says so is a little later.
        waited_ms = event["time"] - first[event["body"]]
        assert INVISIBLE_S * 1000 - 1000 <= waited_ms < INVISIBLE_S * 1000 + LATE_MAX_MS


@pytest.mark.feature("grpc-postpone")
def test_a_message_comes_again_after_its_changed_invisible_duration(
    client: Program, ground: Ground, names: Names
) -> None:
    prepare(ground, names)
    postpone_one_of_two(client, ground, names)


def postpone_one_of_two(client: Program, ground: Ground, names: Names) -> None:
    """Two messages whose invisible durations are changed; one of them is acknowledged then."""
    for body in ("soon", "never"):
        ground.send(names.topic, 0, body)
    client.open(names.one, names.group, names.topic)
    found = {event["body"]: event for event in client.take(names.one, 2, invisible_s=300)}
    client.postpone(names.one, found["soon"], 3)
    # The changed receipt is the one that counts from now on.
    client.postpone(names.one, found["never"], 5)
    client.ack(names.one, [found["never"]])
    again = client.take(names.one, 2, seconds=15, invisible_s=60)
    client.ack(names.one, again)
    assert bodies(again) == ["soon"]
    assert again[0]["attempt"] == 2
    assert 2_000 <= again[0]["time"] - found["soon"]["time"] < 3_000 + LATE_MAX_MS


@pytest.mark.feature("grpc-tags")
def test_only_the_wanted_tags_come(client: Program, ground: Ground, names: Names) -> None:
    prepare(ground, names)
    for queue_id in range(QUEUES):
        for tag in ("red", "green", "blue"):
            ground.send(names.topic, queue_id, f"{tag}{queue_id}", TAGS=tag)
    client.open(names.one, names.group, names.topic, expression="red || blue")
    wanted = {f"{tag}{queue_id}" for tag in ("red", "blue") for queue_id in range(QUEUES)}
    found = client.take(names.one, len(wanted) + 1, seconds=8, invisible_s=60)
    client.ack(names.one, found)
    assert sorted(bodies(found)) == sorted(wanted)


@pytest.mark.feature("grpc-sql")
def test_only_what_an_sql_expression_chooses_comes(
    client: Program, ground: Ground, names: Names
) -> None:
    prepare(ground, names)
    for size in range(8):
        ground.send(names.topic, size % QUEUES, f"size {size}", size=str(size))
    client.open(names.one, names.group, names.topic, sql="size > 3 AND size <> 6")
    found = client.take(names.one, 4, seconds=8, invisible_s=60)
    client.ack(names.one, found)
    assert sorted(bodies(found)) == ["size 4", "size 5", "size 7"]


@pytest.mark.feature("grpc-crash")
def test_what_a_killed_consumer_had_comes_to_another(
    programs: Programs, client: Program, ground: Ground, names: Names
) -> None:
    prepare(ground, names)
    sent = fill(ground, names.topic, 2)
    client.open(names.one, names.group, names.topic)
    found = client.take(names.one, len(sent), invisible_s=INVISIBLE_S)
    assert sorted(bodies(found)) == sorted(sent)
    client.kill()
    again = programs.current()
    again.open(names.two, names.group, names.topic)
    found = again.take(names.two, len(sent), seconds=35, invisible_s=60)
    again.ack(names.two, found)
    assert sorted(bodies(found)) == sorted(sent)
    assert {event["attempt"] for event in found} == {2}
    again.close(names.two)
