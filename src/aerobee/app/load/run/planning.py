"""The highest rate that holds a latency limit, by runs against a cluster.

First as fast as it goes, which says what no limit can exceed; then rates below that, until the gap
between one that holds and one that does not is small. A rate holds when the percentile is within
the limit, nothing failed, and all that was due was sent.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from aerobee.app.load.result.result import Result
from aerobee.app.load.result.verdict import HELD
from aerobee.app.load.run.rate_search import RateSearch
from aerobee.app.load.workload.workload import Workload

FIRST_SHARE = 0.5
"""Of what goes at all: there is nearly always a rate below that which holds."""

Measure = Callable[[Workload], Awaitable[Result]]
"""One run of a workload."""
Step = Callable[[Result, bool], None]


@dataclass(frozen=True, slots=True)
class Limit:
    percentile: str
    """`p99`, as results call it."""
    ms: float


@dataclass(slots=True)
class FoundRate:
    rate: float | None = None
    """The highest that held; None: none did."""
    flood: Result | None = None
    steps: list[tuple[Result, bool]] = field(default_factory=list)

    @property
    def best(self) -> Result | None:
        """The run at that rate."""
        held = [result for result, holds in self.steps if holds]
        return max(held, key=lambda one: one.workload.rate or 0.0, default=None)


async def find_rate(
    workload: Workload,
    limit: Limit,
    measure: Measure,
    stop: asyncio.Event,
    step: Step,
    *,
    precision: float = 0.05,
) -> FoundRate:
    """`step` is told of each run. What was found until `stop` was set is told, too."""
    found = FoundRate()
    flood = await measure(replace(workload, rate=None))
    found.flood = flood
    step(flood, holds(flood, limit))
    highest = flood.main.rate
    if highest <= 0:
        return found
    search = RateSearch(highest * FIRST_SHARE, highest=highest, precision=precision)
    while (rate := search.next_rate()) is not None and not stop.is_set():
        result = await measure(replace(workload, rate=rate))
        if stop.is_set():
            break
        is_held = holds(result, limit)
        found.steps.append((result, is_held))
        step(result, is_held)
        search.tell(is_held)
        found.rate = search.found
    return found


def holds(result: Result, limit: Limit) -> bool:
    side = result.main
    figures = side.figures()
    if side.failed or "latency_ms" not in figures:
        return False
    if side.messages < (side.messages + side.unsent) * HELD:
        return False
    latency: float = figures["latency_ms"][limit.percentile]
    return latency <= limit.ms
