import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from aerobee.console.history import history
from aerobee.console.history.history import History, Mark
from aerobee.console.history.history_file import HistoryFile

START = 1_700_000_100_000  # the start of a chunk of every step but the longest


def _with_history(path: Path, live: Callable[[History], Awaitable[None]]) -> None:
    async def run() -> None:
        with ThreadPoolExecutor(1) as worker:
            kept = History(HistoryFile(str(path / "history.db")), worker)
            await kept.open()
            await live(kept)
            await kept.close()

    asyncio.run(run())


def test_seconds_are_read_as_they_came_and_coarser_steps_are_means(tmp_path: Path) -> None:
    async def live(kept: History) -> None:
        for second in range(100):
            await kept.add(START + second * 1000, {"a": float(second)})
        end = START + 99_000
        fine = await kept.read(["a"], START, end, end, 600)
        assert fine.step_ms == 1000
        assert fine.series["a"] == [float(one) for one in range(100)]
        assert fine.times[0] == START
        coarse = await kept.read(["a"], START, end, end, 20)
        assert coarse.step_ms == 10_000
        assert coarse.series["a"] == [4.5 + 10 * one for one in range(10)]

    _with_history(tmp_path, live)


def test_what_was_added_is_there_after_a_new_start(tmp_path: Path) -> None:
    async def first(kept: History) -> None:
        await kept.add(START, {"a": 1.0})

    async def second(kept: History) -> None:
        await kept.add(START + 2000, {"a": 3.0})
        span = await kept.read(["a", "b"], START, START + 2000, START + 2000, 600)
        assert span.series == {"a": [1.0, None, 3.0], "b": [None, None, None]}

    _with_history(tmp_path, first)
    _with_history(tmp_path, second)


def test_a_value_that_is_no_number_is_left_out(tmp_path: Path) -> None:
    async def live(kept: History) -> None:
        await kept.add(START, {"a": float("nan"), "b": float("inf"), "c": 1.0})
        span = await kept.read(["a", "b", "c"], START, START, START, 10)
        assert span.series == {"a": [None], "b": [None], "c": [1.0]}

    _with_history(tmp_path, live)


def test_series_are_bounded_and_an_idle_one_gives_way(tmp_path: Path) -> None:
    async def live(kept: History) -> None:
        many = {f"s{number}": 1.0 for number in range(history.SERIES_MAX)}
        await kept.add(START, many)
        await kept.add(START + 1000, {"late": 1.0})
        span = await kept.read(["late"], START, START + 1000, START + 1000, 10)
        assert span.series["late"] == [None, None]
        at = START + history.IDLE_MS
        await kept.add(at, {"late": 2.0})
        span = await kept.read(["late", "s0"], at, at, at, 10)
        assert span.series["late"] == [2.0]

    _with_history(tmp_path, live)


@pytest.mark.parametrize(("start", "end", "count"), [(0, 10, 2), (5, 10, 1), (6, 10, 0)])
def test_marks_are_those_of_the_span(tmp_path: Path, start: int, end: int, count: int) -> None:
    async def live(kept: History) -> None:
        for at in (0, 5):
            kept.mark(Mark(at, "rebalance", "billing", "1 → 2 members"))
        assert len(kept.marks(start, end)) == count

    _with_history(tmp_path, live)
