import random

import pytest

from aerobee.service.broker.deduplication.finished_rounds import (
    RUNS_MAX,
    FinishedRounds,
    SavedRound,
    is_task,
    tasks_of,
)

EPOCH = 4 << 20


def test_a_task_that_is_through_has_nothing_left_for_that_topic() -> None:
    finished = FinishedRounds()
    assert finished.add_task("w", 7, "Orders", 4, EPOCH + 3, 100)
    assert finished.covers("w/7", "Orders", 4)
    assert not finished.covers("w/7", "Other", 4)
    assert not finished.covers("w/8", "Orders", 4)
    assert not finished.covers("w/7", "Orders", 5)
    assert not finished.covers("v/7", "Orders", 4)


def test_of_a_write_that_is_through_no_task_has_anything_left() -> None:
    finished = FinishedRounds()
    finished.add_task("w", 7, "Orders", 4, EPOCH + 3, 100)
    finished.add_write("w", "Orders", 4, EPOCH + 9, 100)
    assert finished.covers("w/0", "Orders", 4)
    assert not finished.covers("w/0", "Other", 4)
    saved = finished.saved("w")
    assert saved is not None
    assert (saved.whole, saved.tasks) == (("Orders",), {})


def test_rounds_before_the_last_are_over() -> None:
    finished = FinishedRounds()
    finished.add_write("w", "Orders", 4, EPOCH + 1, 100)
    assert finished.covers("w/0", "Other", 3)
    finished.add_task("w", 7, "Other", 5, (5 << 20) + 1, 100)
    assert finished.covers("w/0", "Orders", 4)
    assert not finished.covers("w/0", "Orders", 5)
    finished.add_write("w", "Orders", 4, EPOCH + 1, 100)
    assert not finished.covers("w/0", "Orders", 5)
    assert finished.covers("w/7", "Other", 5)


def test_epochs_of_those_who_are_through_are_over() -> None:
    finished = FinishedRounds()
    assert finished.epoch_floor("w/7") == -1
    finished.add_task("w", 7, "Orders", 4, EPOCH + 3, 100)
    finished.add_task("w", 9, "Orders", 4, EPOCH + 1, 100)
    assert finished.epoch_floor("w/7") == finished.epoch_floor("w/9") == EPOCH + 3
    assert finished.epoch_floor("w/8") == EPOCH  # of this round it has yet to send
    finished.add_write("w", "Orders", 4, EPOCH + 5, 100)
    assert finished.epoch_floor("w/8") == EPOCH + 5


def test_sequences_of_those_who_are_through_are_over() -> None:
    finished = FinishedRounds()
    assert finished.sequence_floor("w/7", "Orders") == 0
    finished.add_task("w", 7, "Orders", 4, EPOCH + 3, 100)
    assert finished.sequence_floor("w/7", "Orders") == 5 << 32
    assert finished.sequence_floor("w/7", "Other") == 4 << 32
    assert finished.sequence_floor("w/8", "Orders") == 4 << 32


@pytest.mark.parametrize("name", ["w/t7", "w", "w/", "w/-1", "w/7x", "w/1234567890", "w/\u0667"])
def test_only_tasks_of_the_write_are_meant(name: str) -> None:
    finished = FinishedRounds()
    finished.add_write("w", "Orders", 4, EPOCH + 1, 100)
    assert not finished.covers(name, "Orders", 4)
    assert (finished.epoch_floor(name), finished.sequence_floor(name, "Orders")) == (-1, 0)
    assert list(tasks_of("w", [name, "w/3", "v/3"])) == ["w/3"]
    assert is_task("0")


def test_tasks_in_any_order_become_runs() -> None:
    order = list(range(50))
    random.Random(3).shuffle(order)
    finished = FinishedRounds()
    for number, task in enumerate(order):
        assert finished.add_task("w", task, "Orders", 4, EPOCH, 100)
        assert finished.add_task("w", task, "Orders", 4, EPOCH, 100)
        for other in range(-1, 51):
            is_in = other in order[: number + 1]
            assert finished.covers(f"w/{other}", "Orders", 4) == is_in, (order, number, other)
    saved = finished.saved("w")
    assert saved is not None
    assert saved.tasks == {"Orders": (0, 50)}


def test_there_is_room_for_so_many_runs() -> None:
    finished = FinishedRounds()
    for number in range(RUNS_MAX):
        assert finished.add_task("w", 2 * number, f"T{number % 2}", 4, EPOCH, 100)
    assert not finished.add_task("w", 2 * RUNS_MAX, "Orders", 4, EPOCH, 100)
    assert not finished.covers(f"w/{2 * RUNS_MAX}", "Orders", 4)
    assert finished.add_task("w", 2, "T1", 4, EPOCH, 100)
    finished.add_write("w", "T1", 4, EPOCH, 100)
    assert finished.add_task("w", 2 * RUNS_MAX, "Orders", 4, EPOCH, 100)


def test_the_write_that_was_spoken_of_longest_ago_is_forgotten_first() -> None:
    finished = FinishedRounds(writes_max=2)
    for write_id in ("a", "b", "a", "c"):
        finished.add_write(write_id, "Orders", 4, EPOCH, 100)
    assert [one in finished for one in "abc"] == [True, False, True]
    assert len(finished) == 2


def test_writes_that_nobody_has_spoken_of_for_long_are_forgotten() -> None:
    finished = FinishedRounds()
    finished.add_write("a", "Orders", 4, EPOCH, 100)
    finished.add_write("b", "Orders", 4, EPOCH, 100)
    finished.add_write("a", "Orders", 5, EPOCH, 200)
    finished.forget_before(99)
    assert len(finished) == 2
    finished.forget_before(100)
    assert [one in finished for one in "ab"] == [True, False]


def test_a_deleted_topic_is_finished_no_more_and_its_epochs_stay_over() -> None:
    finished = FinishedRounds()
    finished.add_write("a", "Orders", 4, EPOCH + 2, 100)
    finished.add_task("b", 1, "Orders", 4, EPOCH + 2, 100)
    finished.add_write("c", "Other", 4, EPOCH + 2, 100)
    assert finished.forget_topic("Orders") == ["a", "b"]
    assert not finished.covers("a/1", "Orders", 4)
    assert not finished.covers("b/1", "Orders", 4)
    assert finished.covers("c/1", "Other", 4)
    assert finished.epoch_floor("a/1") == finished.epoch_floor("b/1") == EPOCH + 2


def test_what_is_written_down_comes_back_as_it_was() -> None:
    finished = FinishedRounds()
    finished.add_write("a", "Orders", 4, EPOCH + 2, 100)
    for task in (0, 1, 5):
        finished.add_task("a", task, "Other", 4, EPOCH + 3, 150)
    saved = finished.saved("a")
    assert saved == SavedRound(4, EPOCH + 3, 150, ("Orders",), {"Other": (0, 2, 5, 6)})
    assert finished.saved("b") is None
    again = FinishedRounds()
    again.restore([("a", saved)])
    assert again.saved("a") == saved
    assert again.covers("a/5", "Other", 4)
    assert not again.covers("a/4", "Other", 4)
