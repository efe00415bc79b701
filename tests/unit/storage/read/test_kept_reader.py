"""Reading a compacted queue: gaps are passed, limits and filters hold, damage is never shown."""

import pytest

from aerobee.errors import StorageError
from aerobee.protocol.primitives.java_hash import tag_code
from aerobee.service.filters.sql_compiler import compile_sql
from aerobee.storage.index.kept_file import KeptFile
from aerobee.storage.read.queue_read import ReadStatus
from aerobee.storage.read.time_search import Boundary
from tests.compaction_kit import FOLDER, TOPIC, CompactionKit, seen
from tests.store_kit import EVERYTHING, messages_of


def compacted() -> CompactionKit:
    """Offsets 0..9, of which 6..9 are kept; then 10 in the log."""
    kit = CompactionKit()
    for number in range(10):
        kit.put(f"k{number % 4}", bytes(number))
        kit.clock.advance(1)
    kit.fill()
    kit.compact()
    kit.put("k0", b"later")
    kit.settle()
    return kit


def kept_of(kit: CompactionKit) -> KeptFile:
    """The file that the store reads, through a mapping of its own."""
    (name,) = kit.disk.list_directory(FOLDER)
    return KeptFile.open(kit.disk, f"{FOLDER}/{name}")


def offsets(kit: CompactionKit, offset: int, count: int, size: int = EVERYTHING) -> list[int]:
    read = kit.store.read(TOPIC, 0, offset, count, size)
    return [message.queue_offset for message in messages_of(read)]


@pytest.mark.parametrize("offset", [0, 1, 5, 6])
def test_a_read_at_a_gap_goes_on_at_the_next_message_that_was_kept(offset: int) -> None:
    kit = compacted()
    read = kit.store.read(TOPIC, 0, offset, 2, EVERYTHING)
    assert (read.status, read.next_offset) == (ReadStatus.FOUND, 8)
    assert (read.min_offset, read.max_offset, read.count) == (6, 11, 2)
    assert read.size == sum(map(len, read.slices))
    assert [message.queue_offset for message in messages_of(read)] == [6, 7]


def test_a_read_ends_with_what_was_kept_and_the_next_one_is_of_the_log() -> None:
    kit = compacted()
    read = kit.store.read(TOPIC, 0, 8, 100, EVERYTHING)
    assert (read.next_offset, read.count) == (10, 2)
    read = kit.store.read(TOPIC, 0, 10, 100, EVERYTHING)
    assert (read.next_offset, read.count, read.min_offset) == (11, 1, 6)
    at_end = kit.store.read(TOPIC, 0, 11, 100, EVERYTHING)
    assert (at_end.status, at_end.min_offset) == (ReadStatus.OFFSET_OVERFLOW_ONE, 6)


def test_limits_hold_but_one_message_is_always_given() -> None:
    kit = compacted()
    assert offsets(kit, 0, 1) == [6]
    assert offsets(kit, 0, 100, 1) == [6]
    size = len(kit.store.read(TOPIC, 0, 6, 1, 1).slices[0])
    assert offsets(kit, 0, 100, 2 * size + 1) == [6, 7]


def test_tags_choose_among_what_was_kept() -> None:
    kit = compacted()
    odd = frozenset({tag_code(b"tag1")})
    read = kit.store.read(TOPIC, 0, 0, 100, EVERYTHING, odd)
    assert [message.queue_offset for message in messages_of(read)] == [7, 9]
    assert read.next_offset == 10
    none = kit.store.read(TOPIC, 0, 0, 100, EVERYTHING, frozenset({12345}))
    assert (none.status, none.next_offset) == (ReadStatus.NO_MATCHED_MESSAGE, 10)


def test_a_filter_by_properties_chooses_among_what_was_kept() -> None:
    kit = compacted()
    chosen = compile_sql("KEYS IN ('k0', 'k1')")
    read = kit.store.read(TOPIC, 0, 0, 1, EVERYTHING, None, chosen)
    assert [message.queue_offset for message in messages_of(read)] == [8]
    assert read.next_offset == 9
    read = kit.store.read(TOPIC, 0, 0, 100, EVERYTHING, None, chosen)
    assert [message.queue_offset for message in messages_of(read)] == [8, 9]


def test_what_is_not_in_memory_is_cold_and_checked_by_who_may_wait() -> None:
    kit = compacted()
    kept = kept_of(kit)
    kit.disk.faults.make_cold(f"{FOLDER}/*")
    read = kit.store.read(TOPIC, 0, 0, 100, EVERYTHING)
    assert read.is_cold
    kit.store.verify(read)
    kept.view[kept.entry(2).position + 90] ^= 1
    with pytest.raises(StorageError):
        kit.store.verify(read)


def test_a_damaged_record_is_not_shown() -> None:
    kit = compacted()
    kept = kept_of(kit)
    for at in range(kept.entry(0).size):
        kept.view[kept.entry(0).position + at] ^= 1
        with pytest.raises(StorageError):
            kit.store.read(TOPIC, 0, 0, 100, EVERYTHING)
        kept.view[kept.entry(0).position + at] ^= 1
    assert len(seen(kit.store)) == 5


def test_times_are_found_among_what_was_kept_and_behind_it() -> None:
    kit = compacted()
    queue = kit.store.queue(TOPIC, 0)
    assert queue is not None
    first_ms = kit.store.kept_ms(queue, 0)
    assert first_ms is not None
    assert kit.store.kept_ms(queue, 7) == first_ms + 1
    assert kit.store.kept_ms(queue, 10) is None

    def at(ms: int, boundary: Boundary) -> int:
        assert queue is not None
        return kit.store.offset_by_time(queue, ms, boundary)

    assert [at(first_ms + n, Boundary.LOWER) for n in (-9, 0, 1, 3, 4)] == [6, 6, 7, 9, 10]
    assert [at(first_ms + n, Boundary.UPPER) for n in (-9, 0, 1, 2)] == [6, 6, 7, 8]
