import asyncio
from dataclasses import replace

from aerobee.app.load.result.result import Result
from aerobee.app.load.run.planning import FoundRate, Limit, find_rate, holds
from aerobee.app.load.workload.workload import Workload
from tests.load_kit import result, side

LIMIT = Limit("p99", 10.0)
FLOOD = 1000.0


def found_where(truth: float, *, stop_after: int = 99) -> tuple[FoundRate, list[float | None]]:
    """A cluster whose p99 is 5 ms up to a rate, and 50 ms above it."""
    tried: list[float | None] = []

    async def search() -> FoundRate:
        stop = asyncio.Event()

        async def measure(workload: Workload) -> Result:
            tried.append(workload.rate)
            if len(tried) >= stop_after:
                stop.set()
            rate = workload.rate or FLOOD
            sent = side(round(rate), 1.0, 5.0 if rate <= truth else 50.0)
            return replace(result(rate=workload.rate, sent=sent), workload=workload)

        return await find_rate(Workload(), LIMIT, measure, stop, lambda *_: None, precision=0.1)

    return asyncio.run(search()), tried


def test_the_flood_comes_first_and_the_rate_is_found_below_it() -> None:
    found, tried = found_where(700)
    assert tried[:2] == [None, FLOOD / 2]
    assert found.rate is not None
    assert 700 / 1.1 <= found.rate <= 700
    assert found.best is not None
    assert found.best.workload.rate == found.rate
    assert [one.workload.rate for one, _ in found.steps] == tried[1:]


def test_where_nothing_holds_nothing_is_found() -> None:
    found, _ = found_where(0)
    assert found.rate is None
    assert found.best is None


def test_one_who_stops_it_keeps_what_was_found() -> None:
    found, tried = found_where(700, stop_after=3)
    assert len(tried) == 3
    assert found.rate == FLOOD / 2


def test_a_rate_holds_if_it_is_in_time_complete_and_without_errors() -> None:
    good = result(rate=100.0, sent=side(1000, 1.0, 5.0))
    assert holds(good, LIMIT)
    assert not holds(good, Limit("p99", 4.0))
    assert not holds(replace(good, sent=side(1000, 1.0, 5.0, unsent=100)), LIMIT)
    assert good.sent is not None
    assert not holds(replace(good, sent=replace(good.sent, errors={"busy": 1})), LIMIT)
    assert not holds(replace(good, sent=replace(good.sent, latency=side().late)), LIMIT)
