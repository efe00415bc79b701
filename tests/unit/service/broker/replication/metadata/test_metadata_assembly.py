"""A slave and its master, both whole: requests of the one are answered by the other."""

import pytest

from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.assignment import RequestMode, encode_request_mode
from aerobee.protocol.bodies.broker_state import decode_broker_versions
from aerobee.service.broker.replication.metadata.metadata_copy import LOOK_MS
from tests.once_kit import open_producer, send_once
from tests.pop_kit import PopKit
from tests.slave_kit import SlaveKit
from tests.transaction_kit import COMMIT, begin, checks, end, join
from tests.wire import JAVA_FIELDS

DELETE, RESET, COMMIT_OFFSET = 215, 222, 15


def send(kit: PopKit, body: bytes, **properties: str) -> None:
    text = "".join(f"{name}\x01{value}\x02" for name, value in properties.items())
    answer = kit.ask(310, {**JAVA_FIELDS, "e": "0", "i": text}, body)
    assert answer.code == 0, answer.remark


def commit(kit: PopKit, offset: int, topic: str = "Orders", queue_id: int = 0) -> None:
    said = {"consumerGroup": "g", "topic": topic, "queueId": str(queue_id)}
    assert kit.ask(COMMIT_OFFSET, {**said, "commitOffset": str(offset)}).code == 0


def test_a_slave_has_the_topics_groups_modes_and_offsets_of_its_master() -> None:
    master = PopKit()
    master.fill(5)
    master.beat(group="g", subscriptions={"Orders": "*"})
    commit(master, 3)
    assert master.ask(401, body=encode_request_mode(RequestMode("Orders", "g", "POP", 2))).code == 0
    slave = SlaveKit(master)
    assert slave.tables.topics.find("Orders") is None
    slave.run(1_000)
    for _ in range(2):
        tables = slave.tables
        assert tables.topics.find("Orders") == TopicConfig("Orders", 1, 1)
        assert tables.groups.find("g") is not None
        assert slave.modes.find("Orders", "g") == RequestMode("Orders", "g", "POP", 2)
        assert slave.offset() == 3
        slave = slave.caught_up()  # the same from its files


def test_every_message_that_waits_at_the_master_comes_at_a_promoted_slave() -> None:
    master = PopKit(queues=4)
    epoch, _ = open_producer(master)
    first = send_once(master, 7, b"once", epoch=epoch)
    now_ms = master.clock.now().wall_ms
    send(master, b"delayed, over", DELAY="1")
    send(master, b"delayed", DELAY="3")
    send(master, b"timed, over", TIMER_DELIVER_MS=str(now_ms + 1_000))
    send(master, b"timed", TIMER_DELIVER_MS=str(now_ms + 12_000))
    end(master, begin(master, b"committed", "id-1"), COMMIT)
    begin(master, b"half", "id-2")
    master.fill(3, queue_id=3)
    taken = master.pop(queueId=3, maxMsgNums=2)
    assert [one.body for one in taken] == [b"m0", b"m1"]
    assert master.ack(taken[0]) == 0
    master.run(4_000)
    assert master.bodies(queue_id=0) == [b"delayed, over", b"timed, over"]
    slave = SlaveKit(master)
    slave.run(1_000)
    send(master, b"behind the copy", TIMER_DELIVER_MS=str(now_ms + 13_000))
    begin(master, b"half behind the copy", "id-3")
    more = master.pop(queueId=3, maxMsgNums=1)
    assert [one.body for one in more] == [b"m2"]
    assert master.ack(more[0]) == 0
    heir = slave.caught_up().promoted()
    join(heir)
    asked = []
    for _ in range(200):
        heir.run(100)
        asked += checks(heir)
    came = sorted(heir.bodies(queue_id=0))
    assert came == sorted(
        [b"delayed, over", b"timed, over", b"delayed", b"timed", b"behind the copy"]
    )
    assert {check.message.body for check in asked} == {b"half", b"half behind the copy"}
    assert heir.bodies(queue_id=1).count(b"committed") == 1
    assert [body for body in heir.bodies_popped() if body.startswith(b"m")] == [b"m1"]
    assert (
        send_once(heir, 7, b"once", epoch=epoch).ext_fields["queueOffset"]
        == (first.ext_fields["queueOffset"])
    )


def test_a_topic_that_was_deleted_and_made_again_has_only_its_new_messages() -> None:
    master = PopKit(queues=2)
    master.fill(5, queue_id=0)
    master.fill(3, queue_id=1)
    commit(master, 4)
    slave = SlaveKit(master)
    slave.run(1_000)
    slave.commit(2, queue_id=1)
    deleted_at = master.store.end_offset
    assert master.ask(DELETE, {"topic": "Orders"}).code == 0
    master.make_topic(TopicConfig("Orders", 2, 2))
    master.fill(2, queue_id=0, first=10)
    slave = slave.caught_up()
    slave.run(1_000)
    assert slave.store.born_at(b"Orders") == deleted_at
    assert (slave.offset(), slave.offset(queue_id=1)) == (-1, -1)
    slave.run(4_000)  # the commit at the slave was of the deleted topic: the master is not told
    assert master.committed(queue_id=1) == -1
    heir = slave.promoted()
    assert heir.bodies(queue_id=0) == [b"m10", b"m11"]
    assert heir.bodies(queue_id=1) == []


def test_a_topic_that_the_master_deleted_is_gone() -> None:
    master = PopKit()
    master.make_topic(TopicConfig("Other"))
    master.fill(3)
    slave = SlaveKit(master)
    slave.run(1_000)
    assert master.ask(DELETE, {"topic": "Orders"}).code == 0
    slave.run(1_000)
    assert slave.tables.topics.find("Orders") is None
    assert b"Orders" not in slave.tables.topics.entries
    assert slave.tables.topics.find("Other") is not None
    assert slave.store.queue(b"Orders", 0) is None


def test_a_topic_that_an_apache_master_deleted_begins_at_0_when_it_is_made_again() -> None:
    master = PopKit()
    master.fill(3)
    slave = SlaveKit(master, refused={28007})
    slave.run(1_000)
    assert master.ask(DELETE, {"topic": "Orders"}).code == 0
    slave.run(4_000)
    heir = slave.promoted()
    heir.make_topic(TopicConfig("Orders", 1, 1))
    heir.fill(1, first=9)
    assert [(one.queue_offset, one.body) for one in heir.messages()] == [(0, b"m9")]


@pytest.mark.parametrize("refused", [(), (28007,)])
def test_commits_at_the_slave_reach_the_master(refused: tuple[int, ...]) -> None:
    master = PopKit()
    master.fill(9)
    commit(master, 2)
    slave = SlaveKit(master, refused=refused)
    slave.run(1_000)
    slave.silent_at = 0
    slave.run(4_000)
    slave.commit(7)
    slave.run(4_000)
    assert (slave.offset(), master.committed()) == (7, 2)
    slave.silent_at = None
    slave.run(4_000)
    assert (slave.offset(), master.committed()) == (7, 7)
    slave.run(4_000)
    commit(master, 8)
    slave.run(4_000)
    assert slave.offset() == 8


def test_commits_at_the_slave_reach_the_master_after_restarts_of_both() -> None:
    master = PopKit()
    master.fill(9)
    commit(master, 6)
    slave = SlaveKit(master)
    slave.run(1_000)
    slave.commit(7)
    slave = slave.caught_up()
    again = slave.master = master.after_power_cut()  # which takes the master's commit, too
    slave.run(4_000)
    assert (slave.offset(), again.committed()) == (7, 7)


def test_a_reset_at_the_master_reaches_the_slave() -> None:
    master = PopKit()
    master.fill(9)
    commit(master, 6)
    slave = SlaveKit(master)
    slave.run(1_000)
    slave.commit(7)
    said = {"group": "g", "topic": "Orders", "queueId": "0", "offset": "1", "isForce": "true"}
    assert master.ask(RESET, {**said, "timestamp": "0"}).code == 0
    slave.run(4_000)
    assert (slave.offset(), master.committed()) == (1, 1)
    slave.run(4_000)
    assert (slave.offset(), master.committed()) == (1, 1)


def seen_by(slave: SlaveKit) -> tuple[object, ...]:
    """Everything that a round changes."""
    folder = "store/config"
    files = {
        name: slave.disk.read(f"{folder}/{name}") for name in slave.disk.list_directory(folder)
    }
    tables = slave.tables
    return (
        tables.topics.all(),
        tables.groups.all(),
        list(tables.offsets),
        slave.modes.body(),
        {name: content for name, content in files.items() if "timer" in name or "delay" in name},
    )


def test_nothing_of_a_round_is_applied_that_the_master_did_not_answer_to_its_end() -> None:
    master = PopKit()
    master.fill(5)
    slave = SlaveKit(master)
    slave.run(LOOK_MS // 2)
    questions = len(slave.asked)
    master.make_topic(TopicConfig("New"))
    master.beat(group="new", subscriptions={"New": "*"})
    commit(master, 3)
    send(master, b"timed", TIMER_DELIVER_MS=str(master.clock.now().wall_ms + 1_000))
    send(master, b"delayed", DELAY="1")
    master.run(5_000)
    slave = slave.caught_up()
    before = seen_by(slave)
    for answered in range(questions):
        slave.silent_at = answered
        slave.run(3_500)
        assert seen_by(slave) == before, answered
    slave.silent_at = None
    slave.run(3_500)
    after = seen_by(slave)
    assert all(one != two for one, two in zip(before[:3], after[:3], strict=True))
    assert before[4] != after[4]


def test_a_snapshot_waits_until_the_log_that_it_speaks_of_is_there() -> None:
    master = PopKit()
    master.fill(5)
    slave = SlaveKit(master)
    master.fill(5, first=5)
    commit(master, 9)
    slave.run(10_000)
    assert slave.tables.topics.find("Orders") is None
    assert slave.offset() == -1
    slave = slave.caught_up()
    slave.run(1_000)
    assert slave.offset() == 9


def test_topics_and_groups_that_are_made_at_the_master_come_within_a_second() -> None:
    master = PopKit()
    slave = SlaveKit(master)
    slave.run(1_000)
    master.make_topic(TopicConfig("New", 3, 3))
    slave.run(700)
    assert slave.tables.topics.find("New") == TopicConfig("New", 3, 3)
    body = bytes(master.ask(28007).body)
    assert slave.tables.topics.version == decode_broker_versions(body).topics


def test_tables_of_a_former_master_are_not_taken() -> None:
    master = PopKit()
    former = PopKit(disk=master.disk.kill(), clock=master.clock)
    master.make_topic(TopicConfig("New"))
    slave = SlaveKit(master)
    slave.run(1_000)
    slave.master, slave.address = former, "10.0.0.9:10911"
    slave.run(4_000)
    assert slave.tables.topics.find("New") is not None
    former.clock.advance(1_000)
    former.make_topic(TopicConfig("Newer"))
    slave.run(4_000)
    assert slave.tables.topics.find("Newer") is not None


def test_a_producer_that_was_fenced_at_the_master_is_fenced_at_a_promoted_slave() -> None:
    master = PopKit(queues=4)
    epoch, _ = open_producer(master)
    assert send_once(master, 1, epoch=epoch).code == 0
    later, _ = open_producer(master)
    slave = SlaveKit(master)
    slave.run(1_000)
    heir = slave.promoted()
    assert send_once(heir, 2, epoch=epoch).code == 28101
    assert send_once(heir, 2, epoch=later).code == 0


def test_a_slave_asks_nobody_while_its_master_is_not_known_or_itself() -> None:
    master = PopKit()
    slave = SlaveKit(master)
    for address in ("", "10.0.0.2:10911"):
        slave.address = address
        slave.run(2_000)
    assert slave.asked == []


def timed(kit: PopKit, count: int, ms: int) -> list[bytes]:
    """Messages for later, each of its own."""
    deliver_ms = kit.clock.now().wall_ms + ms
    bodies = [b"%d for %d" % (number, deliver_ms) for number in range(count)]
    for body in bodies:
        send(kit, body, TIMER_DELIVER_MS=str(deliver_ms))
    return bodies


def test_a_former_master_takes_nothing_of_its_successor_for_done() -> None:
    successor = PopKit()
    former = PopKit(disk=successor.disk.kill(), clock=successor.clock)
    timed(former, 6, 2_000)  # of which the successor has nothing
    former.run(5_000)
    former.stop()
    expected = timed(successor, 3, 20_000)
    slave = SlaveKit(successor, former.disk)
    slave.silent_at = 0
    expected += timed(successor, 5, 20_000)
    slave = slave.caught_up()
    slave.silent_at = 0
    slave.run(1_000)
    heir = slave.promoted()
    heir.run(22_000)
    assert sorted(heir.bodies()) == sorted(expected)


def test_pops_are_not_counted_beyond_the_end_of_the_log() -> None:
    master = PopKit()
    master.fill(1)
    former = SlaveKit(master)
    path = "store/config/consumerOffset.json"
    former.disk.replace(path, b'{"popLogOffset":%d,"offsetTable":{}}' % (1 << 40))
    slave = SlaveKit(master, former.disk)
    assert slave.tables.offsets.popped_to == slave.store.end_offset


def test_state_files_of_the_master_lie_at_the_slave_byte_for_byte() -> None:
    master = PopKit(queues=4)
    open_producer(master)
    master.fill(3)
    assert len(master.pop(order="true")) == 3
    master.run(6_000)
    large = b'{"writes":{%s}}' % b",".join(
        b'"%d":{"roundId":1,"places":[],"isDone":true,"usedMs":1}' % number
        for number in range(30_000)
    )
    assert len(large) > 1 << 20, "more than one piece"
    master.disk.replace("store/config/stagedRounds.json", large)
    slave = SlaveKit(master)
    slave.run(1_000)
    for name in ("stagedRounds.json", "producerEpochs.json", "consumerOrderInfo.json"):
        path = f"store/config/{name}"
        assert slave.disk.power_cut().read(path) == master.disk.read(path)
    master.disk.remove("store/config/stagedRounds.json")
    slave.run(20_000)  # after a large copy the next one comes later
    assert not slave.disk.exists("store/config/stagedRounds.json")
