"""HA connections of a service: bytes in → the service's links → bytes out, without frames.

A link is accepted on the HA port, or dialed for an `OpenLink`. Its bytes belong to the round of
reads that brought them (`net/round.py`): what they lead to, such as messages that became visible or
sends that were confirmed, is done when the round is over.

A link that is dialed carries the log of a master: it is read into one large buffer, which every
read uses again, so that a read costs no copy and its effects are spread over many records. Accepted
links carry reports, or records of a Raft leader, and have a smaller buffer.

Back-pressure: the service is told that a link is ready when nearly everything is out, and keeps a
window of its own (`ports/replica_link.py`). After a write that the system took at once it is told
in the next turn of the loop, so that a fast link does not hold up the others. A service that can
take no more bytes says so by a `ReadLink`; then they wait in the system's buffers.
"""

import asyncio
import logging
import socket
from collections.abc import Callable, Sequence
from ssl import SSLContext, SSLError
from typing import cast

from aerobee.net.round import Round
from aerobee.net.tls_faults import HELLO, HELLO_TO_PLAIN, explained_tls
from aerobee.net.tls_opening import connect
from aerobee.ports.clock import Now
from aerobee.ports.replica_link import READY_BYTES, LinkService
from aerobee.ports.service import (
    REFUSED,
    CloseLink,
    Effects,
    LinkId,
    LinkWrite,
    OpenLink,
    Peer,
    ReadLink,
)

_log = logging.getLogger(__name__)

LINKS_MAX = 64
CONNECT_SECONDS_MAX = 3.0
WRITE_HIGH_BYTES = 256 << 10
WRITE_LOW_BYTES = 128 << 10
LOG_READ_BYTES = 1 << 20
REPORT_READ_BYTES = 64 << 10


class ReplicaChannel(asyncio.BufferedProtocol):
    """One connection."""

    def __init__(self, owner: "ReplicaLinks", link: LinkId, is_dialed: bool) -> None:
        self._owner = owner
        self._transport: asyncio.Transport | None = None
        self._read = memoryview(bytearray(LOG_READ_BYTES if is_dialed else REPORT_READ_BYTES))
        self._is_full = False
        # Written since the service was last told that the link is ready.
        self._unready_bytes = 0
        self._ready: asyncio.Handle | None = None
        self.link = link
        self.is_dialed = is_dialed
        self.is_stranger = not is_dialed
        """Whether the service has written nothing to one who opened the link: slaves and members of
        a group are answered once they have proved who they are."""
        self.has_heard = False

    # From the loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=WRITE_HIGH_BYTES, low=WRITE_LOW_BYTES)
        made = transport.get_extra_info("socket")
        if made is not None:
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._owner.opened(self, _end(transport, "peername"), _end(transport, "sockname"))

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._read

    def buffer_updated(self, nbytes: int) -> None:
        self._owner.received(self, self._read[:nbytes])

    def eof_received(self) -> None:
        """The peer says no more: the transport closes."""

    def pause_writing(self) -> None:
        self._is_full = True

    def resume_writing(self) -> None:
        self._is_full = False
        self._tell_ready()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._ready is not None:
            self._ready.cancel()
        self._owner.closed(self)

    # From the links.

    def write(self, buffers: Sequence[bytes | memoryview]) -> None:
        if self._transport is None:
            return
        self.is_stranger = False
        self._unready_bytes += sum(map(len, buffers))
        self._transport.writelines(buffers)
        if self._unready_bytes >= READY_BYTES and not self._is_full and self._ready is None:
            self._ready = asyncio.get_running_loop().call_soon(self._come_ready)

    def _come_ready(self) -> None:
        self._ready = None
        if not self._is_full:  # else when it is not any more
            self._tell_ready()

    def _tell_ready(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._unready_bytes = 0
            self._owner.ready(self)

    def read(self, *, is_on: bool) -> None:
        """Read, or do not until told otherwise."""
        if self._transport is None or self._transport.is_closing():
            return
        if is_on:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()


class ReplicaLinks:
    """All HA connections of one service. `links_max` bounds those that peers open."""

    def __init__(
        self,
        service: LinkService,
        turn: Round,
        now: Callable[[], Now],
        carry_out: Callable[[Effects], None],
        links_max: int = LINKS_MAX,
        tls: Callable[[], SSLContext | None] = lambda: None,
    ) -> None:
        """`tls` says by which context links are opened now; None: they are plain."""
        self._service = service
        self._round = turn
        self._now = now
        self._carry_out = carry_out
        self._links_max = links_max
        self._tls = tls
        self._channels: dict[LinkId, ReplicaChannel] = {}
        self._next_link = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_ending = False

    def accept(self) -> ReplicaChannel:
        """The protocol of a connection that a peer opens."""
        return self._make_channel(is_dialed=False)

    def _make_channel(self, *, is_dialed: bool) -> ReplicaChannel:
        self._next_link += 1
        return ReplicaChannel(self, LinkId(self._next_link), is_dialed)

    # From channels.

    def opened(self, channel: ReplicaChannel, peer: Peer, own: Peer) -> None:
        is_one_too_many = len(self._channels) >= self._links_max and not channel.is_dialed
        if self._is_ending or (is_one_too_many and not self._dismiss_stranger()):
            _log.warning("too many HA connections: one is refused", extra={"peer": str(peer)})
            channel.abort()
            return
        self._channels[channel.link] = channel
        now = self._read_now()
        link, is_dialed = channel.link, channel.is_dialed
        self._carry_out(self._service.on_link_open(link, peer, is_dialed, now, str(own)))

    def _dismiss_stranger(self) -> bool:
        """Give the room of the oldest link to which nothing was said to a new one: a crowd that
        says nothing, or nothing right, must not lock slaves out."""
        for channel in self._channels.values():
            if channel.is_stranger:
                _log.info("closing an HA connection: another takes its place")
                channel.abort()
                self.closed(channel)
                return True
        return False

    def received(self, channel: ReplicaChannel, data: memoryview) -> None:
        if not channel.has_heard and channel.link in self._channels:
            channel.has_heard = True
            if not channel.is_dialed and data[: len(HELLO)] == HELLO:
                _log.info("closing an HA connection: %s", HELLO_TO_PLAIN)
                channel.abort()
                return
        if channel.link in self._channels:
            self._read_now()
            # Not the time of the round: a lease counts from after a message was received.
            self._carry_out(self._service.on_link_bytes(channel.link, data, self._now()))

    def ready(self, channel: ReplicaChannel) -> None:
        if channel.link in self._channels:
            self._carry_out(self._service.on_link_ready(channel.link, self._now()))

    def closed(self, channel: ReplicaChannel) -> None:
        if self._channels.pop(channel.link, None) is not None:
            now = self._now() if self._is_ending else self._read_now()
            self._carry_out(self._service.on_link_closed(channel.link, now))

    def _read_now(self) -> Now:
        """The time of this round of reads, which begins here if it has not yet."""
        if not self._round.is_begun:
            self._round.begin()
        return self._round.now

    # Effects.

    def carry_out(self, effect: OpenLink | LinkWrite | ReadLink | CloseLink) -> None:
        match effect:
            case LinkWrite(link, buffers):
                channel = self._channels.get(link)
                if channel is not None:
                    channel.write(buffers)
            case ReadLink(link, is_on):
                channel = self._channels.get(link)
                if channel is not None:
                    channel.read(is_on=is_on)
            case OpenLink(address):
                task = asyncio.get_running_loop().create_task(self._open(address))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            case CloseLink(link, reason):
                channel = self._channels.get(link)
                if channel is not None:
                    _log.info("closing an HA connection: %s", reason, extra={"link": link})
                    channel.abort()

    async def _open(self, address: str) -> None:
        try:
            async with asyncio.timeout(CONNECT_SECONDS_MAX):
                await connect(lambda: self._make_channel(is_dialed=True), address, self._tls())
        except SSLError as error:
            self._carry_out(
                self._service.on_link_failed(address, explained_tls(error), self._read_now())
            )
        except ConnectionRefusedError:
            self._carry_out(self._service.on_link_failed(address, REFUSED, self._read_now()))
        except (OSError, TimeoutError, ValueError, OverflowError) as error:
            reason = str(error) or f"no answer within {CONNECT_SECONDS_MAX:g} s"
            self._carry_out(self._service.on_link_failed(address, reason, self._read_now()))

    # Ending.

    def count(self) -> int:
        return len(self._channels)

    def stop(self) -> None:
        """Open no more, and close all."""
        self._is_ending = True
        for task in self._tasks:
            task.cancel()
        for channel in list(self._channels.values()):
            channel.abort()


def _end(transport: asyncio.BaseTransport, name: str) -> Peer:
    """An end of a connection."""
    host, port = (transport.get_extra_info(name) or ("", 0))[:2]
    return Peer(host, port)
