"""Unit tests of what a message is and which topics take it."""

import pytest

from aerobee.model.message_type import NO_PRIORITY, MessageType, priority_of, takes, type_of


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


def test_a_topic_takes_its_own_type_and_without_one_all() -> None:
    for actual in (
        MessageType.NORMAL,
        MessageType.FIFO,
        MessageType.DELAY,
        MessageType.TRANSACTION,
        MessageType.PRIORITY,
    ):
        assert takes(None, actual)
        assert takes("UNSPECIFIED", actual)
        assert takes("MIXED", actual)
        for wanted in ("NORMAL", "FIFO", "DELAY", "TRANSACTION", "PRIORITY"):
            assert takes(wanted, actual) == (wanted == actual.value)


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
