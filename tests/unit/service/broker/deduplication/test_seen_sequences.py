import pytest

from aerobee.service.broker.deduplication.seen_sequences import (
    NO_PLACE,
    PLACES_MAX,
    RUNS_MAX,
    SeenSequences,
    SequenceVerdict,
    StoredPlace,
)


def seen_of(*sequences: int) -> SeenSequences:
    seen = SeenSequences()
    for sequence in sequences:
        seen.note(sequence, StoredPlace(sequence * 10, sequence * 100))
    return seen


def test_what_was_noted_is_repeated_and_all_else_is_new() -> None:
    seen = seen_of(0, 1, 2, 5)
    verdicts = [seen.judge(sequence) for sequence in range(7)]
    assert [one is SequenceVerdict.REPEATED for one in verdicts] == [1, 1, 1, 0, 0, 1, 0]
    assert seen.place(5) == (50, 500)
    assert seen.place(3) == NO_PLACE
    assert seen.last == 5
    assert SeenSequences().last == -1


def test_neighbours_become_one_run_from_either_side() -> None:
    assert seen_of(4, 6, 5).runs() == [4, 7]
    assert seen_of(4, 3).runs() == [3, 5]
    assert seen_of(4, 6).runs() == [4, 5, 6, 7]


def test_a_million_messages_in_order_are_one_run_whose_old_places_are_forgotten() -> None:
    seen = SeenSequences()
    for sequence in range(3 * PLACES_MAX):
        seen.note(sequence, StoredPlace(sequence, sequence))
    assert seen.runs() == [0, 3 * PLACES_MAX]
    assert seen.judge(0) is SequenceVerdict.REPEATED
    assert seen.place(0) == NO_PLACE
    assert seen.place(2 * PLACES_MAX).queue_offset == 2 * PLACES_MAX


def test_more_holes_than_are_kept_raise_the_floor() -> None:
    seen = seen_of(*range(0, 2 * RUNS_MAX + 2, 2))
    assert seen.floor == 1
    assert seen.judge(0) is SequenceVerdict.NOT_KNOWN
    assert seen.judge(1) is SequenceVerdict.NEW
    assert seen.judge(2) is SequenceVerdict.REPEATED


def test_what_is_saved_comes_back() -> None:
    seen = seen_of(*range(0, 200, 2), *range(300, 310))
    back = SeenSequences.restored(seen.floor, seen.runs(), seen.last_places(4))
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
        SeenSequences.restored(floor, runs, places)


def test_a_run_is_judged_as_a_whole() -> None:
    seen = seen_of(*range(10, 20), *range(30, 40))
    judged = {
        (start, count): seen.judge_run(start, count)
        for start in (5, 10, 12, 19, 20, 25, 40)
        for count in (1, 5, 8, 12)
    }
    assert {run for run, verdict in judged.items() if verdict is SequenceVerdict.NEW} == {
        (5, 1),
        (5, 5),
        (20, 1),
        (20, 5),
        (20, 8),
        (25, 1),
        (25, 5),
        (40, 1),
        (40, 5),
        (40, 8),
        (40, 12),
    }
    assert {run for run, verdict in judged.items() if verdict is SequenceVerdict.REPEATED} == {
        (10, 1),
        (10, 5),
        (10, 8),
        (12, 1),
        (12, 5),
        (12, 8),
        (19, 1),
    }
    assert SeenSequences().judge_run(7, 3) is SequenceVerdict.NEW


def test_a_run_that_is_noted_joins_its_neighbours_and_has_no_places() -> None:
    seen = seen_of(0, 9)
    seen.note_run(1, 5)
    assert seen.runs() == [0, 6, 9, 10]
    seen.note_run(6, 3)
    assert seen.runs() == [0, 10]
    seen.note_run(20, 5)
    assert seen.runs() == [0, 10, 20, 25]
    assert seen.place(22) == NO_PLACE
    seen.note_run(15, 5)
    assert seen.runs() == [0, 10, 15, 25]


def test_what_nobody_sends_any_more_is_forgotten() -> None:
    seen = seen_of(*range(10), 20, 21, 30)
    assert seen.forget_below(21)
    assert (seen.runs(), seen.floor) == ([21, 22, 30, 31], 21)
    assert seen.place(21) == (210, 2100)
    assert seen.place(20) == NO_PLACE
    assert seen.judge(20) is SequenceVerdict.NOT_KNOWN
    assert seen.judge_run(20, 2) is SequenceVerdict.NOT_KNOWN
    assert not seen.forget_below(31)
    assert seen.judge(31) is SequenceVerdict.NEW
