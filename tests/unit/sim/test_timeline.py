from aerobee.ports.clock import Now
from aerobee.sim.clock import SimClock
from aerobee.sim.timeline import HostClock, Timeline


def test_things_happen_in_the_order_of_time_and_then_of_asking() -> None:
    timeline = Timeline()
    seen: list[tuple[str, int]] = []
    for name, ms in (("late", 20), ("first", 5), ("second", 5), ("now", 0)):
        timeline.after(ms, lambda name=name: seen.append((name, timeline.now_ms)))  # type: ignore[misc]
    timeline.run(100)
    assert seen == [("now", 0), ("first", 5), ("second", 5), ("late", 20)]
    assert timeline.now_ms == 100


def test_what_is_cancelled_does_not_happen() -> None:
    timeline = Timeline()
    seen: list[str] = []
    event = timeline.after(5, lambda: seen.append("never"))
    timeline.after(1, event.cancel)
    timeline.run(10)
    assert seen == []
    assert event.is_cancelled


def test_what_is_asked_for_meanwhile_happens_too() -> None:
    timeline = Timeline()
    seen: list[int] = []

    def go_on() -> None:
        timeline.after(5, lambda: seen.append(timeline.now_ms))

    timeline.after(5, go_on)
    timeline.run(9)
    assert seen == []
    timeline.run(10)
    assert seen == [10]


def test_a_run_ends_when_it_is_over_and_not_later() -> None:
    timeline = Timeline()
    seen: list[int] = []
    for ms in (1, 2, 3):
        timeline.after(ms, lambda ms=ms: seen.append(ms))  # type: ignore[misc]
    assert timeline.run(10, lambda: len(seen) == 2)
    assert (seen, timeline.now_ms, timeline.pending) == ([1, 2], 2, 1)
    assert not timeline.run(10)


def test_each_host_has_its_own_wall_clock_and_counts_from_its_boot() -> None:
    shared = SimClock(wall_ms=1_000)
    one, other = HostClock(shared), HostClock(shared)
    shared.advance(50)
    one.jump_wall(-300)
    other.boot()
    assert one.now() == Now(750, 50)
    assert other.now() == Now(1_050, 0)
