"""Unit tests of questions about queues, of those that exist and of those that do not."""

from aerobee.service.broker.log_access.queue_facts import NEVER, QueueFacts
from aerobee.storage.config import FlushMode
from aerobee.storage.read.time_search import Boundary
from tests.compaction_kit import CompactionKit
from tests.store_kit import SMALL_SYNC, StoreKit, draft


def kit_with(*times_ms: int) -> StoreKit:
    """A queue whose messages were stored at these times after the start of the clock."""
    kit = StoreKit()
    for time_ms in times_ms:
        kit.clock.advance(kit.clock.now().monotonic_ms * -1 + time_ms)
        kit.append(draft())
    kit.store.dispatch()
    return kit


def test_a_queue_that_does_not_exist_is_empty_and_begins_at_zero() -> None:
    facts = QueueFacts(StoreKit().store)
    assert not facts.exists("Orders", 0)
    assert facts.min_offset("Orders", 0) == 0
    assert facts.max_offset("Orders", 0) == 0
    assert facts.next_offset("Orders", 0) == 0
    assert facts.offset_at("Orders", 0, 5, Boundary.LOWER) == 0
    assert facts.earliest_ms("Orders", 0) == NEVER
    assert facts.stored_ms("Orders", 0, 0) == NEVER
    assert not facts.is_young("Orders", 0)


def test_the_times_of_a_queue_are_those_of_its_messages() -> None:
    kit = kit_with(10, 20, 30)
    start = kit.clock.now().wall_ms - 30
    facts = QueueFacts(kit.store)
    assert facts.exists("Orders", 0)
    assert facts.max_offset("Orders", 0) == 3
    assert facts.earliest_ms("Orders", 0) == start + 10
    assert facts.stored_ms("Orders", 0, 2) == start + 30
    assert facts.stored_ms("Orders", 0, 3) == NEVER
    assert facts.stored_ms("Orders", 0, -1) == NEVER
    for time_ms, lower, upper in ((0, 0, 0), (10, 0, 0), (15, 1, 0), (20, 1, 1), (99, 3, 2)):
        assert facts.offset_at("Orders", 0, start + time_ms, Boundary.LOWER) == lower
        assert facts.offset_at("Orders", 0, start + time_ms, Boundary.UPPER) == upper


def test_a_queue_is_young_while_it_has_its_first_message_and_little_came_after_it() -> None:
    kit = StoreKit()
    size = -kit.store.end_offset
    kit.append(draft())
    size += kit.store.end_offset
    kit.store.dispatch()
    facts = QueueFacts(kit.store, young_bytes=2 * size)
    assert facts.is_young("Orders", 0)
    kit.append(draft(b"Others"))
    kit.store.dispatch()
    assert facts.is_young("Orders", 0)
    kit.append(draft(b"Others"))
    kit.store.dispatch()
    assert not facts.is_young("Orders", 0)


def test_with_synchronous_flush_the_end_for_readers_is_behind_that_for_writers() -> None:
    assert SMALL_SYNC.flush_mode is FlushMode.SYNC
    kit = StoreKit(config=SMALL_SYNC)
    kit.append(draft())
    kit.step()
    facts = QueueFacts(kit.store)
    assert facts.next_offset("Orders", 0) == 1
    assert facts.max_offset("Orders", 0) == 0
    kit.settle()
    assert facts.max_offset("Orders", 0) == 1


def test_a_compacted_queue_begins_with_what_was_kept_of_it() -> None:
    kit = CompactionKit()
    for number in range(6):
        kit.put(f"k{number % 3}", b"value")
        kit.clock.advance(1)
    kit.fill()
    facts = QueueFacts(kit.store)
    last_ms = facts.stored_ms("Prices", 0, 5)
    kit.grow_old()
    assert (facts.min_offset("Prices", 0), facts.max_offset("Prices", 0)) == (3, 6)
    assert facts.earliest_ms("Prices", 0) == last_ms - 2
    assert [facts.stored_ms("Prices", 0, offset) - last_ms for offset in (0, 3, 5)] == [-2, -2, 0]
    assert facts.stored_ms("Prices", 0, 6) == NEVER
    assert facts.offset_at("Prices", 0, last_ms, Boundary.LOWER) == 5
    assert facts.offset_at("Prices", 0, last_ms + 1, Boundary.LOWER) == 6
