"""Appending to the commit log: where records go, how files end, and what is refused whole."""

import struct

import pytest

from aerobee.errors import DiskFull, MessageIllegal, MessageTooLarge, Misuse
from aerobee.protocol.message.message_batch import BatchMessage, encode_batch
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.message.record import MAGIC_FILLER, WHOLE, Record, RecordWriter
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.commit.commit_log import BATCH_ENTRIES_MAX, CommitLog
from aerobee.storage.commit.log_files import RETRY_INTERVAL_MS, LogFiles
from aerobee.storage.defects import NO_DEFECTS
from aerobee.storage.files.file_sequence import FileSequence
from tests.store_kit import draft

FOLDER = "store/commitlog"
FILE_BYTES = 4096
HOST = bytes((127, 0, 0, 1, 0, 0, 42, 159))
NOW = 1_700_000_000_000
OVERHEAD = 91 + len(b"Orders")  # of a record without properties and without CRC


def new_log(
    disk: SimDisk | None = None,
    *,
    with_crc: bool = False,
    record_bytes_max: int = FILE_BYTES - 8,
    file_bytes: int = FILE_BYTES,
) -> CommitLog:
    sequence = FileSequence(SimDisk() if disk is None else disk, FOLDER, file_bytes)
    files = LogFiles(sequence, SimDiskWorker(), 0, NO_DEFECTS)
    log = CommitLog(files, RecordWriter(HOST, with_crc), record_bytes_max)
    log.start_at(0, 0)
    return log


def of_size(size: int) -> MessageDraft:
    """A draft whose record has so many bytes."""
    return draft(body=b"x" * (size - OVERHEAD))


def batch_of(*messages: BatchMessage) -> MessageDraft:
    made = draft(body=encode_batch(messages))
    made.is_batch = True
    return made


def image(log: CommitLog) -> tuple[int, list[bytes]]:
    """All that an append can change."""
    return log.end_offset(), [bytes(file.view) for file in log.sequence.files]


def record_at(log: CommitLog, offset: int) -> Record:
    found = Record()
    file = log.sequence.find(offset)
    assert file is not None
    assert found.read_from(file.view, offset - file.first_offset) == WHOLE
    return found


def test_a_new_log_has_one_file_and_nothing_in_it() -> None:
    log = new_log()
    assert (log.min_offset(), log.end_offset()) == (0, 0)
    assert [file.first_offset for file in log.sequence.files] == [0]
    assert not any(log.sequence.files[0].view)


def test_a_record_is_written_as_its_writer_makes_it_with_its_own_place_in_it() -> None:
    log = new_log(with_crc=True)
    message = draft(text=b"a\x01b\x02", sys_flag=0x301)
    first = log.append(message, 5, NOW)
    second = log.append(message, 6, NOW + 1)
    assert (first, log.last_count) == (0, 1)
    expected = RecordWriter(HOST, True).encode(message, 5, first, NOW)
    expected += RecordWriter(HOST, True).encode(message, 6, second, NOW + 1)
    assert log.end_offset() == len(expected)
    assert bytes(log.sequence.files[0].view) == expected.ljust(FILE_BYTES, b"\0")


def test_store_timestamps_never_go_back_whatever_the_wall_clock_does() -> None:
    log = new_log()
    stamps = []
    for wall_ms in (NOW, NOW - 3_600_000, NOW + 5, 0, -1, NOW + 4, NOW + 6):
        stamps.append(record_at(log, log.append(draft(), 0, wall_ms)).store_timestamp - NOW)
    assert stamps == [0, 0, 5, 5, 5, 5, 6]
    assert log.last_timestamp == NOW + 6


def test_an_append_that_is_refused_leaves_no_trace_in_the_time_either() -> None:
    log = new_log()
    log.append(draft(), 0, NOW)
    malformed = draft(body=b"no batch")
    malformed.is_batch = True
    for message in (malformed, of_size(FILE_BYTES)):
        with pytest.raises(MessageIllegal):
            log.append(message, 1, NOW + 1000)
    assert log.last_timestamp == NOW


# How files end.


@pytest.mark.parametrize("room_left", [8, 9, 90, 91, 500])
def test_a_record_that_leaves_room_for_a_filler_stays_in_the_file(room_left: int) -> None:
    log = new_log()
    log.append(of_size(1000), 0, NOW)
    assert log.append(of_size(FILE_BYTES - 1000 - room_left), 1, NOW) == 1000
    assert log.end_offset() == FILE_BYTES - room_left
    assert len(log.sequence.files) == 1


@pytest.mark.parametrize("too_many", [1, 7, 8, 9, 500])
def test_a_record_that_leaves_no_room_for_a_filler_opens_the_next_file(too_many: int) -> None:
    log = new_log()
    log.append(of_size(1000), 0, NOW)
    size = FILE_BYTES - 1000 - 8 + too_many
    assert log.append(of_size(size), 1, NOW) == FILE_BYTES
    assert log.end_offset() == FILE_BYTES + size
    assert record_at(log, FILE_BYTES).log_offset == FILE_BYTES
    tail = bytes(log.sequence.files[0].view[1000:])
    assert tail == struct.pack(">ii", FILE_BYTES - 1000, MAGIC_FILLER).ljust(len(tail), b"\0")


def test_the_last_8_bytes_of_a_file_are_enough_for_its_filler() -> None:
    log = new_log()
    log.append(of_size(FILE_BYTES - 8), 0, NOW)
    assert log.append(of_size(OVERHEAD), 1, NOW) == FILE_BYTES
    assert bytes(log.sequence.files[0].view[-8:]) == struct.pack(">ii", 8, MAGIC_FILLER)


def test_many_records_fill_many_files_one_behind_another() -> None:
    log = new_log()
    offsets = [log.append(of_size(100 + 37 * n % 900), n, NOW) for n in range(200)]
    assert len(log.sequence.files) > 10
    for number, offset in enumerate(offsets):
        found = record_at(log, offset)
        assert (found.queue_offset, found.log_offset) == (number, offset)
        end = offset + found.size
        following = offsets[number + 1] if number < 199 else log.end_offset()
        assert following == end or following == (end // FILE_BYTES + 1) * FILE_BYTES


def test_a_file_is_half_full_just_past_its_middle() -> None:
    log = new_log()
    log.append(of_size(FILE_BYTES // 2), 0, NOW)
    assert not log.is_half_full()
    log.append(of_size(OVERHEAD), 1, NOW)
    assert log.is_half_full()
    log.append(of_size(FILE_BYTES // 2), 2, NOW)
    assert not log.is_half_full()


def test_without_room_for_the_next_file_nothing_is_appended_until_there_is_some() -> None:
    disk = SimDisk(capacity_bytes=FILE_BYTES + 100)
    files = LogFiles(FileSequence(disk, FOLDER, FILE_BYTES), SimDiskWorker(), 0, NO_DEFECTS)
    log = CommitLog(files, RecordWriter(HOST, False), FILE_BYTES - 8)
    log.start_at(0, 0)
    log.append(of_size(3000), 0, NOW)
    before = image(log)
    for _ in range(2):
        with pytest.raises(DiskFull, match="no room for the next commit log file"):
            log.append(of_size(2000), 1, NOW)
        assert image(log) == before
    assert log.append(of_size(500), 1, NOW) == 3000
    disk.capacity_bytes += FILE_BYTES
    for monotonic_ms in (0, RETRY_INTERVAL_MS):
        files.step(False, monotonic_ms)
    assert log.append(of_size(2000), 2, NOW) == FILE_BYTES


# Batches.


def test_a_batch_becomes_records_that_touch_with_rising_queue_offsets() -> None:
    log = new_log(with_crc=True)
    log.append(draft(), 0, NOW)
    start = log.end_offset()
    messages = [
        BatchMessage(b"one", {"a": "b"}, 7),
        BatchMessage(b"", {}, -1),
        BatchMessage(b"three" * 20, {"KEYS": "k"}, 0),
    ]
    assert log.append(batch_of(*messages), 41, NOW + 9) == start
    assert log.last_count == 3
    offsets = log.record_offsets(start, 3)
    assert offsets[0] == start
    for number, (offset, message) in enumerate(zip(offsets, messages, strict=True)):
        single = draft(body=message.body)
        single.flag = message.flag
        single.set_properties(
            b"".join(f"{k}\1{v}\2".encode() for k, v in message.properties.items())
        )
        expected = RecordWriter(HOST, True).encode(single, 41 + number, offset, NOW + 9)
        assert bytes(log.sequence.files[0].view[offset : offset + len(expected)]) == expected
    assert log.end_offset() == offsets[-1] + record_at(log, offsets[-1]).size


def test_a_batch_that_does_not_fit_in_the_room_left_goes_to_the_next_file_whole() -> None:
    log = new_log()
    log.append(of_size(FILE_BYTES - 1000), 0, NOW)
    entry = BatchMessage(b"x" * (300 - OVERHEAD), {})
    assert log.append(batch_of(entry, entry, entry), 1, NOW) == FILE_BYTES - 1000  # leaves 100
    assert len(log.sequence.files) == 1
    assert log.append(batch_of(entry, entry), 4, NOW) == FILE_BYTES
    assert log.record_offsets(FILE_BYTES, 2) == [FILE_BYTES, FILE_BYTES + 300]


@pytest.mark.parametrize(("room", "stays"), [(608, True), (607, False)])
def test_a_batch_leaves_room_for_a_filler_behind_it(room: int, stays: bool) -> None:
    log = new_log()
    log.append(of_size(FILE_BYTES - room), 0, NOW)
    entry = BatchMessage(b"x" * (300 - OVERHEAD), {})
    offset = log.append(batch_of(entry, entry), 1, NOW)
    assert offset == (FILE_BYTES - room if stays else FILE_BYTES)


def test_a_batch_that_fits_in_no_file_is_refused() -> None:
    log = new_log()
    log.append(draft(), 0, NOW)
    before = image(log)
    entry = BatchMessage(b"x" * (2044 - OVERHEAD), {})
    with pytest.raises(MessageTooLarge, match="a batch of 4089 bytes does not fit in a log file"):
        log.append(batch_of(entry, BatchMessage(b"x" * (2045 - OVERHEAD), {})), 1, NOW)
    assert image(log) == before
    assert log.append(batch_of(entry, entry), 1, NOW) == FILE_BYTES


def test_a_batch_cut_short_anywhere_is_refused_whole() -> None:
    log = new_log()
    before = image(log)
    body = encode_batch([BatchMessage(b"first", {}), BatchMessage(b"second", {"a": "b"})])
    made = draft()
    made.is_batch = True
    for size in range(1, len(body)):
        made.set_body(memoryview(body)[:size])
        if size == 22 + len(b"first"):
            continue  # one entry, whole: a batch
        count = 0 if size < 22 + len(b"first") else 1
        with pytest.raises(MessageIllegal, match=f"malformed after {count} messages"):
            log.append(made, 0, NOW)
        assert image(log) == before


def test_a_batch_of_nothing_is_refused() -> None:
    log = new_log()
    made = draft(body=b"")
    made.is_batch = True
    with pytest.raises(MessageIllegal, match="a batch of 0 messages"):
        log.append(made, 0, NOW)


def test_a_batch_has_4096_messages_at_most() -> None:
    log = new_log(file_bytes=1 << 20)
    entries = [BatchMessage(b"", {})] * BATCH_ENTRIES_MAX
    assert log.append(batch_of(*entries), 0, NOW) == 0
    assert log.last_count == BATCH_ENTRIES_MAX
    with pytest.raises(MessageIllegal, match="a batch of 4097 messages"):
        log.append(batch_of(*entries, BatchMessage(b"", {})), 4096, NOW)


@pytest.mark.parametrize("transaction", [0x4, 0x8, 0xC])
def test_a_batch_cannot_be_part_of_a_transaction(transaction: int) -> None:
    """As in RocketMQ: half of its records would be invisible, or all of them ambiguous."""
    log = new_log()
    before = image(log)
    made = batch_of(BatchMessage(b"x", {}))
    made.sys_flag = transaction
    with pytest.raises(MessageIllegal, match="transaction"):
        log.append(made, 0, NOW)
    assert image(log) == before


# What is refused.


@pytest.mark.parametrize("is_batch", [False, True])
def test_a_record_over_the_limit_is_refused(is_batch: bool) -> None:
    log = new_log(record_bytes_max=1000)
    body = b"x" * (1000 - OVERHEAD)
    good, bad = (
        batch_of(BatchMessage(data, {})) if is_batch else draft(body=data)
        for data in (body, body + b"x")
    )
    log.append(good, 0, NOW)
    before = image(log)
    with pytest.raises(MessageTooLarge, match="a record of 1001 bytes; at most 1000 are allowed"):
        log.append(bad, 1, NOW)
    assert image(log) == before


@pytest.mark.parametrize("is_batch", [False, True])
def test_properties_that_have_no_room_for_their_checksum_are_refused(is_batch: bool) -> None:
    log = new_log(with_crc=True, file_bytes=1 << 20, record_bytes_max=1 << 19)
    before = image(log)
    value = "v" * (32767 - 20 - 3)
    if is_batch:
        good = batch_of(BatchMessage(b"", {"n": value}))
        bad = batch_of(BatchMessage(b"", {}), BatchMessage(b"", {"n": value + "v"}))
    else:
        good = draft(text=f"n\1{value}\2".encode())
        bad = draft(text=f"n\1{value}v\2".encode())
    with pytest.raises(MessageTooLarge, match="properties are longer than 32767 bytes"):
        log.append(bad, 0, NOW)
    assert image(log) == before
    log.append(good, 0, NOW)


@pytest.mark.parametrize("is_batch", [False, True])
def test_properties_that_end_in_a_checksum_of_the_senders_are_illegal_and_not_too_large(
    is_batch: bool,
) -> None:
    log = new_log()
    before = image(log)
    made = {"n": "v", "__CRC32#": "0123456789"}
    text = b"n\1v\2__CRC32#\x010123456789\2"
    bad = batch_of(BatchMessage(b"", made)) if is_batch else draft(text=text)
    with pytest.raises(MessageIllegal, match="the reserved property __CRC32#") as caught:
        log.append(bad, 0, NOW)
    assert not isinstance(caught.value, MessageTooLarge)
    assert image(log) == before


# Beginning.


def test_a_log_goes_on_where_recovery_says() -> None:
    disk = SimDisk()
    log = new_log(disk)
    end = [log.append(of_size(1500), n, NOW) for n in range(4)][-1] + 1500
    sequence = FileSequence(disk, FOLDER, FILE_BYTES)
    sequence.load()
    again = CommitLog(
        LogFiles(sequence, SimDiskWorker(), 0, NO_DEFECTS), RecordWriter(HOST, False), 4088
    )
    again.start_at(end, NOW + 7)
    assert (again.end_offset(), again.last_timestamp) == (end, NOW + 7)
    assert record_at(again, again.append(draft(), 4, NOW)).store_timestamp == NOW + 7


def test_a_log_whose_last_file_is_full_goes_on_in_a_new_one() -> None:
    disk = SimDisk()
    sequence = FileSequence(disk, FOLDER, FILE_BYTES)
    sequence.create(2 * FILE_BYTES)
    log = CommitLog(
        LogFiles(sequence, SimDiskWorker(), 0, NO_DEFECTS), RecordWriter(HOST, False), 4088
    )
    log.start_at(3 * FILE_BYTES, 0)
    assert (log.min_offset(), log.end_offset()) == (2 * FILE_BYTES, 3 * FILE_BYTES)
    assert log.append(draft(), 0, NOW) == 3 * FILE_BYTES


def test_an_end_outside_the_last_file_is_a_mistake() -> None:
    sequence = FileSequence(SimDisk(), FOLDER, FILE_BYTES)
    sequence.create(0)
    sequence.create(FILE_BYTES)
    log = CommitLog(
        LogFiles(sequence, SimDiskWorker(), 0, NO_DEFECTS), RecordWriter(HOST, False), 4088
    )
    with pytest.raises(AssertionError):
        log.start_at(100, 0)


# Raw records.


def test_raw_records_lie_where_the_log_ended_as_they_came() -> None:
    source = new_log()
    for size in (200, 300, 400):
        source.append(of_size(size), 0, NOW)
    log = new_log()
    data = memoryview(bytes(source.sequence.files[0].view))
    log.append_raw(data, 0, 200, NOW + 1)
    assert (log.end_offset(), log.last_timestamp, log.is_large) == (200, NOW + 1, False)
    log.append_raw(data, 200, 700, NOW + 2)
    assert (log.end_offset(), log.last_timestamp) == (900, NOW + 2)
    assert image(log)[1][0] == data


def test_a_raw_filler_ends_the_file_with_all_its_bytes() -> None:
    log = new_log()
    log.append(of_size(4000), 0, NOW)
    data = memoryview(b"before" + struct.pack(">ii", 96, MAGIC_FILLER) + b"r" * 88)
    log.append_raw_filler(data, 6, 96)
    assert log.end_offset() == FILE_BYTES
    assert [len(file.view) for file in log.sequence.files] == [FILE_BYTES, FILE_BYTES]
    assert bytes(log.sequence.files[0].view[4000:]) == data[6:]
    log.append(of_size(200), 1, NOW)
    assert record_at(log, FILE_BYTES).size == 200


@pytest.mark.parametrize(
    ("start", "size"), [(0, 0), (0, -1), (-1, 10), (95, 10), (0, 97), (100, 1), (1 << 62, 1)]
)
def test_raw_records_outside_the_file_or_the_data_are_misuse(start: int, size: int) -> None:
    log = new_log()
    log.append(of_size(FILE_BYTES - 104), 0, NOW)
    before = image(log)
    with pytest.raises(Misuse):
        log.append_raw(memoryview(bytes(100)), start, size, NOW)
    for filler_size in (103, 105):
        with pytest.raises(Misuse, match="not 104"):
            log.append_raw_filler(memoryview(bytes(200)), 0, filler_size)
    with pytest.raises(Misuse):
        log.append_raw_filler(memoryview(bytes(103)), 0, 104)
    assert image(log)[1][0] == before[1][0]
    assert log.end_offset() == before[0]
