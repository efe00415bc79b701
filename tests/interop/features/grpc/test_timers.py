"""A message comes at its delivery time, unless it was recalled."""

import pytest

from tests.interop.features.conftest import Names
from tests.interop.features.ground import Ground
from tests.interop.features.program import Program, bodies
from tests.interop.features.test_timers import LATE_MAX_MS, in_seconds


@pytest.mark.feature("grpc-delay")
def test_a_message_comes_at_its_delivery_time_and_never_early(
    client: Program, ground: Ground, names: Names
) -> None:
    ground.create_topic(names.topic, kind="DELAY")
    ground.create_group(names.group, retries=16)
    client.open(names.one, names.group, names.topic)
    # Whole seconds: two clients cut off the rest.
    due = in_seconds(5) // 1000 * 1000
    client.send("sync", names.topic, "later", deliver=due, tags="red", keys="k1")
    (found,) = client.take(names.one, 1)
    client.ack(names.one, [found])
    assert (found["body"], found["tags"], found["keys"]) == ("later", "red", "k1")
    assert due <= found["time"] < due + LATE_MAX_MS


@pytest.mark.feature("grpc-recall")
def test_a_message_that_was_recalled_never_comes(
    client: Program, ground: Ground, names: Names
) -> None:
    ground.create_topic(names.topic, kind="DELAY")
    ground.create_group(names.group, retries=16)
    client.open(names.one, names.group, names.topic)
    (unwanted,) = client.send("sync", names.topic, "unwanted", deliver=in_seconds(6))
    client.send("sync", names.topic, "wanted", deliver=in_seconds(8))
    (recalled,) = client.ask("recall", topic=names.topic, handle=unwanted["recallHandle"])
    assert recalled["msgId"] == unwanted["msgId"]
    found = client.take(names.one, 1)
    client.ack(names.one, found)
    assert bodies(found) == ["wanted"]
    assert [message.body for message in ground.stored(names.topic)] == [b"wanted"]
