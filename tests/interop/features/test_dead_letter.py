"""A message that nobody can use is tried again, and then put aside."""

import pytest

from tests.interop.features.conftest import Names, Programs
from tests.interop.features.ground import Ground
from tests.interop.features.program import Program, bodies
from tests.interop.features.waiting import until

RETRIES = 2


def check_that_it_ends_aside(
    client: Program, ground: Ground, names: Names, *, mode: str, tries: int
) -> None:
    ground.create_topic(names.topic)
    ground.create_group(names.group, RETRIES)
    ground.send(names.topic, 0, "useless", TAGS="red", KEYS="k1")
    client.subscribe(
        names.one, names.group, names.topic, mode=mode, verdict="retry", retries=RETRIES
    )
    received = client.receive(names.one, lambda events: len(events) >= tries)
    assert bodies(received) == ["useless"] * tries
    assert [event["reconsumeTimes"] for event in received] == list(range(tries))
    assert {(event["topic"], event["tags"], event["keys"]) for event in received} == {
        (names.topic, "red", "k1")
    }
    dead = f"%DLQ%{names.group}"
    until(lambda: ground.has_topic(dead) and ground.stored(dead, queues=1), 15, "nothing is aside")
    (aside,) = ground.stored(dead, queues=1)
    assert aside.body == b"useless"
    assert (aside.tag, aside.keys) == ("red", ("k1",))
    assert aside.properties["RETRY_TOPIC"] == names.topic
    client.linger(0.5)
    assert len(client.received(names.one)) == tries, "it came again, aside as it is"


@pytest.mark.feature("dead-letter")
def test_a_message_that_always_fails_ends_in_the_dead_letter_topic(
    client: Program, ground: Ground, names: Names
) -> None:
    check_that_it_ends_aside(client, ground, names, mode="concurrent", tries=RETRIES + 1)


@pytest.mark.feature("orderly-dead-letter")
def test_an_ordered_message_that_always_fails_ends_there_too(
    programs: Programs, client: Program, ground: Ground, names: Names
) -> None:
    # Go goes on while the count is not above the limit, the others while it is below.
    tries = RETRIES + 2 if programs.client == "go" else RETRIES + 1
    check_that_it_ends_aside(client, ground, names, mode="orderly", tries=tries)
