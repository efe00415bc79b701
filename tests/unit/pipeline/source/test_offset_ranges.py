import pytest

from aerobee.errors import Misuse
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.pipeline.source.offset_ranges import (
    QueueRange,
    limited,
    limited_by_bytes,
    pack,
    ranges_between,
    split,
)

A, B, C = (MessageQueue("t", name, QueueId(0)) for name in "abc")


def test_what_lies_between_two_places_comes_in_the_order_of_queues() -> None:
    assert ranges_between({B: 1, A: 2, C: 5}, {B: 3, A: 7, C: 5}) == [
        QueueRange(A, 2, 7),
        QueueRange(B, 1, 3),
    ]
    with pytest.raises(Misuse, match="t@b:0"):
        ranges_between({A: 0}, {A: 1, B: 1})


def test_a_limit_is_shared_and_nobody_starves() -> None:
    ranges = [QueueRange(A, 0, 1_000_000), QueueRange(B, 10, 12), QueueRange(C, 0, 500_000)]
    given = limited(ranges, 1000)
    assert sum(one.size for one in given) == 1000
    assert {one.queue: one.size for one in given} == {A: 666, B: 1, C: 333}
    assert given[1] == QueueRange(B, 10, 11)
    assert limited(ranges, 10**9) == ranges


def test_with_fewer_messages_than_queues_everybody_has_a_turn() -> None:
    at = {A: 0, B: 0, C: 0}
    for _ in range(6):
        (one,) = limited([QueueRange(key, start, 100) for key, start in at.items()], 1)
        at[one.queue] = one.end
    assert at == {A: 2, B: 2, C: 2}


def test_bytes_are_limited_by_what_messages_weighed() -> None:
    ranges = [QueueRange(A, 0, 100), QueueRange(B, 0, 100)]
    assert limited_by_bytes(ranges, 200, {}) == ranges
    halved = limited_by_bytes(ranges, 10_000, {A: 100.0, B: 100.0})
    assert [one.size for one in halved] == [50, 50]
    assert sum(one.size for one in limited_by_bytes(ranges, 1, {A: 1e9, B: 1e9})) == 1


def test_large_ranges_are_cut_into_equal_pieces() -> None:
    pieces = split([QueueRange(A, 0, 90), QueueRange(B, 5, 15)], pieces_min=10, messages_max=0)
    assert [one.size for one in pieces] == [10] * 10
    assert pieces[-1] == QueueRange(B, 5, 15)
    assert [one.size for one in split([QueueRange(A, 0, 10)], pieces_min=0, messages_max=4)] == [
        3,
        3,
        4,
    ]
    assert split([QueueRange(A, 0, 2)], pieces_min=50, messages_max=0) == [
        QueueRange(A, 0, 1),
        QueueRange(A, 1, 2),
    ]


def test_small_ranges_are_packed_evenly_and_always_the_same() -> None:
    ranges = [
        QueueRange(MessageQueue("t", "a", QueueId(number)), 0, number + 1) for number in range(8)
    ]
    packed = pack(ranges, 3)
    assert sorted(one for partition in packed for one in partition) == ranges
    assert max(sum(one.size for one in partition) for partition in packed) <= 13
    assert pack(list(reversed(ranges)), 3) == packed
    assert pack([], 3) == []
    assert len(pack(ranges, 100)) == 8


@pytest.mark.parametrize("call", [limited, pack])
def test_a_limit_that_lets_nothing_through_is_refused(call: object) -> None:
    with pytest.raises(Misuse):
        call([QueueRange(A, 0, 1)], 0)  # type: ignore[operator]
    with pytest.raises(Misuse):
        limited_by_bytes([QueueRange(A, 0, 1)], 0, {})
