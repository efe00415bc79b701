"""Unit tests of what a message is and which topics take it."""

import pytest

from aerobee.model.message_type import MessageType, takes, type_of


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
    ):
        assert takes(None, actual)
        assert takes("UNSPECIFIED", actual)
        assert takes("MIXED", actual)
        for wanted in ("NORMAL", "FIFO", "DELAY", "TRANSACTION"):
            assert takes(wanted, actual) == (wanted == actual.value)
