"""The tables of a new leader are those of its log, whatever its files have."""

import pytest

from aerobee.errors import CorruptFile
from aerobee.model.names import TABLES_TOPIC
from aerobee.model.topic import TopicConfig
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.response_codes import ResponseCode
from tests.broker_kit import create_fields
from tests.member_kit import Member, MemberGroup
from tests.send_rig import send_frame

ORDERS = TopicConfig("Orders", 4, 4)
OFFSET = {"consumerGroup": "g", "topic": "Orders", "queueId": "1"}


def offset_at(group: MemberGroup, member: Member) -> str:
    return group.ask(member, 14, OFFSET).ext_fields["offset"]


def cut_off(group: MemberGroup, member: Member) -> None:
    group.cuts = {frozenset((member.number, one.number)) for one in group.members}


def test_changes_of_a_leader_that_nobody_followed_do_not_count() -> None:
    group = MemberGroup(3, ORDERS)
    first = group.elected()
    for _ in range(5):
        first.kit.send_frames(send_frame())
    group.run(200)
    assert group.ask(first, 15, {**OFFSET, "commitOffset": "2"}).code == 0
    cut_off(group, first)
    first.kit.tell(15, {**OFFSET, "commitOffset": "5"})
    first.kit.tell(17, create_fields(TopicConfig("Lost", 1, 1)))
    second = group.elected(first.number)
    assert offset_at(group, second) == "2"
    assert group.ask(second, 351, {"topic": "Lost"}).code == ResponseCode.TOPIC_NOT_EXIST
    # The first leads again before it has copied anything from the second.
    group.cuts.clear()
    group.until(lambda: first.side.node.log.end == second.side.node.log.end)
    third = next(one for one in group.members if one not in (first, second))
    group.stop(third.number)
    now_ms = group.clock.now().monotonic_ms
    order = second.side.order
    assert order(lambda node: node.transfer(first.number, now_ms), group.clock.now()) == ""
    assert group.elected(second.number) is first
    assert offset_at(group, first) == "2"
    assert group.ask(first, 351, {"topic": "Lost"}).code == ResponseCode.TOPIC_NOT_EXIST


def test_files_that_a_log_without_records_does_not_speak_of_stay() -> None:
    """A broker alone has become a group: its tables are in files only."""
    group = MemberGroup(1, ORDERS)
    leader = group.elected()
    assert leader.kit.ask(351, {"topic": "Orders"}).code == 0


def test_a_record_that_is_none_is_named() -> None:
    group = MemberGroup(3, ORDERS)
    leader = group.elected()
    draft = MessageDraft()
    draft.topic = TABLES_TOPIC.encode()
    draft.set_body(memoryview(b"no JSON"))
    leader.kit.store.append(draft, 1_000)
    leader.kit.broker.settle(group.clock.now())
    group.run(300)
    group.stop(leader.number)
    with pytest.raises(CorruptFile, match=TABLES_TOPIC):
        group.elected(leader.number)
