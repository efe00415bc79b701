"""Unit tests of resets: a group goes to a time or an offset, online or not."""

from typing import Any, cast

import pytest

from aerobee.model.topic import TopicConfig
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.text.json_text import parse
from tests.captured import captured
from tests.consumer_kit import ConsumerKit

RESET = {"group": "g", "topic": "Orders", "isForce": "true", "queueId": "-1", "offset": "-1"}


def kit_with_group() -> ConsumerKit:
    """Five messages in queue 0, 1 ms apart, two in queue 1; all of queue 0 is consumed."""
    kit = ConsumerKit()
    kit.store_messages(5, queue_id=0)
    kit.store_messages(2, queue_id=1)
    kit.groups.ensure("g", kit.clock.now())
    kit.offsets.commit("g", "Orders", 0, 5, max_offset=5)
    return kit


def reset(kit: ConsumerKit, time_ms: int, **fields: str) -> RemotingCommand:
    return kit.ask(222, {**RESET, "timestamp": str(time_ms), **fields})


def targets(answer: RemotingCommand) -> dict[int, int]:
    assert answer.code == 0
    said = cast("dict[str, Any]", parse(bytes(answer.body)))
    return {dict(key)["queueId"]: offset for key, offset in said["offsetTable"].items()}


def test_a_group_is_sent_to_a_time_in_every_queue() -> None:
    kit = kit_with_group()
    now_ms = kit.clock.now().wall_ms
    assert targets(reset(kit, now_ms - 3)) == {0: 3, 1: 0}
    assert kit.offsets.find("g", "Orders", 0) == 3
    assert kit.offsets.take_reset("g", "Orders", 0) == 3
    assert kit.offsets.take_reset("g", "Orders", 1) == 0
    assert targets(reset(kit, 0)) == {0: 0, 1: 0}
    assert targets(reset(kit, now_ms + 1)) == {0: 5, 1: 2}
    assert targets(reset(kit, -1)) == {0: 5, 1: 2}


def test_the_answer_names_the_queues_as_apache_does() -> None:
    answer = reset(kit_with_group(), 0)
    assert answer.body == (
        b'{"offsetTable":{{"brokerName":"broker-a","queueId":0,"topic":"Orders"}:0,'
        b'{"brokerName":"broker-a","queueId":1,"topic":"Orders"}:0}}'
    )


def test_one_queue_is_sent_to_an_offset_or_a_time() -> None:
    kit = kit_with_group()
    assert targets(reset(kit, 0, queueId="0", offset="2")) == {0: 2}
    assert kit.offsets.take_reset("g", "Orders", 0) == 2
    assert kit.offsets.take_reset("g", "Orders", 1) is None
    assert targets(reset(kit, -1, queueId="1")) == {1: 2}


@pytest.mark.parametrize(("offset", "kept"), [("0", 0), ("5", 5), ("6", 5)])
def test_an_offset_may_be_anywhere_in_the_queue_and_is_kept_within(offset: str, kept: int) -> None:
    assert targets(reset(kit_with_group(), 0, queueId="0", offset=offset)) == {0: kept}


@pytest.mark.parametrize("offset", ["7", "-2"])
def test_an_offset_outside_of_the_queue_is_refused(offset: str) -> None:
    kit = kit_with_group()
    answer = reset(kit, 0, queueId="0", offset=offset)
    assert (answer.code, answer.remark) == (
        1,
        f"Target offset {offset} not in consume queue range [0-5]",
    )
    assert kit.offsets.find("g", "Orders", 0) == 5
    assert kit.offsets.take_reset("g", "Orders", 0) is None


def test_what_does_not_exist_cannot_be_reset() -> None:
    kit = kit_with_group()
    assert reset(kit, 0, topic="None").code == 17
    assert reset(kit, 0, group="none").code == 26
    assert reset(kit, 0, queueId="2").code == 29
    assert kit.ask(222, RESET).code == 1  # no time
    assert list(kit.offsets) == [("Orders", "g", {0: 5})]


def test_captured_resets_are_taken() -> None:
    for command in captured("INVOKE_BROKER_TO_RESET_OFFSET", "request"):
        fields = command.ext_fields
        kit = ConsumerKit()
        kit.make_topic(TopicConfig(fields["topic"], 4, 4))
        kit.store_messages(2, fields["topic"], 1)
        kit.groups.ensure(fields["group"], kit.clock.now())
        found = targets(kit.ask(222, fields))
        queue_id = int(fields["queueId"])
        wanted = {queue_id: int(fields["offset"])} if queue_id >= 0 else dict.fromkeys(range(4), 0)
        if fields["timestamp"] == "0":
            assert found == wanted
