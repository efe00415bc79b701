"""Who is at the other end of each connection: what a record says of where its message came from."""

from collections.abc import Mapping

from aerobee.model.message import Host
from aerobee.model.message_id import pack_address
from aerobee.ports.service import ChannelId, Peer

_NOWHERE = Peer("0.0.0.0", 0)


class Peers:
    """P1. `hosts` and `packed` have the same channels: those that are open."""

    def __init__(self) -> None:
        self._hosts: dict[ChannelId, Host] = {}
        self.packed: dict[ChannelId, bytes] = {}
        """Address and port as a record holds them."""

    @property
    def hosts(self) -> Mapping[ChannelId, Host]:
        return self._hosts

    def opened(self, channel: ChannelId, peer: Peer) -> None:
        host, port = peer if peer.host else _NOWHERE
        host = host.partition("%")[0]
        self._hosts[channel] = Host(host, port)
        self.packed[channel] = pack_address(host) + port.to_bytes(4, "big")

    def closed(self, channel: ChannelId) -> None:
        self._hosts.pop(channel, None)
        self.packed.pop(channel, None)

    def text(self, channel: ChannelId) -> str:
        host = self._hosts.get(channel)
        return str(Peer(host.address, host.port)) if host is not None else ""
