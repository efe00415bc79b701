import pytest

from aerobee.app.migration.queue_counts import count_differences, message_count, older_offsets
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.protocol.bodies.topic_stats import QueueStats

QUEUE = MessageQueue("orders", "broker-a", QueueId(3))


def bounds(low: int, high: int) -> dict[MessageQueue, QueueStats]:
    return {QUEUE: QueueStats(low, high, 0)}


@pytest.mark.parametrize("own", [10, 11, 14])
def test_a_queue_that_grows_is_equal_if_it_ends_between_two_looks(own: int) -> None:
    assert count_differences(bounds(0, 10), bounds(0, own), bounds(0, 14)) == []


@pytest.mark.parametrize("own", [9, 15])
def test_a_queue_that_ends_elsewhere_differs(own: int) -> None:
    (found,) = count_differences(bounds(0, 10), bounds(0, own), bounds(0, 14))
    assert found == f"orders queue 3 ends at {own} here, and at 14 on the master"


def test_a_queue_that_is_missing_differs_unless_it_is_empty() -> None:
    assert len(count_differences(bounds(0, 1), {}, bounds(0, 1))) == 1
    assert len(count_differences({}, bounds(0, 1), {})) == 1
    assert count_differences(bounds(0, 0), {}, bounds(0, 0)) == []
    assert count_differences(bounds(-1, 0), bounds(0, 0), bounds(-1, 0)) == []


def test_a_queue_whose_oldest_messages_are_missing_differs() -> None:
    (found,) = count_differences(bounds(2, 10), bounds(5, 10), bounds(2, 10))
    assert "begins at 5 here, and at 2" in found
    assert count_differences(bounds(2, 10), bounds(1, 10), bounds(2, 10)) == []


def test_messages_are_counted_over_all_queues() -> None:
    other = MessageQueue("orders", "broker-a", QueueId(4))
    assert message_count({**bounds(2, 10), other: QueueStats(-1, 0, 0)}) == 8


def test_offsets_that_are_lower_or_missing_here_are_named() -> None:
    master = {("orders", "billing"): {0: 5, 1: 7}, ("orders", "audit"): {0: 1}}
    own = {("orders", "billing"): {0: 5, 1: 6}}
    assert older_offsets(master, own) == ["audit orders 0", "billing orders 1"]
    assert older_offsets(master, {**master, ("x", "y"): {0: 1}}) == []
