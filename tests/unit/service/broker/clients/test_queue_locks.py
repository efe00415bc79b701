"""Unit tests of queue locks: one client per queue, for a while."""

from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.service.broker.clients.queue_locks import LOCK_MS_MAX, QueueLocks

Q0 = MessageQueue("orders", "broker-a", QueueId(0))
Q1 = MessageQueue("orders", "broker-a", QueueId(1))


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
    assert locks.lock("g", "b", [Q1], LOCK_MS_MAX) == []
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


def test_the_queues_of_a_member_that_is_gone_are_free_at_once() -> None:
    locks = QueueLocks()
    locks.lock("g", "a", [Q0], 0)
    locks.lock("h", "a", [Q1], 0)
    locks.lock("h", "b", [Q0], 0)
    locks.drop_member("h", "a")
    assert locks.is_any_held("g", 1)
    assert locks.lock("h", "c", [Q0, Q1], 1) == [Q1]


def test_the_queues_of_a_member_that_is_gone_wait_where_that_is_wanted() -> None:
    locks = QueueLocks(gone_ms=30_000)
    locks.lock("g", "a", [Q0, Q1], 1_000)
    locks.drop_member("g", "a")
    assert locks.lock("g", "a", [Q0], 2_000) == [Q0]  # it came back, and holds on
    assert locks.lock("g", "b", [Q1], 30_999) == []
    assert locks.lock("g", "b", [Q0, Q1], 31_000) == [Q1]


def test_no_more_locks_are_kept_than_allowed_and_expired_ones_make_room() -> None:
    locks = QueueLocks(locks_max=2)
    more = MessageQueue("orders", "broker-a", QueueId(2))
    assert locks.lock("g", "a", [Q0, Q1], 0) == [Q0, Q1]
    assert locks.lock("h", "a", [more], 0) == []
    assert locks.lock("g", "a", [Q0, Q1], 1) == [Q0, Q1]  # those that are held are renewed
    locks.drop_expired(LOCK_MS_MAX)
    assert locks.lock("h", "a", [more], LOCK_MS_MAX) == []
    locks.drop_expired(LOCK_MS_MAX + 2)
    assert locks.lock("h", "a", [more], LOCK_MS_MAX + 2) == [more]
    locks.unlock("h", "a", [more, more])
    assert locks.lock("h", "a", [Q0, Q1, more], LOCK_MS_MAX + 3) == [Q0, Q1]
