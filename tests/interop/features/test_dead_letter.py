"""A message that nobody can use is tried again, and then put aside."""

import pytest

from tests.interop.features.conftest import Names
from tests.interop.features.ground import Ground
from tests.interop.features.program import Program, bodies
from tests.interop.features.waiting import until

RETRIES = 2


def check_that_it_ends_aside(client: Program, ground: Ground, names: Names, mode: str) -> None:
    ground.create_topic(names.topic)
    ground.create_group(names.group, RETRIES)
    ground.send(names.topic, 0, "useless", TAGS="red", KEYS="k1")
    client.subscribe(
        names.one, names.group, names.topic, mode=mode, verdict="retry", retries=RETRIES
    )
    received = client.receive(names.one, lambda events: len(events) > RETRIES)
    assert bodies(received) == ["useless"] * (RETRIES + 1)
    assert [event["reconsumeTimes"] for event in received] == list(range(RETRIES + 1))
    assert {(event["topic"], event["tags"], event["keys"]) for event in received} == {
        (names.topic, "red", "k1")
    }
    dead = f"%DLQ%{names.group}"
    until(lambda: ground.has_topic(dead) and ground.stored(dead, queues=1), 15, "nothing is aside")
    (aside,) = ground.stored(dead, queues=1)
    assert aside.body == b"useless"
    assert (aside.tag, aside.keys) == ("red", ("k1",))
    assert aside.properties["RETRY_TOPIC"] == names.topic
    assert len(client.received(names.one)) == RETRIES + 1


@pytest.mark.feature("dead-letter")
def test_a_message_that_always_fails_ends_in_the_dead_letter_topic(
    client: Program, ground: Ground, names: Names
) -> None:
    check_that_it_ends_aside(client, ground, names, "concurrent")


@pytest.mark.feature("orderly-dead-letter")
def test_an_ordered_message_that_always_fails_ends_there_too(
    client: Program, ground: Ground, names: Names
) -> None:
    check_that_it_ends_aside(client, ground, names, "orderly")
