"""Unit tests of a master and a slave that ask who it is."""

from dataclasses import replace

from aerobee.model.access import Credentials, Rule
from aerobee.model.topic import TopicConfig
from aerobee.service.access.config import AccessConfig
from tests.access_kit import ACCESS, ask_as, is_refused, make_user, set_rules, signed
from tests.broker_kit import BrokerKit, create_fields
from tests.pair_kit import MASTER, Pair, slave_identity

ORDERS = TopicConfig("Orders", 4, 4)
SEND = {"a": "p", "b": "Orders", "e": "0", "f": "0", "g": "1", "h": "0", "i": "UNIQ_KEY\1id"}


def guarded_pair(of_slave: AccessConfig = ACCESS) -> Pair:
    master = BrokerKit(identity=replace(MASTER, access=ACCESS))
    assert ask_as(master, "root", 17, create_fields(ORDERS)).code == 0
    slave = BrokerKit(identity=replace(slave_identity(), access=of_slave), clock=master.clock)
    return Pair(master=master, slave=slave)


def send(pair: Pair, name: str = "root") -> None:
    assert ask_as(pair.master, name, 310, SEND, b"x").code == 0


def test_a_slave_with_the_brokers_own_user_follows() -> None:
    pair = guarded_pair()
    send(pair)
    pair.run(5_000)
    assert pair.slave.bodies() == [b"x"]


def test_a_slave_without_it_gets_nothing() -> None:
    wrong = replace(ACCESS, inner=Credentials("inner", "guess"))
    for access in (AccessConfig(), wrong):
        pair = guarded_pair(access)
        send(pair)
        pair.run(5_000)
        assert pair.slave.store.end_offset == 0


def test_the_users_of_the_master_are_those_of_the_slave_within_a_second() -> None:
    pair = guarded_pair()
    make_user(pair.master, "alice", Rule("Topic:Orders", ("Get",)))
    pair.run(1_000)
    assert not is_refused(ask_as(pair.slave, "alice", 202, {"topic": "Orders"}))
    set_rules(pair.master, "alice")
    pair.run(1_000)
    assert is_refused(ask_as(pair.slave, "alice", 202, {"topic": "Orders"}))
    ask_as(pair.master, "root", 3003, {"username": "alice"})
    pair.run(1_000)
    answer = pair.slave.ask(202, signed("alice", {"topic": "Orders"}))
    assert answer.remark == "check signature failed."


def test_users_of_a_slave_are_there_when_it_is_started_alone() -> None:
    pair = guarded_pair()
    make_user(pair.master, "alice", Rule("Topic:Orders", ("Get",)))
    pair.run(1_000)
    again = pair.slave.restarted()
    assert not is_refused(ask_as(again, "alice", 202, {"topic": "Orders"}))


def test_tables_are_copied_by_signed_requests() -> None:
    pair = guarded_pair()
    pair.run(5_000)
    assert ask_as(pair.slave, "root", 351, {"topic": "Orders"}).code == 0
