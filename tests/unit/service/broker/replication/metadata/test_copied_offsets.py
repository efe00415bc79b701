import pytest

from aerobee.service.broker.replication.metadata.copied_offsets import (
    OffsetMerge,
    OwedCommit,
    merge_offsets,
)
from aerobee.service.broker.state.offset_table import Picture

KEY = ("Orders", "g")
EMPTY: Picture = {}


def far(topic: str, queue_id: int) -> int:
    return 100


def merged(
    *, last: int | None, now: int | None, here: int | None, own: int | None
) -> tuple[int | None, OffsetMerge]:
    """The slave's offset after a copy, of one queue; `last` -1: the master was started since."""

    def picture(offset: int | None) -> Picture:
        return EMPTY if offset is None else {KEY: {0: offset}}

    merge = merge_offsets(
        picture(now), None if last == -1 else picture(last), picture(own), picture(here), far
    )
    if KEY in merge.gone:
        return None, merge
    return merge.changed.get(KEY, {0: own if own is not None else -1}).get(0), merge


@pytest.mark.parametrize(
    ("last", "now", "here", "own", "result", "is_owed"),
    [
        (10, 10, 14, 14, 14, True),
        (10, 16, 14, 14, 16, False),
        (10, 12, 14, 14, 12, False),
        (10, 3, 14, 14, 3, False),
        (-1, 9, 14, 14, 14, True),
        (-1, 14, 14, 14, 14, False),
        (10, 12, None, 10, 12, False),
        (10, 3, None, 10, 3, False),
        (10, 10, None, 10, 10, False),
        (-1, 9, None, 12, 9, False),
        (None, None, 14, 14, 14, True),
        (-1, None, 14, 14, 14, True),
        (10, None, 14, 14, None, False),
        (10, None, None, 10, None, False),
        (None, 5, None, None, 5, False),
    ],
)
def test_of_two_offsets_the_masters_counts_unless_a_higher_one_was_committed_here(
    last: int | None,
    now: int | None,
    here: int | None,
    own: int | None,
    result: int | None,
    is_owed: bool,
) -> None:
    found, merge = merged(last=last, now=now, here=here, own=own)
    assert found == result
    commit = OwedCommit("Orders", "g", 0, here or 0)
    assert merge.owed == ([commit] if is_owed else [])
    assert merge.settled == ([commit] if here is not None and not is_owed else [])


def test_only_what_changes_is_changed() -> None:
    own: Picture = {("A", "g"): {0: 1}, ("B", "g"): {0: 2}, ("C", "g"): {0: 3}}
    now: Picture = {("A", "g"): {0: 1}, ("B", "g"): {0: 2, 1: 5}}
    merge = merge_offsets(now, now, own, {}, far)
    assert merge == OffsetMerge({("B", "g"): {0: 2, 1: 5}}, [("C", "g")], [], [])


def test_queues_of_one_group_are_decided_one_by_one() -> None:
    now: Picture = {KEY: {0: 10, 1: 10, 2: 10}}
    last: Picture = {KEY: {0: 10, 1: 5, 2: 10}}
    here: Picture = {KEY: {0: 14, 1: 14, 3: 14}}
    merge = merge_offsets(now, last, EMPTY, here, far)
    assert merge.changed == {KEY: {0: 14, 1: 10, 2: 10, 3: 14}}
    assert [commit.queue_id for commit in merge.owed] == [0, 3]


def test_no_offset_is_beyond_the_end_of_its_queue_or_below_zero() -> None:
    now: Picture = {KEY: {0: 500, 1: -7}}
    assert merge_offsets(now, None, EMPTY, {}, far).changed == {KEY: {0: 100, 1: 0}}
