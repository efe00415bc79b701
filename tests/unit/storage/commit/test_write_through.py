"""Large appends: what is in the file afterwards is what small ones would have put there."""

import errno

import pytest

from aerobee.protocol.message.message_batch import BatchMessage, encode_batch
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.message.record import RecordWriter
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.commit.commit_log import CommitLog
from aerobee.storage.commit.log_files import LogFiles
from aerobee.storage.commit.write_through import LARGE_BYTES, PIECE_BYTES
from aerobee.storage.defects import NO_DEFECTS
from aerobee.storage.files.file_sequence import FileSequence
from tests.store_kit import draft

FILE_BYTES = 4 << 20
HOST = bytes((127, 0, 0, 1, 0, 0, 42, 159))
NOW = 1_700_000_000_000


def new_log(disk: SimDisk) -> CommitLog:
    files = LogFiles(
        FileSequence(disk, "store/commitlog", FILE_BYTES), SimDiskWorker(), 0, NO_DEFECTS
    )
    log = CommitLog(files, RecordWriter(HOST, True), FILE_BYTES - 8)
    log.start_at(0, 0)
    return log


def bodies(count: int, size: int) -> list[BatchMessage]:
    return [BatchMessage(b"%08d" % n + b"x" * (size - 8), {"n": str(n)}) for n in range(count)]


def batch_of(messages: list[BatchMessage]) -> MessageDraft:
    made = draft(body=encode_batch(messages))
    made.is_batch = True
    return made


def by_small_ones(messages: list[BatchMessage]) -> tuple[int, bytes]:
    """What the same messages make of the log one by one, through the mapping."""
    disk = SimDisk()
    log = new_log(disk)
    for number, message in enumerate(messages):
        log.append(batch_of([message]), number, NOW)
        assert not log.is_large
    assert "write" not in calls(disk)
    return log.end_offset(), bytes(log.sequence.files[0].view)


def calls(disk: SimDisk) -> list[str]:
    return [call.name for call in disk.faults.calls]


@pytest.mark.parametrize("count", [LARGE_BYTES // 1000, 3 * PIECE_BYTES // 1000])
def test_a_large_batch_is_written_in_pieces_and_lies_where_small_ones_would(count: int) -> None:
    messages = bodies(count, 1000)
    disk = SimDisk()
    log = new_log(disk)
    log.append(batch_of(messages), 0, NOW)
    assert log.is_large
    assert calls(disk).count("write") == 1 + (log.end_offset() - 1) // PIECE_BYTES
    assert (log.end_offset(), bytes(log.sequence.files[0].view)) == by_small_ones(messages)


def test_an_append_is_large_from_its_limit_on() -> None:
    log = new_log(SimDisk())
    empty = log.append(draft(body=b"x"), 0, NOW)
    overhead = log.end_offset() - empty - 1
    log.append(draft(body=b"x" * (LARGE_BYTES - overhead - 1)), 1, NOW)
    assert not log.is_large
    log.append(draft(body=b"x" * (LARGE_BYTES - overhead)), 2, NOW)
    assert log.is_large


def test_a_record_larger_than_a_piece_goes_in_one() -> None:
    disk = SimDisk()
    log = new_log(disk)
    body = bytes(range(256)) * (2 * PIECE_BYTES // 256)
    log.append(draft(body=b"before"), 0, NOW)
    start = log.append(draft(body=body), 1, NOW)
    assert calls(disk).count("write") == 1
    log.append(draft(body=b"after"), 2, NOW)
    view = log.sequence.files[0].view
    assert bytes(view).count(body) == 1
    assert bytes(view).index(b"before") < start < bytes(view).index(body)
    log.append(batch_of(bodies(200, 1000)), 3, NOW)
    assert bytes(view).count(b"%08d" % 199 + b"x") == 1


@pytest.mark.parametrize("failing", [1, 2])
def test_what_the_file_system_refuses_goes_through_the_mapping(failing: int) -> None:
    messages = bodies(2 * PIECE_BYTES // 1000, 1000)
    disk = SimDisk()
    log = new_log(disk)
    disk.faults.fail_call(failing, errno.EMFILE)
    log.append(batch_of(messages), 0, NOW)
    assert (log.end_offset(), bytes(log.sequence.files[0].view)) == by_small_ones(messages)


@pytest.mark.parametrize("refused", [False, True])
def test_raw_records_that_are_many_are_written_without_another_copy(refused: bool) -> None:
    messages = bodies(2 * PIECE_BYTES // 1000, 1000)
    end, image = by_small_ones(messages)
    disk = SimDisk()
    log = new_log(disk)
    if refused:
        disk.faults.fail_call(1, errno.EMFILE)
    data = memoryview(b"..." + image)
    log.append_raw(data, 3, end, NOW)
    assert log.is_large
    assert calls(disk).count("write") == 1
    assert (log.end_offset(), bytes(log.sequence.files[0].view)) == (end, image)
