import pytest

from aerobee.errors import RemoteProtocolError, StoreBusy
from aerobee.replication.incoming_records import IncomingRecords
from tests.replication_kit import BadRecord, MemoryLog, chunked, filled_log, record


def feed(incoming: IncomingRecords, stream: bytes, chunk: int) -> None:
    for piece in chunked(stream, chunk):
        incoming.take(incoming.next_offset, memoryview(piece))


@pytest.mark.parametrize("chunk", [1, 2, 3, 4, 7, 8, 9, 50, 333, 1_000, 100_000])
def test_the_log_gets_whole_records_in_any_chunking(chunk: int) -> None:
    master = filled_log(100)
    stream = master.content(0, master.end_offset)
    log = MemoryLog()
    incoming = IncomingRecords(log, log.file_bytes, 0)
    for piece in chunked(stream, chunk):
        incoming.take(incoming.next_offset, memoryview(piece))
        assert stream.startswith(log.content(0, log.end_offset))
        assert incoming.end_offset == log.end_offset
    assert log.content(0, log.end_offset) == stream
    assert incoming.next_offset == master.end_offset


def test_only_the_record_that_is_not_whole_is_copied_aside() -> None:
    master = filled_log(20)
    stream = master.content(0, master.end_offset)
    log = MemoryLog()
    incoming = IncomingRecords(log, log.file_bytes, 0)
    feed(incoming, stream, len(stream) // 2 + 1)
    # Of two chunks: the first, the record across both, the rest.
    assert log.appends == 3


def test_bytes_of_another_offset_are_refused_and_change_nothing() -> None:
    log = filled_log(3)
    end = log.end_offset
    incoming = IncomingRecords(log, log.file_bytes, end)
    more = memoryview(record(b"more"))
    for offset in (end - 1, end + 1, 0):
        with pytest.raises(RemoteProtocolError, match=f"{end} is next"):
            incoming.take(offset, more)
    incoming.take(end, more[:5])
    with pytest.raises(RemoteProtocolError, match=f"{end + 5} is next"):
        incoming.take(end, more)
    assert log.end_offset == end


@pytest.mark.parametrize("size", [-1, 0, 7, 1_001, 2**31 - 1])
@pytest.mark.parametrize("chunk", [1, 3, 6])
def test_a_size_that_no_record_has_is_refused_before_it_is_waited_for(
    size: int, chunk: int
) -> None:
    log = MemoryLog()
    incoming = IncomingRecords(log, log.file_bytes, 0)
    with pytest.raises(RemoteProtocolError, match="mappedFileSizeCommitLog"):
        feed(incoming, (size % 2**32).to_bytes(4, "big") + b"ab", chunk)


def test_a_record_must_fit_into_the_rest_of_its_file() -> None:
    log = filled_log(1)
    incoming = IncomingRecords(log, log.file_bytes, log.end_offset)
    room = log.file_bytes - log.end_offset
    feed(incoming, room.to_bytes(4, "big"), 4)
    other = IncomingRecords(log, log.file_bytes, log.end_offset)
    with pytest.raises(RemoteProtocolError, match=f"room for {room}"):
        feed(other, (room + 1).to_bytes(4, "big"), 4)


@pytest.mark.parametrize("chunk", [1, 10, 1_000])
def test_sound_records_before_an_unsound_one_are_appended_and_it_is_not(chunk: int) -> None:
    good, bad = record(b"good"), bytearray(record(b"bad one"))
    bad[10] ^= 1
    log = MemoryLog()
    incoming = IncomingRecords(log, log.file_bytes, 0)
    with pytest.raises(BadRecord):
        feed(incoming, good + bytes(bad) + good, chunk)
    assert log.content(0, log.end_offset) == good


def test_a_log_that_takes_less_than_a_whole_record_is_not_asked_again() -> None:
    class Reluctant(MemoryLog):
        def append_raw(self, log_offset: int, data: memoryview) -> int:
            return 0

    data = record(b"a message")
    log = Reluctant()
    with pytest.raises(RemoteProtocolError, match="no record at offset 0"):
        feed(IncomingRecords(log, log.file_bytes, 0), data, 1_000)
    with pytest.raises(RemoteProtocolError, match="no record at offset 0"):
        feed(IncomingRecords(log, log.file_bytes, 0), data, 5)


@pytest.mark.parametrize("chunk", [1, 7, 50, 333, 100_000])
def test_what_a_busy_log_did_not_take_waits_and_is_appended_later(chunk: int) -> None:
    master = filled_log(100)
    stream = master.content(0, master.end_offset)
    log = MemoryLog()
    incoming = IncomingRecords(log, log.file_bytes, 0)
    for number, piece in enumerate(chunked(stream, chunk)):
        log.refusal = StoreBusy("busy") if number % 3 else None
        if log.refusal is None and incoming.busy is not None:
            incoming.go_on()
        incoming.take(incoming.next_offset, memoryview(piece))
        assert incoming.end_offset == log.end_offset
        assert stream.startswith(log.content(0, log.end_offset))
    log.refusal = None
    if incoming.busy is not None:
        incoming.go_on()
    assert incoming.busy is None
    assert log.content(0, log.end_offset) == stream


def test_a_log_that_is_still_busy_takes_nothing_of_what_waits() -> None:
    log = MemoryLog()
    incoming = IncomingRecords(log, log.file_bytes, 0)
    log.refusal = StoreBusy("busy")
    incoming.take(0, memoryview(record(b"one")))
    incoming.go_on()
    assert incoming.busy is log.refusal
    assert incoming.end_offset == 0
    assert incoming.next_offset == len(record(b"one"))
