"""Figures over time: history for charts, and the newest as server-sent events.

A series that is asked for counts as looked at: the sampler asks about its topic or group first.
Spans of more than an hour come from Prometheus where one is configured.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing

from aerobee.console.history.history import History, Mark, Span
from aerobee.console.history.prometheus import Prometheus, filled, reason_of
from aerobee.console.http.action import GET, Action, Ask, Event, EventStream, Record
from aerobee.console.http.parameters import QUERY, Parameter, ValueKind
from aerobee.console.http.problem import Problem, bad_request
from aerobee.console.session.visitor import Role
from aerobee.console.watch.feed import WATCHERS_MAX, Feed
from aerobee.console.watch.sampler import STEP_SECONDS, Sampler
from aerobee.errors import AerobeeError

SERIES_MAX = 200
POINTS = 600
POINTS_MAX = 3_600
HOUR_MS = 3_600_000

_SERIES = Parameter(
    "series", QUERY, "names of series, with commas in between", ValueKind.TEXTS, is_required=True
)


class LivePages:
    def __init__(
        self,
        history: History,
        prometheus: Prometheus | None,
        feed: Feed,
        sampler: Sampler,
        wall_ms: Callable[[], int],
    ) -> None:
        self._history = history
        self._prometheus = prometheus
        self._feed = feed
        self._sampler = sampler
        self._wall_ms = wall_ms

    def actions(self) -> tuple[Action, ...]:
        moment = (0, 2**53)
        points = (2, POINTS_MAX)
        past = Parameter("from", QUERY, "ms since 1970", ValueKind.WHOLE, bounds=moment)
        count = Parameter("points", QUERY, "at most", ValueKind.WHOLE, POINTS, bounds=points)
        return (
            Action(
                "history",
                GET,
                "/api/history",
                Role.VIEWER,
                "Series of figures over a span of time, on the same times",
                self.history,
                (
                    _SERIES,
                    past,
                    Parameter("to", QUERY, "ms since 1970", ValueKind.WHOLE, bounds=moment),
                    count,
                ),
            ),
            Action(
                "live",
                GET,
                "/api/live",
                Role.VIEWER,
                "Series of figures, once a second; with `from`, their past first",
                self.live,
                (_SERIES, past, count),
                is_stream=True,
            ),
        )

    async def history(self, ask: Ask) -> Record:
        names = _names(ask)
        end = ask.maybe_whole("to") or self._wall_ms()
        start = ask.maybe_whole("from")
        start = end - HOUR_MS if start is None else start
        if start >= end:
            raise bad_request("from must be before to")
        self._sampler.look_at_series(names)
        return await self._past(names, start, end, ask.whole("points"))

    async def _past(self, names: list[str], start: int, end: int, points: int) -> Record:
        span = await self._history.read(names, start, end, self._wall_ms(), points)
        prometheus = self._prometheus if end - start > HOUR_MS else None
        series, source, unknown = await _with_prometheus(prometheus, span)
        return {
            "step_ms": span.step_ms,
            "times": span.times,
            "series": series,
            "marks": [_mark(one) for one in self._history.marks(start, end)],
            "source": source,
            "unknown": unknown,
        }

    async def live(self, ask: Ask) -> EventStream:
        names = _names(ask)
        if len(self._feed) >= WATCHERS_MAX:
            raise Problem(429, "too_many", "too many pages watch", retry_seconds=10)
        return EventStream(self._events(names, ask.maybe_whole("from"), ask.whole("points")))

    async def _events(
        self, names: list[str], start: int | None, points: int
    ) -> AsyncIterator[Event]:
        now = self._wall_ms()
        yield Event("hello", {"at": now, "step_ms": int(STEP_SECONDS * 1000)})
        if start is not None and start < now:
            self._sampler.look_at_series(names)
            yield Event("past", await self._past(names, start, now, points))
        wanted = set(names)
        async with aclosing(self._feed.samples()) as samples:
            async for sample in samples:
                self._sampler.look_at_series(names)
                values = {name: sample.values[name] for name in wanted & sample.values.keys()}
                yield Event("sample", {"at": sample.at, "values": values})
                for mark in sample.marks:
                    yield Event("mark", _mark(mark))


def _names(ask: Ask) -> list[str]:
    names = [name for name in ask.texts("series") if name]
    if not 1 <= len(names) <= SERIES_MAX:
        raise bad_request(f"from 1 to {SERIES_MAX} series at once")
    return names


def _mark(mark: Mark) -> Record:
    return mark._asdict()


async def _with_prometheus(prometheus: Prometheus | None, span: Span) -> tuple[Record, str, Record]:
    """Return the values of a long span, with Prometheus's where it has some, their source, and
    what is missing."""
    if prometheus is None or not span.times:
        return span.series, "console", {}
    try:
        told = await prometheus.read(span.series, span.times, span.step_ms)
    except AerobeeError as error:
        return span.series, "console", {"series": reason_of(error)}
    found = {
        name: filled(own, told[name]) if name in told else own for name, own in span.series.items()
    }
    return found, "prometheus" if told else "console", {}
