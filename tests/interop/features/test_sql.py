"""A consumer says in SQL92 which messages it wants."""

from collections.abc import Sequence

import pytest

from tests.interop.features.conftest import Names
from tests.interop.features.ground import QUEUES, Ground
from tests.interop.features.program import Program, bodies

EXPRESSION = "(colour IN ('red', 'blue') OR colour IS NULL) AND size BETWEEN 2 AND 4"
MATCHING: Sequence[dict[str, str]] = (
    {"colour": "red", "size": "2"},
    {"colour": "blue", "size": "4"},
    {"size": "3"},
)
OTHERS: Sequence[dict[str, str]] = (
    {"colour": "red", "size": "1"},
    {"colour": "green", "size": "3"},
    {"colour": "red"},
    {"size": "5"},
    {"colour": "red", "size": "many"},
    {},
)


def fill(ground: Ground, topic: str, word: str) -> set[str]:
    """Everything into each queue: the bodies of what matches."""
    for queue_id in range(QUEUES):
        for number, properties in enumerate(OTHERS):
            ground.send(topic, queue_id, f"{word} not {queue_id}:{number}", **properties)
        for number, properties in enumerate(MATCHING):
            ground.send(topic, queue_id, f"{word} {queue_id}:{number}", **properties)
    return {
        f"{word} {queue_id}:{number}"
        for queue_id in range(QUEUES)
        for number in range(len(MATCHING))
    }


@pytest.mark.feature("sql")
def test_only_what_the_expression_chooses_comes(
    client: Program, ground: Ground, names: Names
) -> None:
    ground.create_topic(names.topic)
    wanted = fill(ground, names.topic, "before")
    client.subscribe(names.one, names.group, names.topic, sql=EXPRESSION)
    client.receive(names.one, lambda events: wanted <= set(bodies(events)))
    # These find a consumer that waits.
    wanted |= fill(ground, names.topic, "while")
    client.receive(names.one, lambda events: wanted <= set(bodies(events)))
    client.linger(0.5)
    assert sorted(bodies(client.received(names.one))) == sorted(wanted)
