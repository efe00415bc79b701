from aerobee.model.route import BrokerData
from aerobee.ports.service import Peer
from aerobee.protocol.grpc.codes import AddressScheme
from aerobee.protocol.grpc.resources import Address, Endpoints
from aerobee.service.proxy.entry_points import OwnEntryPoints, SharedEntryPoints

BROKER = BrokerData("c", "a", {0: "10.0.0.1:10911", 1: "[::2]:10911"})
ASKED = Endpoints(AddressScheme.DOMAIN_NAME, [Address("lb.example", 443)])


def test_a_broker_is_reached_at_its_own_host_and_our_port() -> None:
    own = OwnEntryPoints("a", Peer("outside", 8081))
    assert own.of(BROKER, 0, ASKED) == Endpoints(
        AddressScheme.DOMAIN_NAME, [Address("outside", 8081)]
    )
    assert own.of(BROKER, 1, ASKED) == Endpoints(AddressScheme.IPV6, [Address("::2", 8081)])
    other = OwnEntryPoints("b", Peer("outside", 8081))
    assert other.of(BROKER, 0, None) == Endpoints(AddressScheme.IPV4, [Address("10.0.0.1", 8081)])


def test_a_client_of_a_proxy_comes_back_the_way_that_it_came() -> None:
    shared = SharedEntryPoints(Peer("10.0.0.5", 8081))
    assert shared.of(BROKER, 0, ASKED) == Endpoints(ASKED.scheme, [Address("lb.example", 8081)])
    kept = SharedEntryPoints(Peer("10.0.0.5", 8081), keeps_port=True)
    assert kept.of(BROKER, 1, ASKED) == ASKED


def test_a_client_that_does_not_say_how_it_came_is_given_the_proxys_own_address() -> None:
    shared = SharedEntryPoints(Peer("10.0.0.5", 8081))
    own = Endpoints(AddressScheme.IPV4, [Address("10.0.0.5", 8081)])
    for asked in (None, Endpoints(AddressScheme.IPV4, []), Endpoints(0, ASKED.addresses)):
        assert shared.of(BROKER, 0, asked) == own
