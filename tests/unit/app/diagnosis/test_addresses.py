from aerobee.app.diagnosis.addresses import (
    AddressFacts,
    NameServerFacts,
    address_findings,
    missing_somewhere,
)
from aerobee.app.diagnosis.finding import BAD, OK, WARN

SERVER = NameServerFacts("ns:9876")


def test_an_address_that_cannot_be_reached_is_bad_and_says_who_gave_it() -> None:
    broker = AddressFacts("broker-a", 0, "172.17.0.2:10911", "ns:9876", "Connection refused")
    server, found = address_findings([SERVER], [broker])
    assert (server.level, found.level) == (OK, BAD)
    assert "172.17.0.2:10911" in found.subject
    assert "ns:9876" in found.seen
    assert "Connection refused" in found.seen
    assert "brokerIP1" in found.change


def test_a_loopback_address_is_bad_for_whoever_is_elsewhere() -> None:
    near = AddressFacts("broker-a", 0, "127.0.0.1:10911", "127.0.0.1:9876", "", True, True)
    far = AddressFacts("broker-a", 0, "127.0.0.1:10911", "10.0.0.5:9876", "", True, False)
    assert address_findings([SERVER], [near])[-1].level == OK
    assert address_findings([SERVER], [far])[-1].level == BAD


def test_a_slave_is_named_as_one() -> None:
    slave = AddressFacts("broker-a", 1, "10.0.0.6:10911", "ns:9876")
    assert address_findings([SERVER], [slave])[-1].subject == "broker-a, slave 1 at 10.0.0.6:10911"


def test_a_name_server_that_somebody_named_must_answer() -> None:
    (chosen,) = address_findings([NameServerFacts("ns:9876", "no connection")], [])
    assert chosen.level == BAD
    (tried,) = address_findings([NameServerFacts("ns:9876", "no connection", False)], [])
    assert tried.level == OK


def test_a_cluster_without_brokers_is_bad() -> None:
    assert [one.level for one in address_findings([SERVER], [])] == [OK, BAD]
    assert address_findings([], []) == []


def test_name_servers_that_know_different_brokers_are_told() -> None:
    brokers = [
        AddressFacts("broker-a", 0, "10.0.0.1:10911", "x:9876"),
        AddressFacts("broker-a", 0, "10.0.0.1:10911", "y:9876"),
        AddressFacts("broker-b", 0, "10.0.0.2:10911", "x:9876"),
    ]
    (found,) = missing_somewhere(brokers, ["x:9876", "y:9876"])
    assert found.level == WARN
    assert found.subject == "broker-b at 10.0.0.2:10911"
    assert "y:9876" in found.seen
    assert missing_somewhere(brokers, ["x:9876"]) == []
