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
from ssl import SSLContext
from typing import cast

from aerobee.errors import ConnectionLost, ProtocolError, RequestTimeout
from aerobee.protocol.frame import FrameLimits, FrameReader
from aerobee.protocol.remoting_command import RemotingCommand, decode, encode

_log = logging.getLogger(__name__)

CHECK_SECONDS = 0.05  # how often deadlines are looked at, while somebody waits
OPAQUE_MASK = 0x7FFFFFFF

Asked = Callable[["Line", RemotingCommand], None]
Waiting = tuple["asyncio.Future[RemotingCommand]", float]
"""Who waits, and until when on the loop's clock."""


class Line(asyncio.Protocol):
    """One connection. It belongs to the loop that it was made in."""

    def __init__(self, address: str, limits: FrameLimits, asked: Asked | None = None) -> None:
        """`asked` is told what the other side asks of us; without it, nothing is answered."""
        self.address = address
        self._loop = asyncio.get_running_loop()
        self._asked = asked
        self._frames = FrameReader(limits)
        self._opaque = 0
        self._waiting: dict[int, Waiting] = {}
        self._written: list[bytes | memoryview] = []
        self._transport: asyncio.Transport | None = None
        self._check: asyncio.TimerHandle | None = None
        self._drained: asyncio.Future[None] | None = None

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    @property
    def is_full(self) -> bool:
        """Whether the other side reads more slowly than is written: wait for `drained`."""
        return self._drained is not None

    # What we say.

    def ask(self, command: RemotingCommand, seconds: float) -> "asyncio.Future[RemotingCommand]":
        """The answer to come. The command's opaque is set here."""
        answer: asyncio.Future[RemotingCommand] = self._loop.create_future()
        if self._transport is None:
            answer.set_exception(self._lost())
            return answer
        self._opaque = command.opaque = (self._opaque + 1) & OPAQUE_MASK
        self.tell(command)
        self._waiting[command.opaque] = (answer, self._loop.time() + seconds)
        if self._check is None:
            self._check = self._loop.call_later(CHECK_SECONDS, self._check_deadlines)
        return answer

    def tell(self, command: RemotingCommand) -> None:
        """Write what wants no answer: a one-way request, or our answer to theirs."""
        if self._transport is None:
            raise self._lost()
        if not self._written:
            self._loop.call_soon(self._flush)
        self._written += encode(command)

    async def drained(self) -> None:
        """Wait until the other side has read enough for more to be written."""
        if self._drained is not None:
            await asyncio.shield(self._drained)

    def close(self) -> None:
        """What was written still goes out."""
        if self._transport is not None:
            self._flush()
            self._transport.close()

    def _flush(self) -> None:
        written, self._written = self._written, []
        if written and self._transport is not None:
            self._transport.writelines(written)

    def _check_deadlines(self) -> None:
        self._check = None
        now = self._loop.time()
        for opaque, (answer, deadline) in list(self._waiting.items()):
            if answer.done():  # its asker gave up
                del self._waiting[opaque]
            elif deadline <= now:
                del self._waiting[opaque]
                answer.set_exception(
                    RequestTimeout(f"no answer from {self.address} in time", address=self.address)
                )
        if self._waiting:
            self._check = self._loop.call_later(CHECK_SECONDS, self._check_deadlines)

    def _lost(self) -> ConnectionLost:
        return ConnectionLost(f"the connection to {self.address} is closed", address=self.address)

    # From the loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        try:
            self._frames.receive(data)
            while self._frames.advance():
                command = decode(self._frames)
                if command.is_response:
                    self._answered(command)
                elif self._asked is not None:
                    self._asked(self, command)
        except ProtocolError as error:
            _log.warning("closing the connection to %s: %s", self.address, error)
            self.close()

    def _answered(self, command: RemotingCommand) -> None:
        answer, _ = self._waiting.pop(command.opaque, (None, 0.0))
        if answer is not None and not answer.done():
            command.body = bytes(command.body)  # the chunk is not to live as long as an answer
            answer.set_result(command)

    def pause_writing(self) -> None:
        self._drained = self._loop.create_future()

    def resume_writing(self) -> None:
        self._release_writers()

    def _release_writers(self) -> None:
        drained, self._drained = self._drained, None
        if drained is not None and not drained.done():
            drained.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._written.clear()
        if self._check is not None:
            self._check.cancel()
            self._check = None
        self._release_writers()
        waiting, self._waiting = self._waiting, {}
        for answer, _ in waiting.values():
            if not answer.done():
                answer.set_exception(
                    ConnectionLost(
                        f"the connection to {self.address} was lost", address=self.address
                    )
                )


async def open_line(
    address: str, limits: FrameLimits, asked: Asked | None = None, *, tls: SSLContext | None = None
) -> Line:
    """A line to `host:port`. OSError says why there is none."""
    host, _, port = address.rpartition(":")
    _, line = await asyncio.get_running_loop().create_connection(
        lambda: Line(address, limits, asked), host.strip("[]"), int(port), ssl=tls
    )
    return line
