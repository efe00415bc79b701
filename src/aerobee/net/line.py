"""A connection that we opened: requests go out, answers come in, and the other side may ask, too.

Many requests share one line; an answer finds its request by the opaque. What is written in one turn
of the loop goes out together, when the turn is over. Deadlines are looked at a few times a second
for all requests at once, not by a timer for each: an answer may be given up a little late, and
costs nothing if it comes.

L1. Every `ask` ends: with the answer, or with ConnectionLost or RequestTimeout.
L2. A frame that breaks the protocol closes the line, and with it whatever waits.
"""

import asyncio
import logging
from collections.abc import Callable
from ssl import SSLContext, SSLError
from typing import TYPE_CHECKING, Any

from aerobee.errors import ConnectionLost, ProtocolError, RequestTimeout
from aerobee.net.tls_faults import explained_tls
from aerobee.net.tls_opening import connect
from aerobee.net.waiter import Waiter
from aerobee.protocol.remoting.frame import FrameLimits, FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand, decode, encode
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import load_i32

_log = logging.getLogger(__name__)

CHECK_SECONDS = 0.05  # how often deadlines are looked at, while somebody waits
_OPAQUE_MASK = 0x7FFFFFFF
_GATHERED_BYTES_MAX = 64 << 10  # what costs less to copy than to write by itself
_KEPT_BYTES_MAX = 1 << 20  # an output that had to grow beyond that is not kept
_NEVER = float("inf")
_SILENT_HINT = "it hung up without a word: a server that speaks TLS only does; then say rmqs://"

Asked = Callable[["Line", RemotingCommand], None]


def is_compiled() -> bool:
    return cython.compiled


class Line:
    """One connection: an asyncio protocol, not one by birth, because those cannot be compiled. It
    belongs to the loop that it was made in."""

    __slots__ = (
        "_asked",
        "_check",
        "_drained",
        "_earliest",
        "_frames",
        "_is_ending",
        "_is_flushing",
        "_is_heard",
        "_loop",
        "_opaque",
        "_transport",
        "_waiting",
        "address",
        "output",
    )

    def __init__(self, address: str, limits: FrameLimits, asked: Asked | None = None) -> None:
        """`asked` is told what the other side asks of us; without it, nothing is answered."""
        self.address = address
        # What is written in this turn of the loop.
        self.output = ReplyBuffer()
        self._loop = asyncio.get_running_loop()
        self._asked = asked
        self._frames = FrameReader(limits)
        self._opaque = 0
        self._waiting: dict[int, Waiter] = {}
        # No deadline of those that wait is before this.
        self._earliest = _NEVER
        self._is_flushing = False
        self._is_ending = False
        # Whether the other side has ever said anything.
        self._is_heard = False
        self._transport: Any = None
        self._check: asyncio.TimerHandle | None = None
        self._drained: asyncio.Future[None] | None = None

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    @property
    def is_full(self) -> bool:
        """Whether the other side reads more slowly than is written: wait for `drained`."""
        return self._drained is not None

    def can_take(self) -> bool:
        """Whether something can be written at once."""
        return self._transport is not None and not self._is_ending and self._drained is None

    # What we say.

    def ask(self, command: RemotingCommand, seconds: float) -> "asyncio.Future[RemotingCommand]":
        """The answer to come. The command's opaque is set here."""
        answer: asyncio.Future[RemotingCommand] = self._loop.create_future()
        if self._transport is None:
            answer.set_exception(self._lost())
            return answer
        command.opaque = self.next_opaque()
        self.tell(command)
        self.wait(self._opaque, Waiter(answer, self._loop.time() + seconds, False))
        return answer

    def tell(self, command: RemotingCommand) -> None:
        """Write what wants no answer: a one-way request, or our answer to theirs."""
        if self._transport is None:
            raise self._lost()
        buffers = encode(command)
        size = 0
        for buffer in buffers:
            size += len(buffer)
        if size <= _GATHERED_BYTES_MAX:
            for buffer in buffers:
                self.output.append(bytes(buffer))
            self.written()
        else:
            self._flush()
            self._transport.writelines(buffers)

    # For those who write into `output` themselves: the opaque, the frame, then this.

    def next_opaque(self) -> int:
        self._opaque = (self._opaque + 1) & _OPAQUE_MASK
        return self._opaque

    def written(self) -> None:
        """Have what was written go out when this turn of the loop is over."""
        if not self._is_flushing:
            self._is_flushing = True
            self._loop.call_soon(self._flush_turn)

    def wait(self, opaque: int, waiter: Waiter) -> None:
        """Someone waits for the answer to what was just written."""
        self._waiting[opaque] = waiter
        if waiter.deadline < self._earliest:
            self._earliest = waiter.deadline
        if self._check is None:
            self._check = self._loop.call_later(CHECK_SECONDS, self._check_deadlines)

    async def drained(self) -> None:
        """Wait until the other side has read enough for more to be written."""
        if self._drained is not None:
            await asyncio.shield(self._drained)

    def close(self) -> None:
        """What was written still goes out."""
        self._is_ending = True
        if self._transport is not None:
            self._flush()
            self._transport.close()

    def _flush_turn(self) -> None:
        self._is_flushing = False
        self._flush()

    def _flush(self) -> None:
        if self.output.position == 0:
            return
        data = self.output.take()
        if len(data) > _KEPT_BYTES_MAX:
            self.output = ReplyBuffer()
        if self._transport is not None:
            self._transport.write(data)

    def _check_deadlines(self) -> None:
        self._check = None
        now = self._loop.time()
        if self._earliest <= now:
            self._end_late(now)
        if self._waiting:
            self._check = self._loop.call_later(CHECK_SECONDS, self._check_deadlines)

    def _end_late(self, now: float) -> None:
        """Tell those whose time is over, and find the next deadline."""
        self._earliest = _NEVER
        for opaque, waiter in list(self._waiting.items()):
            if waiter.deadline <= now:
                del self._waiting[opaque]
                waiter.fail(
                    RequestTimeout(f"no answer from {self.address} in time", address=self.address)
                )
            elif waiter.answer.done():  # its asker gave up
                del self._waiting[opaque]
            elif waiter.deadline < self._earliest:
                self._earliest = waiter.deadline

    def _lost(self) -> ConnectionLost:
        return ConnectionLost(f"the connection to {self.address} is closed", address=self.address)

    # From the loop.

    def connection_made(self, transport: asyncio.Transport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        frames = self._frames
        self._is_heard = True
        try:
            frames.receive(data)
            while frames.advance():
                if not self._took(frames):
                    self._handle(decode(frames))
        except ProtocolError as error:
            _log.warning("closing the connection to %s: %s", self.address, error)
            self.close()

    def _took(self, frames: FrameReader) -> bool:
        """Whether the current frame was an answer to someone who reads it as it came."""
        if frames.serialize_type != 1 or frames.header_end - frames.header_start < 21:
            return False
        # Of a binary header: the opaque, and the flag that says that it is an answer.
        if load_i32(frames.memory, frames.header_start + 9) & 1 == 0:
            return False
        opaque = load_i32(frames.memory, frames.header_start + 5)
        found = self._waiting.get(opaque)
        if found is None:
            return False
        waiter: Waiter = found
        if not waiter.is_fast or not waiter.take(frames):
            return False
        del self._waiting[opaque]
        return True

    def _handle(self, command: RemotingCommand) -> None:
        if command.is_response:
            waiter = self._waiting.pop(command.opaque, None)
            if waiter is not None:
                waiter.end(command)
        elif self._asked is not None:
            self._asked(self, command)

    def eof_received(self) -> None:
        """The other side says no more: the transport closes."""

    def pause_writing(self) -> None:
        self._drained = self._loop.create_future()

    def resume_writing(self) -> None:
        self._release_writers()

    def _release_writers(self) -> None:
        drained, self._drained = self._drained, None
        if drained is not None and not drained.done():
            drained.set_result(None)

    def connection_lost(self, error: Exception | None) -> None:
        transport, self._transport = self._transport, None
        self.output.take()
        if self._check is not None:
            self._check.cancel()
            self._check = None
        self._release_writers()
        waiting, self._waiting = self._waiting, {}
        if not waiting:
            return
        text, hint = f"the connection to {self.address} was lost", ""
        if isinstance(error, SSLError):
            text = f"{text}: {explained_tls(error)}"
        elif not self._is_heard and transport.get_extra_info("sslcontext") is None:
            hint = _SILENT_HINT
        for waiter in waiting.values():
            waiter.fail(ConnectionLost(text, address=self.address, hint=hint))


_LIMITS = FrameLimits()


async def open_line(
    address: str,
    limits: FrameLimits = _LIMITS,
    asked: Asked | None = None,
    *,
    tls: SSLContext | None = None,
) -> Line:
    """A line to `host:port`. OSError says why there is none."""
    return await connect(lambda: Line(address, limits, asked), address, tls)
