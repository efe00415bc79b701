"""A message comes at its time, unless it was taken back."""

import time

import pytest

from tests.interop.features.conftest import Names
from tests.interop.features.ground import QUEUES, Ground
from tests.interop.features.meeting import meet
from tests.interop.features.program import Program, bodies, tagged

LATE_MAX_MS = 10_000
"""Of a machine that has other things to do."""


def in_seconds(seconds: float) -> int:
    return time.time_ns() // 1_000_000 + round(seconds * 1000)


@pytest.mark.feature("timer")
def test_a_message_for_a_time_comes_then_and_never_early(
    client: Program, ground: Ground, names: Names
) -> None:
    ground.create_topic(names.topic)
    client.subscribe(names.one, names.group, names.topic)
    meet(client, ground, names.topic, {names.one: set(range(QUEUES))})
    deliver, late, delay = in_seconds(4.3), in_seconds(-60), 2700
    said = {"tags": "timed", "keys": "k1", "colour": "teal"}
    client.send("sync", names.topic, "for a time", deliver=deliver, **said)
    client.send("sync", names.topic, "for later", delay=delay, **said)
    client.send("sync", names.topic, "for a time that is over", deliver=late, **said)
    received = client.receive(names.one, lambda events: len(tagged(events, "timed")) == 3)
    by_text = {event["body"]: event for event in tagged(received, "timed")}
    assert by_text.keys() == {"for a time", "for later", "for a time that is over"}
    timed, delayed = by_text["for a time"], by_text["for later"]
    for event, due in ((timed, deliver), (delayed, delayed["bornTimestamp"] + delay)):
        assert event["storeTimestamp"] >= due
        assert due <= event["time"] < due + LATE_MAX_MS
    assert (timed["topic"], timed["keys"], timed["colour"]) == (names.topic, "k1", "teal")


@pytest.mark.feature("recall")
def test_a_message_that_was_taken_back_never_comes(
    client: Program, ground: Ground, names: Names
) -> None:
    ground.create_topic(names.topic)
    client.subscribe(names.one, names.group, names.topic)
    (unwanted,) = client.send("sync", names.topic, "unwanted", deliver=in_seconds(6))
    client.send("sync", names.topic, "wanted", deliver=in_seconds(7))
    (recalled,) = client.ask("recall", topic=names.topic, handle=unwanted["recallHandle"])
    assert recalled["msgId"] == unwanted["msgId"]
    client.receive(names.one, lambda events: "wanted" in bodies(events))
    # It would have come a second ago, though perhaps from another queue.
    client.linger(1)
    assert bodies(client.received(names.one)) == ["wanted"]
    assert [message.body for message in ground.stored(names.topic)] == [b"wanted"]
