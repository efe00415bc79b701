import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.http2 import frames
from aerobee.protocol.http2.connection import (
    DEFAULT_WINDOW,
    MISSES_BEFORE_CHANGE,
    PREFACE,
    SHAPES_MAX,
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


# Calls, taken at `find_call` or as events.

PATHS = frozenset({PATH})


def calling(limits: Http2Limits | None = None) -> Http2Connection:
    """A connection that knows the headers of `unary`."""
    connection = Http2Connection(limits, PATHS)
    connection.receive(HELLO + unary(1, PATH, b"first"), 0)
    connection.reset(1, ErrorCode.CANCEL)
    connection.take_output()
    return connection


def test_a_call_is_found_when_its_headers_are_known() -> None:
    connection = Http2Connection(None, PATHS)
    connection.feed(HELLO + unary(1, PATH, b"first") + unary(3, PATH, b"second"), 0)
    assert not connection.find_call()
    events = connection.read()
    assert [one.stream for one in events] == [1, 1]
    assert connection.is_at_call
    assert connection.find_call()
    assert connection.call_shape is not None
    assert (connection.call_shape.path, connection.call_stream) == (PATH, 3)
    assert connection.input[connection.call_start : connection.call_stop] == b"second"
    connection.pass_call()
    assert not connection.find_call()
    assert connection.read() == []
    assert len(connection) == 1


def test_a_call_that_nobody_takes_is_an_event_like_any_other() -> None:
    connection = calling()
    said_twice = unary(3, PATH, b"a") + frame(frames.PING, 0, 0, bytes(8)) + unary(5, PATH, b"b")
    expected = [
        Opened(3, call_headers(PATH), False),
        Received(3, b"\0\0\0\0\x01a", True),
        Opened(5, call_headers(PATH), False),
        Received(5, b"\0\0\0\0\x01b", True),
    ]
    connection.feed(said_twice, 0)
    events = connection.read()
    assert connection.is_at_call
    assert events + connection.read() == expected
    assert calling().receive(said_twice, 0) == expected


WHOLE = unary(3, PATH, b"message")
HEADERS_BYTES = len(open_stream(3, PATH))


@pytest.mark.parametrize(
    "data",
    [
        WHOLE[:-1],
        unary(4, PATH, b"message"),
        unary(1, PATH, b"message"),
        unary(3, "/s/N", b"message"),
        open_stream(3, PATH, flags=frames.END_STREAM) + WHOLE[HEADERS_BYTES:],
        open_stream(3, PATH) + frame(frames.DATA, 0, 3, WHOLE[HEADERS_BYTES + 9 :]),
        open_stream(3, PATH) + frame(frames.DATA, 1, 5, WHOLE[HEADERS_BYTES + 9 :]),
        open_stream(3, PATH) + frame(frames.DATA, 1, 3, b"\1" + WHOLE[HEADERS_BYTES + 10 :]),
        open_stream(3, PATH) + frame(frames.DATA, 1, 3, WHOLE[HEADERS_BYTES + 9 :] + b"x"),
        open_stream(3, PATH) + frame(frames.DATA, 9, 3, b"\0" + WHOLE[HEADERS_BYTES + 9 :]),
        open_stream(3, PATH) + frame(frames.HEADERS, 5, 3, b"\x83"),
        open_stream(3, PATH) + frame(frames.DATA, 1, 3, b""),
        open_stream(3, PATH) + frame(frames.DATA, 1, 3, b"\0\0"),
    ],
    ids=[
        "not whole", "an even stream", "an old stream", "another path", "ended by its headers",
        "not ended", "data of another stream", "compressed", "more than a message", "padded",
        "trailers", "empty", "half a prefix",
    ],
)  # fmt: skip
def test_what_is_no_such_call_is_not_found(data: bytes) -> None:
    connection = calling()
    connection.feed(data, 0)
    assert not connection.find_call()


def test_a_change_of_the_header_table_makes_known_headers_unknown() -> None:
    connection = calling()
    block = b"\xbe" + encode_headers(call_headers(PATH)[1:])
    kept = frame(frames.HEADERS, 4, 3, b"\x40\x07:method\x04POST" + block[1:])
    by_table = frame(frames.HEADERS, 4, 5, block) + unary(5, PATH, b"x")[HEADERS_BYTES:]
    connection.receive(kept + by_table, 0)  # the second has only names of the table
    again = by_table.replace((5).to_bytes(4, "big"), (7).to_bytes(4, "big"))
    connection.feed(again, 0)
    assert connection.find_call()
    connection.pass_call()
    put = frame(frames.HEADERS, 4, 9, b"\x40\x07:method\x03PUT" + block[1:])
    connection.receive(put, 0)
    connection.feed(by_table.replace((5).to_bytes(4, "big"), (11).to_bytes(4, "big")), 0)
    assert not connection.find_call()
    opened = connection.read()[0]
    assert isinstance(opened, Opened)
    assert opened.headers[0] == (":method", "PUT")


def test_a_smaller_table_makes_known_headers_unknown() -> None:
    connection = calling()
    smaller = frame(frames.HEADERS, 4, 3, b"\x20" + encode_headers(call_headers("/s/N")))
    connection.receive(smaller, 0)
    connection.feed(unary(5, PATH, b"x"), 0)
    assert not connection.find_call()


def test_streams_that_are_open_or_held_leave_no_room_for_a_call() -> None:
    connection = calling(Http2Limits(streams_max=2))
    connection.receive(open_stream(3, PATH), 0)
    connection.feed(unary(5, PATH, b"x"), 0)
    assert connection.find_call()
    connection.hold(1)
    assert not connection.find_call()
    connection.pass_call()
    assert len(connection) == 2
    connection.receive(unary(7, PATH, b"x"), 0)
    assert [(one.kind, one.stream) for one in said(connection)] == [(frames.RST_STREAM, 7)]
    connection.hold(-1)
    connection.feed(unary(9, PATH, b"x"), 0)
    assert connection.find_call()


def test_a_call_of_more_than_a_streams_window_is_not_found() -> None:
    connection = calling(Http2Limits(stream_window=20))
    connection.feed(unary(3, PATH, b"x" * 15), 0)
    assert connection.find_call()
    connection.pass_call()
    connection.feed(unary(5, PATH, b"x" * 16), 0)
    assert not connection.find_call()


def test_calls_are_credited_like_any_data() -> None:
    limits = Http2Limits(connection_window=66_000)
    credited = []
    for takes in (True, False):
        connection = calling(limits)
        for number in range(3, 43, 2):
            connection.feed(unary(number, PATH, b"x" * 3_995), 0)
            if takes and connection.find_call():
                connection.pass_call()
            connection.read()
        credited.append([one for one in said(connection) if one.kind == frames.WINDOW_UPDATE])
    assert credited[0] == credited[1] != []


def test_what_is_reserved_for_an_answer_is_missing_for_others() -> None:
    connection = calling()
    assert connection.answer_bytes_max() == frames.FRAME_BYTES_MAX
    connection.reserve(DEFAULT_WINDOW - 100)
    assert connection.answer_bytes_max() == 100
    connection.receive(unary(3, PATH, b"x"), 0)
    connection.write_data(3, b"y" * 300)
    assert [len(one.payload) for one in said(connection)] == [100]
    assert connection.answer_bytes_max() <= 0
    connection.reserve(100 - DEFAULT_WINDOW)
    connection.write_answers(b"whole")
    assert connection.take_output() == b"whole"


def test_the_window_of_new_streams_bounds_answers_in_place() -> None:
    connection = calling()
    connection.receive(frames.settings_frame([(frames.INITIAL_WINDOW_SIZE, 50)]), 0)
    assert connection.answer_bytes_max() == 50
    assert connection.has_stream_room(50)
    assert not connection.has_stream_room(51)


def test_a_call_that_was_passed_can_be_answered_as_any_other() -> None:
    connection = calling()
    connection.feed(unary(3, PATH, b"x"), 0)
    assert connection.find_call()
    connection.pass_call()
    connection.open_held(3)
    connection.write_headers(3, END)
    connection.write_data(3, b"answer")
    connection.write_trailers(3, END)
    kinds = [(one.kind, one.stream) for one in said(connection)]
    assert kinds == [(frames.HEADERS, 3), (frames.DATA, 3), (frames.HEADERS, 3)]
    assert len(connection) == 0


def test_a_connection_keeps_few_shapes() -> None:
    paths = [f"/s/{number}" for number in range(2 * SHAPES_MAX)]
    connection = Http2Connection(None, frozenset(paths))
    connection.receive(HELLO, 0)
    numbers = iter(range(1, 10_000, 2))
    for path in paths:
        connection.receive(unary(next(numbers), path, b"x"), 0)
    known = []
    for path in paths:
        connection.feed(unary(next(numbers), path, b"x"), 0)
        known.append(connection.find_call())
        connection.read()
    assert known == [True] * SHAPES_MAX + [False] * SHAPES_MAX
    for _ in range(MISSES_BEFORE_CHANGE):
        connection.receive(unary(next(numbers), paths[-1], b"x"), 0)
    connection.feed(unary(next(numbers), paths[-1], b"x"), 0)
    assert connection.find_call()
