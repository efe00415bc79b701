"""One run: topics made, workers let go, heard and watched, what they measured put together, and
everything that was made taken away again.

    produce, latency   senders only
    consume            a backlog is sent first, unless the topic is somebody's; then receivers
    roundtrip          receivers until they have all queues, then senders, then what is on its way

C1. Whatever happens, topics and groups that were made here are deleted, unless they are to be kept.
C2. A run that is stopped before its time tells what it measured.
"""

import asyncio
import contextlib
import secrets
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from aerobee.app.load.measure.cluster_facts import BrokerFacts, brokers_of
from aerobee.app.load.measure.machine_watch import MachineWatch
from aerobee.app.load.measure.proc import Proc
from aerobee.app.load.measure.usage import Usage
from aerobee.app.load.result.result import Point, Result, Side, side_of
from aerobee.app.load.result.series import Series
from aerobee.app.load.result.verdict import RECEIVING, LoadFacts, consumers_behind, verdict
from aerobee.app.load.run.fleet import Fleet, LoadFailed
from aerobee.app.load.workload.job import Job
from aerobee.app.load.workload.jobs import filling_jobs, receiving_jobs, sending_jobs
from aerobee.app.load.workload.schedule import SECOND_NS
from aerobee.app.load.workload.workload import Workload
from aerobee.client.admin.admin import admin as admin_of
from aerobee.errors import AerobeeError

if TYPE_CHECKING:
    from aerobee.client.admin.admin import Admin

LOOK_SECONDS = 0.1
OWN_SECONDS = 30.0
"""How long consumers may take to share out all queues."""
CATCH_UP_SECONDS = 10.0
QUIET_SECONDS = 5.0
BACKLOG = 100_000


@dataclass(frozen=True, slots=True)
class Told:
    """What is told while a run goes on."""

    begins: Callable[[Workload, Sequence[BrokerFacts]], None]
    progress: Callable[[str], None]
    point: Callable[[Point], None]


class Trial:
    """One run of one workload. `stop` may be set at any time."""

    def __init__(
        self, workload: Workload, target: str, told: Told, stop: asyncio.Event, *, keep: bool
    ) -> None:
        self._workload = _completed(workload)
        self._target = target
        self._told = told
        self._stop = stop
        self._keep = keep
        self._run = secrets.token_hex(8)
        self._points: list[Point] = []
        self._started = datetime.now(UTC).isoformat(timespec="seconds")

    async def run(self) -> Result:
        proc = Proc()
        async with admin_of(self._target) as admin:
            brokers = await brokers_of(admin, proc)
            self._told.begins(self._workload, brokers)
            groups = [
                f"aerobee-bench-{self._run}-{number}" for number in range(self._workload.groups)
            ]
            async with self._topics(admin, groups) as topics:
                return await self._measured(
                    admin, brokers, MachineWatch(proc, brokers), topics, groups
                )

    @contextlib.asynccontextmanager
    async def _topics(self, admin: "Admin", groups: Sequence[str]) -> AsyncIterator[list[str]]:
        workload = self._workload
        topics = [workload.topic]
        if workload.topic:
            await admin.topics.route(workload.topic)  # TopicNotFound, before anything is done
        else:
            topics = [f"aerobee-bench-{self._run}-{number}" for number in range(workload.topics)]
        try:
            if not workload.topic:
                for topic in topics:
                    await admin.topics.create(topic, queues=workload.queues)
            yield topics
        finally:
            if not self._keep:
                if not workload.topic:
                    for topic in topics:
                        await self._delete(admin.topics.delete(topic), topic)
                if workload.is_consuming:
                    for group in groups:
                        await self._delete(admin.groups.delete(group), group)

    async def _delete(self, deleting: Any, name: str) -> None:
        try:
            await deleting
        except AerobeeError as error:
            self._told.progress(f"{name} is still there: {error.message}")

    async def _measured(
        self,
        admin: "Admin",
        brokers: Sequence[BrokerFacts],
        watch: MachineWatch,
        topics: list[str],
        groups: list[str],
    ) -> Result:
        workload = self._workload
        sent: Side | None = None
        received: Side | None = None
        if workload.backlog and workload.is_consuming:
            await self._fill(topics)
        senders = receivers = []
        if workload.is_producing:
            senders = sending_jobs(workload, self._target, self._run, topics)
        if workload.is_consuming:
            receivers = receiving_jobs(workload, self._target, self._run, topics, groups)
        series = Series(
            len(senders),
            len(receivers),
            is_timing_arrival=workload.kind != "produce" and bool(receivers),
        )
        if not receivers:
            sent = await self._send(senders, series, watch)
        elif not senders:
            received = await self._receive(admin, receivers, series, watch, topics)
        else:
            sent, received = await self._round(admin, senders, receivers, series, watch, topics)
        usage = watch.end()
        facts = replace(
            facts_of(workload, len(senders), sent, received, usage),
            workers=_worker_names(len(senders), len(receivers)),
            brokers=watch.broker_names,
            flush=next((broker.flush for broker in brokers if broker.pid is not None), ""),
        )
        return Result(
            workload,
            self._started,
            [broker.to_json() for broker in brokers],
            topics,
            sent,
            received,
            self._points,
            usage,
            verdict(facts),
            self._stop.is_set(),
        )

    async def _fill(self, topics: list[str]) -> None:
        """Send what is to be consumed."""
        jobs = filling_jobs(self._workload, self._target, self._run, topics)
        wanted = self._workload.backlog
        series = Series(len(jobs), 0, is_timing_arrival=False)
        async with Fleet(jobs, series.hear) as fleet:
            fleet.go()
            results = asyncio.ensure_future(fleet.results())
            while not (results.done() or self._stop.is_set()):
                await self._wait(results, 0.5)
                self._told.progress(f"filling: {min(series.sent, wanted):,} of {wanted:,} messages")
            fleet.stop()
            await results
        if not series.sent and not self._stop.is_set():
            raise LoadFailed("nothing could be sent", hint="try `aerobee bench produce`")

    async def _send(self, jobs: Sequence[Job], series: Series, watch: MachineWatch) -> Side:
        workload = self._workload
        async with Fleet(jobs, series.hear) as fleet:
            since = fleet.go() + round(workload.warm_up * SECOND_NS)
            watch.begin(fleet.pids, since)
            results = asyncio.ensure_future(fleet.results())
            while not (results.done() or self._stop.is_set()):
                await self._wait(results, LOOK_SECONDS)
                self._show(series.take(), watch, None)
            if self._stop.is_set():
                fleet.stop()
            side = side_of(await results, since, self._least_seconds())
            watch.end()
            self._show(series.take_rest(side.seconds), watch, None)
        return side

    async def _receive(
        self,
        admin: "Admin",
        jobs: Sequence[Job],
        series: Series,
        watch: MachineWatch,
        topics: list[str],
    ) -> Side:
        workload = self._workload
        async with Fleet(jobs, series.hear) as fleet:
            since = fleet.go() + round(workload.warm_up * SECOND_NS)
            watch.begin(fleet.pids, since)
            results = asyncio.ensure_future(fleet.results())
            end = since + round(workload.duration * SECOND_NS)
            lag: int | None = None
            while not (results.done() or self._stop.is_set()):
                await self._wait(results, LOOK_SECONDS)
                lag = await self._lag(admin, series, topics)
                self._show(series.take(), watch, lag)
                is_all = lag == 0 and workload.start == "earliest"
                is_enough = workload.count is not None and series.received >= workload.count
                if is_all or is_enough or time.monotonic_ns() >= end:
                    break
            fleet.stop()
            watch.end()
            told = await results
            # Joining the group took its time; what is measured is receiving.
            first = min((one["first_ns"] for one in told if one["messages"]), default=since)
            side = side_of(told, first)
            self._show(series.take_rest((first - since) / 1e9 + side.seconds), watch, lag)
        return side

    async def _round(
        self,
        admin: "Admin",
        senders: Sequence[Job],
        receivers: Sequence[Job],
        series: Series,
        watch: MachineWatch,
        topics: list[str],
    ) -> tuple[Side, Side]:
        workload = self._workload
        first = len(senders)

        def heard(worker: int, tick: dict[str, Any]) -> None:
            series.hear(first + worker, tick)

        async with Fleet(receivers, heard) as taking, Fleet(senders, series.hear) as giving:
            taking.go()
            taken = asyncio.ensure_future(taking.results())
            await self._until_owned(admin, series, topics, taken)
            since = giving.go() + round(workload.warm_up * SECOND_NS)
            taking.measure_from(since)
            watch.begin(giving.pids + taking.pids, since)
            given = asyncio.ensure_future(giving.results())
            while not (given.done() or taken.done() or self._stop.is_set()):
                await self._wait(given, LOOK_SECONDS)
                self._show(series.take(), watch, await self._lag(admin, series, topics))
            if self._stop.is_set():
                giving.stop()
            sent = side_of(await given, since, self._least_seconds())
            for worker in range(first):
                series.ended(worker)
            await self._until_caught_up(series, sent.messages * workload.groups, taken)
            watch.end()
            taking.stop()
            received = side_of(await taken, since)
            self._show(series.take_rest(received.seconds), watch, 0)
        return sent, received

    async def _until_owned(
        self,
        admin: "Admin",
        series: Series,
        topics: Sequence[str],
        taken: "asyncio.Future[Any]",
    ) -> None:
        """Until consumers have shared out all queues: what comes before would seem slow."""
        queues = sum([len((await admin.topics.stats(topic)).queues) for topic in topics])
        wanted = queues * self._workload.groups
        limit = time.monotonic() + OWN_SECONDS
        while sum(series.owned.values()) != wanted and not self._stop.is_set():
            if taken.done():
                taken.result()
            if time.monotonic() > limit:
                raise LoadFailed(
                    f"the consumers have {sum(series.owned.values())} of {wanted} queues after "
                    f"{OWN_SECONDS:.0f} s",
                    hint="fewer --consumers than queues, or `aerobee group list`",
                )
            await self._wait(taken, LOOK_SECONDS)

    async def _until_caught_up(
        self, series: Series, wanted: int, taken: "asyncio.Future[Any]"
    ) -> None:
        """What was sent is still to come; but not for ever."""
        began = quiet_since = time.monotonic()
        seen = series.received
        while seen < wanted and not taken.done():
            await self._wait(taken, LOOK_SECONDS)
            now = time.monotonic()
            if series.received != seen:
                seen, quiet_since = series.received, now
            if now - quiet_since > QUIET_SECONDS or now - began > CATCH_UP_SECONDS:
                return

    async def _lag(self, admin: "Admin", series: Series, topics: Sequence[str]) -> int | None:
        """Messages that nobody has received; None while not all queues are read."""
        stats = [await admin.topics.stats(topic) for topic in topics]
        groups = self._workload.groups
        if sum(series.owned.values()) != groups * sum(len(one.queues) for one in stats):
            return None
        ends = sum(queue.max_offset for one in stats for queue in one.queues.values())
        return max(0, groups * ends - sum(series.positions.values()))

    def _least_seconds(self) -> float:
        """A rate is of the whole time, if that was wanted and nobody stopped it."""
        workload = self._workload
        if workload.rate is None or workload.count is not None or self._stop.is_set():
            return 0.0
        return workload.duration

    def _show(self, points: Sequence[Point], watch: MachineWatch, lag: int | None) -> None:
        for point in points:
            usage = watch.latest()
            if usage is not None:
                broker = usage.broker.cores if usage.broker.is_known else None
                point = replace(point, client=usage.client.cores, broker=broker)
            point = replace(point, lag=lag)
            self._points.append(point)
            self._told.point(point)

    async def _wait(self, task: "asyncio.Future[Any]", seconds: float) -> None:
        """So long, or until it has ended, or somebody stops it."""
        stopping = asyncio.ensure_future(self._stop.wait())
        await asyncio.wait((task, stopping), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()


def facts_of(
    workload: Workload, senders: int, sent: Side | None, received: Side | None, usage: Usage
) -> LoadFacts:
    """The figures that a verdict is judged by, without names."""
    main = sent if sent is not None else received
    assert main is not None
    rate = workload.rate if sent is not None else None
    overdue = 0.0
    if rate is not None and workload.count is not None:
        # A run of a fixed time says by what it never sent that it was too slow, this one does not.
        overdue = main.seconds - main.messages / rate
    behind = ""
    if sent is not None and received is not None:
        behind = consumers_behind(
            sent.messages * workload.groups, sent.seconds, received.messages, received.seconds
        )
    return LoadFacts(
        main.rate,
        rate,
        main.messages,
        main.failed,
        main.in_flight,
        workload.in_flight * senders,
        workload.batch,
        usage,
        next(iter(main.errors), ""),
        "sent" if sent is not None else "received",
        main.unsent,
        overdue,
        behind,
    )


def _worker_names(senders: int, receivers: int) -> list[str]:
    """Of the processes of a run, those that send first."""
    is_both = bool(senders and receivers)
    names = [f"{'sending ' * is_both}worker {number}" for number in range(1, senders + 1)]
    receiving = RECEIVING * is_both
    return names + [f"{receiving}worker {number}" for number in range(1, receivers + 1)]


def _completed(workload: Workload) -> Workload:
    """With what follows from the rest: somebody in each process, something to receive."""
    if workload.kind != "consume":
        return workload
    pairs = workload.groups * (1 if workload.topic else workload.topics)
    consumers = max(workload.consumers, -(-workload.processes // pairs))
    backlog = workload.backlog
    if not workload.topic and not backlog:
        backlog = workload.count or BACKLOG
    return replace(workload, consumers=consumers, backlog=backlog)
