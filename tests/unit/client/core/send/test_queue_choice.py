import pytest

from aerobee.client.core.send.latency_faults import LatencyFaults
from aerobee.client.core.send.queue_choice import (
    QueueRound,
    find_queue,
    queue_for_key,
    queue_for_priority,
)
from aerobee.model.message_queue import MessageQueue, QueueId

QUEUES = [
    MessageQueue("t", name, QueueId(number)) for name in ("a", "b", "c") for number in range(2)
]


def test_queues_are_taken_one_after_the_other_from_the_start_that_was_handed_in() -> None:
    turn = QueueRound(4)
    assert [turn.take(QUEUES) for _ in range(7)] == [
        QUEUES[index] for index in (5, 0, 1, 2, 3, 4, 5)
    ]


def test_the_broker_that_failed_is_passed_over() -> None:
    turn = QueueRound(-1)
    assert {turn.take(QUEUES, avoid="a").broker_name for _ in range(12)} == {"b", "c"}


def test_the_only_broker_is_used_even_if_it_failed() -> None:
    turn = QueueRound(-1)
    assert {turn.take(QUEUES[:2], avoid="a").queue_id for _ in range(8)} == {0, 1}


def test_brokers_that_rest_come_after_those_that_do_not() -> None:
    faults = LatencyFaults()
    faults.note("a", 15_000, 0)
    faults.note("c", 15_000, 0)
    turn = QueueRound(0)
    assert {turn.take_fast(QUEUES, faults, 1).broker_name for _ in range(6)} == {"b"}
    assert {turn.take_fast(QUEUES, faults, 30_000).broker_name for _ in range(6)} == {"a", "b", "c"}


def test_of_brokers_that_all_rest_those_that_can_be_reached_come_first() -> None:
    faults = LatencyFaults()
    for name in "abc":
        faults.note(name, 15_000, 0, is_reachable=name == "c")
    turn = QueueRound(0)
    assert {turn.take_fast(QUEUES, faults, 1).broker_name for _ in range(6)} == {"c"}
    # The one that can be reached has just failed: any will do.
    assert turn.take_fast(QUEUES, faults, 1, avoid="c") in QUEUES


@pytest.mark.parametrize(
    ("key", "index"),
    # Math.abs("...".hashCode() % 6), by Java.
    [("a", 97 % 6), ("order-1", 1207111310 % 6), ("polygenelubricants", 2**31 % 6)],
)
def test_a_key_goes_where_java_would_send_it(key: str, index: int) -> None:
    assert queue_for_key(QUEUES, key) == QUEUES[index]


def test_a_priority_is_the_number_of_a_queue_of_one_broker_or_its_last() -> None:
    backwards = QUEUES[::-1]
    assert [queue_for_priority(backwards, "b", number) for number in (0, 1, 2, 99)] == [
        QUEUES[index] for index in (2, 3, 3, 3)
    ]


def test_a_queue_is_found_by_broker_and_number_whatever_its_topic_is_called() -> None:
    assert find_queue(QUEUES, MessageQueue("other%t", "b", QueueId(1))) == QUEUES[3]
    assert find_queue(QUEUES, MessageQueue("t", "b", QueueId(2))) is None
