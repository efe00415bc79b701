"""Limits of a name server: users and addresses have them, brokers have none."""

import pytest

from aerobee.model.access import Rule
from aerobee.ports.service import ChannelId, CloseChannel, Peer
from aerobee.protocol.bodies.access import UserChange
from aerobee.service.access.access_table import AccessTable
from aerobee.service.access.table_text import encode_table, transfer_key
from aerobee.service.nameserver.config import NameServerConfig
from tests.access_kit import ACCESS, INNER, ask_as, secret_of, signed
from tests.nameserver_kit import BROKER, CLIENT, NameServerKit, place

NEAR, OTHER, FAR = ChannelId(71), ChannelId(72), ChannelId(73)
OK, FLOW, DENIED, MISSING = 0, 215, 16, 17
LIST = 206


def limited(**limits: int) -> NameServerKit:
    kit = NameServerKit(NameServerConfig(**limits))  # type: ignore[arg-type]
    for channel, host in ((NEAR, "10.0.0.7"), (OTHER, "10.0.0.7"), (FAR, "10.0.0.8")):
        kit.service.on_open(channel, Peer(host, 1), kit.clock.now())
    return kit


def codes(kit: NameServerKit, count: int, channel: ChannelId = NEAR) -> list[int]:
    return [kit.ask(LIST, channel=channel).code for _ in range(count)]


def test_an_address_asks_only_so_often_in_a_second() -> None:
    kit = limited(address_requests_max=5)
    assert codes(kit, 7) == [OK] * 5 + [FLOW] * 2
    assert codes(kit, 1, OTHER) == [FLOW]
    assert codes(kit, 1, FAR) == [OK]
    answer = kit.ask(LIST, channel=NEAR)
    assert "try again in" in answer.remark
    kit.pass_time(int(answer.ext_fields["retryAfterMs"]))
    assert codes(kit, 1) == [OK]


def test_an_address_sends_only_so_many_bytes_in_a_second() -> None:
    kit = limited(address_bytes_max=1_000)
    assert kit.ask(LIST, body=bytes(3_000), channel=NEAR).code == OK
    assert codes(kit, 1) == [FLOW]
    kit.pass_time(3_000)
    assert codes(kit, 1) == [OK]


def test_one_connection_more_of_an_address_is_closed_and_one_that_ends_makes_room() -> None:
    kit = limited(address_connections_max=2)
    third = ChannelId(74)
    opened = kit.service.on_open(third, Peer("10.0.0.7%eth0", 2), kit.clock.now())
    assert [type(one) for one in opened] == [CloseChannel]
    kit.service.on_closed(third, kit.clock.now())
    kit.service.on_closed(OTHER, kit.clock.now())
    assert kit.service.on_open(third, Peer("10.0.0.7", 3), kit.clock.now()) == []


def test_what_brokers_tell_is_never_beyond_a_limit() -> None:
    kit = limited(address_requests_max=1)
    kit.service.on_open(BROKER, Peer("10.0.0.7", 9), kit.clock.now())
    assert codes(kit, 2) == [OK, FLOW]
    for _ in range(5):
        assert kit.register().code == OK
        assert kit.ask(904, place("broker-a", 0, "10.0.0.1:10911"), channel=BROKER).code != FLOW


def test_limits_change_while_it_runs() -> None:
    kit = limited()
    assert codes(kit, 50) == [OK] * 50
    assert kit.ask(318, body=b"addressRequestsPerSecond=2\n", channel=FAR).code == OK
    assert codes(kit, 3) == [OK, OK, FLOW]
    (metric,) = [
        one
        for one in kit.service.watch.metrics(kit.clock.now())
        if one.name == "aerobee_limited_total"
    ]
    assert [one.value for one in metric.samples] == [1]


def guarded(**limits: int) -> NameServerKit:
    """A name server that knows alice, who may ask for the route of T."""
    kit = NameServerKit(NameServerConfig(**limits), access=ACCESS)  # type: ignore[arg-type]
    for number, channel in enumerate((CLIENT, FAR)):
        kit.service.on_open(channel, Peer(f"10.0.0.{number}", 1), kit.clock.now())
    made = AccessTable().with_user(UserChange("alice", secret_of("alice")), None)
    made = made.with_rules("alice", [Rule("Topic:T", ("Sub",))])
    fields = {"clusterName": "C", "brokerName": "broker-a", "digest": "1"}
    assert ask_as(kit, "inner", 28010, fields, encode_table(made, transfer_key(INNER))).code == OK
    return kit


def ask_route(kit: NameServerKit, name: str | None, channel: ChannelId, topic: str = "T") -> int:
    return kit.ask(105, signed(name, {"topic": topic}), channel=channel).code


@pytest.mark.parametrize("name", [None, "mallory", "alice"])
def test_requests_that_are_refused_count_for_their_address(name: str | None) -> None:
    kit = guarded(address_requests_max=5)
    found = [ask_route(kit, name, FAR, "Secret") for _ in range(8)]
    assert found == [DENIED] * 5 + [FLOW] * 3
    assert ask_route(kit, "alice", FAR) == FLOW
    assert ask_route(kit, "alice", CLIENT) == MISSING


def test_a_user_asks_only_so_often_in_a_second_from_wherever() -> None:
    kit = guarded(user_requests_max=3)
    found = [ask_route(kit, "alice", channel) for channel in (CLIENT, FAR, CLIENT, FAR)]
    assert found == [MISSING] * 3 + [FLOW]


def test_who_claims_to_be_a_user_takes_nothing_from_it() -> None:
    kit = guarded(user_requests_max=3)
    for _ in range(5):
        wrong = {**signed("alice", {"topic": "T"}), "Signature": "x"}
        assert kit.ask(105, wrong, channel=FAR).code == DENIED
    assert ask_route(kit, "alice", CLIENT) == MISSING


def test_a_user_signs_on_so_many_connections_only() -> None:
    kit = guarded(user_connections_max=1)
    assert ask_route(kit, "alice", CLIENT) == MISSING
    assert ask_route(kit, "alice", FAR) == FLOW
    kit.service.on_closed(CLIENT, kit.clock.now())
    assert ask_route(kit, "alice", FAR) == MISSING
