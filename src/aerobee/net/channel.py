"""One live connection of a server: bytes in → frames → the service → bytes out.

Every complete frame of a read is handled before anything is written, and the answers of one read
are written at once: a socket call is spread over as many messages as the peer sends together.

Back-pressure: a peer that does not read its answers is not read from until it does, and dropped if
it takes too long. A frame that breaks the protocol closes this connection and nothing else.
"""

import asyncio
import logging
from typing import Protocol, cast

from aerobee.errors import ProtocolError
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, Peer
from aerobee.protocol.frame import FrameLimits, FrameReader
from aerobee.protocol.remoting_command import RemotingCommand, decode
from aerobee.protocol.reply_buffer import ReplyBuffer

_log = logging.getLogger(__name__)

WRITE_HIGH_BYTES = 1 << 20
WRITE_LOW_BYTES = 256 << 10


class ChannelOwner(Protocol):
    """What a channel tells and asks its driver."""

    def opened(self, channel: "Channel", peer: Peer) -> None: ...

    def now(self) -> Now: ...

    def take(self, channel: ChannelId, frames: FrameReader, output: ReplyBuffer) -> bool: ...

    def handle(self, channel: ChannelId, command: RemotingCommand) -> None: ...

    def end_read(self, channel: ChannelId, output: ReplyBuffer) -> None: ...

    def closed(self, channel: "Channel") -> None: ...


class Channel(asyncio.Protocol):
    """A connection that a peer opened to us."""

    def __init__(self, owner: ChannelOwner, number: ChannelId, limits: FrameLimits) -> None:
        self._owner = owner
        self._frames = FrameReader(limits)
        self._transport: asyncio.Transport | None = None
        self._output = ReplyBuffer()
        self.number = number
        self.last_read_ms = 0
        self.paused_since_ms: int | None = None
        self._is_ending = False

    # From the loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=WRITE_HIGH_BYTES, low=WRITE_LOW_BYTES)
        host, port, *_ = transport.get_extra_info("peername") or ("", 0)
        self.last_read_ms = self._owner.now().monotonic_ms
        self._owner.opened(self, Peer(host, port))

    def data_received(self, data: bytes) -> None:
        self.last_read_ms = self._owner.now().monotonic_ms
        owner, number, frames, output = self._owner, self.number, self._frames, self._output
        fault: ProtocolError | None = None
        try:
            frames.receive(data)
            while frames.advance() and owner.take(number, frames, output):
                owner.handle(number, decode(frames))
        except ProtocolError as error:
            fault = error
        owner.end_read(number, output)  # what came before a fault counts
        if fault is None:
            self._flush()
        else:
            _log.info("closing a connection: %s", fault, extra={"channel": number})
            self.close()

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

    # From the driver.

    def write(self, buffers: list[bytes | memoryview]) -> None:
        """Write the buffers of one frame, after whatever this read has answered so far."""
        if self._transport is not None:
            self._flush()
            self._transport.writelines(buffers)

    def stop_reading(self) -> None:
        """What the peer sends from now on is not ours to answer."""
        self._is_ending = True
        if self._transport is not None:
            self._transport.pause_reading()

    def close(self) -> None:
        if self._transport is not None:
            self._flush()
            self._transport.close()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _flush(self) -> None:
        if self._output.position and self._transport is not None:
            self._transport.write(self._output.take())
