"""Unit tests of queue locks: one client per queue, for a while."""

from aerobee.service.broker.state.queue_locks import LOCK_MS_MAX, MessageQueueKey, QueueLocks

Q0 = MessageQueueKey("orders", "broker-a", 0)
Q1 = MessageQueueKey("orders", "broker-a", 1)


def test_a_queue_that_another_client_holds_is_not_granted() -> None:
    locks = QueueLocks()
    assert locks.lock("g", "a", [Q0], 0) == [Q0]
    assert locks.lock("g", "b", [Q0, Q1], 1) == [Q1]


def test_groups_do_not_lock_each_other_out() -> None:
    locks = QueueLocks()
    locks.lock("g", "a", [Q0], 0)
    assert locks.lock("h", "b", [Q0], 0) == [Q0]


def test_a_renewed_lock_lasts_and_one_that_is_not_is_free_again() -> None:
    locks = QueueLocks()
    locks.lock("g", "a", [Q0, Q1], 0)
    locks.lock("g", "a", [Q0], LOCK_MS_MAX)
    assert locks.lock("g", "b", [Q0, Q1], LOCK_MS_MAX + 1) == [Q1]
    assert locks.is_any_held("g", LOCK_MS_MAX + 1)
    assert not locks.is_any_held("g", 3 * LOCK_MS_MAX)


def test_only_the_holder_can_unlock() -> None:
    locks = QueueLocks()
    locks.lock("g", "a", [Q0], 0)
    locks.unlock("g", "b", [Q0])
    assert locks.lock("g", "b", [Q0], 1) == []
    locks.unlock("g", "a", [Q0])
    assert locks.lock("g", "b", [Q0], 2) == [Q0]


def test_the_queues_of_a_client_that_is_gone_are_free_at_once() -> None:
    locks = QueueLocks()
    locks.lock("g", "a", [Q0], 0)
    locks.lock("h", "a", [Q1], 0)
    locks.lock("h", "b", [Q0], 0)
    locks.drop_client("a")
    assert not locks.is_any_held("g", 1)
    assert locks.lock("h", "c", [Q0, Q1], 1) == [Q1]
