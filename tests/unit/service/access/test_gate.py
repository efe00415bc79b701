"""Unit tests of the gate, as clients of a broker see it."""

import sys
from collections.abc import Callable
from dataclasses import replace
from types import FrameType

import pytest

from aerobee.model.access import Rule, User
from aerobee.model.topic import TopicConfig
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, Peer
from aerobee.protocol.bodies.access import UserChange, encode_user
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.remoting.signature import sign
from aerobee.service.access.access_store import seeded
from aerobee.service.access.access_table import AccessTable
from aerobee.service.access.accounts import Accounts
from aerobee.service.access.gate import Gate, Realm
from aerobee.service.request import Request
from tests.access_kit import ACCESS, ask_as, guarded_broker, make_user, set_rules, signed
from tests.broker_kit import CLIENT, OTHER, BrokerKit, pull_fields

ORDERS = TopicConfig("Orders", 4, 4)
SEND = {"a": "p", "b": "Orders", "e": "0", "f": "0", "g": "1", "h": "0", "i": "UNIQ_KEY\1id"}
PUB = Rule("Topic:Orders", ("Pub",))


def test_without_authentication_signatures_are_not_looked_at() -> None:
    kit = BrokerKit(ORDERS)
    assert kit.ask(310, SEND, b"x").code == 0
    wrong = {**signed("whoever", SEND, b"x"), "Signature": "wrong"}
    assert kit.ask(310, wrong, b"x").code == 0


def test_nobody_sends_without_a_name() -> None:
    kit = guarded_broker(ORDERS)
    answer = kit.ask(310, SEND, b"x")
    assert (answer.code, answer.remark) == (16, "username cannot be null.")
    assert kit.bodies() == []


def test_an_unknown_user_and_a_wrong_signature_are_answered_alike() -> None:
    kit = guarded_broker(ORDERS)
    make_user(kit, "alice", PUB)
    wrong = {**signed("alice", SEND, b"x"), "Signature": "wrong"}
    unsigned = signed("alice", SEND, b"x")
    del unsigned["Signature"]
    for fields in (wrong, unsigned, signed("bob", SEND, b"x"), signed("alice", SEND, b"y")):
        answer = kit.ask(310, fields, b"x")
        assert (answer.code, answer.remark) == (16, "check signature failed.")
    assert kit.bodies() == []


def test_wrong_signatures_from_one_address_slow_down_log_ins() -> None:
    kit = guarded_broker(ORDERS)
    make_user(kit, "alice", PUB)
    assert ask_as(kit, "alice", 310, SEND, b"x").code == 0
    kit.open(ChannelId(3), Peer("10.0.0.9", 1))
    kit.open(ChannelId(4), Peer("10.0.0.8", 1))
    wrong = {**signed("alice", SEND, b"x"), "Signature": "wrong"}
    codes = [kit.ask(310, wrong, b"x", ChannelId(3)).code for _ in range(12)]
    assert codes == [16] * 10 + [215] * 2
    # A right signature is not looked at either, unless its user has signed here before.
    right = signed("alice", SEND, b"x")
    answer = kit.ask(310, right, b"x", ChannelId(3))
    assert (answer.code, answer.ext_fields) == (215, {"retryAfterMs": "101"})
    assert "try again in 101 ms" in answer.remark
    assert kit.ask(310, right, b"x", CLIENT).code == 0
    assert kit.ask(310, right, b"x", ChannelId(4)).code == 0
    kit.tick(101)
    assert kit.ask(310, right, b"x", ChannelId(3)).code == 0


def test_a_signed_send_is_stored() -> None:
    kit = guarded_broker(ORDERS)
    make_user(kit, "alice", PUB)
    assert ask_as(kit, "alice", 310, SEND, b"x").code == 0
    assert kit.bodies() == [b"x"]


def test_refusals_are_told_in_rocketmqs_words() -> None:
    kit = guarded_broker(ORDERS)
    make_user(kit, "alice")
    who = "User:alice has no permission to access Topic:Orders from 10.0.0.9,"
    assert ask_as(kit, "alice", 310, SEND).remark == f"{who} no matched policies."
    set_rules(kit, "alice", replace(PUB, decision="Deny"))
    assert ask_as(kit, "alice", 310, SEND).remark == f"{who} the decision is deny."


def test_a_disabled_user_is_told_so_if_it_is_the_user() -> None:
    kit = guarded_broker(ORDERS)
    make_user(kit, "alice", PUB)
    body = encode_user(User("alice", is_enabled=False))
    assert ask_as(kit, "root", 3002, {"username": "alice"}, body).code == 0
    assert ask_as(kit, "alice", 310, SEND).remark == "User:alice is disabled."
    wrong = {**signed("alice", SEND), "Signature": "wrong"}
    assert kit.ask(310, wrong).remark == "check signature failed."


def test_a_change_holds_for_open_connections_at_once() -> None:
    for is_stateful in (False, True):
        access = replace(ACCESS, trusts_connections=is_stateful)
        kit = guarded_broker(ORDERS, access=access)
        make_user(kit, "alice", PUB)
        assert ask_as(kit, "alice", 310, SEND).code == 0
        set_rules(kit, "alice")
        assert ask_as(kit, "alice", 310, SEND).code == 16
        set_rules(kit, "alice", PUB)
        assert ask_as(kit, "alice", 310, SEND).code == 0
        ask_as(kit, "root", 3003, {"username": "alice"})
        assert ask_as(kit, "alice", 310, SEND).code == 16


def test_signatures_alone_let_every_user_do_everything() -> None:
    kit = guarded_broker(ORDERS, access=replace(ACCESS, authorizes=False))
    make_user(kit, "alice")
    assert ask_as(kit, "alice", 310, SEND).code == 0
    assert ask_as(kit, "alice", 25, {}, b"").code == 0
    assert kit.ask(310, SEND).code == 16


def test_a_connection_is_trusted_for_a_while_if_that_is_chosen() -> None:
    kit = guarded_broker(ORDERS, access=replace(ACCESS, trusts_connections=True))
    make_user(kit, "alice", PUB)
    unsigned = {**signed("alice", SEND), "Signature": "wrong"}
    assert kit.ask(310, unsigned).code == 16
    assert ask_as(kit, "alice", 310, SEND).code == 0
    assert kit.ask(310, unsigned).code == 0
    assert kit.ask(310, unsigned, channel=OTHER).code == 16  # another connection
    assert kit.ask(310, {**unsigned, "AccessKey": "inner"}).code == 16  # another user
    kit.run(ACCESS.trust_ms, 10_000)
    assert kit.ask(310, unsigned).code == 16


def test_a_closed_connection_is_not_trusted_again() -> None:
    kit = guarded_broker(ORDERS, access=replace(ACCESS, trusts_connections=True))
    assert ask_as(kit, "root", 310, SEND).code == 0
    kit.close(CLIENT)
    kit.open(CLIENT)
    assert kit.ask(310, {**signed("root", SEND), "Signature": "wrong"}).code == 16


def test_each_request_is_checked_unless_chosen_otherwise() -> None:
    kit = guarded_broker(ORDERS)
    assert ask_as(kit, "root", 310, SEND).code == 0
    assert kit.ask(310, {**signed("root", SEND), "Signature": "wrong"}).code == 16


def test_codes_of_the_white_lists_are_not_asked() -> None:
    listed = frozenset({28, 105})
    kit = guarded_broker(access=replace(ACCESS, unsigned_codes=listed, unruled_codes=listed))
    assert kit.ask(28).code == 0
    assert kit.ask(26).code == 16


def test_without_a_signature_there_is_nobody_whom_rules_could_allow() -> None:
    kit = guarded_broker(access=replace(ACCESS, unsigned_codes=frozenset({28})))
    make_user(kit, "alice", Rule("*", ("All",)))
    assert kit.ask(28, {"AccessKey": "alice"}).code == 16
    assert kit.ask(28, {"AccessKey": "root"}).code == 16


def test_a_rule_may_hold_for_some_addresses_only() -> None:
    kit = guarded_broker(ORDERS)
    make_user(kit, "alice", replace(PUB, sources=("10.0.0.9", "fd00::/8")))
    assert ask_as(kit, "alice", 310, SEND).code == 0
    for number, host, code in ((7, "10.0.0.8", 16), (8, "fd00::1", 0), (9, "fd00::1%eth0", 0)):
        kit.open(ChannelId(number), Peer(host, 1))
        fields = signed("alice", SEND)
        assert kit.ask(310, fields, channel=ChannelId(number)).code == code


@pytest.mark.parametrize("code", [310, 11, 200050, 37])
def test_no_fast_path_goes_round_the_gate(code: int) -> None:
    kit = guarded_broker(ORDERS)
    for _ in range(3):
        assert ask_as(kit, "root", 310, SEND, b"x").code == 0
    fields = {**SEND, "consumerGroup": "g", "topic": "Orders", "queueId": "0", "queueOffset": "0"}
    fields |= {"maxMsgNums": "1", "sysFlag": "4", "invisibleTime": "1000", "commitOffset": "0"}
    for _ in range(3):
        assert kit.ask(code, fields, b"x").code == 16
    assert len(kit.bodies()) == 3


def test_one_way_requests_of_nobody_do_nothing() -> None:
    kit = guarded_broker(ORDERS)
    kit.tell(310, SEND, b"x", flag=2)
    kit.finish()
    assert kit.heard() == []
    assert kit.bodies() == []


POP = {
    "consumerGroup": "g",
    "topic": "Orders",
    "queueId": "-1",
    "maxMsgNums": "8",
    "invisibleTime": "10000",
    "pollTime": "15000",
    "bornTime": "0",
    "initMode": "0",
}
SUBS = (Rule("Topic:Orders", ("Sub",)), Rule("Group:g", ("Sub",)))


@pytest.mark.parametrize("code", [11, 200050])
def test_a_request_that_waits_is_refused_when_its_right_is_revoked(code: int) -> None:
    kit = guarded_broker(ORDERS)
    for name in ("alice", "bob"):
        make_user(kit, name, *SUBS)
    fields = pull_fields(sysFlag=6) if code == 11 else POP
    kit.tell(code, signed("alice", fields), channel=CLIENT)
    kit.tell(code, signed("bob", fields), channel=OTHER)
    assert kit.heard(CLIENT) == kit.heard(OTHER) == []
    kit.open(ChannelId(3), Peer("10.0.0.9", 1))
    deleted = signed("root", {"subject": "User:alice", "resource": "Group:g"})
    assert kit.ask(3008, deleted, channel=ChannelId(3)).code == 0
    (answer,) = kit.heard(CLIENT)
    assert (answer.code, "Group:g" in answer.remark) == (16, True)
    assert kit.heard(OTHER) == []
    assert kit.ask(310, signed("root", SEND, b"x"), b"x", ChannelId(3)).code == 0
    (found,) = kit.heard(OTHER)
    assert found.code == 0
    assert kit.heard(CLIENT) == []


@pytest.mark.parametrize("how", ["disabled", "deleted"])
def test_a_request_that_waits_ends_with_its_user(how: str) -> None:
    kit = guarded_broker(ORDERS)
    make_user(kit, "alice", *SUBS)
    kit.tell(11, signed("alice", pull_fields(sysFlag=6)))
    assert kit.heard() == []
    body = encode_user(User("alice", "", "Normal", False)) if how == "disabled" else b""
    code = 3002 if how == "disabled" else 3003
    assert kit.ask(code, signed("root", {"username": "alice"}, body), body, OTHER).code == 0
    assert [answer.code for answer in kit.heard()] == [16]


def signatures_made(ask: Callable[[], object]) -> int:
    """How many signatures are computed while something is asked."""
    counted = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal counted
        counted += event == "call" and frame.f_code is sign.__code__

    sys.setprofile(count)
    try:
        ask()
    finally:
        sys.setprofile(None)
    return counted


def test_an_unknown_user_costs_as_much_as_a_wrong_signature() -> None:
    """On a name server that heard of the users of three brokers."""
    table = seeded(AccessTable(), ACCESS)
    everywhere = table.with_user(UserChange("everywhere", "s", None, True), None)
    somewhere = everywhere.with_user(UserChange("somewhere", "s", None, True), None)
    elsewhere = somewhere.with_changed_user(UserChange("everywhere", "another"), None)
    realms = [Realm("c", Accounts(one)) for one in (everywhere, somewhere, elsewhere)]
    gate = Gate(ACCESS, lambda: realms)

    def ask(name: str, source: str) -> None:
        command = RemotingCommand(105, ext_fields={"AccessKey": name, "Signature": "wrong"})
        request = Request(CLIENT, command, Now(0, 0), [])
        refused = gate.refuse(request, source)
        assert refused is not None
        assert refused.remark == "check signature failed."

    counts = {
        name: signatures_made(lambda name=name: ask(name, name))  # type: ignore[misc]
        for name in ("everywhere", "somewhere", "nobody", "root")
    }
    assert set(counts.values()) == {3}
