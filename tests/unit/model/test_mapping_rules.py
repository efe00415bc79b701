from dataclasses import replace

import pytest

from aerobee.model.mapping_rules import (
    find_chain_fault,
    find_change_fault,
    find_disagreement,
    find_mapping_fault,
    find_reuse_fault,
    with_kept_queues,
)
from aerobee.model.queue_mapping import UNDECIDED, Chain, MappingItem, TopicMapping

FIRST = MappingItem(0, 1, "a", 0)
SECOND = MappingItem(1, 0, "b", 10_000)
OPEN = replace(SECOND, logic_offset=UNDECIDED)
OLD = TopicMapping("T", "a", 5, 2, {0: (FIRST,)})


@pytest.mark.parametrize(
    ("chain", "fault"),
    [
        ((FIRST, SECOND), None),
        ((FIRST, OPEN), None),
        ((OPEN, replace(FIRST, gen=2)), "non-latest item has negative"),
        ((FIRST, replace(SECOND, gen=0)), "gen does not increase"),
        ((FIRST, replace(SECOND, logic_offset=0)), "base logic offset"),
        ((replace(FIRST, end_offset=10_000), SECOND), "max logic offset"),
        ((replace(FIRST, logic_offset=-2),), "logicOffset is -2"),
        ((replace(FIRST, queue_id=-1),), "should not be negative"),
        ((replace(FIRST, gen=-1),), "should not be negative"),
        ((replace(FIRST, start_offset=-1),), "should not be negative"),
        ((replace(FIRST, start_offset=4, end_offset=3),), "smaller than the start"),
        ((replace(FIRST, broker=""),), "names no broker"),
        (tuple(replace(FIRST, gen=at, logic_offset=at) for at in range(1001)), "more than 1000"),
    ],
)
def test_a_chain_rises_and_only_its_last_item_may_be_undecided(
    chain: Chain, fault: str | None
) -> None:
    found = find_chain_fault(chain)
    assert found == fault if fault is None else found is not None and fault in found


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({}, None),
        ({"topic": "U"}, "of the topic 'U'"),
        ({"broker": "b"}, "of the broker 'b'"),
        ({"is_dirty": True}, "dirty"),
        ({"epoch": -1}, "epoch is -1"),
        ({"scope": ""}, "no scope"),
        ({"total_queues": 5000}, "not from 0 to 4096"),
        ({"total_queues": -1}, "not from 0 to 4096"),
        ({"hosted": {2: (FIRST,)}}, "queue number 2"),
        ({"hosted": {0: ()}}, "no items"),
        ({"hosted": {0: (FIRST, FIRST)}}, "gen does not increase"),
        ({"hosted": {0: (FIRST,), 1: (FIRST,)}}, "shared the same physical queue a-1"),
    ],
)
def test_a_broker_takes_a_mapping_that_is_its_own_and_sound(
    changes: dict[str, object], fault: str | None
) -> None:
    found = find_mapping_fault(replace(OLD, **changes), "T", "a", 4096)  # type: ignore[arg-type]
    assert found == fault if fault is None else found is not None and fault in found


@pytest.mark.parametrize(
    ("new", "fault"),
    [
        (replace(OLD, epoch=4), "small epoch 4 < 5"),
        (replace(OLD, epoch=6, scope="unit"), "unmatched scope"),
        (replace(OLD, epoch=6, total_queues=1), "Cannot decrease"),
        (replace(OLD, hosted={}), "equal epoch with null data"),
        (replace(OLD, epoch=6, hosted={}), None),
        (replace(OLD, hosted={0: (FIRST, OPEN)}), "different but epoch equal"),
        (replace(OLD, epoch=6, hosted={0: (FIRST, OPEN)}), None),
        (replace(OLD, epoch=6, hosted={0: (replace(FIRST, queue_id=2),)}), "items do not change"),
        (replace(OLD, epoch=6, hosted={0: (replace(FIRST, logic_offset=1),)}), "do not change"),
        (replace(OLD, epoch=6, hosted={0: (replace(FIRST, start_offset=1),)}), "do not change"),
        (replace(OLD, epoch=6, hosted={0: (replace(FIRST, broker="b"),)}), "do not change"),
        # An item that retention has emptied is dropped.
        (replace(OLD, epoch=6, hosted={0: (SECOND,)}), None),
    ],
)
def test_an_older_mapping_never_replaces_a_newer_one(new: TopicMapping, fault: str | None) -> None:
    found = find_change_fault(OLD, new)
    assert found == fault if fault is None else found is not None and fault in found


def test_an_offset_is_decided_once() -> None:
    opened = replace(OLD, broker="b", hosted={0: (FIRST, OPEN)})
    decided = replace(opened, hosted={0: (FIRST, SECOND)})
    assert find_change_fault(opened, decided) is None
    assert find_change_fault(decided, decided) is None
    other = replace(opened, hosted={0: (FIRST, replace(SECOND, logic_offset=20_000))})
    assert "do not change" in (find_change_fault(decided, other) or "")
    assert "do not change" in (find_change_fault(decided, opened) or "")


def test_a_leader_of_an_older_generation_does_not_come_back() -> None:
    moved = replace(OLD, epoch=6, hosted={0: (FIRST, SECOND)})
    back = replace(OLD, epoch=7)
    assert "older than 1" in (find_change_fault(moved, back) or "")


def test_queues_that_a_newer_mapping_does_not_name_are_kept() -> None:
    new = TopicMapping("T", "a", 6, 2, {1: (replace(FIRST, queue_id=2),)})
    assert with_kept_queues(OLD, new).hosted == {**OLD.hosted, **new.hosted}
    assert with_kept_queues(None, new) is new
    assert with_kept_queues(OLD, OLD) is OLD


def test_two_parts_of_one_queue_do_not_share_a_physical_queue() -> None:
    assert find_reuse_fault({0: (FIRST, SECOND)}) is None
    again = replace(FIRST, gen=2, logic_offset=20_000)
    assert "a-1" in (find_reuse_fault({0: (FIRST, SECOND, again)}) or "")


@pytest.mark.parametrize(
    ("other", "fault"),
    [
        (TopicMapping("T", "b", 5, 1), None),
        (TopicMapping("T", "b", 6, 1), "epoch does not match 5 != 6 in b"),
        (TopicMapping("T", "b", 5, 2), "total queue number does not match"),
        (TopicMapping("T", "b", 5, 1, scope="unit"), "scope does not match"),
        (TopicMapping("T", "b", 5, 1, is_dirty=True), "dirty in broker b"),
        (TopicMapping("T", "b", 5, 1, {0: (SECOND,)}), "duplicated in broker b"),
    ],
)
def test_brokers_that_do_not_agree_are_noticed(other: TopicMapping, fault: str | None) -> None:
    own = TopicMapping("T", "a", 5, 1, {0: (FIRST,)})
    found = find_disagreement([own, other])
    assert found == fault if fault is None else found is not None and fault in found


def test_a_queue_that_no_broker_leads_is_noticed() -> None:
    assert "does not match the real hosted queues 2 != 1" in (find_disagreement([OLD]) or "")
    wrong = TopicMapping("T", "a", 5, 1, {0: (replace(FIRST, logic_offset=-2),)})
    assert "logicOffset is -2" in (find_disagreement([wrong]) or "")
