from aerobee.ports.service import ChannelId, Peer
from aerobee.service.broker.clients.peers import Peers

CHANNEL = ChannelId(3)


def test_a_peer_is_known_while_its_connection_is_open() -> None:
    peers = Peers()
    peers.opened(CHANNEL, Peer("10.0.0.7", 4660))
    assert peers.by_channel[CHANNEL] == Peer("10.0.0.7", 4660)
    assert peers.packed[CHANNEL] == bytes.fromhex("0a00000700001234")
    peers.closed(CHANNEL)
    assert not peers.packed
    assert not peers.by_channel
    peers.closed(CHANNEL)


def test_an_address_of_a_zone_has_no_zone_in_a_record() -> None:
    peers = Peers()
    peers.opened(CHANNEL, Peer("fe80::1%eth0", 1))
    assert len(peers.packed[CHANNEL]) == 20
    assert str(peers.by_channel[CHANNEL]) == "[fe80::1]:1"


def test_a_peer_without_an_address_is_nowhere() -> None:
    peers = Peers()
    peers.opened(CHANNEL, Peer("", 0))
    assert peers.packed[CHANNEL] == bytes(8)
