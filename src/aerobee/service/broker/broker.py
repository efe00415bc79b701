"""Broker dispatches: sends, pulls and pops to the fast paths, other requests to their handlers.

After each read it makes stored messages visible and runs the requests that wait for them. Work that
rooms do on ticks, when a connection closes or at the end is registered in `Duties`; the broker
knows nothing else of it.
"""

import logging
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from aerobee.errors import DiskFailed
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, CloseChannel, Effects, LinkId, Peer
from aerobee.ports.watch import AskingWatch
from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer
from aerobee.service.access.own_requests import sign_dials
from aerobee.service.broker.clients.peers import Peers
from aerobee.service.broker.fast_path import NONE, SOME, FastPath
from aerobee.service.broker.pull.pull_assembly import PullAssembly
from aerobee.service.broker.request_table import Reception, RequestTable
from aerobee.service.broker.send.send_path import SendPath
from aerobee.service.proxy.rpc_door import RpcDoor
from aerobee.service.request import Heard, Request, answer_with

_log = logging.getLogger(__name__)


class LinkEvents(Protocol):
    """Events of HA links (`ports.replica_link`); effects go to the broker's outbox."""

    def on_link_open(
        self, link: LinkId, peer: Peer, is_dialed: bool, now: Now, own: str = ""
    ) -> None: ...

    def on_link_failed(self, address: str, reason: str, now: Now) -> None: ...

    def on_link_bytes(self, link: LinkId, data: bytes | memoryview, now: Now) -> None: ...

    def on_link_ready(self, link: LinkId, now: Now) -> None: ...

    def on_link_closed(self, link: LinkId, now: Now) -> None: ...


class Duties(NamedTuple):
    """Callbacks of the rooms for events other than requests."""

    on_tick: Sequence[Callable[[Now], None]]
    on_closed: Sequence[Callable[[ChannelId, Now], None]]
    on_response: Callable[[ChannelId, RemotingCommand], bool]
    """A client's response to a request of the broker; False: there was none."""
    on_answer: Callable[[object, RemotingCommand | None, Now], None]
    """The answer to a `Dial`."""
    on_stop: Sequence[Callable[[Now], None]]
    rest_ms: Sequence[Callable[[Now], int]]
    links: LinkEvents
    """The side of replication that this broker is on."""
    on_round: Sequence[Callable[[Now], None]] = ()
    """A round of reads is over: store what is written once for all of them."""
    heard: Heard | None = None
    """Called for every answer of the general path."""
    on_sent: Callable[[int], None] = lambda monotonic_ms: None
    """Called with the monotonic time when the answers so far go out."""
    on_visible: Sequence[Callable[[Now], None]] = ()
    """Stored messages are visible now."""
    rpc: RpcDoor | None = None
    """Takes calls of gRPC; None: none are answered."""
    may_take: Callable[[Now], bool] | None = None
    """Whether fast paths may serve now; None: always."""


class Broker:
    """A `ports.service.FastService`."""

    def __init__(
        self,
        send_path: SendPath,
        pull_assembly: PullAssembly,
        pop_fast_path: FastPath,
        reception: Reception,
        peers: Peers,
        duties: Duties,
        outbox: Effects,
        watch: AskingWatch,
    ) -> None:
        self._send_path = send_path
        self._pull_assembly = pull_assembly
        self._pop_fast_path = pop_fast_path
        self.reception = reception
        self._fast_gate = reception.fast_gate
        self._inner = reception.inner
        self._limits = reception.limits
        self._peers = peers
        self._duties = duties
        self._may_take = duties.may_take
        self._outbox = outbox
        self._failure: DiskFailed | None = None
        self.rpc = duties.rpc
        """Takes calls of gRPC (`ports.rpc.CalledService`)."""
        if self.rpc is not None:
            self.rpc.lead_to(self._sent)
        self.watch = watch

    @property
    def table(self) -> RequestTable:
        """The request table, by code."""
        return self.reception.table

    @property
    def is_guarded(self) -> bool:
        """Whether peers are asked who they are (`ports.service.GuardedService`)."""
        return not self.reception.gate.is_open

    # Connections and frames.

    def on_open(self, channel: ChannelId, peer: Peer, now: Now) -> Effects:
        self._peers.opened(channel, peer)
        if self._limits.opened(self._peers.by_channel[channel].host):
            return []
        _log.warning("too many connections from one address: one is closed", extra={"peer": peer})
        return [CloseChannel(channel, "too many connections from its address")]

    def take(self, channel: ChannelId, frames: FrameReader, output: ReplyBuffer, now: Now) -> bool:
        if not self._limits.has_rates:
            return self._take(channel, frames, output, now)
        if not self._limits.may_be_fast(channel, now):
            return True
        # The current frame has been seen already; one that is left is not taken.
        count = frames.seen - 1
        size = frames.seen_size() - _current_bytes(frames)
        is_left = self._take(channel, frames, output, now)
        count = frames.seen - is_left - count
        size = frames.seen_size() - (_current_bytes(frames) if is_left else 0) - size
        self._limits.took(channel, count, size, now)
        return is_left

    def _take(self, channel: ChannelId, frames: FrameReader, output: ReplyBuffer, now: Now) -> bool:
        if self._may_take is not None and not self._may_take(now):
            return True
        if self._fast_gate is not None and not self._fast_gate.begin(channel, now):
            return True
        born_host = self._peers.packed[channel]
        while self._send_path.take(channel, born_host, frames, output, now):
            taken = self._pull_assembly.take(channel, frames, output)
            if taken == NONE:
                taken = self._pop_fast_path.take(channel, frames, output, now)
            if taken != SOME:
                return taken == NONE
        return False

    def settle(self, now: Now, took_ms: int = 0) -> Effects:
        for over in self._duties.on_round:
            over(now)
        self._send_path.end_round(now, took_ms)
        self._pull_assembly.end_round(took_ms)
        self._show(now)
        self._duties.on_sent(now.monotonic_ms + took_ms)
        return self._sent()

    def _show(self, now: Now) -> None:
        """Make stored messages visible, and run the requests that wait for them."""
        self._pull_assembly.settle()
        for visible in self._duties.on_visible:
            visible(now)

    def on_command(self, channel: ChannelId, command: RemotingCommand, now: Now) -> Effects:
        self._pull_assembly.settle()  # a request sees messages that were sent before it
        if not command.is_response:
            request = Request(channel, command, now, self._outbox, self._duties.heard)
            answer_with(self.reception.serve, request)
        elif not self._duties.on_response(channel, command):
            _log.debug("a response that nobody waits for", extra={"channel": channel})
        return self._sent()

    def on_closed(self, channel: ChannelId, now: Now) -> Effects:
        for closed in self._duties.on_closed:
            closed(channel, now)
        self._limits.closed(self._peers.by_channel[channel].host)
        self._peers.closed(channel)
        self.reception.forget(channel)
        return self._sent()

    def on_answer(self, ticket: object, answer: RemotingCommand | None, now: Now) -> Effects:
        self._duties.on_answer(ticket, answer, now)
        return self._sent()

    # HA links.

    @property
    def links(self) -> "Broker":
        """It takes events of HA links itself (`ports.replica_link.LinkedService`)."""
        return self

    def on_link_open(
        self, link: LinkId, peer: Peer, is_dialed: bool, now: Now, own: str = ""
    ) -> Effects:
        self._duties.links.on_link_open(link, peer, is_dialed, now, own)
        return self._sent()

    def on_link_failed(self, address: str, reason: str, now: Now) -> Effects:
        self._duties.links.on_link_failed(address, reason, now)
        return self._sent()

    def on_link_bytes(self, link: LinkId, data: bytes | memoryview, now: Now) -> Effects:
        """A master hears acknowledgements: answers that waited go out at once. A slave's log grows,
        and it says so at once. Messages are shown when the round is over (`settle`)."""
        self._duties.links.on_link_bytes(link, data, now)
        self._send_path.release(now)
        return self._sent()

    def on_link_ready(self, link: LinkId, now: Now) -> Effects:
        self._duties.links.on_link_ready(link, now)
        return self._sent()

    def on_link_closed(self, link: LinkId, now: Now) -> Effects:
        self._duties.links.on_link_closed(link, now)
        return self._sent()

    # Time.

    def on_tick(self, now: Now) -> Effects:
        """Raises the failure of the disk one tick after it happened: waiting clients have been
        told."""
        if self._failure is not None:
            raise self._failure
        self._failure = self._send_path.step(now)
        for tick in self._duties.on_tick:
            tick(now)
        self._show(now)
        self._duties.on_sent(now.monotonic_ms)
        return self._sent()

    def rest_ms(self, now: Now) -> int:
        rest_ms = min(rest(now) for rest in self._duties.rest_ms)
        if self._failure is not None or self._send_path.is_busy():
            return min(rest_ms, 0)
        return rest_ms

    def stop(self, now: Now) -> Effects:
        for stop in self._duties.on_stop:
            stop(now)
        return self._sent()

    def _sent(self) -> Effects:
        """Take all effects so far. After an event any input of a grant may have changed:
        recheck."""
        self._pull_assembly.recheck()
        self._pop_fast_path.recheck()
        effects, self._outbox[:] = list(self._outbox), []
        if self.rpc is not None and effects:
            effects = self.rpc.translate(effects, self._outbox)
        if self._inner is not None:
            sign_dials(effects, self._inner)
        return effects


def _current_bytes(frames: FrameReader) -> int:
    """The size of the current frame, with its length."""
    return frames.body_end - frames.header_start + 8
