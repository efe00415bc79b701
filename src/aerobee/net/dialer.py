"""Connections that we open: one per address, kept, opened again when they break.

Requests of one address share its connection; an answer is matched to its request by the opaque.
Whatever goes wrong (no connection, connection lost, no answer in time) the asker is told once. The
other side may ask, too: the service is told, and answers what is not one-way.

A connection whose other end is gone without a word looks open for a quarter of an hour: the system
tries that long to get bytes across. So one that leaves two requests unanswered and brings no answer
in between is given up, and the next request opens another.
"""

import asyncio
import logging
from collections.abc import Callable
from ssl import SSLContext

from aerobee.errors import LocalProtocolError, NoAnswer, RequestTimeout
from aerobee.net.line import Line, open_line
from aerobee.ports.service import Dial
from aerobee.protocol.remoting.frame import FrameLimits
from aerobee.protocol.remoting.remoting_command import RemotingCommand

_log = logging.getLogger(__name__)

CONNECT_SECONDS_MAX = 3.0
UNANSWERED_MAX = 2
NO_ANSWER = (OSError, TimeoutError, LocalProtocolError, NoAnswer)

Answered = Callable[[object, RemotingCommand | None], None]
AskedAt = Callable[[str, RemotingCommand], None]
"""Told what the other side asks, and at which address it is."""


class Dialer:
    """The dialed connections of one service."""

    def __init__(
        self,
        answered: Answered,
        limits: FrameLimits,
        tls: Callable[[], SSLContext | None] = lambda: None,
        asked: AskedAt | None = None,
    ) -> None:
        """`tls` says by which context connections are opened now; None: they are plain. Without
        `asked` nothing that the other side asks is answered."""
        self._asked = asked
        self._answered = answered
        self._limits = limits
        self._tls = tls
        self._lines: dict[str, Line] = {}
        self._opening: dict[str, asyncio.Task[Line | Exception]] = {}
        # By address: requests in a row that had no answer in time.
        self._unanswered: dict[str, int] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def dial(self, request: Dial) -> None:
        task = asyncio.get_running_loop().create_task(self._ask(request))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _ask(self, request: Dial) -> None:
        answer: RemotingCommand | None = None
        line: Line | None = None
        try:
            async with asyncio.timeout(request.timeout_ms / 1000):
                line = await self._line_to(request.address)
                if request.command.is_oneway:
                    line.tell(request.command)
                else:
                    answer = await line.ask(request.command, request.timeout_ms / 1000)
                    self._unanswered.pop(request.address, None)
        except NO_ANSWER as error:
            _log.debug(
                "no answer: %s", error or type(error).__name__, extra={"address": request.address}
            )
            if line is not None and isinstance(error, TimeoutError | RequestTimeout):
                self._note_silence(request.address, line)
        self._answered(request.ticket, answer)

    def _note_silence(self, address: str, line: Line) -> None:
        if self._lines.get(address) is not line:
            return  # of a line that was given up already
        count = self._unanswered[address] = self._unanswered.get(address, 0) + 1
        if count >= UNANSWERED_MAX:
            _log.info("a connection brings no answers: closing it", extra={"address": address})
            del self._lines[address], self._unanswered[address]
            line.close()

    async def _line_to(self, address: str) -> Line:
        line = self._lines.get(address)
        if line is not None and line.is_open:
            return line
        opening = self._opening.get(address)
        if opening is None:
            opening = asyncio.get_running_loop().create_task(self._open(address))
            self._opening[address] = opening
        # One who gives up takes nobody else with him.
        outcome = await asyncio.shield(opening)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def _open(self, address: str) -> Line | Exception:
        """The new connection, or why there is none: a task without a waiter must not fail."""
        asked = None if self._asked is None else self._serve
        try:
            async with asyncio.timeout(CONNECT_SECONDS_MAX):
                line = await open_line(address, self._limits, asked, tls=self._tls())
        except NO_ANSWER as error:
            return error
        finally:
            del self._opening[address]
        self._lines[address] = line
        return line

    def _serve(self, line: Line, command: RemotingCommand) -> None:
        command.body = bytes(command.body)  # a copy: the command's own is a view of the read buffer
        if self._asked is not None:
            self._asked(line.address, command)

    def answer(self, address: str, answer: RemotingCommand) -> None:
        """Answer what the server at an address has asked."""
        line = self._lines.get(address)
        if line is not None and line.is_open:
            line.tell(answer)

    async def finish(self, seconds_max: float) -> None:
        """Wait for the answers to what was asked, but not for ever."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds_max)

    async def close(self) -> None:
        for task in (*self._tasks, *self._opening.values()):
            task.cancel()
        await asyncio.gather(*self._tasks, *self._opening.values(), return_exceptions=True)
        for line in self._lines.values():
            line.close()
