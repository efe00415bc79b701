"""One live connection of a server: bytes in → frames → the service → bytes out.

Every complete frame of a read is handled before anything is written, and the answers of one read
are written at once: a socket call is spread over as many messages as the peer sends together. Only
when that takes long do the others of the loop come first.

Back-pressure: a peer that does not read its answers is not read from until it does, and what it has
sent already waits as well: a small request may have an answer of megabytes. It is dropped if it
takes too long, or if too much gathers that it did not ask for just now. A frame that breaks the
protocol closes this connection and nothing else; so does a large one that has begun to come when
those of all connections together are too much already. Where peers are asked who they are, those
who have not shown it yet have a much smaller room in common: a client may begin with a large
message, but strangers cannot make the server hold many.
"""

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Protocol

from aerobee.errors import ProtocolError
from aerobee.net.round import Round
from aerobee.ports.service import ChannelId, FastService, Peer
from aerobee.protocol.remoting.frame import FrameLimits, FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand, decode
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython

_log = logging.getLogger(__name__)

WRITE_HIGH_BYTES = 1 << 20
WRITE_LOW_BYTES = 256 << 10
UNREAD_BYTES_MAX = 64 << 20  # held pulls of a thousand queues, answered together
BEGUN_BYTES_MAX = 256 << 20  # of frames that have not come whole, over all connections
STRANGE_BYTES_MAX = 16 << 20  # the same of strangers
STRANGE_FRAME_MS_MAX = 10_000  # how long a frame of a stranger may take to come whole
GATHERED_BYTES_MAX = 16 << 10  # what costs less to copy than to write by itself
SMALL_BYTES = 64 << 10  # a frame that has not brought more is never refused for that


def is_compiled() -> bool:
    return cython.compiled


class ChannelOwner(Protocol):
    """What a channel tells its driver."""

    def opened(self, channel: "Channel", peer: Peer) -> None: ...

    def handle(self, channel: ChannelId, command: RemotingCommand) -> bool:
        """Whether others are to have a turn first; `go_on` is called after that."""

    def closed(self, channel: "Channel") -> None: ...


class Channel:
    """A connection that a peer opened to us: an asyncio protocol, not one by birth, because those
    cannot be compiled."""

    __slots__ = (
        "_begun_bytes",
        "_fast",
        "_frames",
        "_is_ending",
        "_is_holding",
        "_is_strange",
        "_owner",
        "_round",
        "_transport",
        "begun_ms",
        "last_read_ms",
        "number",
        "paused_since_ms",
    )

    def __init__(
        self,
        owner: ChannelOwner,
        number: ChannelId,
        limits: FrameLimits,
        turn: Round,
        fast: FastService | None,
        is_strange: bool = False,
    ) -> None:
        """`fast` takes what it can of a read before anything is decoded. `is_strange`: the peer
        has yet to show who it is."""
        self._is_strange = is_strange
        self._owner = owner
        self._round = turn
        self._fast = fast
        self._frames = FrameReader(limits)
        self._transport: Any = None
        self._is_ending = False
        # Whether frames of the last read wait for the peer to read.
        self._is_holding = False
        # Of a frame that has not come whole: since when, and how much has.
        self.begun_ms: int | None = None
        self._begun_bytes = 0
        self.number = number
        self.last_read_ms = 0
        self.paused_since_ms: int | None = None

    # From the loop.

    def connection_made(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        transport.set_write_buffer_limits(high=WRITE_HIGH_BYTES, low=WRITE_LOW_BYTES)
        peer = transport.get_extra_info("peername") or ("", 0)
        self._begin_round()
        self._owner.opened(self, Peer(peer[0], peer[1]))

    def data_received(self, data: bytes) -> None:
        self._begin_round()
        try:
            self._frames.receive(data)
        except ProtocolError as error:  # of a connection that is closing already
            self._refuse(error)
            return
        self._handle_frames()

    def _handle_frames(self) -> None:
        frames = self._frames
        fault = None
        self._is_holding = False
        self._round.reader = self
        try:
            while frames.advance():
                self.begun_ms = None
                if self._fast is not None and not self._fast.take(
                    self.number, frames, self._round.output, self._round.now
                ):
                    break
                is_over = self._owner.handle(self.number, decode(frames))
                if is_over or self.paused_since_ms is not None:
                    self._hold()
                    break
        except ProtocolError as error:
            fault = error
        finally:
            self._flush()
            self._round.reader = None
        if fault is not None:
            self._refuse(fault)
        self._note_begun()

    def _note_begun(self) -> None:
        """Keep account of what was received and cannot be handled yet."""
        size = 0 if self._is_holding else self._frames.pending_size()
        if size == 0:
            self.begun_ms = None
        elif self.begun_ms is None:
            self.begun_ms = self._round.monotonic_ms
        turn = self._round
        self._count_begun(size)
        if size > SMALL_BYTES and (
            turn.begun_bytes > BEGUN_BYTES_MAX
            or (self._is_strange and turn.strange_bytes > STRANGE_BYTES_MAX)
        ):
            _log.warning("too much has begun to come", extra={"channel": self.number})
            self.abort()

    def _count_begun(self, size: int) -> None:
        more = size - self._begun_bytes
        self._begun_bytes = size
        self._round.begun_bytes += more
        if self._is_strange:
            self._round.strange_bytes += more

    def welcome(self) -> None:
        """The peer has shown who it is."""
        if self._is_strange:
            self._round.strange_bytes -= self._begun_bytes
            self._is_strange = False

    def is_slow(self, monotonic_ms: int, frame_ms_max: int) -> bool:
        """Whether a frame takes too long to come whole."""
        if self.begun_ms is None:
            return False
        most = min(frame_ms_max, STRANGE_FRAME_MS_MAX) if self._is_strange else frame_ms_max
        return monotonic_ms - self.begun_ms > most

    def _hold(self) -> None:
        """Leave the other frames of this read for later."""
        self._is_holding = True
        if self._transport is not None:
            self._transport.pause_reading()

    def _refuse(self, fault: Exception) -> None:
        _log.info("closing a connection: %s", fault, extra={"channel": self.number})
        self.close()

    def eof_received(self) -> None:
        """The peer says no more, and hears nothing more: the transport closes."""

    def pause_writing(self) -> None:
        self._begin_round()
        self.paused_since_ms = self._round.monotonic_ms
        if self._transport is not None:
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        self.paused_since_ms = None
        self.go_on()

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self._count_begun(0)
        self._owner.closed(self)

    def _begin_round(self) -> None:
        if not self._round.is_begun:
            self._round.begin()
        self.last_read_ms = self._round.monotonic_ms

    # From the driver.

    def write(self, buffers: list[bytes | memoryview]) -> None:
        """Write the buffers of one frame, after whatever this read has answered so far; a small one
        with the others of this read."""
        if self._transport is None or self._gathered(buffers):
            return
        self._flush()
        self._transport.writelines(buffers)
        if self.paused_since_ms is not None:
            self._check_unread()

    def _gathered(self, buffers: list[bytes | memoryview]) -> bool:
        """Whether the frame goes out with this channel's read: one socket call for many."""
        output: ReplyBuffer = self._round.output
        if self._round.reader is not self or output.position > GATHERED_BYTES_MAX:
            return False
        size = 0
        for buffer in buffers:
            size += len(buffer)
        if size > GATHERED_BYTES_MAX:
            return False
        for buffer in buffers:
            output.append(bytes(buffer))
        return True

    def _check_unread(self) -> None:
        if self._transport.get_write_buffer_size() > UNREAD_BYTES_MAX:
            _log.warning("dropping a peer that does not read", extra={"channel": self.number})
            self._transport.abort()

    def go_on(self) -> None:
        """Handle what was left, and read again, unless the peer does not."""
        if self._is_ending or self.paused_since_ms is not None:
            return
        if self._is_holding and self._transport is not None:
            self._begin_round()
            self._handle_frames()  # which may hold again
        if self._transport is not None and not self._is_holding and self.paused_since_ms is None:
            self._transport.resume_reading()

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
        """Write what this read has answered so far, if it is this channel that is read."""
        if self._round.reader is not self or self._round.output.position == 0:
            return
        answers = self._round.output.take()
        if self._transport is not None:
            self._transport.write(answers)
