"""Connections that speak gRPC: bytes in → HTTP/2 → calls of the service → bytes out.

A read belongs to the round that brought it (`net/round.py`), as one of a remoting connection does:
what its calls lead to is done when the round is over, and what they answer is written in one piece
after that.

Back-pressure: a peer that does not read its answers is not read from, and dropped if that takes too
long or too many of them wait. A message that comes in pieces is kept until it is whole, within
bounds for a connection and for all, and much smaller ones for all connections whose peers have not
shown who they are; a stream beyond them is refused. Nothing is closed for its age: a stream of
telemetry stays open for the life of its client.
"""

import asyncio
import logging
import socket
from collections.abc import Callable, Sequence
from typing import cast

from aerobee.errors import ProtocolError
from aerobee.net.channel import SMALL_BYTES, STRANGE_BYTES_MAX
from aerobee.net.round import Round
from aerobee.ports.clock import Now
from aerobee.ports.rpc import (
    AnswerCall,
    CallId,
    CallStart,
    CallWrite,
    EndCall,
    FlushCalls,
    RpcConnectionId,
    RpcService,
)
from aerobee.ports.service import CallEffect, Effects, Peer
from aerobee.protocol.grpc.codes import RpcStatus
from aerobee.protocol.grpc.framing import (
    ANSWER_HEADERS,
    NOT_GRPC,
    OK_TRAILERS,
    GrpcMessageReader,
    MessageTooLong,
    error_trailers,
    frame_message,
    read_call_headers,
)
from aerobee.protocol.http2.answer_frames import AnswerFrames
from aerobee.protocol.http2.connection import (
    Cancelled,
    Http2Connection,
    Http2Event,
    Opened,
    Received,
)
from aerobee.protocol.http2.frames import ErrorCode
from aerobee.protocol.http2.limits import Http2Limits

_log = logging.getLogger(__name__)

WRITE_HIGH_BYTES = 1 << 20
WRITE_LOW_BYTES = 256 << 10
BEGUN_BYTES_MAX = 32 << 20  # of messages that have not come whole, on one connection
BEGUN_BYTES_IN_ALL_MAX = 256 << 20
IDLE_MS_MAX = 120_000  # of a connection without calls
UNREAD_MS_MAX = 20_000
UNREAD_BYTES_MAX = 32 << 20  # that the system does not take, of a peer that has given room for them
MESSAGE_MS_MAX = 30_000  # how long a first message, or one that has begun, may take to come whole


class _Call:
    __slots__ = ("awaited_ms", "has_headers", "id", "is_asked", "reader", "start", "stream")

    def __init__(self, start: CallStart, stream: int, bytes_max: int, now: Now) -> None:
        self.id = start.call
        self.start = start
        self.stream = stream
        self.reader = GrpcMessageReader(bytes_max)
        self.has_headers = False
        self.is_asked = False
        """Whether the service was asked who its peer is."""
        self.awaited_ms: int | None = now.monotonic_ms
        """Since when a message is awaited: the first of the call, or one of which a part has come.
        None: the client may say more, or nothing."""


class Http2Channel(asyncio.Protocol):
    """One connection."""

    def __init__(self, owner: "Http2Channels", number: RpcConnectionId) -> None:
        self._owner = owner
        self._transport: asyncio.Transport | None = None
        self._is_ending = False
        self.number = number
        self.peer = Peer("", 0)
        self.http2 = Http2Connection(Http2Limits(), owner.paths)
        self.calls: dict[int, _Call] = {}
        self.begun_bytes = 0
        self.written_bytes = 0
        """Of answers, since the last flush."""
        self.is_strange = True
        """Whether its peer has not shown yet who it is; nobody looks before it sends much."""
        self.last_read_ms = 0
        self.paused_since_ms: int | None = None

    # From the loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=WRITE_HIGH_BYTES, low=WRITE_LOW_BYTES)
        made = transport.get_extra_info("socket")
        if made is not None:
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer = transport.get_extra_info("peername") or ("", 0)
        self.peer = Peer(peer[0], peer[1])
        self._owner.opened(self)

    def data_received(self, data: bytes) -> None:
        if not self._is_ending:
            self._owner.received(self, data)

    def eof_received(self) -> None:
        """The peer says no more: the transport closes."""

    def pause_writing(self) -> None:
        self.paused_since_ms = self._owner.now().monotonic_ms
        if self._transport is not None:
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        self.paused_since_ms = None
        if self._transport is not None and not self._is_ending:
            self._transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._owner.closed(self)

    # From the channels.

    def flush(self) -> None:
        output, transport = self.http2.take_output(), self._transport
        self.written_bytes = 0
        if not output or transport is None or transport.is_closing():
            return
        if transport.get_write_buffer_size() > UNREAD_BYTES_MAX:
            _log.warning("dropping a peer that does not read", extra={"peer": str(self.peer)})
            transport.abort()
            return
        transport.write(output)

    def note_written(self, size: int) -> None:
        """Answers of this size wait to be flushed; many are not kept until the turn is over, so
        that what the peer leaves unread is seen."""
        self.written_bytes += size
        if self.written_bytes > WRITE_HIGH_BYTES:
            self.flush()

    def end(self) -> None:
        """Write what there is, and close."""
        self._is_ending = True
        if self._transport is not None:
            self.flush()
            self._transport.close()

    def stop_reading(self) -> None:
        self._is_ending = True
        if self._transport is not None:
            self._transport.pause_reading()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()


class Http2Channels:
    """All connections of one service."""

    def __init__(
        self,
        service: RpcService,
        turn: Round,
        now: Callable[[], Now],
        carry_out: Callable[[Effects], None],
        has_room: Callable[[], bool],
    ) -> None:
        """`has_room`: whether the process takes one more connection."""
        self._service = service
        self._round = turn
        self.now = now
        self._carry_out = carry_out
        self._has_room = has_room
        self._channels: dict[RpcConnectionId, Http2Channel] = {}
        self._by_call: dict[CallId, tuple[Http2Channel, _Call]] = {}
        self._next_connection = 0
        self._next_call = 0
        self._begun_bytes = 0
        self._around = AnswerFrames(ANSWER_HEADERS, OK_TRAILERS)
        self._in_place = service.in_place
        self.paths = service.in_place.paths
        self._unflushed: dict[RpcConnectionId, Http2Channel] = {}

    def count(self) -> int:
        return len(self._channels)

    def accept(self) -> Http2Channel:
        self._next_connection += 1
        return Http2Channel(self, RpcConnectionId(self._next_connection))

    # From connections.

    def opened(self, channel: Http2Channel) -> None:
        if not self._has_room():
            _log.warning("too many connections: one is refused", extra={"peer": str(channel.peer)})
            channel.abort()
            return
        if not self._service.may_open(channel.number, channel.peer):
            _log.warning(
                "too many connections from one address: one is closed",
                extra={"peer": str(channel.peer)},
            )
            channel.abort()
            return
        channel.last_read_ms = self.now().monotonic_ms
        self._channels[channel.number] = channel
        channel.flush()  # the server's settings

    def received(self, channel: Http2Channel, data: bytes) -> None:
        turn = self._round
        if not turn.is_begun:
            turn.begin()
        channel.last_read_ms = turn.now.monotonic_ms
        self._flush_soon(channel)
        http2 = channel.http2
        try:
            http2.feed(data, turn.now.monotonic_ms)
            while True:
                self._in_place.take_all(http2, channel.number, turn.now)
                events = http2.read()
                if events:
                    self._take_events(channel, events)
                if not http2.is_at_call:
                    break
        except ProtocolError as error:
            _log.info("closing a connection: %s", error, extra={"peer": str(channel.peer)})
            channel.end()

    def _take_events(self, channel: Http2Channel, events: list[Http2Event]) -> None:
        for event in events:
            if isinstance(event, Received):
                self._take_data(channel, event.stream, event.data, event.is_ended)
            elif isinstance(event, Cancelled):
                self._cancel(channel, event.stream)
            else:
                self._begin_call(channel, event)
                if event.is_ended:
                    self._take_data(channel, event.stream, b"", True)

    def _write_answer(self, channel: Http2Channel, stream: int, message: bytes) -> None:
        """Write the answer of a call that has no headers yet."""
        if not channel.http2.write_answer(stream, message, self._around):
            channel.http2.write_headers(stream, ANSWER_HEADERS)
            self._write_data(channel, stream, frame_message(message))
            channel.http2.write_trailers(stream, OK_TRAILERS)

    def _start_of(self, channel: Http2Channel, opened: Opened) -> CallStart | None:
        """The beginning of a call; None: it is no call of gRPC."""
        headers = read_call_headers(opened.headers)
        if headers is None:
            return None
        self._next_call += 1
        return CallStart(CallId(self._next_call), channel.number, channel.peer, *headers)

    def _keep_call(self, channel: Http2Channel, start: CallStart, stream: int) -> _Call:
        call = _Call(start, stream, self._service.message_bytes_max, self._round.now)
        channel.calls[stream] = call
        self._by_call[call.id] = (channel, call)
        return call

    def _begin_call(self, channel: Http2Channel, opened: Opened) -> None:
        start = self._start_of(channel, opened)
        if start is None:
            channel.http2.write_trailers(opened.stream, NOT_GRPC)
            return
        self._keep_call(channel, start, opened.stream)
        self._carry_out(self._service.on_call(start, self._round.now))

    def _take_data(self, channel: Http2Channel, stream: int, data: bytes, is_ended: bool) -> None:
        call = channel.calls.get(stream)
        if call is None:
            return
        held = call.reader.held
        try:
            messages = call.reader.receive(data)
            self._count_begun(channel, call, call.reader.held - held)
        except ProtocolError as error:
            call.reader.held = held
            is_long = isinstance(error, MessageTooLong)
            status = RpcStatus.RESOURCE_EXHAUSTED if is_long else RpcStatus.INTERNAL
            self._carry_out(self._service.on_call_cancelled(call.id, self._round.now))
            self._end_call(channel, call, status, error.message)
            return
        if messages:
            call.awaited_ms = self._round.now.monotonic_ms if call.reader.held else None
        for message in messages:
            self._carry_out(self._service.on_call_message(call.id, message, self._round.now))
        if is_ended:
            self._carry_out(self._service.on_call_half_closed(call.id, self._round.now))

    def _count_begun(self, channel: Http2Channel, call: _Call, more: int) -> None:
        if more == 0:
            return
        if call.awaited_ms is None:
            call.awaited_ms = self._round.now.monotonic_ms
        self._add_begun(channel, more)
        if more > 0 and self._is_too_much(channel, call):
            self._add_begun(channel, -more)
            raise MessageTooLong("too many messages come at a time: send fewer together")

    def _add_begun(self, channel: Http2Channel, more: int) -> None:
        channel.begun_bytes += more
        self._begun_bytes += more
        if channel.is_strange:
            self._round.strange_bytes += more

    def _is_too_much(self, channel: Http2Channel, call: _Call) -> bool:
        if channel.is_strange and channel.begun_bytes > SMALL_BYTES:
            if not call.is_asked and self._service.knows(call.start, self._round.now):
                self._round.strange_bytes -= channel.begun_bytes
                channel.is_strange = False
            elif self._round.strange_bytes > STRANGE_BYTES_MAX:
                return True
            call.is_asked = True
        return channel.begun_bytes > BEGUN_BYTES_MAX or self._begun_bytes > BEGUN_BYTES_IN_ALL_MAX

    def _cancel(self, channel: Http2Channel, stream: int) -> None:
        call = channel.calls.get(stream)
        if call is not None:
            self._forget(channel, call)
            self._carry_out(self._service.on_call_cancelled(call.id, self._round.now))

    def closed(self, channel: Http2Channel) -> None:
        if self._channels.pop(channel.number, None) is None:
            return
        now = self.now()
        for call in list(channel.calls.values()):
            self._forget(channel, call)
            self._carry_out(self._service.on_call_cancelled(call.id, now))
        self._carry_out(self._service.on_rpc_closed(channel.number, now))

    def _forget(self, channel: Http2Channel, call: _Call) -> None:
        del channel.calls[call.stream]
        del self._by_call[call.id]
        self._add_begun(channel, -call.reader.held)

    # From the driver.

    def carry_out(self, effect: CallEffect) -> None:
        if isinstance(effect, FlushCalls):
            self._flush_calls(effect)
            return
        found = self._by_call.get(effect.call)
        if found is None:
            return
        channel, call = found
        self._flush_soon(channel)
        match effect:
            case CallWrite(_, message):
                if not call.has_headers:
                    call.has_headers = True
                    channel.http2.write_headers(call.stream, ANSWER_HEADERS)
                self._write_data(channel, call.stream, frame_message(message))
            case AnswerCall(_, messages):
                self._answer_call(channel, call, messages)
            case EndCall(_, status, reason):
                self._end_call(channel, call, RpcStatus(status), reason)

    def _flush_calls(self, effect: FlushCalls) -> None:
        channel = self._channels.get(effect.connection)
        if channel is not None and effect.is_broken:
            _log.warning("dropping a peer that does not read: %s", channel.peer)
            channel.abort()
        elif channel is not None:
            self._flush_soon(channel)

    def _answer_call(self, channel: Http2Channel, call: _Call, messages: Sequence[bytes]) -> None:
        self._forget(channel, call)
        if len(messages) == 1:
            self._write_answer(channel, call.stream, messages[0])
            return
        channel.http2.write_headers(call.stream, ANSWER_HEADERS)
        self._write_data(channel, call.stream, b"".join(map(frame_message, messages)))
        channel.http2.write_trailers(call.stream, OK_TRAILERS)

    def _write_data(self, channel: Http2Channel, stream: int, data: bytes) -> None:
        try:
            channel.http2.write_data(stream, data)
            channel.note_written(len(data))
        except ProtocolError as error:
            _log.warning("dropping a peer that does not read: %s", error)
            channel.abort()

    def _end_call(self, channel: Http2Channel, call: _Call, status: RpcStatus, reason: str) -> None:
        trailers = error_trailers(status, reason)
        if not call.has_headers:  # trailers alone are an answer
            trailers = ANSWER_HEADERS + trailers
        channel.http2.write_trailers(call.stream, trailers)
        self._forget(channel, call)

    def drop_idle(self, now: Now) -> None:
        """Close connections that nobody uses, or whose peers do not read; reset streams whose
        message does not come."""
        for channel in list(self._channels.values()):
            unread = channel.paused_since_ms
            if unread is not None and now.monotonic_ms - unread > UNREAD_MS_MAX:
                channel.abort()
            elif not channel.calls and now.monotonic_ms - channel.last_read_ms > IDLE_MS_MAX:
                channel.end()
            else:
                self._drop_slow(channel, now)

    def _drop_slow(self, channel: Http2Channel, now: Now) -> None:
        for call in list(channel.calls.values()):
            awaited = call.awaited_ms
            if awaited is not None and now.monotonic_ms - awaited > MESSAGE_MS_MAX:
                self._carry_out(self._service.on_call_cancelled(call.id, now))
                self._forget(channel, call)
                channel.http2.reset(call.stream, ErrorCode.CANCEL)
                self._flush_soon(channel)

    def stop(self) -> None:
        """Read no more, and write what was answered."""
        for channel in list(self._channels.values()):
            channel.http2.go_away("the server stops")
            channel.end()

    def stop_reading(self) -> None:
        for channel in self._channels.values():
            channel.stop_reading()

    def abort(self) -> None:
        for channel in list(self._channels.values()):
            channel.abort()

    def _flush_soon(self, channel: Http2Channel) -> None:
        """Write once for all that this turn of the loop answers."""
        if not self._unflushed:
            asyncio.get_running_loop().call_soon(self._flush)
        self._unflushed[channel.number] = channel

    def _flush(self) -> None:
        channels, self._unflushed = self._unflushed, {}
        for channel in channels.values():
            channel.flush()
