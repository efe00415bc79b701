"""TableJournal: a leader's changes go to the log, and are acknowledged when they are committed."""

from aerobee.model.names import TABLES_TOPIC
from aerobee.model.topic import TopicConfig
from aerobee.service.broker.replication.raft.table_change import (
    DELAYS,
    OFFSETS,
    TOPICS,
    ChangeKind,
    TableChange,
    decode_change,
)
from aerobee.service.broker.replication.raft.table_journal import FLUSH_MS
from tests.broker_kit import create_fields
from tests.member_kit import Member, MemberGroup
from tests.send_rig import send_frame
from tests.wire import JAVA_FIELDS

ORDERS = TopicConfig("Orders", 4, 4)
OFFSET = {"consumerGroup": "g", "topic": "Orders", "queueId": "1"}


def changes_of(member: Member) -> list[TableChange]:
    return [decode_change(one.body) for one in member.kit.messages(TABLES_TOPIC)]


def alone(group: MemberGroup, leader: Member) -> None:
    """Nothing is carried between the leader and the others."""
    group.cuts = {frozenset((leader.number, one.number)) for one in group.members}


def group_with_messages() -> tuple[MemberGroup, Member]:
    group = MemberGroup(3, ORDERS)
    leader = group.elected()
    for _ in range(5):
        leader.kit.send_frames(send_frame())
    group.run(200)
    leader.kit.heard()
    return group, leader


def commit(leader: Member, offset: int) -> None:
    leader.kit.tell(15, {**OFFSET, "commitOffset": str(offset)})


def codes(member: Member) -> list[int]:
    return [one.code for one in member.kit.heard()]


def test_a_leader_begins_with_a_copy_of_all_rows() -> None:
    group = MemberGroup(3, ORDERS)
    group.run(500)
    kinds = [one.kind for one in changes_of(group.elected()) if one.kind is not ChangeKind.CHANGE]
    assert kinds[0] is ChangeKind.BEGIN
    assert kinds[-1] is ChangeKind.END
    assert ChangeKind.PART in kinds


def test_an_offset_is_acknowledged_when_a_majority_has_it() -> None:
    group, leader = group_with_messages()
    alone(group, leader)
    commit(leader, 3)
    group.run(200)
    assert codes(leader) == []
    group.cuts.clear()
    group.run(400)
    assert codes(leader) == [0]


def test_a_repeated_offset_waits_for_the_first() -> None:
    group, leader = group_with_messages()
    alone(group, leader)
    commit(leader, 3)
    group.run(100)
    commit(leader, 3)
    group.run(100)
    assert codes(leader) == []
    group.cuts.clear()
    group.run(400)
    assert codes(leader) == [0, 0]
    commit(leader, 3)
    assert codes(leader) == [0]


def test_offsets_that_come_together_are_one_record() -> None:
    group, leader = group_with_messages()
    group.run(1_000)
    before = len(changes_of(leader))
    for offset in (1, 2, 3):
        commit(leader, offset)
    group.run(100)
    assert codes(leader) == [0, 0, 0]
    news = changes_of(leader)[before:]
    assert len(news) <= 2
    assert news[-1].tables[OFFSETS]["Orders@g"] == {"1": 3}


def test_an_idle_leader_writes_nothing() -> None:
    group, leader = group_with_messages()
    group.run(1_000)
    end = leader.kit.store.end_offset
    group.run(20 * FLUSH_MS)
    assert leader.kit.store.end_offset == end


def test_a_topic_is_in_the_log_before_its_first_message_and_acknowledged_when_committed() -> None:
    group, leader = group_with_messages()
    alone(group, leader)
    leader.kit.heard()
    leader.kit.tell(17, create_fields(TopicConfig("New", 2, 2)))
    group.run(100)
    assert codes(leader) == []
    group.cuts.clear()
    group.run(400)
    assert codes(leader) == [0]
    names = [name for one in changes_of(leader) for name in one.tables.get(TOPICS, {})]
    assert names[-1] == "New"


def test_a_change_that_is_repeated_waits_for_the_first() -> None:
    group, leader = group_with_messages()
    alone(group, leader)
    for code, fields in ((215, {"topic": "Orders"}), (17, create_fields(TopicConfig("New", 1, 1)))):
        for _ in range(2):
            leader.kit.tell(code, fields)
            group.run(50)
    assert codes(leader) == []


def test_a_topic_and_an_offset_are_there_on_the_next_leader() -> None:
    group, leader = group_with_messages()
    assert group.ask(leader, 15, {**OFFSET, "commitOffset": "4"}).code == 0
    fifo = TopicConfig("New", 2, 2, attributes={"message.type": "FIFO"})
    assert group.ask(leader, 17, create_fields(fifo)).code == 0
    group.stop(leader.number)
    second = group.elected()
    assert group.ask(second, 14, OFFSET).ext_fields["offset"] == "4"
    assert b"FIFO" in bytes(group.ask(second, 351, {"topic": "New"}).body)


def test_a_topic_that_was_deleted_stays_deleted_with_its_messages() -> None:
    group, leader = group_with_messages()
    assert group.ask(leader, 215, {"topic": "Orders"}).code == 0
    group.stop(leader.number)
    second = group.elected()
    assert group.ask(second, 351, {"topic": "Orders"}).code != 0
    assert group.ask(second, 17, create_fields(ORDERS)).code == 0
    group.run(200)
    assert second.kit.bodies(queue_id=1) == []


def test_a_delayed_message_is_delivered_once_by_two_leaders() -> None:
    group, leader = group_with_messages()
    leader.kit.send_frames(send_frame({"i": f"{JAVA_FIELDS['i']}DELAY\x011\x02"}, body=b"later"))
    group.until(lambda: leader.kit.bodies(queue_id=1).count(b"later") == 1)
    group.run(100)
    assert changes_of(leader)[-1].tables[DELAYS]["1"] == 1
    group.stop(leader.number)
    second = group.elected()
    group.run(3_000)
    assert second.kit.bodies(queue_id=1).count(b"later") == 1
