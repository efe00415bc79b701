"""Unit tests of what a message is and which topics take it."""

import pytest

from aerobee.model.message_type import (
    NO_PRIORITY,
    MessageType,
    find_type_fault,
    priority_of,
    type_of,
)
from aerobee.model.topic import TopicConfig


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({}, "NORMAL"),
        ({"TAGS": "a", "TRAN_MSG": "false"}, "NORMAL"),
        ({"__SHARDINGKEY": "k"}, "FIFO"),
        ({"DELAY": "3", "__SHARDINGKEY": "k"}, "DELAY"),
        ({"TIMER_DELIVER_MS": "1"}, "DELAY"),
        ({"TIMER_DELAY_MS": "1"}, "DELAY"),
        ({"TIMER_DELAY_SEC": "1"}, "DELAY"),
        ({"TRAN_MSG": "true", "DELAY": "3"}, "TRANSACTION"),
        ({"_SYS_MSG_PRIORITY_": "3"}, "PRIORITY"),
        ({"_SYS_MSG_PRIORITY_": "3", "__SHARDINGKEY": "k"}, "FIFO"),
        ({"_SYS_MSG_PRIORITY_": "3", "TIMER_DELAY_MS": "1"}, "DELAY"),
    ],
)
def test_a_message_is_what_its_properties_make_it(
    properties: dict[str, str], expected: str
) -> None:
    assert type_of(properties) is MessageType(expected)


TYPES = ("NORMAL", "FIFO", "DELAY", "TRANSACTION", "PRIORITY")


def takes(wanted: str | None, actual: str, *, is_strict: bool, name: str = "orders") -> bool:
    attributes = {} if wanted is None else {"message.type": wanted}
    topic = TopicConfig(name, attributes=attributes)
    return find_type_fault(topic, MessageType(actual), is_strict=is_strict) is None


@pytest.mark.parametrize("is_strict", [False, True])
@pytest.mark.parametrize("actual", TYPES)
def test_a_topic_takes_its_own_type_and_a_mixed_one_all(actual: str, is_strict: bool) -> None:
    assert takes("MIXED", actual, is_strict=is_strict)
    for wanted in TYPES:
        assert takes(wanted, actual, is_strict=is_strict) == (wanted == actual)
        for name in ("%RETRY%g", "%DLQ%g"):
            assert takes(wanted, actual, is_strict=is_strict, name=name)


@pytest.mark.parametrize("actual", TYPES)
def test_a_topic_of_no_type_takes_any_and_strictly_the_normal_one(actual: str) -> None:
    assert takes(None, actual, is_strict=False)
    assert takes("UNSPECIFIED", actual, is_strict=False)
    assert takes(None, actual, is_strict=True) == (actual == "NORMAL")
    assert not takes("UNSPECIFIED", actual, is_strict=True)


def test_a_fault_of_types_is_told_in_the_words_of_rocketmqs_proxy() -> None:
    topic = TopicConfig("orders", attributes={"message.type": "FIFO"})
    assert find_type_fault(topic, MessageType.DELAY, is_strict=True) == (
        "TopicMessageType validate failed, the expected type is FIFO, but actual type is DELAY"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0", 0), ("7", 7), ("+7", 7), ("007", 7), ("-0", 0), ("2147483647", 2**31 - 1)],
)
def test_a_priority_is_a_number_from_0_on(text: str, expected: int) -> None:
    assert priority_of({"_SYS_MSG_PRIORITY_": text}) == expected


@pytest.mark.parametrize("text", ["", "-1", "high", "1.5", "2147483648", "٣", " 1"])
def test_what_is_no_such_number_is_no_priority(text: str) -> None:
    assert priority_of({"_SYS_MSG_PRIORITY_": text}) == NO_PRIORITY
    assert priority_of({}) == NO_PRIORITY
