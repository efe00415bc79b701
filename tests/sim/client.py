"""A client process: connections, questions with a time limit, routes. What producers and consumers
of a story have in common; small, and as wary as a real client has to be.
"""

import asyncio
import random
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, cast

from aerobee.model.route import MASTER_ID, TopicRoute
from aerobee.protocol.bodies.topic_route import decode_topic_route
from aerobee.protocol.remoting.command_header import BINARY_TYPE, ONEWAY_FLAG
from aerobee.protocol.remoting.frame import FrameLimits, FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand, decode, encode
from aerobee.protocol.request_codes import RequestCode
from aerobee.sim.network import Host
from tests.sim.history import History

CONNECT_MS_MAX = 1_000
QUESTION_MS_MAX = 1_500

Asked = Callable[[RemotingCommand], None]


class Connection(asyncio.Protocol):
    """One connection of a client, whatever is spoken on it."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    def stop_reading(self) -> None:
        if self._transport is not None:
            self._transport.pause_reading()

    def go_on_reading(self) -> None:
        if self._transport is not None:
            self._transport.resume_reading()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)


class Line(Connection):
    """A connection that speaks remoting."""

    def __init__(self, asked: Asked, born_ms: int) -> None:
        super().__init__()
        self._asked = asked
        self.born_ms = born_ms
        self._frames = FrameReader(FrameLimits())
        self._waiting: dict[int, asyncio.Future[RemotingCommand]] = {}
        self._opaque = 0
        self.late = 0
        """Questions since the last answer that were given up."""

    async def ask(self, command: RemotingCommand) -> RemotingCommand:
        answer: asyncio.Future[RemotingCommand] = asyncio.get_running_loop().create_future()
        self.tell(command)
        self._waiting[command.opaque] = answer
        try:
            return await answer
        finally:
            self._waiting.pop(command.opaque, None)

    def tell(self, command: RemotingCommand) -> None:
        if self._transport is None:
            raise ConnectionResetError("the connection is closed")
        self._opaque += 1
        command.opaque = self._opaque
        self._transport.writelines(encode(command))

    def data_received(self, data: bytes) -> None:
        self._frames.receive(data)
        while self._frames.advance():
            command = decode(self._frames)
            command.body = bytes(command.body)
            if not command.is_response:
                self._asked(command)
                continue
            self.late = 0
            waiting = self._waiting.get(command.opaque)
            if waiting is not None and not waiting.done():
                waiting.set_result(command)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(ConnectionResetError("the connection was lost"))


class Client:
    """A process of its own on a host."""

    def __init__(
        self,
        name: str,
        host: Host,
        nameservers: Sequence[str],
        generator: random.Random,
        history: History,
    ) -> None:
        self.name = name
        self.history = history
        self.random = generator
        self.process = host.start(self._failed)
        self._nameservers = nameservers
        self._lines: dict[str, Line] = {}
        self.is_binary = generator.random() < 0.3

    def _failed(self, error: BaseException) -> None:
        raise error

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self.process.loop.run(lambda: self.process.loop.create_task(work))

    async def pause(self, ms: int) -> None:
        done = self.process.loop.create_future()
        self.process.loop.call_later(ms / 1000, done.set_result, None)
        await done

    def on_request(self, command: RemotingCommand) -> None:
        """A broker asks something of this client."""

    # Questions.

    async def ask(
        self, address: str, command: RemotingCommand, ms_max: int = QUESTION_MS_MAX
    ) -> RemotingCommand | None:
        """The answer, or None: nothing is known of it."""
        if self.is_binary:
            command.serialize_type = BINARY_TYPE
        line: Line | None = None
        try:
            line = await self.line_to(address)
            async with asyncio.timeout(ms_max / 1000):
                return self._noted(await line.ask(command))
        except TimeoutError:
            if line is not None:
                line.late += 1
                # A half-open connection is given up, sooner or later.
                if line.late > 1 or self.random.random() < 0.5:
                    line.abort()
            return None
        except OSError:
            return None

    def _noted(self, answer: RemotingCommand) -> RemotingCommand:
        if "internal error" in answer.remark:
            self.history.breach("internal error", f"{self.name} was told {answer.remark}")
        return answer

    async def line_to(self, address: str) -> Line:
        line = self._lines.get(address)
        if line is not None and line.is_open:
            return line
        host, _, port = address.rpartition(":")
        async with asyncio.timeout(CONNECT_MS_MAX / 1000):
            _, made = await self.process.connect(self._make_line, host, int(port))
        line = self._lines[address] = cast(Line, made)
        return line

    def _make_line(self) -> Line:
        return Line(self.on_request, self.history.now_ms())

    def tell(self, address: str, command: RemotingCommand) -> None:
        """Without an answer, if there is a connection."""
        command.flag |= ONEWAY_FLAG
        line = self._lines.get(address)
        if line is not None and line.is_open:
            line.tell(command)

    def lines(self) -> Sequence[Connection]:
        return [line for line in self._lines.values() if line.is_open]

    # Routes.

    async def find_route(self, topic: str) -> TopicRoute | None:
        """Where a topic is; None: no broker has it, or nobody answers."""
        command = RemotingCommand(
            RequestCode.GET_ROUTEINFO_BY_TOPIC,
            ext_fields={"topic": topic, "acceptStandardJsonOnly": "true"},
        )
        answer = await self.ask(self.random.choice(self._nameservers), command)
        if answer is None or answer.code != 0:
            return None
        return decode_topic_route(bytes(answer.body))


def addresses_of(route: TopicRoute) -> dict[str, str]:
    """Masters by name."""
    return {
        broker.name: broker.addresses[MASTER_ID]
        for broker in route.brokers
        if MASTER_ID in broker.addresses
    }
