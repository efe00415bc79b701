"""Readers of an open store: by queue, offset, key and time, hot and cold."""

import errno
from dataclasses import replace

import pytest

from aerobee.errors import CorruptRecord
from aerobee.model.message import StoredMessage
from aerobee.ports.disk_worker import Lane
from aerobee.protocol.message.stored_message import decode_records
from aerobee.protocol.primitives.java_hash import tag_code
from aerobee.service.filters.sql_compiler import compile_sql
from aerobee.storage.read.queue_read import ReadStatus
from aerobee.storage.read.time_search import Boundary
from tests.store_kit import (
    EVERYTHING,
    ROOT,
    SMALL,
    SMALL_SYNC,
    StoreKit,
    draft,
    messages_of,
    properties,
)

LOG = f"{ROOT}/commitlog"
LOG_FILES = f"{LOG}/*"
FOREVER = 1 << 60


def message_in(record: memoryview) -> StoredMessage:
    return decode_records(bytes(record))[0]


# Read.


def test_a_queue_that_does_not_exist_is_told() -> None:
    read = StoreKit().store.read(b"Orders", 0, 0, 10, EVERYTHING)
    assert (read.status, read.next_offset) == (ReadStatus.NO_MATCHED_LOGIC_QUEUE, 0)


def test_a_read_by_tag_passes_over_the_others() -> None:
    kit = StoreKit()
    kit.append_many(9)
    kit.step()
    codes = frozenset({tag_code(b"tag1")})
    read = kit.store.read(b"Orders", 0, 0, 10, EVERYTHING, codes)
    assert [message.body for message in messages_of(read)] == [b"1", b"4", b"7"]
    assert read.next_offset == 9


def test_queues_are_told_by_topic_and_id() -> None:
    kit = StoreKit()
    for topic, queue_id in [(b"Trades", 0), (b"Orders", 1), (b"Orders", 0)]:
        kit.append(draft(topic, queue_id))
    kit.step()
    named = [(queue.topic, queue.queue_id) for queue in kit.store.queues()]
    assert named == [(b"Orders", 0), (b"Orders", 1), (b"Trades", 0)]
    assert kit.store.queue(b"Orders", 2) is None


def test_a_record_is_found_at_its_own_offset_and_nowhere_else() -> None:
    kit = StoreKit()
    kit.append(draft(body=b"inner"))
    kit.store.dispatch()
    # A body that is a record itself must not be taken for one.
    inside = bytes(kit.store.record_at(0) or b"")
    assert message_in(memoryview(inside)).body == b"inner"
    offsets = {0, *(kit.append(draft(body=inside)) for _ in range(20))}
    kit.store.dispatch()
    assert len(kit.disk.list_directory(LOG)) > 1
    for offset in range(-10, kit.store.end_offset + 5000):
        record = kit.store.record_at(offset)
        assert (record is not None) == (offset in offsets), offset
        if record is not None:
            assert message_in(record).log_offset == offset


def test_a_record_that_is_not_visible_is_not_found() -> None:
    kit = StoreKit(config=SMALL_SYNC)
    offset = kit.append(draft())
    kit.step()
    assert kit.store.record_at(offset) is None
    kit.worker.run_all([Lane.SYNC])
    kit.step()
    assert kit.store.record_at(offset) is not None


def test_a_damaged_record_is_told_and_not_shown() -> None:
    kit = StoreKit()
    offsets = kit.append_many(3)
    kit.settle()
    kit.disk.open(f"{LOG}/{0:020d}").view[offsets[1] + 40] ^= 1
    with pytest.raises(CorruptRecord) as raised:
        kit.store.record_at(offsets[1])
    assert raised.value.log_offset == offsets[1]
    assert kit.store.record_at(offsets[2]) is not None


def test_records_are_found_by_key_newest_first() -> None:
    kit = StoreKit()
    for number in range(4):
        kit.append(
            draft(body=str(number).encode(), text=properties(KEYS="even" * (1 - number % 2)))
        )
        kit.clock.advance(60_000)
    kit.step()
    found = kit.store.records_by_key(b"Orders", b"even", 0, FOREVER, 10)
    assert [message_in(record).body for record in found] == [b"2", b"0"]
    assert len(kit.store.records_by_key(b"Orders", b"even", 0, FOREVER, 1)) == 1
    assert kit.store.records_by_key(b"Trades", b"even", 0, FOREVER, 10) == []
    early = kit.store.records_by_key(b"Orders", b"even", 0, 1_700_000_060_000, 10)
    assert [message_in(record).body for record in early] == [b"0"]


def test_without_an_index_nothing_is_found_by_key() -> None:
    kit = StoreKit(config=replace(SMALL, index_enabled=False))
    kit.append_many(3)
    kit.step()
    assert kit.store.records_by_key(b"Orders", b"key1", 0, FOREVER, 10) == []


def test_a_time_is_an_offset_in_a_queue() -> None:
    kit = StoreKit()
    start = kit.clock.now().wall_ms
    for _ in range(4):
        kit.append(draft())
        kit.clock.advance(1000)
    kit.step()
    queue = kit.store.queue(b"Orders", 0)
    assert queue is not None
    assert kit.store.offset_by_time(queue, start + 1500, Boundary.LOWER) == 2
    assert kit.store.offset_by_time(queue, start + 1500, Boundary.UPPER) == 1
    assert kit.store.offset_by_time(queue, start + 2000, Boundary.LOWER) == 2


# Cold.


def cold_kit() -> StoreKit:
    """A store opened anew, so that what is in it was not written by this process."""
    kit = StoreKit()
    kit.append_many(5)
    kit = kit.reopen()
    kit.disk.faults.make_cold(LOG_FILES)
    return kit


def test_what_is_not_in_memory_is_said_to_be_cold_and_can_be_verified() -> None:
    kit = cold_kit()
    read = kit.store.read(b"Orders", 0, 0, 10, EVERYTHING)
    assert read.is_cold
    kit.store.verify(read)
    assert len(messages_of(read)) == 5


def test_what_the_system_cannot_say_to_be_in_memory_is_cold() -> None:
    kit = StoreKit()
    kit.append_many(5)
    kit = kit.reopen()
    kit.disk.faults.fail_call(1, errno.EAGAIN)
    assert kit.store.read(b"Orders", 0, 0, 10, EVERYTHING).is_cold
    assert not kit.store.read(b"Orders", 0, 0, 10, EVERYTHING).is_cold


def test_a_damaged_cold_read_is_found_by_verifying_it() -> None:
    kit = cold_kit()
    kit.disk.open(f"{LOG}/{0:020d}").view[40] ^= 1
    read = kit.store.read(b"Orders", 0, 0, 10, EVERYTHING)
    with pytest.raises(CorruptRecord):
        kit.store.verify(read)


def test_a_damaged_old_record_in_memory_is_found_by_the_read() -> None:
    kit = StoreKit()
    kit.append_many(5)
    kit = kit.reopen()
    kit.disk.open(f"{LOG}/{0:020d}").view[40] ^= 1
    with pytest.raises(CorruptRecord):
        kit.store.read(b"Orders", 0, 0, 10, EVERYTHING)


def test_the_newest_part_of_what_this_process_wrote_is_not_cold() -> None:
    kit = StoreKit(config=replace(SMALL, hot_bytes=400))
    kit.append_many(20)
    kit.step()
    kit.disk.faults.make_cold(LOG_FILES)
    assert kit.store.read(b"Orders", 0, 0, 10, EVERYTHING).is_cold
    assert not kit.store.read(b"Orders", 0, 19, 10, EVERYTHING).is_cold


# Filters by properties.


def chosen_bodies(kit: StoreKit, expression: str, count_max: int = 10) -> tuple[list[bytes], int]:
    read = kit.store.read(b"Orders", 0, 0, count_max, EVERYTHING, None, compile_sql(expression))
    assert not read.is_cold
    return [message.body for message in messages_of(read)], read.next_offset


def test_a_filter_chooses_the_same_of_messages_new_and_old() -> None:
    kit = StoreKit()
    kit.append_many(9)
    for is_old in (False, True):
        if is_old:
            kit = kit.reopen()
        kit.step()
        assert chosen_bodies(kit, "TAGS = 'tag1'") == ([b"1", b"4", b"7"], 9)
        assert chosen_bodies(kit, "TAGS = 'tag1'", 2)[0] == [b"1", b"4"]
        assert chosen_bodies(kit, "TAGS = 'none'") == ([], 9)


def test_a_cold_read_is_filtered_once_it_is_verified() -> None:
    kit = StoreKit()
    kit.append_many(9)
    kit = kit.reopen()
    kit.step()
    kit.disk.faults.make_cold(LOG_FILES)
    tag1 = compile_sql("TAGS = 'tag1'")
    read = kit.store.read(b"Orders", 0, 0, 2, EVERYTHING, None, tag1)
    assert (read.is_cold, read.count) == (True, 9)
    kit.store.verify(read)
    read.choose(tag1, 2, EVERYTHING)
    assert [message.body for message in messages_of(read)] == [b"1", b"4"]
    assert read.next_offset == 7


def test_where_a_topic_was_deleted_is_where_the_log_ended() -> None:
    kit = StoreKit()
    kit.append_many(3)
    end = kit.store.end_offset
    assert kit.store.born_at(b"Orders") == 0
    kit.store.delete_topic(b"Orders")
    assert (kit.store.born_at(b"Orders"), kit.store.born_at(b"Trades")) == (end, 0)
    assert kit.reopen().store.born_at(b"Orders") == end
