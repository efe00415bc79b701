import pytest

from aerobee.service.broker.deduplication.seen import (
    NO_PLACE,
    PLACES_MAX,
    RUNS_MAX,
    Place,
    Seen,
    Verdict,
)


def seen_of(*sequences: int) -> Seen:
    seen = Seen()
    for sequence in sequences:
        seen.note(sequence, Place(sequence * 10, sequence * 100))
    return seen


def test_what_was_noted_is_repeated_and_all_else_is_new() -> None:
    seen = seen_of(0, 1, 2, 5)
    verdicts = [seen.judge(sequence) for sequence in range(7)]
    assert [one is Verdict.REPEATED for one in verdicts] == [1, 1, 1, 0, 0, 1, 0]
    assert seen.place(5) == (50, 500)
    assert seen.place(3) == NO_PLACE
    assert seen.last == 5
    assert Seen().last == -1


def test_neighbours_become_one_run_from_either_side() -> None:
    assert seen_of(4, 6, 5).runs() == [4, 7]
    assert seen_of(4, 3).runs() == [3, 5]
    assert seen_of(4, 6).runs() == [4, 5, 6, 7]


def test_a_million_messages_in_order_are_one_run_whose_old_places_are_forgotten() -> None:
    seen = Seen()
    for sequence in range(3 * PLACES_MAX):
        seen.note(sequence, Place(sequence, sequence))
    assert seen.runs() == [0, 3 * PLACES_MAX]
    assert seen.judge(0) is Verdict.REPEATED
    assert seen.place(0) == NO_PLACE
    assert seen.place(2 * PLACES_MAX).queue_offset == 2 * PLACES_MAX


def test_more_holes_than_are_kept_raise_the_floor() -> None:
    seen = seen_of(*range(0, 2 * RUNS_MAX + 2, 2))
    assert seen.floor == 1
    assert seen.judge(0) is Verdict.NOT_KNOWN
    assert seen.judge(1) is Verdict.NEW
    assert seen.judge(2) is Verdict.REPEATED


def test_what_is_saved_comes_back() -> None:
    seen = seen_of(*range(0, 200, 2), *range(300, 310))
    back = Seen.restored(seen.floor, seen.runs(), seen.last_places(4))
    assert (back.floor, back.runs(), back.last) == (seen.floor, seen.runs(), 309)
    assert back.place(309) == (3090, 30900)
    assert back.place(300) == NO_PLACE


@pytest.mark.parametrize(
    ("floor", "runs", "places"),
    [
        (0, [1], []),
        (0, [5, 3], []),
        (0, [1, 4, 4, 6], []),
        (2, [1, 4], []),
        (-1, [], []),
        (0, [0, 2], [1, 2]),
        (0, [0, 2], [1, 2, 3, 1, 2, 3]),
    ],
)
def test_what_cannot_be_so_is_refused(floor: int, runs: list[int], places: list[int]) -> None:
    with pytest.raises(ValueError, match="runs"):
        Seen.restored(floor, runs, places)
