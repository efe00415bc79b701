"""Messages are found again."""

from functools import partial

import pytest

from tests.interop.features.conftest import Names
from tests.interop.features.ground import Ground
from tests.interop.features.program import Event, Program, ProgramError, bodies
from tests.interop.features.waiting import until


@pytest.mark.feature("query-key")
def test_messages_are_found_by_each_of_their_keys(
    client: Program, ground: Ground, names: Names
) -> None:
    ground.create_topic(names.topic)
    client.send("sync", names.topic, "one", "two", keys="k1 k2")
    client.send("sync", names.topic, "three", keys="k2")
    client.send("sync", names.topic, "four", keys="k3")
    # The index is written after the answer to a send, in the order of sending.
    until(partial(_found, client, names.topic, "k3"), 10, "the last key is not found")
    for key, wanted in (("k1", ["one", "two"]), ("k2", ["one", "three", "two"]), ("k3", ["four"])):
        assert sorted(_found(client, names.topic, key)) == wanted


def _found(client: Program, topic: str, key: str) -> list[str]:
    try:
        return bodies(client.ask("query-key", topic=topic, key=key))
    except ProgramError:
        return []


@pytest.mark.feature("query-id")
def test_a_message_is_found_by_both_of_its_ids(
    client: Program, ground: Ground, names: Names
) -> None:
    ground.create_topic(names.topic)
    (told,) = client.send("sync", names.topic, "wanted", tags="red")
    client.send("sync", names.topic, "another")
    for wanted in (told["offsetMsgId"], told["msgId"]):
        view = partial(_viewed, client, names.topic, wanted)
        found = until(view, 10, f"{wanted} is not found")
        assert [(event["body"], event["tags"]) for event in found] == [("wanted", "red")]
        assert (found[0]["queueId"], found[0]["queueOffset"]) == (
            told["queueId"],
            told["queueOffset"],
        )


def _viewed(client: Program, topic: str, wanted: str) -> list[Event]:
    try:
        return client.ask("query-id", topic=topic, wanted=wanted)
    except ProgramError:
        return []
