import pytest

from aerobee.service.broker.transaction.open_halves import Half, OpenHalves
from tests.pure import pure

NEVER = 1 << 40


def half(offset: int, group: str = "g", expiry_ms: int = NEVER) -> Half:
    return Half(offset, group, 0, expiry_ms)


def with_halves(*due_ms: int) -> tuple[OpenHalves, list[Half]]:
    halves = OpenHalves()
    made = [half(offset) for offset in range(len(due_ms))]
    for one, due in zip(made, due_ms, strict=True):
        halves.add(one, due)
    return halves, made


def due_offsets(halves: OpenHalves, monotonic_ms: int) -> list[int]:
    found = []
    while (one := halves.take_due(monotonic_ms)) is not None:
        found.append(one.offset)
    return found


def test_halves_are_due_in_the_order_of_their_times_and_not_before() -> None:
    halves, _ = with_halves(30, 10, 20)
    assert halves.next_due_ms() == 10
    assert due_offsets(halves, 9) == []
    assert due_offsets(halves, 20) == [1, 2]
    assert due_offsets(halves, 30) == [0]
    assert halves.next_due_ms() is None
    assert len(halves) == 3, "they are open all the same"


def test_a_half_that_was_removed_is_neither_found_nor_due() -> None:
    halves, made = with_halves(10, 10)
    halves.remove(made[0])
    assert halves.find(0) is None
    assert due_offsets(halves, 10) == [1]
    assert [one.offset for one in halves] == [1]


def test_a_half_that_was_postponed_is_due_at_its_new_time_only() -> None:
    halves, made = with_halves(10)
    halves.postpone(made[0], 50)
    assert due_offsets(halves, 49) == []
    assert due_offsets(halves, 50) == [0]


def test_a_half_is_due_when_it_expires_whatever_else_was_said() -> None:
    halves = OpenHalves()
    one = half(0, expiry_ms=100)
    halves.add(one, 500)
    assert halves.next_due_ms() == 100
    halves.move(one, 1, 900)
    assert halves.next_due_ms() == 100


def test_a_half_that_moved_is_found_where_it_was() -> None:
    halves, made = with_halves(10, 10)
    halves.move(made[0], 2, 40)
    halves.move(made[0], 3, 60)
    assert [halves.find(offset) for offset in (0, 1, 2, 3)] == [made[0], made[1], made[0], made[0]]
    assert made[0].chain == (0, 2, 3)
    assert [one.offset for one in halves] == [1, 3]
    halves.remove(made[0])
    assert [halves.find(offset) for offset in (0, 2, 3)] == [None] * 3


def test_of_many_old_places_the_newest_are_remembered() -> None:
    halves, made = with_halves(10)
    for offset in range(1, 100):
        halves.move(made[0], offset, 10)
    assert len(made[0].chain) == 33
    assert halves.find(0) is None
    assert halves.find(98) is made[0]
    halves.remove(made[0])
    assert all(halves.find(offset) is None for offset in range(100))


def test_what_is_left_over_in_the_heap_is_swept_out() -> None:
    """A peer decides how long its halves are immune, and how many it begins and ends. Of the pure
    module, whose heap can be looked at."""
    module = pure("aerobee.service.broker.transaction.open_halves")
    halves = module.OpenHalves()
    for offset in range(20_000):
        one = module.Half(offset, "g", 0, NEVER)
        halves.add(one, NEVER)
        halves.remove(one)
    halves.add(module.Half(20_000, "g", 0, NEVER), 7)
    assert len(halves._heap) < 3_000
    assert due_offsets(halves, 7) == [20_000]


# Waiting.


def test_who_waits_is_kept_by_group_and_in_order() -> None:
    halves = OpenHalves()
    for offset, group in enumerate("abab"):
        one = half(offset, group)
        halves.add(one, 0)
        halves.let_wait(one)
    assert due_offsets(halves, 1_000) == []
    assert sorted(halves.waiting_groups(10)) == ["a", "b"]
    assert [one.offset for one in halves.waiting_in("a", 10)] == [0, 2]
    assert [one.offset for one in halves.waiting_in("b", 1)] == [1]
    assert halves.waiting_in("c", 10) == []
    assert halves.waiting_in("a", -1) == []


def test_groups_come_by_turns_where_they_are_many() -> None:
    halves = OpenHalves()
    for offset in range(5):
        one = half(offset, f"g{offset}")
        halves.add(one, 0)
        halves.let_wait(one)
    seen = halves.waiting_groups(2) + halves.waiting_groups(2) + halves.waiting_groups(2)
    assert set(seen) == {f"g{n}" for n in range(5)}


@pytest.mark.parametrize("how", ["remove", "move", "take"])
def test_who_does_not_wait_any_more_is_not_among_those_who_do(how: str) -> None:
    halves = OpenHalves()
    one = half(0, expiry_ms=100)
    halves.add(one, 0)
    halves.let_wait(one)
    if how == "remove":
        halves.remove(one)
    elif how == "move":
        halves.move(one, 1, 10)
    else:
        assert halves.take_due(100) is one
    assert halves.waiting_groups(10) == []
    assert halves.waiting_in("g", 10) == []
    assert not one.is_waiting


def test_who_waits_is_due_when_it_expires() -> None:
    halves = OpenHalves()
    one = half(0, expiry_ms=100)
    halves.add(one, 0)
    halves.let_wait(one)
    assert halves.next_due_ms() == 100
    assert due_offsets(halves, 99) == []
    assert due_offsets(halves, 100) == [0]
