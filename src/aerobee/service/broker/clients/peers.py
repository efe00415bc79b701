"""Peers has the remote address of each open connection: the born host of its messages.

An address is forgotten when the connection closes.
"""

from collections.abc import Mapping

from aerobee.model.message_id import pack_address
from aerobee.ports.service import ChannelId, Peer

_NOWHERE = Peer("0.0.0.0", 0)


class Peers:
    """P1. `by_channel` and `packed` have the same channels: those that are open."""

    def __init__(self) -> None:
        self._peers: dict[ChannelId, Peer] = {}
        self.packed: dict[ChannelId, bytes] = {}
        """Address and port in the format of a record."""

    @property
    def by_channel(self) -> Mapping[ChannelId, Peer]:
        return self._peers

    def opened(self, channel: ChannelId, peer: Peer) -> None:
        host, port = peer if peer.host else _NOWHERE
        host = host.partition("%")[0]
        self._peers[channel] = Peer(host, port)
        self.packed[channel] = pack_address(host) + port.to_bytes(4, "big")

    def closed(self, channel: ChannelId) -> None:
        self._peers.pop(channel, None)
        self.packed.pop(channel, None)
