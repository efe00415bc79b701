"""LinkService: the interface between the net layer and the replication of a broker.

An HA link is a plain TCP connection that carries RocketMQ's replication stream
(`replication/transfer.py`), not remoting frames. The net layer accepts links on the HA port, opens
them for an `OpenLink`, and hands their bytes on as they come; the service answers every event with
effects, as `ports.service.Service` does.

A link takes any number of bytes, and holds what the peer has not read in memory. So the writer
keeps a window: it counts what it has written since `on_link_ready` was last called and stops at a
bound of its own, which is at least `READY_BYTES`.
"""

from typing import Protocol

from aerobee.ports.clock import Now
from aerobee.ports.service import CloseLink as CloseLink
from aerobee.ports.service import Effects, Peer, Service
from aerobee.ports.service import LinkId as LinkId
from aerobee.ports.service import LinkWrite as LinkWrite
from aerobee.ports.service import OpenLink as OpenLink
from aerobee.ports.service import ReadLink as ReadLink

READY_BYTES = 256 << 10
"""`on_link_ready` comes after so many bytes, once they are (nearly) out: not for every write."""


class LinkService(Protocol):
    """Every link that was opened is closed once; between the two it has its other events."""

    def on_link_open(
        self, link: LinkId, peer: Peer, is_dialed: bool, now: Now, own: str = ""
    ) -> Effects:
        """A peer has connected to the HA port, or (`is_dialed`) an `OpenLink` has succeeded. `own`
        is the address of this end; empty: it is not known."""

    def on_link_failed(self, address: str, reason: str, now: Now) -> Effects:
        """An `OpenLink` has failed."""

    def on_link_bytes(self, link: LinkId, data: bytes | memoryview, now: Now) -> Effects:
        """The next bytes of the stream, in chunks of any size. They are another's after the call:
        copy what is kept."""

    def on_link_ready(self, link: LinkId, now: Now) -> Effects:
        """Nearly all that was written is out: more may be written. Called after `READY_BYTES` or
        more were written since the last call, and whenever the link was full."""

    def on_link_closed(self, link: LinkId, now: Now) -> Effects:
        """The link is gone, by whichever side. Nothing more comes of it."""


class LinkedService(Service, Protocol):
    """A service with HA links."""

    @property
    def links(self) -> LinkService: ...
