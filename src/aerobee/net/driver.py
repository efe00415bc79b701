"""The driver: feeds a service with commands, ticks and answers, and carries out its effects.

It owns the listening sockets, the channels, the dialed connections and the HA links of one service.
Everything happens on the loop's thread, one event after another: the service never sees two at
once.

A tick comes a few milliseconds after whatever happened, and at once after `tick_soon`. In between,
a service that says for how long it has nothing to do is left alone for so long.

Imports more than 15 modules because all kinds of connections of a service meet here.
"""

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable, Sequence
from functools import partial
from ssl import SSLContext
from typing import Self, cast

from aerobee.errors import LocalProtocolError
from aerobee.net.channel import Channel
from aerobee.net.dialer import Dialer
from aerobee.net.http2_channel import Http2Channels
from aerobee.net.replica_channel import ReplicaLinks
from aerobee.net.round import Round
from aerobee.net.tls_door import TlsDoor
from aerobee.net.tls_peers import refusal_of_link
from aerobee.net.tls_state import TlsState
from aerobee.ports.clock import Clock, Now
from aerobee.ports.replica_link import LinkedService
from aerobee.ports.rpc import CalledService
from aerobee.ports.service import (
    AnswerAsked,
    AnswerCall,
    AskedService,
    CallWrite,
    ChannelId,
    CloseChannel,
    CloseLink,
    Dial,
    Effects,
    EndCall,
    EndingService,
    FastService,
    FlushCalls,
    GuardedService,
    LinkWrite,
    OpenLink,
    PatientService,
    Peer,
    ReadLink,
    Rebuild,
    Reply,
    Service,
    Welcome,
    Write,
)
from aerobee.protocol.remoting.frame import FrameLimits
from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from aerobee.protocol.response_codes import ResponseCode

_log = logging.getLogger(__name__)

TICK_SECONDS = 0.005
REST_MS_MAX = 1_000  # a service that has nothing to do is looked at so often, and its channels
IDLE_MS_MAX = 120_000  # RocketMQ's: a client beats every 30 s
UNREAD_MS_MAX = 20_000  # how long a peer may leave its answers unread
TURN_MS_MAX = 20  # after that, what one peer has sent together waits for the others
FRAME_MS_MAX = 30_000  # how long a frame may take to come whole
IDLE_CHECK_MS = 1_000  # a look at every channel, which may be thousands
STOP_SECONDS_MAX = 3.0  # how long a stop waits for peers that do not read
GOODBYE_SECONDS_MAX = 1.0  # how long it waits for those whom the service tells that it goes
BACKLOG = 1024

Failed = Callable[[BaseException], None]
Accept = Callable[[], asyncio.BaseProtocol]


def _unheard(error: BaseException) -> None:
    """Before the start nobody listens."""


class Driver:
    """One service on one loop."""

    def __init__(
        self,
        service: Service,
        clock: Clock,
        limits: FrameLimits,
        connections_max: int,
        *,
        drops_idle: bool = True,
        rebuild: Callable[[Rebuild], None] = lambda wanted: None,
        tls: TlsState | None = None,
    ) -> None:
        """`drops_idle` is off where a test moves the clock: silence says nothing there. `rebuild`
        is called when the service asks for another one in its place. Without `tls` everything is
        plain."""
        self._tls = tls
        self._service = service
        self._fast = cast(FastService, service) if hasattr(service, "take") else None
        self._ending = cast(EndingService, service) if hasattr(service, "stop") else None
        self._patient = cast(PatientService, service) if hasattr(service, "rest_ms") else None
        self._is_guarded = hasattr(service, "is_guarded") and bool(
            cast(GuardedService, service).is_guarded
        )
        self._clock = clock
        self._limits = limits
        self._connections_max = connections_max
        self._drops_idle = drops_idle
        self._rebuild = rebuild
        self._channels: dict[ChannelId, Channel] = {}
        self._next_channel = 0
        self._round = Round(self._begin_round)
        self._doors: list[TlsDoor] = []
        self._asked = cast(AskedService, service) if hasattr(service, "on_asked") else None
        asked = None if self._asked is None else self._asked_at
        self._dialer = Dialer(self._answered, limits, self._outgoing, asked)
        self._links = self._links_of(service)
        self._calls = self._calls_of(service)
        self._servers: list[asyncio.Server] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._failed: Failed = _unheard
        self._timer: asyncio.TimerHandle | None = None
        self._is_resting = False
        self._is_woken = False
        self._is_stopping = False
        self._checked_ms = 0

    @classmethod
    def of_calls(
        cls, service: Service, clock: Clock, connections_max: int, tls: TlsState | None
    ) -> Self:
        """A driver of a service that is reached by calls alone."""
        return cls(service, clock, FrameLimits(), connections_max, tls=tls)

    def _links_of(self, service: Service) -> ReplicaLinks | None:
        if not hasattr(service, "links"):
            return None
        links = cast(LinkedService, service).links
        return ReplicaLinks(links, self._round, self.now, self._carry_out, tls=self._outgoing)

    def _outgoing(self) -> SSLContext | None:
        return None if self._tls is None else self._tls.outgoing

    def _calls_of(self, service: Service) -> Http2Channels | None:
        rpc = cast(CalledService, service).rpc if hasattr(service, "rpc") else None
        if rpc is None:
            return None
        return Http2Channels(rpc, self._round, self.now, self._carry_out, self._has_room)

    # Starting and stopping.

    async def start(
        self,
        sockets: Sequence[socket.socket],
        failed: Failed,
        ha_sockets: Sequence[socket.socket] = (),
        grpc_sockets: Sequence[socket.socket] = (),
    ) -> None:
        """Accept connections on bound sockets, which are the driver's from now on, and tick.
        `failed` is told if a tick cannot be done: nothing of the service can be relied on then.
        HA links are accepted on `ha_sockets`, if the service has links; gRPC on `grpc_sockets`, if
        it answers calls."""
        loop = asyncio.get_running_loop()
        factory = self._entrance(cast(Accept, self._make_channel), is_for_links=False)
        for bound in sockets:
            self._servers.append(await loop.create_server(factory, sock=bound, backlog=BACKLOG))
        for bound in ha_sockets:
            if self._links is None:
                bound.close()  # nobody would be answered
            else:
                accept = self._entrance(self._links.accept, is_for_links=True)
                self._servers.append(await loop.create_server(accept, sock=bound, backlog=BACKLOG))
        for bound in grpc_sockets:
            assert self._calls is not None  # the port is bound only where calls are answered
            call = self._entrance(cast(Accept, self._calls.accept), is_for_links=False)
            self._servers.append(await loop.create_server(call, sock=bound, backlog=BACKLOG))
        self._loop = loop
        self._failed = failed
        self._checked_ms = self.now().monotonic_ms
        self._tick()

    def _entrance(self, accept: Accept, *, is_for_links: bool) -> Accept:
        """What accepts connections: a channel or link as it is, or a door for TLS before it."""
        tls = self._tls
        if tls is None or tls.service is None:
            return accept
        if is_for_links:
            door = TlsDoor(accept, tls, lambda: tls.links, partial(refusal_of_link, tls.config))
        else:
            door = TlsDoor(accept, tls, lambda: tls.service)
        self._doors.append(door)
        return door.accept

    async def settle(self, seconds_max: float) -> None:
        """Wait until others have answered what the service asked them so far, but not for ever."""
        await self._dialer.finish(seconds_max)

    async def stop(self) -> None:
        """Accept no more and read no more, let the service say what it has to, let what was
        answered go out, close."""
        self._is_stopping = True
        for server in self._servers:
            server.close()
        for door in self._doors:
            door.close()
        for channel in self._channels.values():
            channel.stop_reading()
        if self._calls is not None:
            self._calls.stop_reading()
        if self._ending is not None:
            try:
                self._carry_out(self._ending.stop(self.now()))
            except Exception:
                _log.exception("the service could not stop as it should")  # the rest must
            await self._dialer.finish(GOODBYE_SECONDS_MAX)
        self._loop = None
        if self._timer is not None:
            self._timer.cancel()
        if self._links is not None:
            self._links.stop()
        if self._calls is not None:
            self._calls.stop()
        for channel in list(self._channels.values()):
            channel.close()
        await self._dialer.close()
        try:
            async with asyncio.timeout(STOP_SECONDS_MAX):
                while self.connections() or (self._links is not None and self._links.count()):
                    await asyncio.sleep(TICK_SECONDS)
        except TimeoutError:
            for channel in list(self._channels.values()):
                channel.abort()
            if self._calls is not None:
                self._calls.abort()

    def connections(self) -> int:
        """The number of clients' connections, of both protocols."""
        return len(self._channels) + (0 if self._calls is None else self._calls.count())

    def _has_room(self) -> bool:
        return not self._is_stopping and self.connections() < self._connections_max

    # Ticks.

    def tick_soon(self) -> None:
        """Tick now. May be called on any thread, and when there is no loop: then it is nothing."""
        loop = self._loop
        if loop is not None and not self._is_woken:
            self._is_woken = True
            with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile
                loop.call_soon_threadsafe(self._tick)

    def _tick(self) -> None:
        # Before the service looks: whatever is over after that wakes it again.
        self._is_woken = False
        if self._loop is None:
            return
        now = self.now()
        try:
            self._carry_out(self._service.on_tick(now))
            if self._drops_idle and now.monotonic_ms - self._checked_ms >= IDLE_CHECK_MS:
                self._checked_ms = now.monotonic_ms
                self._drop_idle(now)
            rest_ms = self._patient.rest_ms(now) if self._patient is not None else 0
        except Exception as error:
            _log.exception("a tick failed")
            self._loop = None
            self._failed(error)
            return
        if rest_ms < 0:
            self._tick_in(0)
        else:
            self._tick_in(max(TICK_SECONDS, min(rest_ms, REST_MS_MAX) / 1000))

    def _tick_in(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._loop is not None:
            self._is_resting = seconds > TICK_SECONDS
            self._timer = self._loop.call_later(seconds, self._tick)

    def _stir(self) -> None:
        """Something happened: what the service said of its rest is of yesterday."""
        if self._is_resting:
            self._tick_in(TICK_SECONDS)

    def _drop_idle(self, now: Now) -> None:
        for channel in list(self._channels.values()):
            unread = channel.paused_since_ms
            if (
                unread is not None and now.monotonic_ms - unread > UNREAD_MS_MAX
            ) or channel.is_slow(now.monotonic_ms, FRAME_MS_MAX):
                channel.abort()
            elif now.monotonic_ms - channel.last_read_ms > IDLE_MS_MAX:
                channel.close()
        if self._calls is not None:
            self._calls.drop_idle(now)

    # From channels.

    def _make_channel(self) -> Channel:
        self._next_channel += 1
        number = ChannelId(self._next_channel)
        return Channel(self, number, self._limits, self._round, self._fast, self._is_guarded)

    def opened(self, channel: Channel, peer: Peer) -> None:
        if self._is_stopping:
            # Accepted by the loop before the listening socket was closed: the client tries again.
            channel.abort()
            return
        if not self._has_room():
            _log.warning("too many connections: one is refused", extra={"peer": str(peer)})
            channel.abort()
            return
        self._channels[channel.number] = channel
        self._carry_out(self._service.on_open(channel.number, peer, self.now()))
        self._stir()

    def now(self) -> Now:
        return self._clock.now()

    def _begin_round(self) -> Now:
        """The first read of a turn: the loop comes to `_end_round` before it reads again."""
        asyncio.get_running_loop().call_soon(self._end_round)
        return self.now()

    def _end_round(self) -> None:
        self._round.end()
        if self._fast is not None:
            took_ms = self._clock.monotonic_ms() - self._round.monotonic_ms
            self._carry_out(self._fast.settle(self._round.now, took_ms))
        self._stir()

    def handle(self, channel: ChannelId, command: RemotingCommand) -> bool:
        now = self.now()
        self._carry_out(self._service.on_command(channel, command, now))
        # By when it began, which costs no further look at the clock: one command more is no harm.
        is_over = now.monotonic_ms - self._round.monotonic_ms >= TURN_MS_MAX
        if is_over and self._loop is not None and channel in self._channels:
            self._loop.call_soon(self._channels[channel].go_on)
        return is_over

    def closed(self, channel: Channel) -> None:
        if self._channels.pop(channel.number, None) is not None:
            self._carry_out(self._service.on_closed(channel.number, self.now()))
            self._stir()

    # Effects.

    def _answered(self, ticket: object, answer: RemotingCommand | None) -> None:
        self._carry_out(self._service.on_answer(ticket, answer, self.now()))
        self._stir()

    def _asked_at(self, address: str, command: RemotingCommand) -> None:
        if self._asked is not None:
            self._carry_out(self._asked.on_asked(address, command, self.now()))
            self._stir()

    def _carry_out(self, effects: Effects) -> None:
        for effect in effects:
            match effect:
                case Reply(number, command, parts):
                    channel = self._channels.get(number)
                    if channel is not None:
                        channel.write(_frame_of(command, parts))
                case Write(number, frames):
                    channel = self._channels.get(number)
                    if channel is not None:
                        channel.write([frames])
                case CallWrite() | AnswerCall() | EndCall() | FlushCalls():
                    if self._calls is not None:
                        self._calls.carry_out(effect)
                case LinkWrite() | ReadLink() | OpenLink() | CloseLink():
                    if self._links is not None:
                        self._links.carry_out(effect)
                case Dial():
                    self._dialer.dial(effect)
                case AnswerAsked(address, command):
                    self._dialer.answer(address, command)
                case Rebuild():
                    self._rebuild(effect)
                case Welcome(number):
                    channel = self._channels.get(number)
                    if channel is not None:
                        channel.welcome()
                case CloseChannel(number, reason):
                    channel = self._channels.get(number)
                    if channel is not None:
                        _log.info("closing a connection: %s", reason, extra={"channel": number})
                        channel.close()


def _frame_of(command: RemotingCommand, parts: Sequence[memoryview]) -> list[bytes | memoryview]:
    """A command as it is written. What cannot be written is an answer that says so: whoever asked
    hears of it, and nobody else suffers."""
    try:
        return encode(command, parts)
    except LocalProtocolError as error:
        remark = f"the answer cannot be sent: {error}"[:300]
        _log.warning("a command cannot be written: %s", remark, extra={"code": command.code})
    if not command.is_response:
        return []  # nobody answers what was never asked: whoever waits for it waits in vain
    refusal = RemotingCommand(
        ResponseCode.SYSTEM_ERROR, flag=command.flag, opaque=command.opaque, remark=remark
    )
    refusal.serialize_type = command.serialize_type
    return encode(refusal)
