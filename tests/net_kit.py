"""Services and a loop, for tests of the net layer."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Self

from aerobee.client.connection.loop_portal import new_event_loop
from aerobee.net.driver import Driver
from aerobee.net.listener import bind, port_of
from aerobee.net.tls_config import TlsConfig
from aerobee.net.tls_state import TlsState
from aerobee.ports.clock import Clock, Now
from aerobee.ports.service import ChannelId, CloseChannel, Dial, Effects, LinkId, Peer, Reply
from aerobee.protocol.remoting.frame import FrameLimits, FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand, reply_to
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer
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


class LinkRecorder:
    """A `LinkService` that writes down what it is told, and does what `reactions` says."""

    def __init__(self) -> None:
        self.news: asyncio.Queue[tuple[str, LinkId]] = asyncio.Queue()
        self.peers: dict[LinkId, Peer] = {}
        self.own_ends: dict[LinkId, str] = {}
        self.dialed: set[LinkId] = set()
        self.failed: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
        self.received: dict[LinkId, bytearray] = {}
        self.ready = 0
        self.reactions: dict[str, Callable[[LinkId], Effects]] = {}

    def _tell(self, what: str, link: LinkId) -> Effects:
        self.news.put_nowait((what, link))
        return self.reactions[what](link) if what in self.reactions else []

    def on_link_open(
        self, link: LinkId, peer: Peer, is_dialed: bool, now: Now, own: str = ""
    ) -> Effects:
        self.peers[link] = peer
        self.own_ends[link] = own
        self.received[link] = bytearray()
        if is_dialed:
            self.dialed.add(link)
        return self._tell("open", link)

    def on_link_failed(self, address: str, reason: str, now: Now) -> Effects:
        self.failed.put_nowait((address, reason))
        return []

    def on_link_bytes(self, link: LinkId, data: bytes, now: Now) -> Effects:
        self.received[link] += data
        return self._tell("bytes", link)

    def on_link_ready(self, link: LinkId, now: Now) -> Effects:
        self.ready += 1
        return self._tell("ready", link)

    def on_link_closed(self, link: LinkId, now: Now) -> Effects:
        return self._tell("closed", link)

    async def hear(self, what: str) -> LinkId:
        """The link of the next event of this kind."""
        while True:
            heard, link = await self.news.get()
            if heard == what:
                return link


class LinkedEcho(EchoService):
    """An echo with HA links."""

    def __init__(self) -> None:
        super().__init__()
        self.links = LinkRecorder()
        self.settled = 0
        self.effects: Effects = []

    def on_tick(self, now: Now) -> Effects:
        effects, self.effects = self.effects, []
        return [*super().on_tick(now), *effects]

    def take(self, channel: ChannelId, frames: FrameReader, output: ReplyBuffer, now: Now) -> bool:
        return True

    def settle(self, now: Now, took_ms: int) -> Effects:
        self.settled += 1
        return []


class Running:
    """A driver on a port of its own, and on another for HA links."""

    def __init__(
        self,
        connections_max: int = 100,
        clock: Clock | None = None,
        service: EchoService | None = None,
        tls: TlsConfig | None = None,
    ) -> None:
        self.service = service or EchoService()
        self.tls = TlsState(tls or TlsConfig())
        self.driver = Driver(
            self.service, clock or SimClock(), FrameLimits(), connections_max, tls=self.tls
        )
        self.failures: asyncio.Queue[BaseException] = asyncio.Queue()
        self.port = 0
        self.ha_port = 0

    async def __aenter__(self) -> Self:
        sockets = bind("127.0.0.1", 0)
        self.port = port_of(sockets[0])
        ha_sockets = bind("127.0.0.1", 0)
        self.ha_port = port_of(ha_sockets[0])
        await self.driver.start(sockets, self.failures.put_nowait, ha_sockets)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.driver.stop()


async def turn() -> None:
    """Let the loop do what is due by now."""
    loop = asyncio.get_running_loop()
    over = loop.create_future()
    loop.call_soon(loop.call_soon, over.set_result, None)
    await over


def in_loop(test: Callable[[], Awaitable[None]]) -> None:
    """Run a test in the loop of the product. What it waits for in vain shows where it waits."""

    async def bounded() -> None:
        async with asyncio.timeout(SECONDS_MAX):
            await test()

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(bounded())
