from datetime import datetime

import pytest

from aerobee.cli.mqadmin.java_text import (
    group_members,
    group_text,
    message_text,
    moment,
    receipt_text,
    result_text,
    table_text,
    time_to_the_second,
    time_with_ms,
    topic_text,
)
from aerobee.client.api.receipt import Durability, Receipt
from aerobee.errors import Misuse
from aerobee.model.group import GroupConfig
from aerobee.model.message import Host, StoredMessage
from aerobee.model.message_queue import LogOffset, MessageQueue, QueueId, QueueOffset
from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.running_info import ConsumeResult

QUEUE = MessageQueue("T", "broker-a", QueueId(3))


def test_times_are_in_the_zone_of_who_looks_and_are_read_back() -> None:
    at = datetime(2026, 11, 15, 12, 30, 5, 7000)
    wall_ms = int(at.timestamp() * 1000)
    assert time_with_ms(wall_ms) == "2026-11-15 12:30:05,007"
    assert time_to_the_second(wall_ms) == "2026-11-15 12:30:05"
    assert moment("2026-11-15#12:30:05:007") == wall_ms
    assert moment(str(wall_ms)) == wall_ms
    assert moment("-1") == -1
    with pytest.raises(Misuse, match="'yesterday' is no time"):
        moment("yesterday")


def test_a_map_is_sorted() -> None:
    assert table_text({"b": "2", "a": 1}) == "{a=1, b=2}"


@pytest.mark.parametrize(("permission", "text"), [(6, "RW-"), (4, "R--"), (2, "-W-"), (7, "RWX")])
def test_a_topics_permission_is_three_signs(permission: int, text: str) -> None:
    assert f"perm={text}," in topic_text(TopicConfig("T", permission=permission))


def test_a_group_is_written_with_its_retry_policy() -> None:
    plain = GroupConfig("G")
    assert group_text(plain).startswith("SubscriptionGroupConfig{groupName=G, consumeEnable=true, ")
    assert "subscriptionDataSet=null" in group_text(plain)
    policy = {"type": "EXPONENTIAL", "exponentialRetryPolicy": {"initial": 1, "max": 2}}
    told = group_members(GroupConfig("G", retry_policy=policy, subscriptions=()))
    assert told["groupRetryPolicy"] == (
        "GroupRetryPolicy{type=EXPONENTIAL, exponentialRetryPolicy=ExponentialRetryPolicy"
        "{initial=1, max=2}, customizedRetryPolicy=null}"
    )
    assert told["subscriptionDataSet"] == "[]"


def test_a_receipt_says_what_a_broker_promised() -> None:
    receipt = Receipt("ID", "OFFSET", QUEUE, 7, Durability.NOT_FLUSHED)
    assert receipt_text(receipt) == (
        "SendResult [sendStatus=FLUSH_DISK_TIMEOUT, msgId=ID, offsetMsgId=OFFSET, "
        "messageQueue=MessageQueue [topic=T, brokerName=broker-a, queueId=3], queueOffset=7, "
        "recallHandle=null]"
    )
    assert QUEUE.java_text in receipt_text(receipt)


def test_a_message_is_written_with_signed_bytes() -> None:
    message = StoredMessage(
        "T", QueueId(3), QueueOffset(7), LogOffset(0), b"\x01\xff", {"K": "v"}, 1,
        Host("10.0.0.1", 1), 2, Host("10.0.0.2", 2),
    )  # fmt: skip
    text = message_text(message, "broker-a")
    assert text.startswith(
        "MessageExt [brokerName=broker-a, queueId=3, storeSize=0, queueOffset=7,"
    )
    assert "bornHost=/10.0.0.1:1, storeTimestamp=2, storeHost=/10.0.0.2:2," in text
    assert text.endswith("properties={K=v}, body=[1, -1], transactionId='null'}]")


def test_the_outcome_of_a_message_is_written_as_java_does() -> None:
    assert result_text(ConsumeResult("CR_SUCCESS", 3, "", is_ordered=True)) == (
        "ConsumeMessageDirectlyResult [order=true, autoCommit=true, consumeResult=CR_SUCCESS, "
        "remark=null, spentTimeMills=3]"
    )
