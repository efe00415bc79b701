"""Sampler: asks the brokers of a cluster for figures once a second, and keeps the newest.

    each second     runtime figures of every master: one request each
    as cost allows  progress of all groups (one request for each master), topics in turn, members of
                    groups in turn, transactions, timers, replicas (`poll.py`)

Topics and groups that somebody looks at come first, the others in turn. What a cluster cannot tell
is asked once an hour, not each second. One task asks; nothing here is awaited by a page.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol, TypeVar

from aerobee.client.admin.admin import Admin
from aerobee.client.admin.brokers import RuntimeInfo
from aerobee.client.admin.replica_group import ReplicaGroup
from aerobee.console.history.history import History, Mark
from aerobee.console.history.series import parts_of, series_name
from aerobee.console.http.problem import is_unsupported
from aerobee.console.watch.broker_tables import AskSome, in_parts
from aerobee.console.watch.catalogue import SYSTEM, Catalogue
from aerobee.console.watch.feed import Feed, FigureSample
from aerobee.console.watch.figures import (
    BrokerRates,
    Counters,
    Growth,
    TopicFigures,
    counters_of,
    flush_behind,
    put_latency,
    rates_between,
    topic_figures,
    waiting_by_level,
)
from aerobee.console.watch.group_figures import (
    GroupAnswers,
    GroupState,
    consumed_by_topic,
    groups_by_topic,
)
from aerobee.console.watch.poll import Poll
from aerobee.errors import AerobeeError
from aerobee.model.names import dead_letter_topic, is_system_group
from aerobee.model.route import BrokerData

_log = logging.getLogger(__name__)

M = TypeVar("M")

STEP_SECONDS = 1.0
WATCHED_SECONDS = 600.0
"""A topic or group that was looked at is asked about first for so long."""
AT_ONCE = 20
"""Topics, or groups, in one turn."""
UNSUPPORTED_SECONDS = 3600.0
KEPT_SERIES = 200
"""Topics and groups whose figures go into the history, the busiest and those that are watched."""


class WallClock(Protocol):
    def __call__(self) -> int: ...


class BrokerState:
    """A master, as it was last asked about."""

    def __init__(self) -> None:
        self.info: RuntimeInfo | None = None
        self.counters: Counters | None = None
        self.rates: BrokerRates | None = None
        self.growth = Growth()
        self.problem = ""
        """Why it did not answer the last time."""

    def answered(self, info: RuntimeInfo, seconds: float) -> None:
        after = counters_of(info, seconds)
        if self.counters is not None:
            self.rates = rates_between(self.counters, after)
        self.growth.add(seconds, after.log_end)
        self.info, self.counters, self.problem = info, after, ""


class Sampler:
    def __init__(
        self,
        admin: Admin,
        catalogue: Catalogue,
        history: History,
        feed: Feed,
        wall_ms: WallClock,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._admin = admin
        self._catalogue = catalogue
        self._history = history
        self._feed = feed
        self._wall_ms = wall_ms
        self._now = now
        self.brokers: dict[str, BrokerState] = {}
        """By name."""
        self.topics: dict[str, TopicFigures] = {}
        self.groups: dict[str, GroupState] = {}
        self.consumed: dict[str, float] = {}
        """By topic, of all groups together, a second."""
        self.consumers: Counter[str] = Counter()
        """Groups of applications, by the topics of which they have offsets."""
        self.members: dict[str, frozenset[str]] = {}
        """Client ids by group, of the groups that were asked about."""
        self.transactions: dict[str, int] = {}
        self.timers: dict[str, int] = {}
        self.replicas: dict[str, ReplicaGroup] = {}
        """By broker name, of those that have slaves."""
        self._watched: dict[tuple[str, str], float] = {}
        self._seen = -float("inf")
        self._turns: dict[str, int] = {}
        self._unsupported: dict[str, float] = {}
        self._marks: list[Mark] = []
        self._fresh: set[str] = set()
        self._polls = (
            Poll(1.0, self._ask_groups),
            Poll(1.0, self._ask_topics),
            Poll(2.0, self._ask_members),
            Poll(2.0, self._ask_transactions),
            Poll(5.0, self._ask_timers),
            Poll(2.0, self._ask_replicas),
        )

    # Who looks.

    def look(self, kind: str = "", name: str = "") -> None:
        """Note that somebody looks at the cluster, or at one topic or group."""
        self._seen = self._now()
        if kind:
            self._watched[kind, name] = self._seen

    def look_at_series(self, names: Iterable[str]) -> None:
        self.look()
        for name in names:
            kind, *rest = parts_of(name)
            if kind in ("topic", "group") and rest:
                self.look(kind, rest[0])

    def own_groups(self) -> Iterator[tuple[str, GroupState]]:
        """Return the groups of applications: those of brokers are always a little behind."""
        return ((name, one) for name, one in self.groups.items() if not is_system_group(name))

    # The task.

    async def run(self) -> None:
        """Sample until cancelled. Nothing that a cluster answers, or does not, ends it."""
        while True:
            begun = self._now()
            try:
                await self.sample()
            except AerobeeError as error:
                _log.info("the cluster was not sampled", extra={"error": error.message})
            except Exception:
                _log.exception("the cluster was not sampled")
            pause = begun + STEP_SECONDS - self._now()
            await asyncio.sleep(max(pause, STEP_SECONDS / 10))

    async def sample(self) -> None:
        """Ask for what is due, and hand the figures on."""
        await self._ask_brokers()
        is_watched = self._now() - self._seen < WATCHED_SECONDS or len(self._feed) > 0
        for poll in self._polls:
            begun = self._now()
            if poll.is_due(begun, is_watched=is_watched):
                failed = False
                try:
                    await poll.ask()
                except AerobeeError as error:
                    failed = True
                    _log.info("figures are missing", extra={"error": error.message})
                poll.asked(begun, self._now(), failed=failed)
        at = self._wall_ms()
        values = self._values()
        marks, self._marks = tuple(self._marks), []
        for mark in marks:
            self._history.mark(mark)
        await self._history.add(at, values)
        self._feed.publish(FigureSample(at, values, marks))
        self._fresh.clear()

    # Questions.

    async def _ask_brokers(self) -> None:
        masters = await self._catalogue.masters()
        for name in self.brokers.keys() - masters.keys():
            del self.brokers[name]

        async def ask(name: str, address: str) -> None:
            state = self.brokers.setdefault(name, BrokerState())
            try:
                told = await self._admin.brokers.runtime(on=address)
            except AerobeeError as error:
                state.problem, state.rates = error.message, None
            else:
                state.answered(told[address], self._now())

        await asyncio.gather(*(ask(name, address) for name, address in masters.items()))

    async def _ask_groups(self) -> None:
        addresses = list((await self._catalogue.masters()).values())
        answers = GroupAnswers({name for kind, name in self._watched if kind == "group"})
        async for told in in_parts(self._admin.groups.progress_of_all, addresses):
            answers.take(told)
        self.groups = answers.states(self._now(), self.groups)
        self.consumed = consumed_by_topic(self.groups.values())
        self.consumers = groups_by_topic(state for _, state in self.own_groups())
        self._fresh.add("group")

    async def _ask_topics(self) -> None:
        entries = await self._catalogue.topics()
        self.topics = {name: one for name, one in self.topics.items() if name in entries}
        own = [name for name, entry in entries.items() if entry.kind != SYSTEM]

        async def ask(name: str) -> None:
            try:
                places = await self._catalogue.masters_of(entries[name])
                stats = await self._admin.topics.stats(name, on=places)
            except AerobeeError:
                self.topics.pop(name, None)  # deleted, or its broker is silent
                return
            before = self.topics.get(name)
            self.topics[name] = topic_figures(stats.queues.values(), self._now(), before)

        await asyncio.gather(*map(ask, self._turn("topic", own)))
        self._fresh.add("topic")

    async def _ask_members(self) -> None:
        entries = await self._catalogue.groups()
        names = [name for name, one in entries.items() if not one.is_system]
        self.members = {name: one for name, one in self.members.items() if name in entries}

        async def ask(name: str) -> None:
            try:
                places = await self._catalogue.masters_of(entries[name])
                there = frozenset(await self._admin.connections.client_ids(name, on=places))
            except AerobeeError:
                return
            before = self.members.get(name)
            if before is not None and before != there:
                text = f"{len(before)} → {len(there)} members"
                self._marks.append(Mark(self._wall_ms(), "rebalance", name, text))
            self.members[name] = there

        await asyncio.gather(*map(ask, self._turn("group", names)))

    async def _ask_transactions(self) -> None:
        ask = self._admin.transactions.count
        self.transactions = await self._if_supported("transactions", ask) or {}

    async def _ask_timers(self) -> None:
        ask = self._admin.brokers.waiting_for_a_time
        told = await self._if_supported("timers", ask) or {}
        self.timers = {name: sum(counts.values()) for name, counts in told.items()}

    async def _ask_replicas(self) -> None:
        brokers = (await self._catalogue.cluster()).brokers
        told = await asyncio.gather(*map(self.replicas_of, brokers))
        self.replicas = {one.name: one for one in told if one is not None}
        self._fresh.add("replica")

    async def replicas_of(self, broker: BrokerData) -> ReplicaGroup | None:
        """Ask all members of a broker name; None: it has one only, or nobody can say."""
        if len(broker.addresses) < 2:
            return None
        try:
            return await self._admin.replicas.group(broker.name)
        except AerobeeError:
            return None

    async def _if_supported(self, what: str, ask: AskSome[M]) -> dict[str, M] | None:
        if self._now() < self._unsupported.get(what, -float("inf")):
            return None
        try:
            return await self._catalogue.by_broker(ask)
        except AerobeeError as error:
            if not is_unsupported(error):
                raise
            self._unsupported[what] = self._now() + UNSUPPORTED_SECONDS
            return None

    def is_supported(self, what: str) -> bool:
        """Whether the cluster has not refused a question as unknown."""
        return what not in self._unsupported

    def _turn(self, kind: str, names: list[str]) -> list[str]:
        """Return the names to ask about now: those that are watched, and the next of the others."""
        now = self._now()
        for key in [key for key, at in self._watched.items() if now - at > WATCHED_SECONDS]:
            del self._watched[key]
        known = set(names)
        first = [name for of, name in self._watched if of == kind and name in known][-AT_ONCE:]
        start = self._turns.get(kind, 0) % max(1, len(names))
        others = [*names[start:], *names[:start]][: AT_ONCE - len(first)]
        self._turns[kind] = start + len(others)
        return list(dict.fromkeys([*first, *others]))

    # Figures.

    def _values(self) -> dict[str, float]:
        values: dict[str, float] = {}
        for name, state in self.brokers.items():
            values |= self._broker_values(name, state)
        for figure in ("in", "out", "in_bytes"):
            told = [values.get(series_name("broker", name, figure)) for name in self.brokers]
            if any(one is not None for one in told):
                values[f"cluster.{figure}"] = sum(one or 0.0 for one in told)
        values["cluster.lag"] = sum(one.lag for _, one in self.own_groups())
        if self.is_supported("transactions"):
            values["cluster.transactions"] = sum(self.transactions.values())
        values["cluster.delayed"] = sum(
            values.get(series_name("broker", name, "delayed"), 0.0) for name in self.brokers
        )
        if "replica" in self._fresh:
            values |= self._replica_values()
        if "topic" in self._fresh:
            values |= self._topic_values()
        if "group" in self._fresh:
            values |= self._group_values()
        return values

    def _broker_values(self, name: str, state: BrokerState) -> dict[str, float]:
        found: dict[str, float] = {}
        info, rates = state.info, state.rates
        if info is None or state.problem:
            return found
        if rates is not None:
            found |= {"in": rates.stored, "out": rates.read, "in_bytes": rates.bytes}
        found["disk"] = info.disk_used_ratio
        found["log_bytes"] = info.log_end - info.log_start
        found["dispatch_behind"] = float(info.figures.get("dispatchBehindBytes", "0") or 0)
        found["flush_behind"] = flush_behind(info)
        found["delayed"] = sum(waiting_by_level(info).values()) + self.timers.get(name, 0)
        found["transactions"] = self.transactions.get(name, 0)
        for percentile, ms in (put_latency(info) or {}).items():
            found[f"put_{percentile}_ms"] = ms
        return {series_name("broker", name, figure): value for figure, value in found.items()}

    def _replica_values(self) -> dict[str, float]:
        return {
            series_name("replica", slave.address, "lag_bytes"): lag
            for group in self.replicas.values()
            for slave in group.slaves
            if (lag := group.standing(slave).lag_bytes) >= 0  # else it is not known
        }

    def _topic_values(self) -> dict[str, float]:
        chosen = self._kept("topic", {name: one.stored or 0.0 for name, one in self.topics.items()})
        values: dict[str, float] = {}
        for name in chosen:
            figures = self.topics[name]
            values[series_name("topic", name, "messages")] = figures.messages
            if figures.stored is not None:
                values[series_name("topic", name, "in")] = figures.stored
            consumed = self.consumed.get(name)
            if consumed is not None:
                values[series_name("topic", name, "out")] = consumed
        return values

    def _group_values(self) -> dict[str, float]:
        chosen = self._kept("group", {name: one.lag for name, one in self.groups.items()})
        values: dict[str, float] = {}
        for name in chosen:
            state = self.groups[name]
            values[series_name("group", name, "lag")] = state.lag
            values[series_name("group", name, "retry")] = state.retry
            if state.consumed is not None:
                values[series_name("group", name, "out")] = state.consumed
            if name in self.members:
                values[series_name("group", name, "members")] = len(self.members[name])
            if ("group", name) in self._watched:
                for queue, lag in state.lags.items():
                    place = (queue.topic, queue.broker_name, queue.queue_id)
                    values[series_name("group", name, "lag", *place)] = lag
            dead = self.topics.get(dead_letter_topic(name))
            if dead is not None:
                values[series_name("group", name, "dead")] = dead.messages
        return values

    def _kept(self, kind: str, weights: Mapping[str, float]) -> list[str]:
        """Return the names whose figures are kept: the watched ones, and the largest."""
        watched = [name for of, name in self._watched if of == kind and name in weights]
        if len(weights) <= KEPT_SERIES:
            return list(weights)
        largest = sorted(weights, key=weights.__getitem__, reverse=True)[:KEPT_SERIES]
        return list(dict.fromkeys([*watched, *largest]))
