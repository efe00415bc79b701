from typing import Any, cast

from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.protocol.bodies.message_queue import queue_key
from aerobee.protocol.bodies.running_info import (
    BYTES_PER_MIB,
    ConsumeResult,
    QueueInHand,
    RunningInfo,
    TopicRates,
    decode_consume_result,
    decode_running_info,
    encode_consume_result,
    encode_running_info,
)
from aerobee.protocol.bodies.subscription import make_subscription
from aerobee.protocol.text.json_text import parse

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


def test_what_a_consumer_says_is_read_again() -> None:
    held = QueueInHand(3, 4, 8, 5, 2 * BYTES_PER_MIB, True, 10, True)
    info = RunningInfo(
        {"PROP_CONSUME_TYPE": "CONSUME_PASSIVELY"},
        {MessageQueue("T", "b", QueueId(0)): held},
        (make_subscription("T", "a", 7),),
        "main: waiting",
        {"T": TopicRates(1.5, 2.5, 3.5, 4.5, 5.5, 6)},
    )
    assert decode_running_info(encode_running_info(info)) == info


def test_what_became_of_a_message_is_read_again() -> None:
    body = encode_consume_result("CR_LATER", spent_ms=3, is_ordered=True, remark="no")
    assert decode_consume_result(body) == ConsumeResult("CR_LATER", 3, "no", True)
