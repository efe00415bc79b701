import pytest

from aerobee.ports.clock import Now
from aerobee.ports.rpc import RpcConnectionId
from aerobee.ports.service import ChannelId, Peer
from aerobee.protocol.grpc.codes import GrpcCode
from aerobee.service.proxy.grpc_clients import (
    CLIENTS_OF_CONNECTION_MAX,
    GRACE_MS,
    GrpcClient,
    GrpcClients,
)
from aerobee.service.proxy.outcomes import CallRefused

PEER = Peer("10.0.0.9", 1)
FIRST, SECOND = RpcConnectionId(1), RpcConnectionId(2)


class Table:
    def __init__(self) -> None:
        self.opened: list[ChannelId] = []
        self.gone: list[str] = []
        self.clients = GrpcClients(
            lambda channel, peer: self.opened.append(channel),
            lambda client, now: self.gone.append(client.id),
        )

    def meet(self, name: str, connection: RpcConnectionId = FIRST) -> GrpcClient:
        return self.clients.meet(name, connection, PEER)


def at(ms: int) -> Now:
    return Now(ms, ms)


def test_a_client_is_one_channel_on_all_its_connections() -> None:
    table = Table()
    client = table.meet("c")
    assert table.meet("c", SECOND) is client
    assert table.meet("c") is client
    assert table.opened == [client.channel]
    assert table.clients.of_channel(client.channel) is client
    assert table.meet("d").channel != client.channel


@pytest.mark.parametrize("name", ["", "  ", "x" * 256])
def test_a_client_needs_an_id(name: str) -> None:
    with pytest.raises(CallRefused) as refusal:
        Table().meet(name)
    assert refusal.value.status.code == GrpcCode.CLIENT_ID_REQUIRED


def test_a_client_without_a_connection_is_gone_after_a_grace_unless_it_comes_back() -> None:
    table = Table()
    table.meet("c")
    table.meet("c", SECOND)
    table.meet("stays")
    table.meet("stays", SECOND)
    table.clients.disconnected(FIRST, at(0))
    table.clients.drop_gone(at(GRACE_MS))
    assert table.gone == []
    table.clients.disconnected(SECOND, at(1_000))
    assert table.meet("stays", RpcConnectionId(3)).gone_ms is None
    table.clients.drop_gone(at(1_000 + GRACE_MS - 1))
    assert table.gone == []
    table.clients.drop_gone(at(1_000 + GRACE_MS))
    assert table.gone == ["c"]
    assert table.clients.find("c") is None
    assert len(table.clients) == 1


def test_a_client_that_is_dropped_is_another_when_it_comes_again() -> None:
    table = Table()
    first = table.meet("c")
    table.clients.drop(first, at(0))
    table.clients.drop(first, at(0))
    assert table.gone == ["c"]
    assert table.meet("c").channel != first.channel
    table.clients.disconnected(FIRST, at(0))


def test_one_connection_has_a_limited_number_of_clients() -> None:
    table = Table()
    for number in range(CLIENTS_OF_CONNECTION_MAX):
        table.meet(f"c{number}")
    with pytest.raises(CallRefused) as refusal:
        table.meet("more")
    assert refusal.value.status.code == GrpcCode.TOO_MANY_REQUESTS
    assert table.meet("c0").id == "c0"
