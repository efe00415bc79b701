"""Consume times of a group: percentiles of what its members traced in the last hour.

No broker knows how long a member takes for a message. Members that trace write it down, one record
for each message: the newest TRACES_MAX of these are read. Percentiles are those of real messages,
by nearest rank.
"""

import math
from collections.abc import Callable, Sequence
from contextlib import aclosing

from aerobee.client.admin.admin import Admin
from aerobee.client.core.trace_reading import CONSUMED, RECEIVED, TraceStep, read_steps
from aerobee.console.http.action import GET, Action, Ask, Record
from aerobee.console.http.parameters import in_path
from aerobee.console.message.message_filter import MessageFilter
from aerobee.console.message.message_search import Found, MessageSearch, SearchWish
from aerobee.console.session.visitor import Role
from aerobee.errors import TopicNotFound
from aerobee.model.names import TRACE_TOPIC

HOUR_MS = 3_600_000
TRACES_MAX = 2_000
"""Messages of traces, each of which has records of many messages."""
NO_TRACE = (
    "members did not trace in the last hour: clients do with connect(trace=True), Java's with"
    " enableMsgTrace, in brokers with traceTopicEnable=true"
)


class GroupTimePages:
    def __init__(self, admin: Admin, wall_ms: Callable[[], int]) -> None:
        self._search = MessageSearch(admin)
        self._wall_ms = wall_ms

    def actions(self) -> tuple[Action, ...]:
        return (
            Action(
                "groupTimes",
                GET,
                "/api/groups/{group}/times",
                Role.VIEWER,
                "How long members of a group take for a message, by their traces of the last hour",
                self.show,
                (in_path("group", "the name of a consumer group"),),
            ),
        )

    async def show(self, ask: Ask) -> Record:
        now = self._wall_ms()
        done = consumed_by(ask.text("group"), await self._steps(now - HOUR_MS))
        times = sorted(one.cost_ms for one in done if one.cost_ms is not None)
        return {
            "at": now,
            "messages": len(done),
            "failed": sum(one.is_success is False for one in done),
            "ms": _percentiles(times) if times else None,
            "unknown": {} if times else {"ms": NO_TRACE},
        }

    async def _steps(self, since: int) -> list[TraceStep]:
        found: list[TraceStep] = []
        wish = SearchWish(TRACE_TOPIC, since, limit=TRACES_MAX)
        try:
            async with aclosing(self._search.run(wish, MessageFilter())) as steps:
                async for step in steps:
                    if isinstance(step, Found):
                        found += read_steps(step.message.body)
        except TopicNotFound:
            pass
        return found


def consumed_by(group: str, steps: Sequence[TraceStep]) -> list[TraceStep]:
    """Return the steps in which a group consumed a message. Old clients name their group only where
    they tell that they received it."""
    begun = {one.request: one.group for one in steps if one.kind == RECEIVED}
    return [
        one
        for one in steps
        if one.kind == CONSUMED and (one.group or begun.get(one.request)) == group
    ]


def _percentiles(times: Sequence[int]) -> Record:
    def at(share: float) -> int:
        return times[math.ceil(share * len(times)) - 1]

    return {"p50": at(0.5), "p99": at(0.99), "p999": at(0.999), "most": times[-1]}
