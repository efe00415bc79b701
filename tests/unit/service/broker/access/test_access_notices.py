"""Unit tests of a broker that tells name servers its users, with name servers that take them."""

from dataclasses import replace

from aerobee.model.access import Rule
from aerobee.model.broker_role import BrokerRole
from aerobee.ports.service import Dial
from aerobee.protocol.request_codes import RequestCode
from aerobee.replication.config import ReplicationConfig
from aerobee.service.broker.access.access_notices import PROBE_MS
from aerobee.service.broker.config import BrokerIdentity
from tests.access_kit import ACCESS, IDENTITY, ask_as, is_refused, make_user, set_rules
from tests.broker_kit import BrokerKit
from tests.nameserver_kit import NameServerKit

PLACE = "10.0.0.5:9876"
ROUTE = {"topic": "Orders"}


class Pair:
    """A broker and a name server; what the one asks, the other is asked."""

    def __init__(self) -> None:
        self.broker = BrokerKit(identity=IDENTITY, addresses=[PLACE])
        self.server = NameServerKit(access=ACCESS)
        self.asked: list[Dial] = []

    def talk(self) -> list[Dial]:
        """All requests about users until there is none."""
        seen = []
        for _ in range(10):
            self.broker.tick()
            dialed, self.broker.dialed = self.broker.dialed, []
            told = [dial for dial in dialed if dial.command.code == RequestCode.TELL_ACCESS]
            for dial in told:
                (answer,) = self.server.send(dial.command)
                now = self.broker.clock.now()
                self.broker.carry_out(self.broker.broker.on_answer(dial.ticket, answer, now))
            seen += told
        return seen

    def is_served(self, name: str) -> bool:
        return not is_refused(ask_as(self.server, name, 105, ROUTE))


def test_name_servers_know_the_users_of_a_broker_and_every_change() -> None:
    pair = Pair()
    make_user(pair.broker, "alice", Rule("Topic:Orders", ("Pub",)))
    assert not pair.is_served("alice")
    pair.talk()
    assert pair.is_served("alice")
    set_rules(pair.broker, "alice")
    pair.talk()
    assert not pair.is_served("alice")
    make_user(pair.broker, "bob", Rule("Topic:*", ("Sub",)))
    pair.talk()
    assert pair.is_served("bob")
    ask_as(pair.broker, "root", 3003, {"username": "bob"})
    pair.talk()
    assert not pair.is_served("bob")


def test_a_table_that_is_known_is_not_sent_again() -> None:
    pair = Pair()
    first = pair.talk()
    assert [bool(dial.command.body) for dial in first] == [False, True]
    pair.broker.tick(PROBE_MS)
    assert [bool(dial.command.body) for dial in pair.talk()] == [False]


def test_a_name_server_that_was_restarted_learns_all_again() -> None:
    pair = Pair()
    make_user(pair.broker, "alice", Rule("Topic:Orders", ("Pub",)))
    pair.talk()
    pair.server = NameServerKit(access=ACCESS)
    pair.broker.tick(PROBE_MS)
    pair.talk()
    assert pair.is_served("alice")


def test_no_secret_travels_in_clear() -> None:
    pair = Pair()
    make_user(pair.broker, "alice")
    for dial in pair.talk():
        assert b"-secret" not in bytes(dial.command.body)


def test_a_name_server_that_does_not_know_the_request_is_asked_seldom() -> None:
    kit = BrokerKit(identity=IDENTITY, addresses=[PLACE])
    count = 0
    for _ in range(40):
        kit.tick(PROBE_MS // 4)
        told = [dial for dial in kit.dialed if dial.command.code == RequestCode.TELL_ACCESS]
        kit.dialed = []
        count += len(told)
        for dial in told:
            kit.carry_out(kit.broker.on_answer(dial.ticket, None, kit.clock.now()))
    assert count <= 11


def test_slaves_and_brokers_without_users_tell_nothing() -> None:
    replication = ReplicationConfig(role=BrokerRole.SLAVE)
    slave = replace(IDENTITY, broker_id=1, replication=replication)
    alone = replace(IDENTITY, access=replace(ACCESS, inner=None))
    for identity in (slave, alone, BrokerIdentity()):
        kit = BrokerKit(addresses=[PLACE], identity=identity)
        kit.run(PROBE_MS)
        assert not [one for one in kit.dialed if one.command.code == RequestCode.TELL_ACCESS]
