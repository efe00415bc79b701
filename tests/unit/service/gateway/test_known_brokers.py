from aerobee.model.route import BrokerData, TopicRoute
from aerobee.service.gateway.known_brokers import KnownBrokers, serving_address


def test_a_broker_is_found_by_name_and_by_address_and_moves() -> None:
    brokers = KnownBrokers()
    for address in ("10.0.0.1:1", "10.0.0.2:1"):
        brokers.note(TopicRoute((), (BrokerData("c", "a", {0: address}),)))
    assert brokers.address_of("a") == "10.0.0.2:1"
    assert (brokers.name_at("10.0.0.2:1"), brokers.name_at("10.0.0.1:1")) == ("a", "")
    assert list(brokers.addresses()) == ["10.0.0.2:1"]
    brokers.note(TopicRoute((), (BrokerData("c", "a", {1: "10.0.0.3:1"}),)))
    assert brokers.address_of("a") == "10.0.0.2:1"


def test_a_slave_serves_only_where_it_acts_for_its_master() -> None:
    addresses = {2: "c:1", 1: "b:1"}
    assert serving_address(BrokerData("c", "a", addresses)) is None
    assert serving_address(BrokerData("c", "a", addresses, is_acting_enabled=True)) == "b:1"
    assert serving_address(BrokerData("c", "a", {**addresses, 0: "a:1"})) == "a:1"
