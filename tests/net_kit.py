"""Services and a loop, for tests of the net layer."""

import asyncio
from collections.abc import Awaitable, Callable

from aerobee.client.connection.loop_portal import new_event_loop
from aerobee.net.driver import Driver
from aerobee.net.listener import bind, port_of
from aerobee.ports.clock import Clock, Now
from aerobee.ports.service import ChannelId, CloseChannel, Dial, Effects, Peer, Reply
from aerobee.protocol.remoting.frame import FrameLimits
from aerobee.protocol.remoting.remoting_command import RemotingCommand, reply_to
from aerobee.sim.clock import SimClock
from tests.process_kit import SECONDS_MAX

ECHO = 1
CLOSE_ME = 2
SILENCE = 3
DIAL = 4


class EchoService:
    """Answers with the body it got; writes down what it was told."""

    def __init__(self) -> None:
        self.opened: list[Peer] = []
        self.closed: asyncio.Queue[ChannelId] = asyncio.Queue()
        self.answers: asyncio.Queue[RemotingCommand | None] = asyncio.Queue()
        self.ticks = 0
        self.fault: Exception | None = None

    def on_open(self, channel: ChannelId, peer: Peer, now: Now) -> Effects:
        self.opened.append(peer)
        return []

    def on_command(self, channel: ChannelId, command: RemotingCommand, now: Now) -> Effects:
        if command.code == CLOSE_ME:
            return [CloseChannel(channel, "asked to")]
        if command.code == DIAL:
            asked = RemotingCommand(ECHO, body=b"dialed")
            return [Dial(bytes(command.body).decode(), asked, 2000, "ticket")]
        if command.code == SILENCE:
            return []
        return [Reply(channel, reply_to(command, 0, body=bytes(command.body)))]

    def on_answer(self, ticket: object, answer: RemotingCommand | None, now: Now) -> Effects:
        assert ticket == "ticket"
        self.answers.put_nowait(answer)
        return []

    def on_tick(self, now: Now) -> Effects:
        self.ticks += 1
        if self.fault is not None:
            raise self.fault
        return []

    def on_closed(self, channel: ChannelId, now: Now) -> Effects:
        self.closed.put_nowait(channel)
        return []


class Running:
    """A driver on a port of its own."""

    def __init__(
        self,
        connections_max: int = 100,
        clock: Clock | None = None,
        service: EchoService | None = None,
    ) -> None:
        self.service = service or EchoService()
        self.driver = Driver(self.service, clock or SimClock(), FrameLimits(), connections_max)
        self.failures: asyncio.Queue[BaseException] = asyncio.Queue()
        self.port = 0

    async def __aenter__(self) -> "Running":
        sockets = bind("127.0.0.1", 0)
        self.port = port_of(sockets[0])
        await self.driver.start(sockets, self.failures.put_nowait)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.driver.stop()


def in_loop(test: Callable[[], Awaitable[None]]) -> None:
    """Run a test in the loop of the product. What it waits for in vain shows where it waits."""

    async def bounded() -> None:
        async with asyncio.timeout(SECONDS_MAX):
            await test()

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(bounded())
