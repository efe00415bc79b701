"""Tests of what a client is given, and in which order."""

from collections import defaultdict

import pytest

from tests.interop.features.conftest import Names
from tests.interop.features.ground import QUEUES, Ground
from tests.interop.features.meeting import meet
from tests.interop.features.program import Event, Program, bodies
from tests.interop.features.test_send import LARGE

ALL = set(range(QUEUES))


def fill(ground: Ground, topic: str, per_queue: int) -> list[str]:
    """The bodies: so many in each queue, numbered in the order of sending."""
    sent = []
    for number in range(per_queue):
        for queue_id in range(QUEUES):
            sent.append(f"{queue_id}:{number}")
            ground.send(topic, queue_id, sent[-1], TAGS="red", KEYS="k1")
    return sent


def check_order(events: list[Event]) -> None:
    """Each queue's messages came as they lie in it."""
    by_queue = defaultdict(list)
    for event in events:
        by_queue[event["queueId"]].append(event)
    for queue_id, own in by_queue.items():
        assert bodies(own) == [f"{queue_id}:{number}" for number in range(len(own))]
        assert [event["queueOffset"] for event in own] == list(range(len(own)))


@pytest.mark.feature("concurrent")
def test_a_consumer_gets_every_message_once_as_it_was_sent(
    client: Program, ground: Ground, names: Names
) -> None:
    ground.create_topic(names.topic)
    client.subscribe(names.one, names.group, names.topic)
    sent = [*(f"body {number}" for number in range(20)), "Grüße 订单", LARGE]
    client.send("sync", names.topic, *sent, tags="red", keys="k1 k2", colour="teal")
    received = client.receive(names.one, lambda events: len(events) >= len(sent))
    assert sorted(bodies(received)) == sorted(sent)
    for event in received:
        said = {name: event[name] for name in ("topic", "tags", "keys", "colour", "reconsumeTimes")}
        assert said == {
            "topic": names.topic,
            "tags": "red",
            "keys": "k1 k2",
            "colour": "teal",
            "reconsumeTimes": 0,
        }


@pytest.mark.feature("orderly")
def test_each_queue_is_consumed_in_its_order(client: Program, ground: Ground, names: Names) -> None:
    ground.create_topic(names.topic)
    sent = fill(ground, names.topic, 10)
    client.subscribe(names.one, names.group, names.topic, mode="orderly")
    received = client.receive(names.one, lambda events: len(events) >= len(sent))
    assert sorted(bodies(received)) == sorted(sent)
    check_order(received)


@pytest.mark.feature("tags")
def test_only_the_wanted_tags_come(client: Program, ground: Ground, names: Names) -> None:
    ground.create_topic(names.topic)
    for queue_id in range(QUEUES):
        for tag in ("red", "green", "blue"):
            ground.send(names.topic, queue_id, f"{tag}{queue_id}", TAGS=tag)
    client.subscribe(names.one, names.group, names.topic, expression="red || blue")
    wanted = {f"{tag}{queue_id}" for tag in ("red", "blue") for queue_id in range(QUEUES)}
    client.receive(names.one, lambda events: wanted <= set(bodies(events)))
    # What lies between them would come with them, though perhaps in another thread.
    client.linger(0.5)
    assert sorted(bodies(client.received(names.one))) == sorted(wanted)


@pytest.mark.feature("pull")
def test_a_pull_finds_what_is_in_the_queues(client: Program, ground: Ground, names: Names) -> None:
    ground.create_topic(names.topic)
    sent = fill(ground, names.topic, 40)
    found = client.ask("pull", group=names.group, topic=names.topic)
    assert sorted(bodies(found)) == sorted(sent)
    check_order(found)


@pytest.mark.feature("poll")
def test_a_member_polls_what_is_in_its_queues(
    client: Program, ground: Ground, names: Names
) -> None:
    ground.create_topic(names.topic)
    sent = fill(ground, names.topic, 10)
    found = client.ask("poll", group=names.group, topic=names.topic, count=len(sent))
    assert sorted(bodies(found)) == sorted(sent)
    check_order(found)


@pytest.mark.feature("broadcast")
def test_every_member_gets_every_message(client: Program, ground: Ground, names: Names) -> None:
    ground.create_topic(names.topic)
    both = (names.one, names.two)
    for consumer in both:
        client.subscribe(consumer, names.group, names.topic, model="broadcasting")
    meet(client, ground, names.topic, dict.fromkeys(both, ALL))
    sent = [f"{queue_id}" for queue_id in range(QUEUES) for _ in range(5)]
    for body in sent:
        ground.send(names.topic, int(body), body, TAGS="wanted")
    for consumer in both:
        received = client.receive(consumer, lambda events: len(wanted(events)) >= len(sent))
        assert sorted(bodies(wanted(received))) == sent


def wanted(events: list[Event]) -> list[Event]:
    return [event for event in events if event["tags"] == "wanted"]
