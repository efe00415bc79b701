"""Catalogue: the brokers, topics and groups of a cluster, kept for a moment and asked for again.

Lists of ten thousand names are sorted and searched here, not in a browser. A change that the
console made is seen at once: `forget` has the next question asked anew.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from aerobee.client.admin.admin import Admin
from aerobee.console.watch.broker_tables import AskSome, BrokerTables, in_parts, or_none
from aerobee.errors import NotFound
from aerobee.model.flags import is_readable, is_writable
from aerobee.model.group import GroupConfig
from aerobee.model.names import (
    is_dead_letter_topic,
    is_retry_topic,
    is_system_group,
    is_system_topic,
    reply_topic,
)
from aerobee.model.route import MASTER_ID, ClusterInfo
from aerobee.model.topic import MESSAGE_TYPE, TopicConfig

T = TypeVar("T")

FRESH_SECONDS = 2.0
COST_FACTOR = 50
"""A question that took t is not asked again for fifty times t."""
NORMAL, RETRY, DEAD_LETTER, SYSTEM = KINDS = ("normal", "retry", "dead_letter", "system")
UNSPECIFIED = "UNSPECIFIED"
Own: TypeAlias = frozenset[str]
"""System topics that are named after clusters and brokers."""


class TopicEntry(NamedTuple):
    name: str
    kind: str
    type: str
    queues: int
    """Of all brokers."""
    permission: str
    configs: Mapping[str, TopicConfig]
    """By broker."""


class GroupEntry(NamedTuple):
    name: str
    is_system: bool
    is_enabled: bool
    configs: Mapping[str, GroupConfig]
    """By broker."""


class Kept(Generic[T]):
    """An answer that is asked for again when it is old; one question at a time."""

    def __init__(
        self,
        ask: Callable[[], Awaitable[T]],
        now: Callable[[], float],
        fresh_seconds: float = FRESH_SECONDS,
    ) -> None:
        self._ask = ask
        self._now = now
        self._fresh_seconds = fresh_seconds
        self._lock = asyncio.Lock()
        self._answer: T | None = None
        self._old_at = -float("inf")

    def forget(self) -> None:
        self._old_at = -float("inf")

    async def answer(self) -> T:
        if self._answer is not None and self._now() < self._old_at:
            return self._answer
        async with self._lock:
            if self._answer is not None and self._now() < self._old_at:
                return self._answer
            begun, is_first = self._now(), self._answer is None
            self._answer = await self._ask()
            ended = self._now()
            # The first question is the dearest: those after it ask only for what has changed.
            cost = 0.0 if is_first else ended - begun
            self._old_at = ended + max(self._fresh_seconds, cost * COST_FACTOR)
            return self._answer


class Catalogue:
    def __init__(self, admin: Admin, now: Callable[[], float] = time.monotonic) -> None:
        self._admin = admin
        self._cluster = Kept(admin.cluster, now)
        self._topics = Kept(self._ask_topics, now)
        self._groups = Kept(self._ask_groups, now)
        self._own: Own = frozenset()
        self._topic_tables: BrokerTables[TopicConfig] = BrokerTables(admin.topics.tables)
        self._group_tables: BrokerTables[GroupConfig] = BrokerTables(admin.groups.tables)
        self._topic_entries: dict[str, TopicEntry] = {}
        self._group_entries: dict[str, GroupEntry] = {}

    def forget(self) -> None:
        for kept in (self._cluster, self._topics, self._groups):
            kept.forget()

    async def cluster(self) -> ClusterInfo:
        return await self._cluster.answer()

    async def cluster_names(self) -> list[str]:
        """Names of clusters. One that does not answer has none and shuts nobody out: pages say what
        is wrong with it."""
        cluster, _ = await or_none(self.cluster())
        return sorted({one.cluster for one in cluster.brokers}) if cluster is not None else []

    async def masters(self) -> dict[str, str]:
        """Addresses of masters, by broker name."""
        return {
            one.name: one.addresses[MASTER_ID]
            for one in (await self.cluster()).brokers
            if MASTER_ID in one.addresses
        }

    async def masters_of(self, entry: "TopicEntry | GroupEntry") -> list[str]:
        """Addresses of the masters that have a topic or a group; of all, where none is known."""
        masters = await self.masters()
        return [masters[one] for one in entry.configs if one in masters] or list(masters.values())

    async def broker_names(self) -> dict[str, str]:
        """Broker names, by the address of each member."""
        return {
            address: broker.name
            for broker in (await self.cluster()).brokers
            for address in broker.addresses.values()
        }

    async def place(self, name: str | None) -> str | None:
        """Return the name of a broker or cluster, checked: no address of a request is ever dialled.
        None: all."""
        if name is None:
            return None
        brokers = (await self.cluster()).brokers
        known = {one.name for one in brokers} | {one.cluster for one in brokers}
        if name not in known:
            there = ", ".join(sorted(known))
            raise NotFound(f"there is no broker or cluster {name!r}", hint=f"there are: {there}")
        return name

    async def by_broker(self, ask: AskSome[T]) -> dict[str, T]:
        """Return the answers of the masters that answer, by broker name; raises if none does."""
        masters = await self.masters()
        names = {address: name for name, address in masters.items()}
        parts = [part async for part in in_parts(ask, list(masters.values()))]
        return {names[place]: answer for part in parts for place, answer in part.items()}

    async def topics(self) -> dict[str, TopicEntry]:
        return await self._topics.answer()

    async def groups(self) -> dict[str, GroupEntry]:
        return await self._groups.answer()

    async def _ask_topics(self) -> dict[str, TopicEntry]:
        own = await self._own_names()
        found = await self._topic_tables.by_name(await self.masters())
        if found is not None or own != self._own:
            self._own = own
            found = found if found is not None else self._topic_tables.joined()
            self._topic_entries = {
                name: _topic(name, configs, own) for name, configs in sorted(found.items())
            }
        return self._topic_entries

    async def _ask_groups(self) -> dict[str, GroupEntry]:
        found = await self._group_tables.by_name(await self.masters())
        if found is not None:
            self._group_entries = {
                name: _group(name, configs) for name, configs in sorted(found.items())
            }
        return self._group_entries

    async def _own_names(self) -> Own:
        brokers = (await self.cluster()).brokers
        clusters = {one.cluster for one in brokers}
        return frozenset({one.name for one in brokers} | clusters | set(map(reply_topic, clusters)))


def kind_of(topic: str, own: Own = frozenset()) -> str:
    """Return the kind of a topic by its name."""
    if is_retry_topic(topic):
        return RETRY
    if is_dead_letter_topic(topic):
        return DEAD_LETTER
    is_system = topic in own or is_system_topic(topic, cluster="", broker="")
    return SYSTEM if is_system else NORMAL


def permission_word(permission: int) -> str:
    """Return `rw`, `r`, `w` or `-`."""
    read, write = is_readable(permission), is_writable(permission)
    return ("r" if read else "") + ("w" if write else "") or "-"


def _topic(name: str, configs: Mapping[str, TopicConfig], own: Own) -> TopicEntry:
    types = {one.attributes.get(MESSAGE_TYPE, UNSPECIFIED) for one in configs.values()}
    words = {permission_word(one.permission) for one in configs.values()}
    return TopicEntry(
        name,
        kind_of(name, own),
        types.pop() if len(types) == 1 else "MIXED",
        sum(one.read_queues for one in configs.values()),
        words.pop() if len(words) == 1 else "mixed",
        configs,
    )


def _group(name: str, configs: Mapping[str, GroupConfig]) -> GroupEntry:
    is_enabled = all(one.is_enabled for one in configs.values())
    return GroupEntry(name, is_system_group(name), is_enabled, configs)


def by_name(names: Iterable[str], wanted: str) -> list[str]:
    """Return the names that contain a text, whatever the case."""
    low = wanted.lower()
    return [name for name in names if low in name.lower()]
