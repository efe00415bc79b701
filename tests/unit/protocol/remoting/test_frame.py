import struct
import tracemalloc

import pytest

from aerobee.errors import LocalProtocolError, Misuse, RemoteProtocolError
from aerobee.protocol.remoting.frame import (
    FIRST_ROOM_BYTES,
    FRAME_BYTES_MAX,
    HEADER_BYTES_MAX,
    WRITTEN_HEADER_BYTES_MAX,
    FrameLimits,
    FrameReader,
    encode_frame,
    frame_start,
)
from tests.wire import frame, java_header

SMALL = frame(b"{}", b"body")
MIB = 1024 * 1024


def taken(reader: FrameReader, *chunks: bytes | bytearray) -> list[tuple[bytes, bytes, int]]:
    """Header, body and type of every frame that the chunks bring."""
    found = []
    for chunk in chunks:
        reader.receive(chunk)
        while reader.advance():
            found.append((reader.header(), bytes(reader.body()), reader.serialize_type))
    return found


def byte_by_byte(stream: bytes) -> list[bytes]:
    return [stream[index : index + 1] for index in range(len(stream))]


def failure(*chunks: bytes, limits: FrameLimits | None = None) -> str:
    with pytest.raises(RemoteProtocolError) as caught:
        taken(FrameReader(limits), *chunks)
    return str(caught.value)


def test_a_frame_gives_its_header_body_and_type() -> None:
    stream = frame(b"head", b"body", 1) + frame(b"{}")
    assert taken(FrameReader(), stream) == [(b"head", b"body", 1), (b"{}", b"", 0)]


def test_frames_are_the_same_byte_by_byte() -> None:
    stream = SMALL + frame(b"") + frame(b"", b"x") + frame(b"h" * 300, b"b" * 1000, 1)
    assert taken(FrameReader(), *byte_by_byte(stream)) == taken(FrameReader(), stream)


@pytest.mark.parametrize("cut", range(1, len(SMALL) * 2))
def test_frames_are_the_same_in_two_chunks(cut: int) -> None:
    stream = SMALL * 2
    assert taken(FrameReader(), stream[:cut], stream[cut:]) == [(b"{}", b"body", 0)] * 2


def test_positions_bound_the_parts_in_the_view() -> None:
    reader = FrameReader()
    reader.receive(SMALL + frame(b"hdr", b"abc"))
    assert reader.advance()
    assert reader.advance()
    assert bytes(reader.view[reader.header_start : reader.header_end]) == b"hdr"
    assert bytes(reader.view[reader.header_end : reader.body_end]) == b"abc"


def test_bodies_stay_valid_after_later_chunks() -> None:
    reader = FrameReader()
    reader.receive(SMALL + SMALL[:9])
    assert reader.advance()
    whole = reader.body()
    assert not reader.advance()
    reader.receive(SMALL[9:])
    assert reader.advance()
    joined = reader.body()
    assert taken(reader, frame(b"{}", b"other") * 3, SMALL[:5])
    assert bytes(whole) == b"body"
    assert bytes(joined) == b"body"


def test_a_body_cannot_be_written_to() -> None:
    reader = FrameReader()
    assert taken(reader, SMALL[:9]) == []
    reader.receive(bytearray(SMALL[9:]))
    assert reader.advance()
    assert reader.body().readonly


def test_a_frame_whole_in_its_chunk_is_not_copied() -> None:
    chunk = bytearray(SMALL)
    reader = FrameReader()
    reader.receive(chunk)
    assert reader.advance()
    body = reader.body()
    chunk[-1:] = b"Y"
    assert bytes(body) == b"bodY"


def test_nothing_of_the_chunk_is_held_once_more_is_needed() -> None:
    chunk = bytearray(SMALL + SMALL[:9])
    reader = FrameReader()
    assert len(taken(reader, chunk)) == 1
    # A bytearray with a view on it cannot be resized.
    chunk.clear()
    assert taken(reader, SMALL[9:]) == [(b"{}", b"body", 0)]


def test_what_is_pending_is_counted() -> None:
    reader = FrameReader()
    assert reader.pending_size() == 0
    for count, chunk in enumerate(byte_by_byte(SMALL[:-1]), start=1):
        taken(reader, chunk)
        assert reader.pending_size() == count
    taken(reader, SMALL[-1:])
    assert reader.pending_size() == 0


def test_a_frame_of_nothing_but_its_words_is_given_at_once() -> None:
    assert taken(FrameReader(), frame(b"")) == [(b"", b"", 0)]
    assert taken(FrameReader(), SMALL + frame(b"")) == [(b"{}", b"body", 0), (b"", b"", 0)]
    assert taken(FrameReader(), *byte_by_byte(frame(b""))) == [(b"", b"", 0)]


def test_an_empty_chunk_changes_nothing() -> None:
    reader = FrameReader()
    assert taken(reader, b"", SMALL[:3], b"", SMALL[3:], b"") == [(b"{}", b"body", 0)]


def test_no_frame_is_current_when_more_is_needed() -> None:
    reader = FrameReader()
    taken(reader, SMALL)
    assert (reader.header_start, reader.header_end, reader.body_end) == (0, 0, 0)
    assert reader.header() == b""
    assert bytes(reader.body()) == b""


def test_a_chunk_before_the_last_was_taken_is_misuse() -> None:
    reader = FrameReader()
    reader.receive(SMALL)
    with pytest.raises(Misuse, match="not all taken"):
        reader.receive(SMALL)


@pytest.mark.parametrize("view", [memoryview(bytes(8)).cast("I"), memoryview(bytes(16))[::2]])
def test_a_chunk_that_is_no_run_of_bytes_is_misuse(view: memoryview) -> None:
    with pytest.raises(Misuse, match="contiguous"):
        FrameReader().receive(view)


# Limits.


def test_a_frame_of_the_limit_passes_and_one_byte_more_does_not() -> None:
    limits = FrameLimits(frame_bytes_max=100, header_bytes_max=10)
    assert len(taken(FrameReader(limits), frame(b"h" * 10, b"b" * 82))) == 1
    assert "a frame of 101 bytes; at most 100" in failure(frame(b"h", b"b" * 92), limits=limits)


def test_a_header_of_the_limit_passes_and_one_byte_more_does_not() -> None:
    limits = FrameLimits(header_bytes_max=10)
    assert len(taken(FrameReader(limits), frame(b"h" * 10))) == 1
    assert "a header of 11 bytes; at most 10" in failure(frame(b"h" * 11), limits=limits)


def test_the_default_limits_are_rocketmqs() -> None:
    limits = FrameLimits()
    assert (limits.frame_bytes_max, limits.header_bytes_max) == (16 * MIB, 16 * MIB - 8)


@pytest.mark.parametrize(
    ("frame_bytes_max", "header_bytes_max"),
    [(FRAME_BYTES_MAX + 1, 10), (7, 0), (1000, HEADER_BYTES_MAX + 1), (1000, -1)],
)
def test_limits_beyond_the_hard_ones_are_misuse(
    frame_bytes_max: int, header_bytes_max: int
) -> None:
    with pytest.raises(Misuse):
        FrameLimits(frame_bytes_max, header_bytes_max)


@pytest.mark.parametrize("header_size", [0, 8 * MIB, HEADER_BYTES_MAX])
def test_a_frame_may_be_all_header_or_all_body(header_size: int) -> None:
    body_size = HEADER_BYTES_MAX - header_size
    found = taken(FrameReader(), frame(b"h" * header_size, bytes(body_size)))
    assert [len(part) for part in found[0][:2]] == [header_size, body_size]


@pytest.mark.parametrize("length", [0, 3, -1, -(2**31)])
def test_a_length_without_room_for_the_header_word_is_refused(length: int) -> None:
    assert f"frame length {length}" in failure(struct.pack(">i", length))


@pytest.mark.parametrize("length", [2**31 - 1, 16 * MIB - 3])
def test_a_length_is_refused_as_soon_as_its_four_bytes_are_there(length: int) -> None:
    word = struct.pack(">i", length)
    assert f"a frame of {length + 4} bytes" in failure(word)
    assert f"a frame of {length + 4} bytes" in failure(*byte_by_byte(word))


def test_a_header_word_is_refused_as_soon_as_its_four_bytes_are_there() -> None:
    limits = FrameLimits(header_bytes_max=64 * 1024)
    start = struct.pack(">iI", 2 * MIB, 0x00020000)
    assert "a header of 131072 bytes" in failure(start, limits=limits)
    assert "a header of 131072 bytes" in failure(*byte_by_byte(start), limits=limits)


@pytest.mark.parametrize("serialize_type", [2, 22, 127, 255])
def test_an_unknown_serialize_type_is_refused(serialize_type: int) -> None:
    assert f"serialize type {serialize_type};" in failure(frame(b"{}", b"", serialize_type))


def test_a_header_longer_than_its_frame_is_refused() -> None:
    assert "a header of 3 bytes in a frame of 10" in failure(struct.pack(">iI2s", 6, 3, b"{}"))


@pytest.mark.parametrize(
    ("first", "said"),
    [
        (b"GET / HTTP/1.1\r\n", "an HTTP request"),
        (b"POST /x HTTP/1.1\r\n", "an HTTP request"),
        (b"PRI * HTTP/2.0\r\n", "gRPC"),
        (bytes.fromhex("1603010200010001fc0303"), "a TLS hello"),
        (b"PROXY TCP4 1.2.3.4", "PROXY protocol"),
        (b"\r\n\r\n\x00\r\nQUIT\n", "PROXY protocol"),
        (b"SSH-2.0-OpenSSH", "an SSH client"),
    ],
)
def test_other_protocols_are_called_by_their_name(first: bytes, said: str) -> None:
    assert said in failure(first)
    assert said in failure(*byte_by_byte(first))


def test_good_frames_before_a_bad_one_are_given() -> None:
    reader = FrameReader()
    reader.receive(SMALL + b"GET / HTTP/1.1")
    assert reader.advance()
    with pytest.raises(RemoteProtocolError):
        reader.advance()


def test_a_broken_reader_stays_broken() -> None:
    reader = FrameReader()
    reader.receive(b"GET /")
    for _ in range(2):
        with pytest.raises(RemoteProtocolError, match="an HTTP request"):
            reader.advance()
    with pytest.raises(RemoteProtocolError, match="an HTTP request"):
        reader.receive(SMALL)


# Room.


def peak(chunks: list[bytes], reader: FrameReader) -> int:
    """The most memory that receiving took."""
    tracemalloc.start()
    try:
        for chunk in chunks:
            reader.receive(chunk)
            reader.advance()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_promise_of_eight_mebibytes_gets_no_room_before_they_come() -> None:
    start = struct.pack(">iI", 8 * MIB - 4, 2) + b"{}"
    assert peak([start], FrameReader()) < FIRST_ROOM_BYTES + 4096


@pytest.mark.parametrize("sent", [70_000, 200_000, 900_000])
@pytest.mark.parametrize("size", [1000, 65536])
def test_a_frame_is_given_no_more_than_eight_times_what_came_of_it(sent: int, size: int) -> None:
    start = (struct.pack(">iI", 8 * MIB - 4, 2) + b"{}").ljust(sent, b"x")
    chunks = [start[at : at + size] for at in range(0, len(start), size)]
    assert peak(chunks, FrameReader()) < 8 * sent + size


@pytest.mark.parametrize("size", [1000, 65536, 1_000_003])
@pytest.mark.parametrize("body_size", [100_000, MIB, 4 * MIB, 7 * MIB])
def test_one_and_a_half_frames_are_the_most_that_is_held(size: int, body_size: int) -> None:
    stream = frame(b"{}", bytes(body_size))
    chunks = [stream[start : start + size] for start in range(0, len(stream), size)]
    assert peak(chunks, FrameReader()) < 1.5 * len(stream) + FIRST_ROOM_BYTES + 65536


def test_a_frame_larger_than_its_first_room_is_whole() -> None:
    body = bytes(range(256)) * 1024
    stream = frame(b"{}", body) + SMALL
    for size in (1, 7, FIRST_ROOM_BYTES - 1, FIRST_ROOM_BYTES, FIRST_ROOM_BYTES + 1, 200_000):
        chunks = [stream[start : start + size] for start in range(0, len(stream), size)]
        assert taken(FrameReader(), *chunks) == [(b"{}", body, 0), (b"{}", b"body", 0)]


# Writing.


def test_what_is_written_is_what_a_frame_is() -> None:
    assert b"".join(encode_frame(b"head", b"body", 1)) == frame(b"head", b"body", 1)
    assert encode_frame(b"head", b"", 0) == [frame(b"head")]


def test_a_body_is_written_by_reference() -> None:
    body = memoryview(b"body")
    assert encode_frame(b"{}", body, 0)[1] is body


def test_a_frame_can_be_started_for_a_body_in_pieces() -> None:
    assert frame_start(b"{}", 4, 0) + b"bo" + b"dy" == SMALL


def test_frames_that_no_peer_would_take_are_not_written() -> None:
    with pytest.raises(LocalProtocolError, match="a frame of 16777217 bytes"):
        frame_start(b"", FRAME_BYTES_MAX - 7, 0)
    with pytest.raises(LocalProtocolError, match="a header of"):
        frame_start(bytes(WRITTEN_HEADER_BYTES_MAX + 1), 0, 0)
    with pytest.raises(LocalProtocolError, match="serialize type 2"):
        frame_start(b"", 0, 2)


def test_the_route_request_of_the_specification_reads_as_written() -> None:
    header = java_header(105, {"topic": "TopicTest"}, opaque=1).replace(b"513", b"479")
    stream = bytes.fromhex("0000008700000083") + header
    assert taken(FrameReader(), stream) == [(header, b"", 0)]


@pytest.mark.parametrize("size", [1, 7, 64, 10_000])
def test_frames_and_bytes_that_were_current_are_counted_whatever_the_pieces(size: int) -> None:
    frames = [b"".join(encode_frame(b"h" * n, b"b" * n, 0)) for n in (1, 9, 30)]
    data = b"".join(frames)
    reader = FrameReader()
    seen = 0
    for start in range(0, len(data), size):
        reader.receive(data[start : start + size])
        while reader.advance():
            seen += 1
            assert reader.seen == seen
            assert reader.seen_size() == sum(map(len, frames[:seen]))
    assert seen == len(frames)
