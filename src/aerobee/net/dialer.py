"""Connections that we open: one per address, kept, opened again when they break.

Requests of one address share its connection; an answer is matched to its request by the opaque.
Whatever goes wrong (no connection, connection lost, no answer in time) the asker is told once.
"""

import asyncio
import itertools
import logging
from collections.abc import Callable
from typing import cast

from aerobee.errors import LocalProtocolError, ProtocolError
from aerobee.ports.service import Dial
from aerobee.protocol.frame import FrameLimits, FrameReader
from aerobee.protocol.remoting_command import RemotingCommand, decode, encode

_log = logging.getLogger(__name__)

CONNECT_SECONDS_MAX = 3.0

Answered = Callable[[object, RemotingCommand | None], None]


class Dialer:
    """The dialed connections of one service."""

    def __init__(self, answered: Answered, limits: FrameLimits) -> None:
        self._answered = answered
        self._limits = limits
        self._lines: dict[str, _Line] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def dial(self, request: Dial) -> None:
        task = asyncio.get_running_loop().create_task(self._ask(request))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _ask(self, request: Dial) -> None:
        answer: RemotingCommand | None = None
        try:
            async with asyncio.timeout(request.timeout_ms / 1000):
                line = await self._line_to(request.address)
                answer = await line.ask(request.command)
        except (OSError, TimeoutError, LocalProtocolError) as error:
            _log.debug(
                "no answer: %s", error or type(error).__name__, extra={"address": request.address}
            )
        self._answered(request.ticket, answer)

    async def _line_to(self, address: str) -> "_Line":
        line = self._lines.get(address)
        if line is not None and line.is_open:
            return line
        host, _, port = address.rpartition(":")
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(CONNECT_SECONDS_MAX):
            _, line = await loop.create_connection(
                lambda: _Line(self._limits), host.strip("[]"), int(port)
            )
        self._lines[address] = line
        return line

    async def finish(self, seconds_max: float) -> None:
        """Wait for the answers to what was asked, but not for ever."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds_max)

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for line in self._lines.values():
            line.close()


class _Line(asyncio.Protocol):
    """One connection that we opened."""

    def __init__(self, limits: FrameLimits) -> None:
        self._frames = FrameReader(limits)
        self._opaques = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[RemotingCommand]] = {}
        self._transport: asyncio.Transport | None = None

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    async def ask(self, command: RemotingCommand) -> RemotingCommand | None:
        """The answer; None at once for a command that wants none."""
        if self._transport is None:
            raise ConnectionResetError("the connection is closed")
        command.opaque = next(self._opaques) & 0x7FFFFFFF
        self._transport.writelines(encode(command))
        if command.is_oneway:
            return None
        answer: asyncio.Future[RemotingCommand] = asyncio.get_running_loop().create_future()
        self._waiting[command.opaque] = answer
        try:
            return await answer
        finally:
            self._waiting.pop(command.opaque, None)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        try:
            self._frames.receive(data)
            while self._frames.advance():
                command = decode(self._frames)
                waiting = self._waiting.get(command.opaque) if command.is_response else None
                if waiting is not None and not waiting.done():
                    command.body = bytes(command.body)
                    waiting.set_result(command)
        except ProtocolError as error:
            _log.warning("closing a dialed connection: %s", error)
            self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(ConnectionResetError("the connection was lost"))

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()
