"""The replication room of a broker: what a slave has, and what it has not."""

from aerobee.model.topic import TopicConfig
from tests.broker_kit import BrokerKit
from tests.pair_kit import MASTER, Pair, slave_identity
from tests.wire import JAVA_FIELDS

TOPIC = TopicConfig(JAVA_FIELDS["b"], 8, 8)
REPLICATION_CODES = {906, 907, 908, 1007, 28007, 28008, 28009}


def test_both_roles_answer_the_requests_of_replication() -> None:
    for identity in (MASTER, slave_identity()):
        kit = BrokerKit(identity=identity)
        assert set(kit.broker.table) >= REPLICATION_CODES


def test_a_slave_stops_with_everything_that_it_copied_saved() -> None:
    pair = Pair(TOPIC)
    pair.send()
    pair.run(8_000)
    pair.slave.stop()
    names = list(pair.slave.disk.list_directory("store/config"))
    assert "topics.json" in names
    assert "slaveState.json" in names


def test_a_master_copies_nothing_from_anybody() -> None:
    kit = BrokerKit(identity=MASTER)
    kit.run(10_000)
    assert kit.dialed == []
