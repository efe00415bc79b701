"""Promotion: the next term of the tables, and topics that were not copied in time."""

from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.broker_state import decode_broker_versions
from aerobee.service.broker.replication.metadata.metadata_copy import LOOK_MS
from tests.broker_kit import BrokerKit
from tests.pair_kit import MASTER, Pair
from tests.wire import JAVA_FIELDS

TOPIC = TopicConfig(JAVA_FIELDS["b"], 8, 8)
PROMOTE = {"role": "ASYNC_MASTER", "brokerId": "0", "force": "true"}


def version_of(kit: BrokerKit) -> str:
    return bytes(kit.ask(21).body).decode()


def promoted(pair: Pair, above_term: int = 0) -> BrokerKit:
    """The slave as master, after its process was built anew."""
    pair.is_cut = True
    pair.drop_link()
    assert pair.slave.ask(28008, {**PROMOTE, "aboveTerm": str(above_term)}).code == 0
    pair.slave.stop()
    return BrokerKit(disk=pair.slave.disk, identity=MASTER, clock=pair.slave.clock)


def test_a_promoted_slave_is_of_a_later_term_than_its_master() -> None:
    pair = Pair(TOPIC)
    pair.run(8_000)
    assert '"stateVersion":0' in version_of(pair.master)
    assert '"stateVersion":1' in version_of(promoted(pair))


def test_the_groups_of_a_promoted_slave_are_of_a_later_term_too() -> None:
    pair = Pair(TOPIC)
    pair.run(8_000)
    groups = decode_broker_versions(bytes(promoted(pair).ask(28007).body)).groups
    assert groups.state_version == 1


def test_a_slave_that_has_not_copied_the_tables_of_its_master_is_of_a_later_term_too() -> None:
    before = Pair(TOPIC)
    before.send()
    before.run(8_000)
    pair = Pair(master=promoted(before))
    assert '"stateVersion":1' in version_of(pair.master)
    pair.run(30)  # long enough for the log, not for the tables
    assert pair.slave.store.end_offset == pair.master.store.end_offset
    assert '"stateVersion":0' in version_of(pair.slave)
    assert '"stateVersion":2' in version_of(promoted(pair))


def test_a_promoted_slave_is_of_a_later_term_than_name_servers_have_seen() -> None:
    pair = Pair(TOPIC)
    pair.run(8_000)
    kit = promoted(pair, above_term=7)
    assert '"stateVersion":8' in version_of(kit)
    assert decode_broker_versions(bytes(kit.ask(28007).body)).groups.state_version == 8


def test_a_topic_whose_messages_came_and_whose_config_did_not_is_there_after_a_promotion() -> None:
    pair = Pair(TOPIC)
    pair.send(b"acknowledged")
    pair.run(30)  # long enough for the log, not for the tables
    assert pair.slave.ask(351, {"topic": TOPIC.name}).code != 0
    kit = promoted(pair)
    assert kit.ask(351, {"topic": TOPIC.name}).code == 0
    found = [body for queue_id in range(8) for body in kit.bodies(TOPIC.name, queue_id)]
    assert found == [b"acknowledged"]


def test_tables_of_the_old_master_do_not_come_behind_those_of_a_promotion() -> None:
    pair = Pair(TOPIC)
    pair.run(200)
    pair.master.make_topic(TopicConfig("Late"))
    pair.slave.tick(LOOK_MS)  # it asks whether anything has changed
    dials, pair.slave.dialed[:] = list(pair.slave.dialed), []
    assert dials
    assert pair.slave.ask(28008, PROMOTE).code == 0
    pair.slave.dialed += dials  # and is answered now
    pair.run(500)
    assert '"stateVersion":1' in version_of(pair.slave)


def test_a_promotion_that_cannot_be_saved_changes_nothing_and_tables_are_copied_again() -> None:
    pair = Pair(TOPIC)
    pair.run(200)
    disk = pair.slave.disk
    disk.capacity_bytes = disk.used_bytes()
    assert pair.slave.ask(28008, PROMOTE).code != 0
    disk.capacity_bytes = 1 << 40
    pair.master.make_topic(TopicConfig("Late"))
    pair.run(1_000)
    assert pair.slave.ask(351, {"topic": "Late"}).code == 0
