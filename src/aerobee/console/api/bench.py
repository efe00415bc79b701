"""Load tests: start one, watch it, stop it, look at its result, compare two.

A load test makes topics of its own and deletes them; only an administrator may start one, because
everybody on the cluster feels it.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from typing import Any

from aerobee.console.api.listing import Row
from aerobee.console.http.action import (
    DELETE,
    GET,
    POST,
    Action,
    Ask,
    Event,
    EventStream,
    Record,
)
from aerobee.console.http.parameters import BODY, QUERY, Parameter, ValueKind, in_path
from aerobee.console.load.load_runs import LoadRuns
from aerobee.console.session.visitor import Role
from aerobee.console.watch.catalogue import Catalogue

KINDS = ("produce", "consume", "roundtrip", "latency")
LATENCY_RATE = 100.0
_NAME = in_path("name", "of a result")


def _whole(name: str, about: str, default: int, most: int) -> Parameter:
    return Parameter(name, BODY, about, ValueKind.WHOLE, default, bounds=(1, most))


class BenchPages:
    def __init__(self, runs: LoadRuns, catalogue: Catalogue, wall_ms: Callable[[], int]) -> None:
        self._runs = runs
        self._catalogue = catalogue
        self._wall_ms = wall_ms

    def actions(self) -> tuple[Action, ...]:
        return (
            Action(
                "listBench",
                GET,
                "/api/bench",
                Role.VIEWER,
                "Results of load tests, and the one that is under way",
                self.list,
            ),
            self._starting(),
            Action(
                "stopBench",
                POST,
                "/api/bench/stop",
                Role.ADMIN,
                "End the load test that is under way; what it measured is kept",
                self.stop,
            ),
            Action(
                "watchBench",
                GET,
                "/api/bench/live",
                Role.VIEWER,
                "The load test that is under way, a point each second, until it is over",
                self.live,
                is_stream=True,
            ),
            Action(
                "showBench",
                GET,
                "/api/bench/{name}",
                Role.VIEWER,
                "One result, and its figures beside those of another one",
                self.result,
                (_NAME, Parameter("with", QUERY, "the result to compare it with")),
            ),
            Action(
                "deleteBench",
                DELETE,
                "/api/bench/{name}",
                Role.ADMIN,
                "Delete a result",
                self.delete,
                (_NAME,),
                confirm="name",
            ),
        )

    def _starting(self) -> Action:
        rate = "messages a second; none: as fast as it goes"
        return Action(
            "startBench",
            POST,
            "/api/bench",
            Role.ADMIN,
            "Start a load test, in topics that it makes and deletes",
            self.start,
            (
                Parameter("kind", BODY, "of load test", default="produce", choices=KINDS),
                Parameter("rate", BODY, rate, ValueKind.REAL, bounds=(1, 10_000_000)),
                _whole("size", "bytes of a body", 1024, 1 << 20),
                _whole("batch", "messages in one request", 1, 1024),
                _whole("duration", "seconds that are measured", 10, 600),
                _whole("queues", "of a topic, on each broker", 8, 64),
                _whole("processes", "that share the work", 1, 8),
            ),
            of="kind",
            command="aerobee bench {kind} [--rate {rate}] [--size {size}] [--batch {batch}]"
            " [--duration {duration}s] [--queues {queues}] [--processes {processes}]",
        )

    async def list(self, ask: Ask) -> Record:
        run = self._runs.current
        return {
            "at": self._wall_ms(),
            "current": run.record() if run is not None else None,
            "rows": [result_row(one) for one in await self._runs.results()],
            "unknown": {},
        }

    async def start(self, ask: Ask) -> Record:
        from aerobee.app.load.workload.workload import Workload

        kind, size, rate = ask.text("kind"), ask.whole("size"), ask.given.get("rate")
        is_latency = kind == "latency"
        if rate is None and is_latency:
            rate = LATENCY_RATE
        workload = Workload(
            kind=kind,  # type: ignore[arg-type]
            queues=ask.whole("queues"),
            size_min=size,
            size_max=size,
            batch=ask.whole("batch"),
            in_flight=1 if is_latency else 256,
            rate=float(rate) if isinstance(rate, int | float) else None,
            processes=ask.whole("processes"),
            duration=float(ask.whole("duration")),
            warm_up=0.0 if kind == "consume" else 1.0,
        )
        run = self._runs.start(workload, self._catalogue.forget)
        return {"done": f"{run.name} was started", "name": run.name}

    async def stop(self, ask: Ask) -> Record:
        return {"done": f"{self._runs.stop().name} is stopped"}

    async def live(self, ask: Ask) -> EventStream:
        return EventStream(self._events())

    async def _events(self) -> AsyncIterator[Event]:
        async with aclosing(self._runs.points()) as points:
            async for run, new in points:
                yield Event("run", {**run.record(), "new": new})
        yield Event("end", {"at": self._wall_ms()})

    async def result(self, ask: Ask) -> Record:
        from aerobee.app.load.result.comparison import compare, differing_settings

        told = await self._runs.result(ask.text("name"))
        shown = {name: one for name, one in told.items() if name != "histograms"}
        comparison = None
        if ask.text("with"):
            before = await self._runs.result(ask.text("with"))
            comparison = {
                "with": ask.text("with"),
                "changes": [one.to_json() for one in compare(before, told)],
                "settings": differing_settings(before, told),
            }
        return {"at": self._wall_ms(), "result": shown, "comparison": comparison, "unknown": {}}

    async def delete(self, ask: Ask) -> Record:
        await self._runs.delete(ask.text("name"))
        return {"done": f"{ask.text('name')} was deleted"}


def result_row(result: Mapping[str, Any]) -> Row:
    """Return the row of a result: its main side's figures."""
    figures = result["figures"]
    main = figures.get("received") or figures.get("sent") or {}
    latency = main.get("latency_ms", {})
    workload = result.get("workload", {})
    return {
        "name": result.get("name"),
        "kind": result.get("kind"),
        "started": result.get("started"),
        "rate": main.get("rate"),
        "p50_ms": latency.get("p50"),
        "p99_ms": latency.get("p99"),
        "errors": main.get("errors"),
        "size": workload.get("size_max"),
        "batch": workload.get("batch"),
        "wanted_rate": workload.get("rate"),
        "verdict": result.get("verdict", {}).get("sentence"),
        "is_interrupted": result.get("is_interrupted"),
    }
