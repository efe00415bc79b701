import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.replication.transfer import (
    BODY_BYTES_MAX,
    OFFSET_MAX,
    ReportReader,
    TransferReader,
    encode_header,
    encode_report,
)
from tests.replication_kit import chunked


def reports(chunks: "list[bytes]") -> list[int | str]:
    """What a reader says of a stream; at the end the error, if there is one."""
    reader = ReportReader()
    found: list[int | str] = []
    try:
        for chunk in chunks:
            reader.receive(chunk)
            while reader.advance():
                found.append(reader.log_offset)
    except RemoteProtocolError as error:
        found.append(str(error))
    return found


def transfers(chunks: "list[bytes]", body_bytes_max: int = BODY_BYTES_MAX) -> list[object]:
    """The log bytes and heartbeats of a stream, with neighbouring pieces joined."""
    reader = TransferReader(body_bytes_max)
    found: list[object] = []
    start, joined = 0, b""
    try:
        for chunk in chunks:
            reader.receive(chunk)
            while reader.advance():
                if joined and (not reader.data or reader.log_offset != start + len(joined)):
                    found.append((start, joined))
                    joined = b""
                if not reader.data:
                    found.append((reader.log_offset, b""))
                else:
                    start = start if joined else reader.log_offset
                    joined += bytes(reader.data)
    except RemoteProtocolError as error:
        if joined:
            found.append((start, joined))
        return [*found, str(error)]
    return [*found, (start, joined)] if joined else found


def test_a_report_is_eight_bytes_of_the_offset() -> None:
    assert encode_report(0x0102030405060708) == bytes(range(1, 9))


def test_a_packet_begins_with_the_offset_and_the_size_of_its_body() -> None:
    assert encode_header(0x0102030405060708, 0x090A0B0C) == bytes(range(1, 13))


@pytest.mark.parametrize("size", range(1, 30))
def test_reports_are_the_same_in_every_chunking(size: int) -> None:
    offsets = [0, 5, 2**40, OFFSET_MAX]
    stream = b"".join(map(encode_report, offsets)) + b"\0\0\0"
    assert reports(list(chunked(stream, size))) == offsets


@pytest.mark.parametrize("size", range(1, 30))
def test_a_report_below_zero_ends_the_stream_behind_the_reports_before_it(size: int) -> None:
    stream = b"".join(map(encode_report, [7, 8, -1, 9]))
    assert reports(list(chunked(stream, size))) == [7, 8, "a report of offset -1"]


def test_a_broken_reader_of_reports_stays_broken() -> None:
    reader = ReportReader()
    reader.receive(encode_report(-5))
    for _ in range(2):
        with pytest.raises(RemoteProtocolError):
            reader.advance()
        reader.receive(encode_report(5))


@pytest.mark.parametrize("size", range(1, 60))
def test_packets_are_the_same_in_every_chunking(size: int) -> None:
    stream = (
        encode_header(100, 0)
        + encode_header(100, 20)
        + bytes(range(20))
        + encode_header(120, 5)
        + b"12345"
        + encode_header(125, 0)
        + encode_header(900, 3)
        + b"abc"
    )
    assert transfers(list(chunked(stream, size))) == [
        (100, b""),
        (100, bytes(range(20)) + b"12345"),
        (125, b""),
        (900, b"abc"),
    ]


def test_a_body_is_handed_on_before_it_is_whole_and_without_a_copy() -> None:
    reader = TransferReader()
    chunk = encode_header(7, 1 << 20) + b"the begin"
    reader.receive(chunk)
    assert reader.advance()
    assert (reader.log_offset, bytes(reader.data)) == (7, b"the begin")
    assert reader.data.obj is chunk
    assert not reader.advance()
    reader.receive(b"more")
    assert reader.advance()
    assert (reader.log_offset, bytes(reader.data)) == (16, b"more")


def test_a_reader_does_not_keep_the_chunk_it_has_handed_on() -> None:
    reader = TransferReader()
    chunk = bytearray(encode_header(7, 100) + b"begin")
    reader.receive(memoryview(chunk))
    while reader.advance():
        pass
    chunk.clear()  # a BufferError if a view of it is left


@pytest.mark.parametrize(
    ("offset", "size", "words"),
    [
        (-1, 5, "offset -1"),
        (0, -1, "a packet of -1 bytes"),
        (0, 101, "at most 100"),
        (OFFSET_MAX - 9, 10, "beyond the largest offset"),
    ],
)
@pytest.mark.parametrize("chunk", [1, 5, 100])
def test_a_header_that_cannot_be_ends_the_stream(
    offset: int, size: int, words: str, chunk: int
) -> None:
    stream = encode_header(3, 4) + b"good" + encode_header(offset, size) + b"bad"
    good, error = transfers(list(chunked(stream, chunk)), 100)
    assert good == (3, b"good")
    assert words in str(error)


def test_the_largest_body_and_the_largest_offset_are_taken() -> None:
    assert transfers([encode_header(0, 100) + bytes(100)], 100) == [(0, bytes(100))]
    assert transfers([encode_header(OFFSET_MAX, 0)]) == [(OFFSET_MAX, b"")]


def test_a_broken_reader_of_packets_stays_broken() -> None:
    reader = TransferReader()
    reader.receive(encode_header(-5, 0))
    for _ in range(2):
        with pytest.raises(RemoteProtocolError):
            reader.advance()
        reader.receive(encode_header(5, 0))
