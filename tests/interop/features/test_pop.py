"""Messages are popped: each is acknowledged by itself, and what is not comes back."""

import pytest

from tests.interop.features.conftest import Names, Programs
from tests.interop.features.ground import Ground
from tests.interop.features.program import Program, bodies
from tests.interop.features.test_consume import fill

INVISIBLE_MS = 5000
"""For how long others do not see what one has. Clients take no less."""


def prepare(ground: Ground, names: Names) -> None:
    ground.create_topic(names.topic)
    ground.create_group(names.group, retries=16)
    ground.let_pop(names.topic, names.group)


@pytest.mark.feature("pop")
def test_what_was_acknowledged_does_not_come_back(
    client: Program, ground: Ground, names: Names
) -> None:
    prepare(ground, names)
    before = fill(ground, names.topic, 5)
    for consumer in (names.one, names.two):
        client.subscribe(consumer, names.group, names.topic, pop=INVISIBLE_MS)
    together = _received_by_both(client, names, len(before))
    assert sorted(together) == sorted(before)
    # These find consumers that wait.
    client.send("sync", names.topic, "later", tags="red", keys="k1 k2", colour="teal")
    _received_by_both(client, names, len(before) + 1)
    client.linger(INVISIBLE_MS / 1000 + 3)
    everything = client.received(names.one) + client.received(names.two)
    assert sorted(bodies(everything)) == sorted([*before, "later"])
    for event in everything:
        assert (event["topic"], event["reconsumeTimes"]) == (names.topic, 0)
        if event["body"] == "later":
            assert (event["tags"], event["keys"], event["colour"]) == ("red", "k1 k2", "teal")


def _received_by_both(client: Program, names: Names, count: int) -> list[str]:
    events = client.wait_for(
        lambda _: client.received(names.one) + client.received(names.two),
        lambda events: len(events) >= count,
        60,
    )
    return bodies(events)


@pytest.mark.feature("priority")
def test_high_priorities_are_handed_out_first(
    client: Program, ground: Ground, names: Names
) -> None:
    ground.create_topic(names.topic, kind="PRIORITY")
    ground.create_group(names.group, retries=16)
    ground.let_pop(names.topic, names.group)
    places = []
    for priority in (0, 3, 1, 99, 2, 0):
        (sent,) = client.send("sync", names.topic, f"p{priority}", priority=priority)
        places.append((sent["queueId"], sent["queueOffset"]))
    assert places == [(0, 0), (3, 0), (1, 0), (3, 1), (2, 0), (0, 1)]
    ground.stored_all(names.topic, len(places))
    # With one thread, messages are handled as the broker has handed them out.
    client.subscribe(names.one, names.group, names.topic, pop=INVISIBLE_MS, threads=1)
    received = client.receive(names.one, lambda events: len(events) >= len(places), 60)
    assert bodies(received) == ["p3", "p99", "p2", "p1", "p0", "p0"]
    assert [event["priority"] for event in received] == ["3", "99", "2", "1", "0", "0"]


@pytest.mark.feature("pop-retry")
def test_what_was_refused_comes_back_later(client: Program, ground: Ground, names: Names) -> None:
    prepare(ground, names)
    ground.send(names.topic, 0, "not now", TAGS="red", KEYS="k1")
    client.subscribe(names.one, names.group, names.topic, pop=INVISIBLE_MS, verdict="retry")
    received = client.receive(names.one, lambda events: len(events) >= 2, 60)
    assert bodies(received) == ["not now"] * 2
    assert [event["reconsumeTimes"] for event in received] == [0, 1]
    assert {(event["topic"], event["tags"], event["keys"]) for event in received} == {
        (names.topic, "red", "k1")
    }
    # The client asks for ten seconds the first time.
    assert 9_000 <= received[1]["time"] - received[0]["time"] < 40_000


@pytest.mark.feature("pop-crash")
def test_what_a_killed_consumer_had_comes_to_another(
    programs: Programs, client: Program, ground: Ground, names: Names
) -> None:
    prepare(ground, names)
    sent = fill(ground, names.topic, 2)
    client.subscribe(names.one, names.group, names.topic, pop=INVISIBLE_MS, verdict="none")
    received = client.receive(names.one, lambda events: len(events) >= len(sent), 60)
    assert sorted(bodies(received)) == sorted(sent)
    client.kill()
    again = programs.current()
    again.subscribe(names.two, names.group, names.topic, pop=INVISIBLE_MS)
    received = again.receive(names.two, lambda events: len(events) >= len(sent), 60)
    assert sorted(bodies(received)) == sorted(sent)
    assert {event["topic"] for event in received} == {names.topic}
    assert {event["reconsumeTimes"] for event in received} == {1}
    again.linger(INVISIBLE_MS / 1000 + 3)
    assert len(again.received(names.two)) == len(sent), "it came again, acknowledged as it is"
    again.close(names.two)
