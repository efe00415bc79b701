"""RaftLinks: the connections between the nodes of a group, one for each direction.

    this node ── dials, Hello, messages ──▶ peer        peer ── dials, Hello, messages ──▶ this node
              ◀────────── Hello ────────────                  ◀────────── Hello ──────────

A node writes only to links that it has dialed, and only after the peer has said who it is; it reads
messages only from links that a peer has dialed. A message to a peer without a link is lost.

L1. The first frame of a link is a Hello of the same group, in both directions; else it is closed.
    Who has dialed says it first: a stranger learns nothing of the group.
L2. A peer that was written to and says nothing for a while is dialed anew: a link to a machine that
    vanished would hold messages for minutes.
L3. One link for each direction: the newer one counts.
L4. The process of a peer has ended if its links are closed and nobody listens at its address: a
    member listens as long as its process lives.
"""

import logging
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from aerobee.errors import RemoteProtocolError
from aerobee.ports.clock import Now
from aerobee.ports.service import REFUSED, CloseLink, Effects, LinkId, LinkWrite, OpenLink, Peer
from aerobee.raft.frames import Hello, RaftFrameReader, encode_frame
from aerobee.raft.messages import Message, Records

_log = logging.getLogger(__name__)

DIAL_MS = 100
"""Between two tries to reach a peer."""
HELLO_MS_MAX = 3_000

Slices: TypeAlias = Callable[[int, int], list[memoryview]]
"""Returns the bytes of a range of the log."""
Received: TypeAlias = Callable[[int, Message, bytes, Now], None]
"""Is given a message of a node, and the records of Records."""
EndedNode: TypeAlias = Callable[[int, Now], None]
"""Is told that the process of a node has ended (L4)."""


class _Way:
    """The way to one peer."""

    __slots__ = ("address", "dialed_ms", "is_dialing", "link", "problem", "unanswered_ms")

    def __init__(self, address: str) -> None:
        self.address = address
        self.link: LinkId | None = None
        self.is_dialing = False
        self.dialed_ms = -DIAL_MS
        self.problem = ""
        # When it was written to first without having said anything since; None: it has.
        self.unanswered_ms: int | None = None


class _Line:
    """One open link, with what has come of its stream."""

    __slots__ = ("is_dialed", "node", "opened_ms", "reader")

    def __init__(self, is_dialed: bool, opened_ms: int) -> None:
        self.is_dialed = is_dialed
        self.opened_ms = opened_ms
        self.reader = RaftFrameReader()
        self.node: int | None = None


class LinkRules(NamedTuple):
    hello: Hello
    """What this node says of itself."""
    silence_ms_max: int
    """See L2."""


class RaftLinks:
    def __init__(
        self,
        rules: LinkRules,
        slices: Slices,
        received: Received,
        ended: EndedNode,
        outbox: Effects,
    ) -> None:
        self._rules = rules
        self._slices = slices
        self._received = received
        self._ended = ended
        self._outbox = outbox
        self._ways: dict[int, _Way] = {}
        self._lines: dict[LinkId, _Line] = {}
        self.brokers: dict[int, str] = {}
        """Where the broker of a node answers clients, as it has said itself."""

    def set_peers(self, addresses: Mapping[int, str]) -> None:
        """The other nodes are these, at these Raft addresses."""
        for node in [one for one in self._ways if addresses.get(one) != self._ways[one].address]:
            way = self._ways.pop(node)
            if way.link is not None:
                self._close(way.link, "it is no member at this address any more")
        for node, address in addresses.items():
            if node not in self._ways:
                self._ways[node] = _Way(address)

    def is_linked(self, node: int) -> bool:
        """Whether messages reach this node."""
        way = self._ways.get(node)
        return way is not None and way.link is not None

    def problem(self, node: int) -> str:
        """Why messages do not reach this node; empty: they do, or nobody knows yet."""
        way = self._ways.get(node)
        return "" if way is None or way.link is not None else way.problem

    # Writing.

    def send(self, to: int, message: Message, now_ms: int) -> None:
        way = self._ways.get(to)
        if way is None or way.link is None:
            return
        if way.unanswered_ms is None:
            way.unanswered_ms = now_ms
        buffers: list[bytes | memoryview] = [encode_frame(message)]
        if isinstance(message, Records) and message.end > message.start:
            buffers += self._slices(message.start, message.end)
        self._outbox.append(LinkWrite(way.link, buffers))

    def on_tick(self, now_ms: int) -> None:
        """Dial those that are not linked, and those that are silent."""
        for way in self._ways.values():
            silent_ms = 0 if way.unanswered_ms is None else now_ms - way.unanswered_ms
            if way.link is not None and silent_ms > self._rules.silence_ms_max:
                self._close(way.link, "nothing comes from this member")
            if now_ms - way.dialed_ms > 2 * HELLO_MS_MAX:
                way.is_dialing = False  # another node has answered there
            if way.link is None and not way.is_dialing and now_ms - way.dialed_ms >= DIAL_MS:
                way.is_dialing = True
                way.dialed_ms = now_ms
                self._outbox.append(OpenLink(way.address))
        for link, line in list(self._lines.items()):
            if line.node is None and now_ms - line.opened_ms > HELLO_MS_MAX:
                self._close(link, "it has not said who it is")

    def rest_ms(self, now_ms: int) -> int:
        """The time until somebody is dialed."""
        ways = self._ways.values()
        dues = [one.dialed_ms + DIAL_MS for one in ways if one.link is None and not one.is_dialing]
        return max(0, min(dues) - now_ms) if dues else HELLO_MS_MAX

    # Events.

    def on_link_open(self, link: LinkId, peer: Peer, is_dialed: bool, now_ms: int) -> None:
        self._lines[link] = _Line(is_dialed, now_ms)
        if is_dialed:
            self._say_hello(link)

    def _say_hello(self, link: LinkId) -> None:
        self._outbox.append(LinkWrite(link, [encode_frame(self._rules.hello)]))

    def on_link_failed(self, address: str, reason: str, now: Now) -> None:
        for node, way in self._ways.items():
            if way.address == address:
                way.is_dialing = False
                way.dialed_ms = now.monotonic_ms
                way.problem = reason
                if reason == REFUSED and not self._has_line(node):
                    self._ended(node, now)

    def _has_line(self, node: int) -> bool:
        return any(line.node == node for line in self._lines.values())

    def on_link_closed(self, link: LinkId) -> None:
        self._drop(link)

    def on_link_bytes(self, link: LinkId, data: bytes | memoryview, now: Now) -> None:
        line = self._lines.get(link)
        if line is None:
            return
        line.reader.receive(data)
        try:
            while link in self._lines and line.reader.advance():
                self._on_message(link, line, now)
        except RemoteProtocolError as error:
            _log.warning("a link of the group is closed: %s", error.message)
            if line.is_dialed:
                for way in self._ways.values():
                    if way.is_dialing:  # which of them it was is not known
                        way.problem = error.message
            self._close(link, error.message)

    def _on_message(self, link: LinkId, line: _Line, now: Now) -> None:
        message = line.reader.message
        if isinstance(message, Hello):
            self._greet(link, line, message)
        elif line.node is None or line.is_dialed:
            raise RemoteProtocolError("a message of a member that has not said who it is")
        else:
            way = self._ways.get(line.node)
            if way is not None:
                way.unanswered_ms = None
            self._received(line.node, message, line.reader.body, now)

    def _greet(self, link: LinkId, line: _Line, hello: Hello) -> None:
        own = self._rules.hello
        if not line.is_dialed and line.node is None:
            self._say_hello(link)  # also to one of another group: it can tell what is wrong
        if hello.group != own.group or hello.node == own.node or line.node is not None:
            raise RemoteProtocolError(
                f"node {hello.node} of the group {hello.group!r} speaks to node {own.node} of"
                f" {own.group!r}"
            )
        line.node = hello.node
        self.brokers[hello.node] = hello.address
        if not line.is_dialed:
            return
        way = self._ways.get(hello.node)
        if way is None:
            raise RemoteProtocolError(f"node {hello.node} is no member of the group")
        way.is_dialing = False
        if way.link is not None:
            self._close(way.link, "there is a newer link")
        way.link = link
        way.unanswered_ms = None

    def _close(self, link: LinkId, reason: str) -> None:
        self._outbox.append(CloseLink(link, reason))
        self._drop(link)

    def _drop(self, link: LinkId) -> None:
        line = self._lines.pop(link, None)
        if line is None or not line.is_dialed:
            return
        for node, way in self._ways.items():
            if way.link == link:
                way.link = None
                way.unanswered_ms = None
            elif line.node in (None, node):
                # Which address it was is not known: all that wait for an answer are tried again.
                way.is_dialing = False
