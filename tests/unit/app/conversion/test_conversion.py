"""Conversions between a single broker and a group: on facts, and on stores of a pretended disk."""

from collections.abc import Callable

import pytest

from aerobee.app.conversion.conversion import (
    CannotConvert,
    Conversion,
    others_in,
    plan_group,
    plan_single,
    plan_survivor,
)
from aerobee.app.conversion.store_facts import StoreFacts
from aerobee.model.topic import TopicConfig
from aerobee.raft.epochs import Epoch
from aerobee.raft.membership import NOBODY, Member, Members
from aerobee.raft.saved_state import SavedState, first_state
from aerobee.raft.state_file import load_state, save_state
from aerobee.replication.raft_state import FILE
from aerobee.sim.disk import SimDisk
from tests.broker_kit import SYNC, BrokerKit
from tests.member_kit import MemberGroup
from tests.send_rig import send_frame
from tests.store_kit import ROOT

ORDERS = TopicConfig("Orders", 4, 4)
OFFSET = {"consumerGroup": "g", "topic": "Orders", "queueId": "1"}
SINGLE = StoreFacts("s", 0, 900, 0, True, None, None)
THREE = Members(tuple(Member(node, f"h{node}:1", True) for node in range(3)))
ALONE = Members((Member(0, "h0:1", True), Member(4, "h4:1", False)))
STATE = SavedState(7, 2, (Epoch(0, 0, THREE), Epoch(100, 5, THREE), Epoch(950, 7, THREE)))
MEMBER = StoreFacts("s", 0, 900, 850, True, STATE, None)
LAST = MEMBER._replace(state=SavedState(7, 0, (Epoch(0, 0, ALONE), Epoch(10, 7, ALONE))))


def test_a_single_broker_begins_a_group_of_one() -> None:
    plan = plan_group(SINGLE._replace(log_start=40), 0, "h0:1")
    members = Members((Member(0, "h0:1", True),))
    assert plan.state == SavedState(0, None, (Epoch(40, 0, members),))
    assert plan.settings["dLegerPeers"] == "n0-h0:1"
    assert "haListenPort" in plan.dropped


def test_terms_go_on_where_they_were_when_the_store_left_a_group() -> None:
    plan = plan_group(SINGLE._replace(left=STATE), 0, "h0:1")
    assert plan.state is not None
    assert plan.state.term == 7


def test_a_survivor_goes_on_alone_with_everything_that_its_log_has() -> None:
    plan = plan_survivor(MEMBER, 1, "h1:1", [])
    alone = Members((Member(1, "h1:1", True),))
    # The epoch at 950 lies behind the end of the log.
    assert plan.state == SavedState(8, None, (Epoch(0, 0, THREE), Epoch(100, 5, alone)))
    assert "without n0, n2" in plan.effect
    assert "of the last 50 bytes" in plan.effect


def test_the_last_voter_becomes_a_single_broker() -> None:
    plan = plan_single(LAST, [])
    assert plan.state is None
    assert plan.settings["brokerRole"] == "ASYNC_MASTER"
    assert "dLegerPeers" in plan.dropped
    assert "last 50 bytes" in plan.effect
    assert "last" not in plan_single(LAST._replace(confirmed=900), []).effect


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        (lambda: plan_group(SINGLE._replace(is_clean=False), 0, "h0:1"), "did not stop in order"),
        (lambda: plan_single(LAST._replace(is_clean=False), []), "did not stop in order"),
        (lambda: plan_survivor(MEMBER._replace(is_clean=False), 0, "h0:1", []), "not stop in"),
        (lambda: plan_group(MEMBER, 0, "h0:1"), "store of a member already: n0 at h0:1"),
        (lambda: plan_survivor(SINGLE, 0, "h0:1", []), "not the store of a member"),
        (lambda: plan_survivor(MEMBER, 9, "h9:1", []), "n9 does not vote"),
        (lambda: plan_survivor(LAST, 0, "h0:1", []), "the only voter"),
        (lambda: plan_survivor(MEMBER, 0, "h0:1", ["h1:1"]), "another member answers at h1:1"),
        (lambda: plan_survivor(MEMBER._replace(log_end=None), 0, "h0:1", []), "no durable mark"),
        (lambda: plan_single(SINGLE, []), "not the store of a member"),
        (lambda: plan_single(MEMBER, []), "others vote, too: n0 at h0:1, n1 at h1:1"),
        (lambda: plan_single(LAST, ["h4:1"]), "another member answers at h4:1"),
        (
            lambda: plan_group(SINGLE._replace(state=first_state(NOBODY)), 0, "h0:1"),
            "it waits to be added",
        ),
    ],
)
def test_what_could_lose_messages_is_refused(plan: Callable[[], Conversion], why: str) -> None:
    with pytest.raises(CannotConvert, match=why) as caught:
        plan()
    assert caught.value.hint


def test_the_others_are_known_by_the_store() -> None:
    assert others_in(SINGLE, 0) == []
    assert others_in(MEMBER, 1) == ["h0:1", "h2:1"]
    assert others_in(LAST, None) == ["h4:1"]
    assert others_in(SINGLE._replace(left=STATE), 0) == ["h1:1", "h2:1"]


def facts_of(disk: SimDisk, kit: BrokerKit, left: SavedState | None = None) -> StoreFacts:
    end = kit.store.end_offset
    state = load_state(disk, f"{ROOT}/{FILE}")
    return StoreFacts(ROOT, kit.store.min_offset, end, end, True, state, left)


def carried_out(disk: SimDisk, plan: Conversion) -> None:
    if plan.state is not None:
        save_state(disk, f"{ROOT}/{FILE}", plan.state)
    else:
        disk.remove(f"{ROOT}/{FILE}")


def sent(kit: BrokerKit, *bodies: bytes) -> None:
    for body in bodies:
        kit.send_frames(send_frame(body=body))
        kit.finish()
    kit.heard()


def test_a_broker_becomes_a_group_and_a_broker_again_with_all_messages_and_tables() -> None:
    kit = BrokerKit(ORDERS, storage=SYNC)
    sent(kit, b"0", b"1", b"2")
    kit.stop()
    carried_out(kit.disk, plan_group(facts_of(kit.disk, kit), 0, "n0:40911"))

    group = MemberGroup(1, disk=kit.disk)
    leader = group.elected()
    assert leader.kit.bodies(queue_id=1) == [b"0", b"1", b"2"]
    sent(leader.kit, b"3")
    assert group.ask(leader, 15, {**OFFSET, "commitOffset": "1"}).code == 0
    group.run(100)
    leader.kit.stop()
    left = load_state(leader.disk, f"{ROOT}/{FILE}")
    assert left is not None
    carried_out(leader.disk, plan_single(facts_of(leader.disk, leader.kit), []))

    single = BrokerKit(disk=leader.disk, storage=SYNC, clock=group.clock)
    assert single.bodies(queue_id=1) == [b"0", b"1", b"2", b"3"]
    assert single.ask(14, OFFSET).ext_fields["offset"] == "1"
    sent(single, b"4")
    assert single.ask(15, {**OFFSET, "commitOffset": "4"}).code == 0
    single.stop()
    carried_out(single.disk, plan_group(facts_of(single.disk, single, left), 0, "n0:40911"))

    again = MemberGroup(1, disk=single.disk)
    leader = again.elected()
    assert leader.kit.bodies(queue_id=1) == [b"0", b"1", b"2", b"3", b"4"]
    # What the first group has written of its tables is older than what the single broker had.
    assert again.ask(leader, 14, OFFSET).ext_fields["offset"] == "4"
    assert leader.side.node.term > left.term


def test_members_join_a_group_that_began_with_messages() -> None:
    kit = BrokerKit(ORDERS, storage=SYNC)
    sent(kit, b"0", b"1")
    kit.stop()
    carried_out(kit.disk, plan_group(facts_of(kit.disk, kit), 0, "n0:40911"))
    group = MemberGroup(1, disk=kit.disk)
    leader = group.elected()
    for number in (1, 2):
        group.join()
        add = {"operation": "add", "node": str(number), "address": f"n{number}:40911"}
        assert group.ask(leader, 28011, add).code == 0
        promote = {"operation": "promote", "node": str(number)}
        group.until(lambda p=promote: group.ask(leader, 28011, p).code == 0)  # type: ignore[misc]
        group.run(100)
    group.run(500)
    group.stop(leader.number)
    second = group.elected(0)
    assert second.kit.bodies(queue_id=1) == [b"0", b"1"]
    assert group.ask(second, 351, {"topic": "Orders"}).code == 0


def test_a_survivor_leads_and_has_what_its_log_has() -> None:
    group = MemberGroup(3, ORDERS)
    leader = group.elected()
    sent(leader.kit, b"0")
    group.run(300)
    group[0].kit.stop()
    facts = facts_of(group[0].disk, group[0].kit)
    carried_out(group[0].disk, plan_survivor(facts, 0, "n0:40911", []))
    alone = MemberGroup(1, disk=group[0].disk)
    assert alone.elected().kit.bodies(queue_id=1) == [b"0"]
