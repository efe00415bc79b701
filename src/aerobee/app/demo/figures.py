"""Figures of the demonstration, asked of the brokers as every tool asks: nothing is counted here.

Ends of queues and committed offsets are counts that never go back; a rate is the difference of two
of them. Messages with a delivery time are in the timer's queue: those of the demonstration are
among the newest, and are searched at intervals. A retry waits in a queue of a delay level, and
counts there. Slaves, where there are any, are asked for their distance from their master.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from aerobee.app.demo.story import DELAYS_SECONDS, GROUPS, REMINDERS, TOPICS
from aerobee.client.admin.admin import Admin
from aerobee.client.admin.brokers import RuntimeInfo
from aerobee.client.admin.groups import GroupProgress
from aerobee.client.admin.replica_group import ReplicaGroup, ReplicaMember
from aerobee.errors import RemoteAnswer
from aerobee.model.names import TIMER_TOPIC, dead_letter_topic, retry_topic
from aerobee.model.properties import REAL_TOPIC, TIMER_OUT_MS
from aerobee.model.route import MASTER_ID, BrokerData
from aerobee.protocol.response_codes import ResponseCode

_LEVEL = "scheduleMessageOffset_"
WAITING_SECONDS = 2.0
"""How often it is looked through what waits for a time."""
_LOOKED_AT_MAX = 1_000
"""Others may use the timer, too, and more."""


class GroupFigures(NamedTuple):
    consumed: int = 0
    """Settled, of its topic and of its retries."""
    lag: int = 0
    retried: int = 0
    dead: int = 0


class ReplicaFigures(NamedTuple):
    """A slave, compared with its master."""

    broker: str
    broker_id: int
    lag_bytes: int
    """UNKNOWN (-1): its master does not answer."""
    is_in_sync: bool
    why: str = ""
    """The reason why it is not in sync."""


class Figures(NamedTuple):
    """All figures at one moment."""

    seconds: float
    stored: Mapping[str, int]
    """By topic, how many messages it has ever had."""
    groups: Mapping[str, GroupFigures]
    delayed: int
    """Messages that wait for their time, retries among them."""
    open_transactions: int
    replicas: Sequence[ReplicaFigures] = ()
    """By broker name and id."""


class Asker:
    """Asks one cluster for figures, again and again."""

    def __init__(self, admin: Admin) -> None:
        self._admin = admin
        self._waiting = 0
        self._waiting_at = -WAITING_SECONDS

    async def ask(self, seconds: float, wall_ms: int) -> Figures:
        """Ask all brokers at once. `seconds` since the start; `wall_ms` is the brokers' clock."""
        admin = self._admin
        names = (await admin.cluster()).brokers
        brokers = [one.addresses[MASTER_ID] for one in names if MASTER_ID in one.addresses]
        topics = (*TOPICS, *map(dead_letter_topic, GROUPS))
        counts, progress, running, transactions, replicas = await asyncio.gather(
            asyncio.gather(*(_count(admin, topic, brokers) for topic in topics)),
            admin.groups.progress_of_all(on=brokers),
            admin.brokers.runtime(on=brokers),
            admin.transactions.count(on=brokers),
            _replicas(admin, names),
        )
        if seconds - self._waiting_at >= WAITING_SECONDS:
            self._waiting_at = seconds
            self._waiting = await _waiting_for_time(admin, wall_ms)
        stored = dict(zip(topics, counts, strict=True))
        return Figures(
            seconds,
            {topic: stored[topic] for topic in TOPICS},
            {
                group: _group(progress.get(group), group, stored[dead_letter_topic(group)])
                for group in GROUPS
            },
            self._waiting + sum(map(waiting_by_level, running.values())),
            sum(transactions.values()),
            replicas,
        )


async def _replicas(admin: Admin, brokers: Sequence[BrokerData]) -> Sequence[ReplicaFigures]:
    """Compare slaves with their masters; without slaves, nobody is asked."""
    with_slaves = [one for one in brokers if len(one.addresses) > 1]
    if not with_slaves:
        return ()
    addresses = [address for one in with_slaves for address in one.addresses.values()]
    said = await admin.replicas.status(on=addresses)
    found = []
    for one in sorted(with_slaves, key=lambda broker: broker.name):
        members = (
            ReplicaMember(broker_id, address, said[address])
            for broker_id, address in sorted(one.addresses.items())
        )
        group = ReplicaGroup(one.cluster, one.name, tuple(members))
        for slave in group.slaves:
            standing = group.standing(slave)
            is_in_sync = standing.is_in_sync is True
            found.append(
                ReplicaFigures(
                    one.name, slave.broker_id, standing.lag_bytes, is_in_sync, standing.why
                )
            )
    return tuple(found)


async def _count(admin: Admin, topic: str, brokers: Sequence[str]) -> int:
    """Return how many messages a topic has ever had: the ends of its queues. None: there is no
    topic."""
    found = 0
    for broker in brokers:
        try:
            stats = await admin.topics.stats(topic, on=broker)
        except RemoteAnswer as error:
            if error.code != ResponseCode.TOPIC_NOT_EXIST:
                raise
        else:
            found += sum(one.max_offset for one in stats.queues.values())
    return found


async def _waiting_for_time(admin: Admin, wall_ms: int) -> int:
    since = wall_ms - (max(DELAYS_SECONDS) + 1) * 1000
    count = 0
    async for message in admin.messages.between(TIMER_TOPIC, start=since, limit=_LOOKED_AT_MAX):
        is_ours = message.properties.get(REAL_TOPIC) == REMINDERS
        count += is_ours and int(message.properties[TIMER_OUT_MS]) > wall_ms
    return count


def _group(progress: GroupProgress | None, group: str, dead: int) -> GroupFigures:
    """Return a group's progress; a group that has consumed nothing yet is unknown to brokers."""
    if progress is None:
        return GroupFigures(dead=dead)
    return GroupFigures(
        sum(one.consumer_offset for one in progress.queues.values()),
        progress.lag,
        sum(
            one.broker_offset
            for queue, one in progress.queues.items()
            if queue.topic == retry_topic(group)
        ),
        dead,
    )


def waiting_by_level(info: RuntimeInfo) -> int:
    """Parse `scheduleMessageOffset_3: 7,9`: two messages wait."""
    pairs = (text.split(",") for name, text in info.figures.items() if name.startswith(_LEVEL))
    return sum(max(0, int(end) - int(offset)) for offset, end in pairs)
