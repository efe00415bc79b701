import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.http2 import frames
from aerobee.protocol.http2.connection import (
    DEFAULT_WINDOW,
    PREFACE,
    Cancelled,
    Http2Connection,
    Opened,
    Received,
)
from aerobee.protocol.http2.frames import ErrorCode, frame
from aerobee.protocol.http2.hpack import encode_headers
from aerobee.protocol.http2.limits import Http2Limits
from tests.http2_kit import HELLO, Frame, call_headers, frames_in, open_stream, unary

PATH = "/s/M"
END = encode_headers([("grpc-status", "0")])


def greeted(limits: Http2Limits | None = None) -> Http2Connection:
    connection = Http2Connection(limits)
    connection.receive(HELLO, 0)
    connection.take_output()
    return connection


def said(connection: Http2Connection) -> list[Frame]:
    return frames_in(connection.take_output())


def test_the_server_speaks_first_and_acknowledges_settings() -> None:
    connection = Http2Connection()
    first = said(connection)
    assert [one.kind for one in first] == [frames.SETTINGS, frames.WINDOW_UPDATE]
    assert connection.receive(HELLO, 0) == []
    assert said(connection) == [Frame(frames.SETTINGS, frames.ACK, 0, b"")]


def test_a_call_is_opened_received_and_answered_in_every_chunking() -> None:
    data = HELLO + unary(1, PATH, b"question") + unary(3, PATH, b"x" * 100)
    whole = Http2Connection().receive(data, 0)
    assert whole == [
        Opened(1, call_headers(PATH), False),
        Received(1, b"\0\0\0\0\x08question", True),
        Opened(3, call_headers(PATH), False),
        Received(3, b"\0\0\0\0\x64" + b"x" * 100, True),
    ]
    for size in (1, 2, 7, 9, 10, 50):
        connection = Http2Connection()
        events = []
        for at in range(0, len(data), size):
            events += connection.receive(data[at : at + size], 0)
        assert events == whole
        assert len(connection) == 2


def test_an_answer_is_headers_data_and_trailers_and_ends_the_stream() -> None:
    connection = greeted()
    connection.receive(unary(1, PATH, b"q"), 0)
    connection.write_headers(1, b"\x88")
    connection.write_data(1, b"answer")
    connection.write_trailers(1, END)
    assert said(connection) == [
        Frame(frames.HEADERS, frames.END_HEADERS, 1, b"\x88"),
        Frame(frames.DATA, 0, 1, b"answer"),
        Frame(frames.HEADERS, frames.END_HEADERS | frames.END_STREAM, 1, END),
    ]
    assert len(connection) == 0
    connection.write_data(1, b"late")
    connection.write_trailers(1, END)
    assert said(connection) == []


def test_a_stream_that_is_answered_before_its_end_is_reset_without_an_error() -> None:
    connection = greeted()
    connection.receive(open_stream(1, PATH), 0)
    connection.write_trailers(1, END)
    assert said(connection)[-1] == Frame(frames.RST_STREAM, 0, 1, bytes(4))


def test_data_waits_for_the_window_of_the_peer_and_trailers_wait_for_data() -> None:
    connection = greeted()
    connection.receive(unary(1, PATH, b"q"), 0)
    connection.write_data(1, b"x" * (DEFAULT_WINDOW + 10))
    connection.write_trailers(1, END)
    sent = said(connection)
    assert sum(len(one.payload) for one in sent) == DEFAULT_WINDOW
    assert all(len(one.payload) <= frames.FRAME_BYTES_MAX for one in sent)
    assert connection.unsent == 10
    connection.receive(frames.window_frame(0, 100), 0)
    assert said(connection) == []  # the stream has no room yet
    connection.receive(frames.window_frame(1, 4), 0)
    assert said(connection) == [Frame(frames.DATA, 0, 1, b"xxxx")]
    connection.receive(frames.window_frame(1, 100), 0)
    assert [one.kind for one in said(connection)] == [frames.DATA, frames.HEADERS]
    assert connection.unsent == 0
    assert len(connection) == 0


def test_settings_of_the_peer_change_the_windows_of_open_streams() -> None:
    connection = Http2Connection()
    connection.receive(PREFACE + frames.settings_frame([(frames.INITIAL_WINDOW_SIZE, 3)]), 0)
    connection.receive(unary(1, PATH, b"q"), 0)
    connection.take_output()
    connection.write_data(1, b"12345")
    assert said(connection) == [Frame(frames.DATA, 0, 1, b"123")]
    connection.receive(frames.settings_frame([(frames.INITIAL_WINDOW_SIZE, 4)]), 0)
    assert Frame(frames.DATA, 0, 1, b"4") in said(connection)


def test_a_peer_that_does_not_read_is_an_error() -> None:
    connection = greeted(Http2Limits(unsent_bytes_max=1_000))
    connection.receive(unary(1, PATH, b"q"), 0)
    with pytest.raises(RemoteProtocolError):
        connection.write_data(1, b"x" * (DEFAULT_WINDOW + 2_000))


def test_received_data_is_credited_to_stream_and_connection() -> None:
    connection = greeted(Http2Limits(stream_window=70_000, connection_window=70_000))
    connection.receive(open_stream(1, PATH), 0)
    for _ in range(3):
        connection.receive(frame(frames.DATA, 0, 1, b"x" * 16_000), 0)
    updates = [one for one in said(connection) if one.kind == frames.WINDOW_UPDATE]
    assert [(one.stream, int.from_bytes(one.payload, "big")) for one in updates] == [
        (0, 48_000),
        (1, 48_000),
    ]


def test_a_ping_is_answered_with_its_bytes() -> None:
    connection = greeted()
    connection.receive(frame(frames.PING, 0, 0, b"12345678"), 0)
    connection.receive(frame(frames.PING, frames.ACK, 0, b"87654321"), 0)
    assert said(connection) == [Frame(frames.PING, frames.ACK, 0, b"12345678")]


def test_a_reset_cancels_its_stream_alone() -> None:
    connection = greeted()
    connection.receive(open_stream(1, PATH) + open_stream(3, PATH), 0)
    reset = frames.reset_frame(1, ErrorCode.CANCEL)
    assert connection.receive(reset + reset, 0) == [Cancelled(1)]
    assert not connection.is_open(1)
    assert connection.is_open(3)


def test_padding_and_priority_are_taken_away() -> None:
    connection = greeted()
    block = encode_headers(call_headers(PATH))
    flags = frames.END_HEADERS | frames.PADDED | frames.HAS_PRIORITY
    opened = connection.receive(
        frame(frames.HEADERS, flags, 1, b"\x02" + bytes(5) + block + b"pp"), 0
    )
    assert opened == [Opened(1, call_headers(PATH), False)]
    data = frame(frames.DATA, frames.PADDED | frames.END_STREAM, 1, b"\x03data" + b"ppp")
    assert connection.receive(data, 0) == [Received(1, b"data", True)]


def test_headers_in_several_frames_are_one_block() -> None:
    connection = greeted()
    block = encode_headers(call_headers(PATH))
    data = frame(frames.HEADERS, 0, 1, block[:10]) + frame(frames.CONTINUATION, 0, 1, block[10:20])
    data += frame(frames.CONTINUATION, frames.END_HEADERS, 1, block[20:])
    assert connection.receive(data, 0) == [Opened(1, call_headers(PATH), False)]


def test_streams_beyond_the_limit_are_refused_and_the_others_go_on() -> None:
    connection = greeted(Http2Limits(streams_max=2))
    for stream in (1, 3, 5):
        connection.receive(open_stream(stream, PATH), 0)
    assert said(connection) == [
        Frame(frames.RST_STREAM, 0, 5, ErrorCode.REFUSED_STREAM.to_bytes(4, "big"))
    ]
    assert connection.receive(frame(frames.DATA, 1, 5, b"late"), 0) == []
    assert connection.receive(frame(frames.DATA, 1, 3, b"x"), 0) == [Received(3, b"x", True)]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", ErrorCode.PROTOCOL_ERROR),
        (HELLO + frame(frames.DATA, 0, 1, b"x"), ErrorCode.PROTOCOL_ERROR),
        (HELLO + open_stream(2, PATH), ErrorCode.PROTOCOL_ERROR),
        (HELLO + b"\x00\x40\x01\x00\x00\x00\x00\x00\x01", ErrorCode.FRAME_SIZE_ERROR),
        (HELLO + frame(frames.HEADERS, 4, 1, b"\xff\xff\xff"), ErrorCode.COMPRESSION_ERROR),
        (HELLO + frame(frames.CONTINUATION, 4, 1, b""), ErrorCode.PROTOCOL_ERROR),
        (
            HELLO + frame(frames.HEADERS, 0, 1, b"") + frame(6, 0, 0, bytes(8)),
            ErrorCode.PROTOCOL_ERROR,
        ),
        (HELLO + frame(frames.PING, 0, 0, b"short"), ErrorCode.FRAME_SIZE_ERROR),
        (HELLO + frame(frames.SETTINGS, 0, 0, b"12345"), ErrorCode.FRAME_SIZE_ERROR),
        (HELLO + frames.window_frame(0, 2**31 - 1), ErrorCode.FLOW_CONTROL_ERROR),
        (HELLO + frame(frames.PUSH_PROMISE, 4, 1, b"1234"), ErrorCode.PROTOCOL_ERROR),
        (HELLO + frame(frames.HEADERS, 0x0C, 1, b"\x09abc"), ErrorCode.PROTOCOL_ERROR),
    ],
)
def test_a_mistake_that_concerns_all_streams_ends_the_connection(
    data: bytes, code: ErrorCode
) -> None:
    connection = Http2Connection()
    with pytest.raises(RemoteProtocolError):
        connection.receive(data, 0)
    last = said(connection)[-1]
    assert last.kind == frames.GOAWAY
    assert int.from_bytes(last.payload[4:8], "big") == code


@pytest.mark.parametrize(
    "fields",
    [
        [("Upper", "case")],
        [("te", "trailers"), (":path", "/late")],
        [("", "no name")],
    ],
)
def test_malformed_headers_reset_their_stream_alone(fields: list[tuple[str, str]]) -> None:
    connection = greeted()
    block = encode_headers(fields)
    assert connection.receive(frame(frames.HEADERS, frames.END_HEADERS, 1, block), 0) == []
    assert said(connection)[0].kind == frames.RST_STREAM
    assert len(connection.receive(open_stream(3, PATH), 0)) == 1


def test_floods_end_the_connection_and_slow_peers_do_not() -> None:
    limits = Http2Limits(idle_frames_a_second=10, resets_a_second=10, continuations_max=4)
    ping = frame(frames.PING, 0, 0, bytes(8))
    slow = greeted(limits)
    for second in range(30):
        slow.receive(ping * 5, second * 1_000)
    for flood in (
        ping * 11,
        frame(frames.SETTINGS, frames.ACK, 0) * 11,
        open_stream(1, PATH) + frame(frames.DATA, 0, 1) * 11,
        b"".join(
            open_stream(number, PATH) + frames.reset_frame(number, ErrorCode.CANCEL)
            for number in range(1, 25, 2)
        ),
        b"".join(  # streams that the server is made to reset
            open_stream(number, PATH) + frames.window_frame(number, 0) for number in range(1, 25, 2)
        ),
        b"".join(
            frame(frames.HEADERS, frames.END_HEADERS, number, encode_headers([("", "x")]))
            for number in range(1, 25, 2)
        ),
        frames.window_frame(0, 1) * 11,
        frame(frames.HEADERS, 0, 1, b"") + frame(frames.CONTINUATION, 0, 1, b"") * 5,
    ):
        with pytest.raises(RemoteProtocolError, match="ENHANCE_YOUR_CALM"):
            greeted(limits).receive(flood, 30_000)
