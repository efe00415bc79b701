from aerobee.console.watch.due_times import DuePoint, DueTimes


def test_messages_are_counted_in_the_interval_they_are_due_in() -> None:
    due = DueTimes(1_000, 10, 3)
    for at in (999, 1_000, 1_009, 1_010, 1_029, 1_030):
        due.add(at)
    assert (due.overdue, due.counts, due.later) == (1, [2, 1, 1], 1)


def test_messages_between_two_points_are_spread_evenly() -> None:
    due = DueTimes(1_000, 10, 3)
    due.add_queue([DuePoint(0, 1_000), DuePoint(20, 1_020)], 21)
    assert due.counts == [10, 10, 1]
    due = DueTimes(1_000, 10, 2)
    due.add_queue([DuePoint(5, 990), DuePoint(45, 1_030)], 45)
    assert (due.overdue, due.counts, due.later) == (10, [10, 10], 10)


def test_points_at_one_time_and_no_points_are_counted_as_they_are() -> None:
    due = DueTimes(0, 10, 1)
    due.add_queue([], 7)
    due.add_queue([DuePoint(0, 5), DuePoint(3, 5)], 4)
    assert due.counts == [4]
