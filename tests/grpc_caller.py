"""A client of gRPC by hand, on a real socket: it makes calls that official clients would not, for
they check fields by themselves, and ends when a test ends it.

with GrpcCaller(port) as caller:
    caller.call("SendMessage", request)             the messages of the answer, and its status
    stream = caller.begin("Telemetry", command)     a call that goes on: caller.hear(stream)
"""

import socket
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import unquote

from aerobee.protocol.grpc.calls import (
    SERVICE,
    SendMessageRequest,
    SendMessageResponse,
    StatusResponse,
    TelemetryCommand,
)
from aerobee.protocol.grpc.codes import GrpcMessageType
from aerobee.protocol.grpc.framing import GrpcMessageReader, frame_message
from aerobee.protocol.grpc.wire import decode, encode
from aerobee.protocol.http2.frames import (
    ACK,
    DATA,
    END_STREAM,
    GOAWAY,
    HEADERS,
    INITIAL_WINDOW_SIZE,
    PING,
    RST_STREAM,
    SETTINGS,
    frame,
    settings_frame,
    window_frame,
)
from aerobee.protocol.http2.hpack import HeaderDecoder
from tests.grpc_kit import RESPONSES
from tests.grpc_requests import plain_message
from tests.http2_kit import HELLO, frames_in, open_stream

SECONDS_MAX = 60.0
WINDOW = 1 << 30
_FRAME_HEADER_BYTES = 9
_MESSAGE_BYTES_MAX = 1 << 26


class Outcome(NamedTuple):
    messages: list[Any]
    status: int
    """Of gRPC itself."""
    reason: str


class _Stream:
    def __init__(self, kind: type[Any]) -> None:
        self.kind = kind
        self.reader = GrpcMessageReader(_MESSAGE_BYTES_MAX)
        self.messages: list[Any] = []
        self.fields: dict[str, str] = {}
        self.is_ended = False


class GrpcCaller:
    def __init__(self, port: int, client: str = "caller", **metadata: str) -> None:
        """`metadata`: of every call, its names with `_` for `-`."""
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=SECONDS_MAX)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._metadata = {
            "x-mq-client-id": client,
            "x-mq-language": "PYTHON",
            "x-mq-client-version": "5.1.2",
            **{name.replace("_", "-"): text for name, text in metadata.items()},
        }
        self._streams: dict[int, _Stream] = {}
        self._last = -1
        self._unread = b""
        self._headers = HeaderDecoder(1 << 16)
        room = settings_frame([(INITIAL_WINDOW_SIZE, WINDOW)])
        self._socket.sendall(HELLO + room + window_frame(0, WINDOW))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._socket.close()

    def call(
        self, method: str, request: object, timeout_ms: int = 30_000, **metadata: str
    ) -> Outcome:
        """A call with one message, to its end."""
        stream = self.begin(method, request, timeout_ms, is_whole=True, **metadata)
        return self.end_of(stream)

    def begin(
        self,
        method: str,
        request: object,
        timeout_ms: int | None = None,
        *,
        is_whole: bool = False,
        **metadata: str,
    ) -> int:
        """A call with a first message; `is_whole`: it says no more. The number of its stream."""
        self._last += 2
        number = self._last
        said = {**self._metadata, **{name.replace("_", "-"): one for name, one in metadata.items()}}
        if timeout_ms is not None:
            said["grpc-timeout"] = f"{timeout_ms}m"
        self._streams[number] = _Stream(RESPONSES.get(method, StatusResponse))
        fields = [(name, text) for name, text in said.items() if text]
        self._socket.sendall(open_stream(number, SERVICE + method, *fields))
        self.say(number, request, is_last=is_whole)
        return number

    def say(self, number: int, message: object, *, is_last: bool = False) -> None:
        data = frame_message(message if isinstance(message, bytes) else encode(message))
        for start in range(0, len(data), 16_384):
            part = data[start : start + 16_384]
            is_end = is_last and start + len(part) == len(data)
            self._socket.sendall(frame(DATA, END_STREAM if is_end else 0, number, part))

    def hear(self, number: int) -> Any:
        """The next message of a call."""
        stream = self._streams[number]
        while not stream.messages and not stream.is_ended:
            self._read()
        assert stream.messages, stream.fields
        return stream.messages.pop(0)

    def end_of(self, number: int) -> Outcome:
        stream = self._streams[number]
        while not stream.is_ended:
            self._read()
        del self._streams[number]
        status = int(stream.fields.get("grpc-status", "-1"))
        return Outcome(stream.messages, status, unquote(stream.fields.get("grpc-message", "")))

    def _read(self) -> None:
        data = self._socket.recv(1 << 18)
        if not data:
            raise ConnectionResetError("the server has closed the connection")
        self._unread += data
        for one in frames_in(self._unread):
            self._unread = self._unread[_FRAME_HEADER_BYTES + len(one.payload) :]
            self._take(one.kind, one.flags, one.stream, one.payload)

    def _take(self, kind: int, flags: int, number: int, payload: bytes) -> None:
        if kind in (SETTINGS, PING) and not flags & ACK:
            self._socket.sendall(frame(kind, ACK, 0, payload if kind == PING else b""))
        elif kind == GOAWAY and not number:
            return  # what has begun goes on
        fields = dict(self._headers.decode(payload)) if kind == HEADERS else {}
        stream = self._streams.get(number)
        if stream is None:
            return
        stream.fields |= fields
        if kind == DATA:
            found = stream.reader.receive(payload)
            stream.messages += [decode(stream.kind, bytes(one)) for one in found]
            if payload:
                self._socket.sendall(window_frame(0, len(payload)))
        stream.is_ended |= kind == RST_STREAM
        stream.is_ended |= kind in (DATA, HEADERS) and bool(flags & END_STREAM)


def code_of_priority(address: str, topic: str, priority: int) -> int:
    """Send a message of this priority; the code of the answer's status."""
    message = plain_message(topic, message_type=GrpcMessageType.PRIORITY, priority=priority)
    with GrpcCaller(int(address.rpartition(":")[2])) as caller:
        (answer,) = caller.call("SendMessage", SendMessageRequest([message])).messages
    assert isinstance(answer, SendMessageResponse)
    assert answer.status is not None
    return answer.status.code


def announce(caller: GrpcCaller, settings: object) -> int:
    """Write settings to a telemetry of its own, and hear them answered; the stream goes on."""
    stream = caller.begin("Telemetry", TelemetryCommand(settings=settings))  # type: ignore[arg-type]
    caller.hear(stream)
    return stream
