import asyncio
import time

from aerobee.app.load.worker.pacing import Pace, until
from aerobee.app.load.workload.schedule import SECOND_NS, Schedule
from tests.net_kit import in_loop


def test_each_turn_comes_once_and_none_before_it_is_due() -> None:
    async def test() -> None:
        start = time.monotonic_ns()
        pace = Pace(Schedule(start, 2000.0), start + SECOND_NS // 20)
        seen: list[tuple[int, int]] = []

        async def lane() -> None:
            while (due := await pace.turn()) is not None:
                seen.append((due, time.monotonic_ns()))

        await asyncio.gather(*(lane() for _ in range(5)))
        pace.close()
        dues = sorted(due - start for due, _ in seen)
        assert dues == [number * SECOND_NS // 2000 for number in range(len(seen))]
        assert all(due <= now for due, now in seen)
        assert pace.given == len(seen)

    in_loop(test)


def test_one_who_comes_late_is_told_when_it_was_due() -> None:
    async def test() -> None:
        now = 10 * SECOND_NS
        pace = Pace(Schedule(0, 1.0), 20 * SECOND_NS, now_ns=lambda: now)
        assert [await pace.turn() for _ in range(3)] == [0, SECOND_NS, 2 * SECOND_NS]
        pace.close()

    in_loop(test)


def test_without_a_schedule_every_turn_is_due_when_it_is_asked_for() -> None:
    async def test() -> None:
        now = 5
        pace = Pace(None, 100, count=2, now_ns=lambda: now)
        assert [await pace.turn() for _ in range(3)] == [5, 5, None]
        now = 100
        assert await Pace(None, 100, now_ns=lambda: now).turn() is None

    in_loop(test)


def test_turns_of_the_warm_up_are_not_counted() -> None:
    async def test() -> None:
        now = 5
        pace = Pace(None, 100, count=1, count_from_ns=10, now_ns=lambda: now)
        assert [await pace.turn() for _ in range(3)] == [5, 5, 5]
        now = 10
        assert [await pace.turn() for _ in range(2)] == [10, None]
        assert pace.given == 4

    in_loop(test)


def test_whoever_waits_is_told_that_it_is_over() -> None:
    async def test() -> None:
        pace = Pace(Schedule(time.monotonic_ns() + 60 * SECOND_NS, 1.0), 1 << 62)
        waiting = [asyncio.ensure_future(pace.turn()) for _ in range(3)]
        await asyncio.wait(waiting, timeout=0)
        pace.stop()
        assert await asyncio.gather(*waiting) == [None, None, None]
        assert pace.given == 0
        assert await pace.turn() is None
        pace.close()

    in_loop(test)


def test_a_moment_that_has_passed_is_not_waited_for() -> None:
    async def test() -> None:
        await until(0)
        moment = time.monotonic_ns() + 3_000_000
        await until(moment)
        assert time.monotonic_ns() >= moment - 1_500_000

    in_loop(test)
