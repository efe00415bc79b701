import pytest

from aerobee.model.topic import DataVersion, TopicConfig


def test_a_topic_has_an_administrators_defaults() -> None:
    topic = TopicConfig("T")
    assert (topic.read_queues, topic.write_queues, topic.permission) == (16, 16, 6)
    assert (topic.filter_type, topic.is_order, topic.sys_flag) == ("SINGLE_TAG", False, 0)
    assert topic.attributes == {}


def test_versions_are_ordered_by_state_then_counter_then_time() -> None:
    assert DataVersion(0, 1, 9) < DataVersion(0, 2, 8) < DataVersion(0, 2, 9) < DataVersion(1, 0, 0)


def test_a_change_counts_and_is_dated() -> None:
    assert DataVersion(3, 4, 5).next(99) == DataVersion(3, 5, 99)
    assert DataVersion(3, 4, 5) < DataVersion(3, 4, 5).next(0)


@pytest.mark.parametrize(
    ("text", "hours"), [("24", 24), ("0", 0), ("-1", 0), ("", 0), ("a day", 0), ("٢٤", 0)]
)
def test_for_how_long_messages_are_seen_is_told_in_hours(text: str, hours: int) -> None:
    assert TopicConfig("Orders", attributes={"reserve.time": text}).reserved_hours == hours
    assert TopicConfig("Orders").reserved_hours == 0
