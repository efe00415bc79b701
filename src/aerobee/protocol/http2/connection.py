"""One HTTP/2 connection of a server: bytes → streams and their data; answers → bytes.

    receive(bytes) ─▶ Opened(stream, headers) ─▶ Received(stream, data) … ─▶ Cancelled(stream)
    feed(bytes) ─▶ find_call() ─▶ pass_call()     requests whose headers have a known shape
    write_headers, write_data, write_trailers, reset ─▶ take_output()

A repeated request of one message (`header_shape`) is taken at `find_call`, without a stream of its
own: `pass_call` counts it, and its answer is reserved and written as bytes. One that nobody takes
there goes the way of all others. Law: both ways count the same against every limit.

A mistake of the peer that concerns one stream resets that stream. One that concerns all of them
raises RemoteProtocolError: `take_output` then has a GOAWAY that says why, and the connection is to
be closed after it.

Flow control. What is received is credited at once: the memory that a message takes while it comes
is bounded by the reader of messages, which resets a stream. What is written waits here while the
peer gives no room; `unsent` is its size, and beyond the limit the peer is an error.

Floods: frames that carry nothing and streams that are given up are counted by the second of the
caller's clock; a header block has a size and a number of frames.

Longer than 500 lines because every kind of frame, and both directions of flow control, change the
one state of the connection.
"""

from collections import deque
from typing import TYPE_CHECKING, NamedTuple, NoReturn, TypeAlias

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.http2 import frames
from aerobee.protocol.http2.answer_frames import AnswerFrames
from aerobee.protocol.http2.frames import FRAME_BYTES_MAX, FRAME_HEADER_BYTES, ErrorCode
from aerobee.protocol.http2.header_shape import HeaderField, HeaderShape
from aerobee.protocol.http2.hpack import HeaderDecoder, HeadersTooLarge
from aerobee.protocol.http2.limits import Http2Limits

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import (
        bytes_address,
        bytes_at,
        load_u32,
    )

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
"""The first bytes that a client sends."""
DEFAULT_WINDOW = 65_535
WINDOW_MAX = 2**31 - 1
SECOND_MS = 1_000
SMALL_WINDOW = 1_024
_STREAM_BITS = 0x7FFFFFFF
_FRAME_BYTES_MAX = FRAME_BYTES_MAX
_HEADER_BYTES = FRAME_HEADER_BYTES
_DATA = frames.DATA
_HEADERS = frames.HEADERS
_END_HEADERS = frames.END_HEADERS
_END_STREAM = frames.END_STREAM
_PREFIX_BYTES = 5
"""Before a message of gRPC: whether it is compressed, and its size."""
SHAPES_MAX = 8
"""Shapes that one connection keeps: methods, times the clients that share it."""
MISSES_BEFORE_CHANGE = 32
"""A full set of shapes changes so seldom: learning costs more than decoding."""


def is_compiled() -> bool:
    return cython.compiled


class Opened(NamedTuple):
    """A request has begun."""

    stream: int
    headers: list[HeaderField]
    is_ended: bool
    """No data follows."""


class Received(NamedTuple):
    stream: int
    data: bytes
    is_ended: bool


class Cancelled(NamedTuple):
    """The peer, or a mistake of it, has ended the stream: nothing of it can be answered."""

    stream: int


Http2Event: TypeAlias = Opened | Received | Cancelled


class _Stream:
    """S1. `unsent` has bytes only while the stream's or the connection's window is too small."""

    __slots__ = ("is_ended", "is_remote_ended", "taken", "trailers", "unsent", "window")

    def __init__(self, window: int, is_remote_ended: bool) -> None:
        self.window = window
        """What may be sent."""
        self.taken = 0
        """Received since the peer was last given credit."""
        self.is_remote_ended = is_remote_ended
        self.is_ended = False
        """The answer is complete, though perhaps not out."""
        self.unsent: deque[bytes] | None = None
        self.trailers = b""


class Http2Connection:
    """C1. Streams that are not in `_streams` and not above `_last_stream` are closed."""

    __slots__ = (
        "_block",
        "_block_flags",
        "_block_frames",
        "_block_stream",
        "_credit_at",
        "_frame_bytes_max",
        "_headers",
        "_held",
        "_idle_frames",
        "_is_begun",
        "_last_stream",
        "_limits",
        "_misses",
        "_output",
        "_paths",
        "_position",
        "_resets",
        "_second_ms",
        "_shapes",
        "_stream_credit",
        "_stream_window",
        "_streams",
        "_streams_max",
        "_taken",
        "_waiting",
        "_window",
        "call_shape",
        "call_start",
        "call_stop",
        "call_stream",
        "input",
        "is_at_call",
        "unsent",
    )

    def __init__(
        self, limits: Http2Limits | None = None, paths: frozenset[str] = frozenset()
    ) -> None:
        """`paths`: of the requests that may be taken at `find_call`."""
        self._limits = limits if limits is not None else Http2Limits()
        self._streams_max = self._limits.streams_max
        # What a stream may bring, and the connection, before the peer is given credit.
        self._stream_credit = self._limits.stream_window
        self._credit_at = self._limits.connection_window // 2
        self._headers = HeaderDecoder(self._limits.fields_bytes_max)
        self.input = b""
        """What has come and is not read to its end; calls are positions in it."""
        self._position = 0
        self._is_begun = False
        self._streams: dict[int, _Stream] = {}
        self._last_stream = 0
        self._block = bytearray()
        self._block_stream = 0  # 0: no header block is open
        self._block_flags = 0
        self._block_frames = 0
        self._window = DEFAULT_WINDOW
        self._stream_window = DEFAULT_WINDOW
        self._frame_bytes_max = FRAME_BYTES_MAX
        self._taken = 0
        self._waiting: dict[int, _Stream] = {}
        self._second_ms = 0
        self._idle_frames = 0
        self._resets = 0
        self._paths = paths
        self._shapes: list[HeaderShape] = []
        self._misses = 0
        self._held = 0  # calls that were passed and will be answered later
        self.is_at_call = False
        """Whether `read` has stopped before a call."""
        # The call that was found: its message is at [call_start, call_stop) of the input.
        self.call_shape: HeaderShape | None = None
        self.call_stream = 0
        self.call_start = 0
        self.call_stop = 0
        self.unsent = 0
        """Bytes of answers that wait for room at the peer."""
        self._output = bytearray(
            frames.settings_frame(
                (
                    (frames.MAX_CONCURRENT_STREAMS, self._limits.streams_max),
                    (frames.INITIAL_WINDOW_SIZE, self._limits.stream_window),
                    (frames.MAX_HEADER_LIST_SIZE, self._limits.fields_bytes_max),
                )
            )
            + frames.window_frame(0, self._limits.connection_window - DEFAULT_WINDOW)
        )

    def __len__(self) -> int:
        """The number of open streams."""
        return len(self._streams) + self._held

    def take_output(self) -> bytes:
        """The bytes to write now."""
        output = bytes(self._output)
        self._output.clear()
        return output

    # Reading.

    def receive(self, data: bytes, now_ms: int) -> list[Http2Event]:
        """Take the next bytes of the connection. `now_ms` is on the monotonic clock."""
        self.feed(data, now_ms)
        events = self.read()
        while self.is_at_call:
            events += self.read()
        return events

    def feed(self, data: bytes, now_ms: int) -> None:
        """The next bytes of the connection, to be read by `read` and `find_call` in turn."""
        if now_ms - self._second_ms >= SECOND_MS:
            self._second_ms = now_ms
            self._idle_frames = self._resets = 0
        left = len(self.input) - self._position
        if left:
            data = bytes_at(bytes_address(self.input), self._position, left) + data
        self.input = data
        self._position = 0 if self._is_begun else self._take_preface(data)

    def read(self) -> list[Http2Event]:
        """Read on to the end, or to the next call (`is_at_call`), but past one frame at least."""
        events: list[Http2Event] = []
        self.is_at_call = False
        start = self._position
        end = len(self.input)
        memory = bytes_address(self.input)
        while end - self._position >= _HEADER_BYTES and self._is_begun:
            if self._position > start and self.find_call():
                self.is_at_call = True
                break
            word = load_u32(memory, self._position)
            size = word >> 8
            kind = word & 0xFF
            if size > _FRAME_BYTES_MAX:
                self._fail(ErrorCode.FRAME_SIZE_ERROR, f"a frame of {size} bytes")
            payload = self._position + _HEADER_BYTES
            if end - payload < size:
                break
            flags = memory[self._position + 4]
            stream = load_u32(memory, self._position + 5) & _STREAM_BITS
            self._position = payload + size
            self._take_frame(kind, flags, stream, bytes_at(memory, payload, size), events)
        return events

    # Calls: requests of one message, with headers of a known shape.

    def find_call(self) -> bool:
        """Whether such a call is next, whole, and no limit forbids to take it."""
        at = self._position
        end = len(self.input)
        if not self._shapes or self._block_stream or end - at < 2 * _HEADER_BYTES + _PREFIX_BYTES:
            return False
        memory = bytes_address(self.input)
        if load_u32(memory, at) & 0xFF != _HEADERS or memory[at + 4] != _END_HEADERS:
            return False
        number = load_u32(memory, at + 5) & _STREAM_BITS
        headers_end = at + _HEADER_BYTES + (load_u32(memory, at) >> 8)
        data = headers_end + _HEADER_BYTES
        message = data + _PREFIX_BYTES
        if number & 1 == 0 or number <= self._last_stream or message > end:
            return False
        if load_u32(memory, headers_end) & 0xFF != _DATA or memory[headers_end + 4] != _END_STREAM:
            return False
        size = load_u32(memory, headers_end) >> 8
        if (
            load_u32(memory, headers_end + 5) & _STREAM_BITS != number
            or size < _PREFIX_BYTES
            or size > _FRAME_BYTES_MAX
            or size > self._stream_credit
            or size > end - data
            or memory[data] != 0
            or load_u32(memory, data + 1) != size - _PREFIX_BYTES
            or len(self._streams) + self._held >= self._streams_max
        ):
            return False
        self.call_stream = number
        self.call_start = message
        self.call_stop = data + size
        return self._find_shape(memory, at + _HEADER_BYTES, headers_end)

    def _find_shape(self, memory: memoryview, start: int, end: int) -> bool:
        table = self._headers.changes
        for each in self._shapes:
            shape: HeaderShape = each
            if shape.table == table and shape.matches(memory, start, end):
                self.call_shape = shape
                return True
        return False

    def pass_call(self) -> None:
        """The call that was found is taken."""
        self._last_stream = self.call_stream
        self._position = self.call_stop
        self._credit_connection(self.call_stop - self.call_start + _PREFIX_BYTES)

    def answer_bytes_max(self) -> int:
        """The largest answer of a call that may be written now, with its prefix; none: 0 or
        less."""
        size = self._frame_bytes_max
        if self._stream_window < size:
            size = self._stream_window
        return size if size < self._window else self._window

    def reserve(self, size: int) -> None:
        """Answers of calls that were passed have so many bytes of data, with their prefixes; below
        0: so many are free again."""
        self._window -= size

    def has_stream_room(self, size: int) -> bool:
        """Whether the peer still takes an answer of this size on a new stream."""
        return size <= self._stream_window

    def hold(self, count: int) -> None:
        """So many calls that were passed are answered later; below 0: now."""
        self._held += count

    def write_answers(self, answers: bytes) -> None:
        """Write whole answers of calls that were passed, for whose data room was reserved."""
        self._output += answers

    def open_held(self, number: int) -> None:
        """A call that was passed is answered as any other."""
        self._streams[number] = _Stream(self._stream_window, True)

    def _learn(self, block: bytes, fields: list[HeaderField]) -> None:
        """Keep the shape of a request that may come again."""
        shape = HeaderShape(block, fields, self._headers.changes)
        if shape.path not in self._paths:
            return
        self._shapes = [one for one in self._shapes if one.table == shape.table]
        if len(self._shapes) == SHAPES_MAX:
            self._misses += 1
            if self._misses % MISSES_BEFORE_CHANGE:
                return
            del self._shapes[-1]
        if shape.learn(self._limits.fields_bytes_max) and not any(
            one.recognises(block) for one in self._shapes
        ):
            self._shapes.insert(0, shape)

    def _take_preface(self, data: bytes) -> int:
        if not PREFACE.startswith(data[: len(PREFACE)]):
            self._fail(ErrorCode.PROTOCOL_ERROR, "this port speaks gRPC, over HTTP/2")
        if len(data) < len(PREFACE):
            return 0
        self._is_begun = True
        return len(PREFACE)

    def _take_frame(
        self, kind: int, flags: int, stream: int, payload: bytes, events: list[Http2Event]
    ) -> None:
        if self._block_stream and (kind != frames.CONTINUATION or stream != self._block_stream):
            self._fail(ErrorCode.PROTOCOL_ERROR, "a frame inside a header block")
        if kind == frames.DATA:
            self._take_data(flags, stream, payload, events)
        elif kind == frames.HEADERS:
            self._take_headers(flags, stream, payload, events)
        elif kind == frames.CONTINUATION:
            self._take_continuation(flags, payload, events)
        elif kind == frames.WINDOW_UPDATE:
            self._take_window(stream, payload, events)
        elif kind == frames.RST_STREAM:
            self._take_reset(stream, payload, events)
        elif kind == frames.SETTINGS:
            self._take_settings(flags, stream, payload)
        elif kind == frames.PING:
            self._take_ping(flags, stream, payload)
        elif kind == frames.PUSH_PROMISE:
            self._fail(ErrorCode.PROTOCOL_ERROR, "a client promises nothing")
        else:  # PRIORITY, GOAWAY, and types that HTTP/2 may get: without a meaning here
            self._count_idle()

    def _take_data(self, flags: int, number: int, payload: bytes, events: list[Http2Event]) -> None:
        size = len(payload)
        self._check_number(number)
        if flags & frames.PADDED:
            payload = self._unpadded(payload)
        is_ended = bool(flags & frames.END_STREAM)
        if not payload and not is_ended:
            self._count_idle()
        self._credit_connection(size)
        found = self._streams.get(number)
        if found is None:
            return  # reset, or answered already
        stream: _Stream = found
        if stream.is_remote_ended:
            self._break_stream(number, ErrorCode.STREAM_CLOSED, events)
            return
        stream.is_remote_ended = is_ended
        stream.taken += size
        if stream.taken > self._stream_credit:
            self._break_stream(number, ErrorCode.FLOW_CONTROL_ERROR, events)
            return
        if not is_ended and stream.taken > self._stream_credit // 2:
            self._output += frames.window_frame(number, stream.taken)
            stream.taken = 0
        events.append(Received(number, payload, is_ended))

    def _credit_connection(self, size: int) -> None:
        self._taken += size
        if self._taken > self._credit_at:
            self._output += frames.window_frame(0, self._taken)
            self._taken = 0

    def _take_headers(
        self, flags: int, number: int, payload: bytes, events: list[Http2Event]
    ) -> None:
        if number % 2 == 0:
            self._fail(ErrorCode.PROTOCOL_ERROR, f"a client does not open stream {number}")
        if flags & frames.PADDED:
            payload = self._unpadded(payload)
        if flags & frames.HAS_PRIORITY:
            if len(payload) < 5:
                self._fail(ErrorCode.FRAME_SIZE_ERROR, "headers without their priority")
            payload = payload[5:]
        if flags & frames.END_HEADERS:
            self._take_block(flags, number, payload, events)
            return
        self._block[:] = payload
        self._block_stream, self._block_flags, self._block_frames = number, flags, 0

    def _take_continuation(self, flags: int, payload: bytes, events: list[Http2Event]) -> None:
        if not self._block_stream:
            self._fail(ErrorCode.PROTOCOL_ERROR, "a continuation of nothing")
        self._block += payload
        self._block_frames += 1
        if (
            len(self._block) > self._limits.block_bytes_max
            or self._block_frames > self._limits.continuations_max
        ):
            self._fail(ErrorCode.ENHANCE_YOUR_CALM, "headers that do not end")
        if flags & frames.END_HEADERS:
            number, self._block_stream = self._block_stream, 0
            block = bytes(self._block)
            self._block.clear()
            self._take_block(self._block_flags, number, block, events)

    def _take_block(self, flags: int, number: int, block: bytes, events: list[Http2Event]) -> None:
        is_ended = bool(flags & frames.END_STREAM)
        fields: list[HeaderField] | None = None
        changes = self._headers.changes
        try:
            # Always decoded, even for a stream that is refused: the table goes on.
            fields = self._headers.decode(block)
        except HeadersTooLarge:
            pass
        except RemoteProtocolError as error:
            self._fail(ErrorCode.COMPRESSION_ERROR, error.message)
        if number <= self._last_stream:
            self._take_request_trailers(number, is_ended, events)
            return
        self._last_stream = number
        if fields is None:
            self._refuse(number, ErrorCode.ENHANCE_YOUR_CALM)
        elif len(self) >= self._streams_max:
            self._refuse(number, ErrorCode.REFUSED_STREAM)
        elif not _are_sound(fields):
            self._refuse(number, ErrorCode.PROTOCOL_ERROR)
        else:
            self._streams[number] = _Stream(self._stream_window, is_ended)
            events.append(Opened(number, fields, is_ended))
            if self._paths and not is_ended and changes == self._headers.changes:
                self._learn(block, fields)

    def _take_request_trailers(self, number: int, is_ended: bool, events: list[Http2Event]) -> None:
        """Headers after the data of a request: gRPC knows none, but for the end that they are."""
        stream = self._streams.get(number)
        if stream is None:
            self._count_idle()
        elif stream.is_remote_ended or not is_ended:
            self._break_stream(number, ErrorCode.PROTOCOL_ERROR, events)
        else:
            stream.is_remote_ended = True
            events.append(Received(number, b"", True))

    def _take_window(self, number: int, payload: bytes, events: list[Http2Event]) -> None:
        if len(payload) != 4:
            self._fail(ErrorCode.FRAME_SIZE_ERROR, "a window update of a wrong size")
        size = int.from_bytes(payload, "big") & WINDOW_MAX
        if size < SMALL_WINDOW:
            self._count_idle()  # each costs a look at every stream that waits
        if number == 0:
            self._window += size
            if size == 0 or self._window > WINDOW_MAX:
                self._fail(ErrorCode.FLOW_CONTROL_ERROR, "a window of a wrong size")
            self._send_waiting()
            return
        self._check_number(number)
        stream = self._streams.get(number)
        if stream is None:
            return
        stream.window += size
        if size == 0 or stream.window > WINDOW_MAX:
            self._break_stream(number, ErrorCode.FLOW_CONTROL_ERROR, events)
        else:
            self._send_unsent(number, stream)

    def _take_reset(self, number: int, payload: bytes, events: list[Http2Event]) -> None:
        if len(payload) != 4:
            self._fail(ErrorCode.FRAME_SIZE_ERROR, "a reset of a wrong size")
        self._check_number(number)
        self._count_reset()
        if number in self._streams:
            self._forget(number)
            events.append(Cancelled(number))

    def _take_settings(self, flags: int, stream: int, payload: bytes) -> None:
        if stream != 0:
            self._fail(ErrorCode.PROTOCOL_ERROR, "settings on a stream")
        self._count_idle()
        if flags & frames.ACK:
            return
        if len(payload) % 6:
            self._fail(ErrorCode.FRAME_SIZE_ERROR, "settings of a wrong size")
        for at in range(0, len(payload), 6):
            key = int.from_bytes(payload[at : at + 2], "big")
            value = int.from_bytes(payload[at + 2 : at + 6], "big")
            if key == frames.INITIAL_WINDOW_SIZE:
                self._resize_windows(value)
            elif key == frames.MAX_FRAME_SIZE:
                if not FRAME_BYTES_MAX <= value < 2**24:
                    self._fail(ErrorCode.PROTOCOL_ERROR, f"frames of {value} bytes")
                # Larger ones than 64 KiB gain nothing and hold up other streams.
                self._frame_bytes_max = min(value, 65_536)
        self._output += frames.frame(frames.SETTINGS, frames.ACK, 0)
        self._send_waiting()

    def _resize_windows(self, size: int) -> None:
        if size > WINDOW_MAX:
            self._fail(ErrorCode.FLOW_CONTROL_ERROR, f"a window of {size} bytes")
        difference, self._stream_window = size - self._stream_window, size
        for stream in self._streams.values():
            stream.window += difference
            if stream.window > WINDOW_MAX:
                self._fail(ErrorCode.FLOW_CONTROL_ERROR, "a window of a wrong size")

    def _take_ping(self, flags: int, stream: int, payload: bytes) -> None:
        if stream != 0:
            self._fail(ErrorCode.PROTOCOL_ERROR, "a ping on a stream")
        if len(payload) != 8:
            self._fail(ErrorCode.FRAME_SIZE_ERROR, "a ping of a wrong size")
        self._count_idle()
        if not flags & frames.ACK:
            self._output += frames.frame(frames.PING, frames.ACK, 0, payload)

    def _check_number(self, number: int) -> None:
        if number == 0 or number > self._last_stream:
            self._fail(ErrorCode.PROTOCOL_ERROR, f"there is no stream {number}")

    def _unpadded(self, payload: bytes) -> bytes:
        padding = payload[0] if payload else 0
        if padding >= len(payload):
            self._fail(ErrorCode.PROTOCOL_ERROR, "more padding than there is")
        return payload[1 : len(payload) - padding]

    def _count_idle(self) -> None:
        self._idle_frames += 1
        if self._idle_frames > self._limits.idle_frames_a_second:
            self._fail(ErrorCode.ENHANCE_YOUR_CALM, "too many frames that carry nothing")

    def _count_reset(self) -> None:
        """A stream is over before its answer: it is no matter which side was made to end it."""
        self._resets += 1
        if self._resets > self._limits.resets_a_second:
            self._fail(ErrorCode.ENHANCE_YOUR_CALM, "too many streams are opened and given up")

    def _refuse(self, number: int, code: ErrorCode) -> None:
        self._output += frames.reset_frame(number, code)
        self._count_reset()

    def _break_stream(self, number: int, code: ErrorCode, events: list[Http2Event]) -> None:
        self._count_reset()
        self.reset(number, code)
        events.append(Cancelled(number))

    def _fail(self, code: ErrorCode, reason: str) -> NoReturn:
        self._output += frames.goaway_frame(self._last_stream, code, reason)
        raise RemoteProtocolError(f"{code.name}: {reason}")

    # Writing.

    def is_open(self, number: int) -> bool:
        """Whether the stream can be answered."""
        stream = self._streams.get(number)
        return stream is not None and not stream.is_ended

    def write_answer(self, number: int, message: bytes, around: AnswerFrames) -> bool:
        """Write the whole answer of one message, and end the stream. False: it does not go out at
        once; nothing was written."""
        found = self._streams.get(number)
        if found is None:
            return True
        stream: _Stream = found
        size = len(message) + 5
        if (
            stream.is_ended
            or not stream.is_remote_ended
            or stream.unsent is not None
            or size > self._frame_bytes_max
            or size > stream.window
            or size > self._window
        ):
            return False
        self._window -= size
        output = self._output
        output += around.before(number, len(message))
        output += message
        output += around.behind(number)
        del self._streams[number]
        return True

    def write_headers(self, number: int, block: bytes) -> None:
        if self.is_open(number):
            self._output += frames.frame(frames.HEADERS, frames.END_HEADERS, number, block)

    def write_data(self, number: int, data: bytes) -> None:
        """Write data, now or when the peer has room. RemoteProtocolError: the peer leaves too much
        unread."""
        stream = self._streams.get(number)
        if stream is None or stream.is_ended:
            return
        if stream.unsent is None:
            data = self._send(number, stream, data)
            if not data:
                return
            stream.unsent = deque()
            self._waiting[number] = stream
        stream.unsent.append(data)
        self.unsent += len(data)
        if self.unsent > self._limits.unsent_bytes_max:
            self._fail(ErrorCode.ENHANCE_YOUR_CALM, "answers are not read")

    def write_trailers(self, number: int, block: bytes) -> None:
        """End the answer, after all data."""
        stream = self._streams.get(number)
        if stream is None or stream.is_ended:
            return
        stream.is_ended = True
        if stream.unsent is None:
            self._end(number, stream, block)
        else:
            stream.trailers = block

    def reset(self, number: int, code: ErrorCode) -> None:
        if number in self._streams:
            self._output += frames.reset_frame(number, code)
            self._forget(number)

    def go_away(self, reason: str) -> None:
        """Announce that no further stream is taken."""
        self._output += frames.goaway_frame(self._last_stream, ErrorCode.NO_ERROR, reason)

    def _send(self, number: int, stream: _Stream, data: bytes) -> bytes:
        """Write as much as the peer has room for; the rest is returned."""
        size = min(len(data), stream.window, self._window)
        if size <= 0:
            return data
        stream.window -= size
        self._window -= size
        for at in range(0, size, self._frame_bytes_max):
            part = data[at : min(size, at + self._frame_bytes_max)]
            self._output += frames.frame_header(len(part), frames.DATA, 0, number)
            self._output += part
        return data[size:]

    def _send_waiting(self) -> None:
        for number, stream in list(self._waiting.items()):
            if self._window <= 0:
                return
            self._send_unsent(number, stream)

    def _send_unsent(self, number: int, stream: _Stream) -> None:
        while stream.unsent:
            data = stream.unsent[0]
            rest = self._send(number, stream, data)
            self.unsent -= len(data) - len(rest)
            if rest:
                stream.unsent[0] = rest
                return
            stream.unsent.popleft()
        if stream.unsent is not None:
            stream.unsent = None
            del self._waiting[number]
            if stream.is_ended:
                self._end(number, stream, stream.trailers)

    def _end(self, number: int, stream: _Stream, block: bytes) -> None:
        flags = frames.END_HEADERS | frames.END_STREAM
        self._output += frames.frame(frames.HEADERS, flags, number, block)
        if not stream.is_remote_ended:
            # Nobody reads what the peer still wants to say.
            self._output += frames.reset_frame(number, ErrorCode.NO_ERROR)
        self._forget(number)

    def _forget(self, number: int) -> None:
        stream = self._streams.pop(number)
        if stream.unsent is not None:
            self.unsent -= sum(map(len, stream.unsent))
            del self._waiting[number]


def _are_sound(fields: list[HeaderField]) -> bool:
    """Whether the names of fields are lower case, and those with a colon come first."""
    is_pseudo = True
    for field in fields:
        name = field[0]
        if not name:
            return False
        if name[0] == ":":
            if not is_pseudo:
                return False
        else:
            is_pseudo = False
            if name != name.lower():
                return False
    return True
