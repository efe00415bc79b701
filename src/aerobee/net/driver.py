"""The driver: feeds a service with commands, ticks and answers, and carries out its effects.

It owns the listening socket, the channels and the dialed connections of one service. Everything
happens on the loop's thread, one event after another: the service never sees two at once.
"""

import asyncio
import logging
import socket
from collections.abc import Callable, Sequence
from typing import cast

from aerobee.net.channel import Channel
from aerobee.net.dialer import Dialer
from aerobee.ports.clock import Clock, Now
from aerobee.ports.service import (
    ChannelId,
    CloseChannel,
    Dial,
    Effects,
    FastService,
    Peer,
    Reply,
    Service,
)
from aerobee.protocol.frame import FrameLimits, FrameReader
from aerobee.protocol.remoting_command import RemotingCommand, encode

_log = logging.getLogger(__name__)

TICK_SECONDS = 0.005
IDLE_MS_MAX = 120_000  # RocketMQ's: a client beats every 30 s
UNREAD_MS_MAX = 20_000  # how long a peer may leave its answers unread
IDLE_CHECK_MS = 1_000  # a look at every channel, which may be thousands
STOP_SECONDS_MAX = 3.0  # how long a stop waits for peers that do not read
BACKLOG = 1024

Failed = Callable[[BaseException], None]


class Driver:
    """One service on one loop."""

    def __init__(
        self, service: Service, clock: Clock, limits: FrameLimits, connections_max: int
    ) -> None:
        self._service = service
        self._fast = cast(FastService, service) if hasattr(service, "take") else None
        self._clock = clock
        self._limits = limits
        self._connections_max = connections_max
        self._channels: dict[ChannelId, Channel] = {}
        self._next_channel = 0
        self._dialer = Dialer(self._answered, limits)
        self._servers: list[asyncio.Server] = []
        self._ticker: asyncio.Task[None] | None = None

    # Starting and stopping.

    async def start(self, sockets: Sequence[socket.socket], failed: Failed) -> None:
        """Accept connections on bound sockets, which are the driver's from now on, and tick.
        `failed` is told if a tick cannot be done: nothing of the service can be relied on then."""
        loop = asyncio.get_running_loop()
        for bound in sockets:
            self._servers.append(
                await loop.create_server(self._make_channel, sock=bound, backlog=BACKLOG)
            )
        self._ticker = loop.create_task(self._tick(failed))

    async def stop(self) -> None:
        """Accept no more, let what was answered go out, close."""
        for server in self._servers:
            server.close()
        if self._ticker is not None:
            self._ticker.cancel()
            await asyncio.gather(self._ticker, return_exceptions=True)
        for channel in list(self._channels.values()):
            channel.close()
        await self._dialer.close()
        try:
            async with asyncio.timeout(STOP_SECONDS_MAX):
                while self._channels:
                    await asyncio.sleep(TICK_SECONDS)
        except TimeoutError:
            for channel in list(self._channels.values()):
                channel.abort()

    async def _tick(self, failed: Failed) -> None:
        checked_ms = self.now().monotonic_ms
        try:
            while True:
                now = self.now()
                self._carry_out(self._service.on_tick(now))
                if now.monotonic_ms - checked_ms >= IDLE_CHECK_MS:
                    checked_ms = now.monotonic_ms
                    self._drop_idle(now)
                await asyncio.sleep(TICK_SECONDS)
        except Exception as error:
            _log.exception("a tick failed")
            failed(error)

    def _drop_idle(self, now: Now) -> None:
        for channel in list(self._channels.values()):
            unread = channel.paused_since_ms
            if unread is not None and now.monotonic_ms - unread > UNREAD_MS_MAX:
                channel.abort()
            elif now.monotonic_ms - channel.last_read_ms > IDLE_MS_MAX:
                channel.close()

    # From channels.

    def _make_channel(self) -> Channel:
        self._next_channel += 1
        return Channel(self, ChannelId(self._next_channel), self._limits)

    def opened(self, channel: Channel, peer: Peer) -> None:
        if len(self._channels) >= self._connections_max:
            _log.warning("too many connections: one is refused", extra={"peer": str(peer)})
            channel.abort()
            return
        self._channels[channel.number] = channel
        self._carry_out(self._service.on_open(channel.number, peer, self.now()))

    def now(self) -> Now:
        return self._clock.now()

    def take(self, channel: ChannelId, frames: FrameReader, output: bytearray) -> bool:
        return self._fast is not None and self._fast.take(channel, frames, output, self.now())

    def handle(self, channel: ChannelId, command: RemotingCommand) -> None:
        self._carry_out(self._service.on_command(channel, command, self.now()))

    def end_read(self, channel: ChannelId, output: bytearray) -> None:
        if self._fast is not None:
            self._carry_out(self._fast.end_read(channel, output, self.now()))

    def closed(self, channel: Channel) -> None:
        if self._channels.pop(channel.number, None) is not None:
            self._carry_out(self._service.on_closed(channel.number, self.now()))

    # Effects.

    def _answered(self, ticket: object, answer: RemotingCommand | None) -> None:
        self._carry_out(self._service.on_answer(ticket, answer, self.now()))

    def _carry_out(self, effects: Effects) -> None:
        for effect in effects:
            match effect:
                case Reply(number, command, parts):
                    channel = self._channels.get(number)
                    if channel is not None:
                        channel.write(encode(command, parts))
                case Dial():
                    self._dialer.dial(effect)
                case CloseChannel(number, reason):
                    channel = self._channels.get(number)
                    if channel is not None:
                        _log.info("closing a connection: %s", reason, extra={"channel": number})
                        channel.close()
