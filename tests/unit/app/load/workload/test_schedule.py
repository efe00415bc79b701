from aerobee.app.load.workload.schedule import SECOND_NS, Schedule, unsent_waits


def test_events_are_due_evenly_whoever_sends_them() -> None:
    first, second = (Schedule(1000, 10.0, share, 2) for share in range(2))
    tenth = SECOND_NS // 10
    assert [first.due(number) - 1000 for number in range(3)] == [0, 2 * tenth, 4 * tenth]
    assert [second.due(number) - 1000 for number in range(2)] == [tenth, 3 * tenth]


def test_what_was_due_and_never_sent_has_waited_since_then() -> None:
    schedule = Schedule(0, 10.0)
    waits = list(unsent_waits(schedule, 7, 0, SECOND_NS))
    assert waits == [(3 * SECOND_NS // 10, 1), (2 * SECOND_NS // 10, 1), (SECOND_NS // 10, 1)]


def test_what_was_due_before_the_measured_time_is_not_counted() -> None:
    schedule = Schedule(0, 10.0)
    half = SECOND_NS // 2
    assert sum(times for _, times in unsent_waits(schedule, 0, half, SECOND_NS)) == 5


def test_many_that_were_never_sent_are_taken_together() -> None:
    waits = list(unsent_waits(Schedule(0, 1e6), 0, 0, SECOND_NS))
    assert len(waits) == 1000
    assert sum(times for _, times in waits) == 1_000_000
