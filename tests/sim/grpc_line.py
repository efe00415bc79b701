"""A connection of a client that speaks gRPC: calls, each with a time limit."""

import asyncio
from dataclasses import dataclass, field

from aerobee.protocol.grpc.framing import GrpcMessageReader
from aerobee.protocol.http2.frames import (
    ACK,
    DATA,
    END_STREAM,
    GOAWAY,
    HEADERS,
    PING,
    RST_STREAM,
    SETTINGS,
    ErrorCode,
    frame,
    reset_frame,
    window_frame,
)
from tests.http2_kit import HELLO, Frame, frames_in, unary
from tests.sim.client import Connection

MESSAGE_BYTES_MAX = 1 << 22
FRAME_HEADER_BYTES = 9


@dataclass
class Call:
    """One that is under way."""

    end: asyncio.Future[None]
    reader: GrpcMessageReader = field(default_factory=lambda: GrpcMessageReader(MESSAGE_BYTES_MAX))
    messages: list[bytes] = field(default_factory=list)


class GrpcLine(Connection):
    def __init__(self) -> None:
        super().__init__()
        self._unread = b""
        self._calls: dict[int, Call] = {}
        self._stream = -1

    async def call(self, path: str, client: str, message: bytes, ms_max: int) -> list[bytes]:
        """The messages of its answer. OSError: it was not answered; TimeoutError: not in time."""
        self._stream += 2
        stream = self._stream
        call = self._calls[stream] = Call(asyncio.get_running_loop().create_future())
        metadata = (("x-mq-client-id", client), ("grpc-timeout", f"{ms_max}m"))
        try:
            self._write(unary(stream, path, message, *metadata))
            async with asyncio.timeout(ms_max / 1000):
                await call.end
        except TimeoutError:
            if self.is_open:
                self._write(reset_frame(stream, ErrorCode.CANCEL))
            raise
        finally:
            del self._calls[stream]
        return call.messages

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._write(HELLO)

    def data_received(self, data: bytes) -> None:
        self._unread += data
        for one in frames_in(self._unread):
            self._unread = self._unread[FRAME_HEADER_BYTES + len(one.payload) :]
            self._take(one)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        for call in self._calls.values():
            _fail(call, "the connection was lost")

    def _take(self, one: Frame) -> None:
        if one.kind in (SETTINGS, PING) and not one.flags & ACK:
            self._write(frame(one.kind, ACK, 0, one.payload if one.kind == PING else b""))
        elif one.kind == GOAWAY:
            self.abort()
        elif one.kind == DATA and one.payload:
            self._write(window_frame(0, len(one.payload)))
        call = self._calls.get(one.stream)
        if call is None:
            return
        if one.kind == DATA:
            call.messages += call.reader.receive(one.payload)
        if one.kind == RST_STREAM:
            _fail(call, "the call was reset")
        elif one.kind in (DATA, HEADERS) and one.flags & END_STREAM and not call.end.done():
            call.end.set_result(None)

    def _write(self, data: bytes) -> None:
        if self._transport is None:
            raise ConnectionResetError("the connection is closed")
        self._transport.write(data)


def _fail(call: Call, reason: str) -> None:
    if not call.end.done():
        call.end.set_exception(ConnectionResetError(reason))
