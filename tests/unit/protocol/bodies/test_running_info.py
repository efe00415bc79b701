from typing import Any, cast

from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.protocol.bodies.message_queue import queue_key
from aerobee.protocol.bodies.running_info import (
    QueueInHand,
    RunningInfo,
    encode_consume_result,
    encode_running_info,
)
from aerobee.protocol.bodies.subscription import make_subscription
from aerobee.protocol.json_text import parse

QUEUE = MessageQueue("T", "b", QueueId(0))


def test_a_consumer_is_described_by_javas_names() -> None:
    info = RunningInfo(
        {"PROP_CONSUME_TYPE": "CONSUME_PASSIVELY"},
        {QUEUE: QueueInHand(3, 4, 9, 5, 3 << 20, True, 77)},
        (make_subscription("T", "a"),),
        "stacks",
    )
    said = cast("dict[str, Any]", parse(encode_running_info(info)))
    queue = said["mqTable"][queue_key(QUEUE)]
    assert (queue["commitOffset"], queue["cachedMsgCount"], queue["locked"]) == (3, 5, True)
    assert (queue["cachedMsgSizeInMiB"], queue["lastPullTimestamp"]) == (3, 77)
    assert said["subscriptionSet"][0]["subString"] == "a"
    assert said["jstack"] == "stacks"
    assert "consumeOKTPS" in said["statusTable"]["T"]
    bare = cast("dict[str, Any]", parse(encode_running_info(RunningInfo({}, {}, ()))))
    assert "jstack" not in bare


def test_what_came_of_a_message_is_said_with_the_time_it_took() -> None:
    assert encode_consume_result("CR_SUCCESS", spent_ms=3) == (
        b'{"autoCommit":true,"consumeResult":"CR_SUCCESS","order":false,"spentTimeMills":3}'
    )
    assert b'"remark":"why"' in encode_consume_result("CR_LATER", spent_ms=0, remark="why")
