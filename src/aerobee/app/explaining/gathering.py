"""Gathering asks a cluster for the facts that a message or a group is explained by.

G1. Asking changes nothing: no group is joined or created, no offset is committed.
G2. Facts that only Aerobee's brokers have are left out where a broker refuses.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from datetime import UTC, datetime
from typing import Any, TypeVar

from aerobee.app.explaining.facts import WAITING_ROOMS, GroupFacts, MessageFacts, QueueFacts
from aerobee.client.admin.admin import Admin
from aerobee.errors import AerobeeError, ProtocolError, RemoteAnswer, TopicNotFound
from aerobee.model.flags import is_readable
from aerobee.model.message import StoredMessage
from aerobee.model.message_id import parse_offset_message_id, parse_unique_id
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.names import (
    dead_letter_topic,
    is_dead_letter_topic,
    is_retry_topic,
    pop_retry_topic,
    retry_topic,
)
from aerobee.model.properties import REAL_TOPIC
from aerobee.model.route import TopicRoute
from aerobee.protocol.bodies.assignment import POP
from aerobee.protocol.bodies.open_transactions import OpenTransaction
from aerobee.protocol.bodies.running_info import CONSUME_MODE, PAUSED_QUEUES, RunningInfo

T = TypeVar("T")
Tell = Callable[[], None]

AT_ONCE = 16
MEMBERS_AT_ONCE = 64
MEMBER_SECONDS = 2.0
"""That a member may take to answer: one that hangs is a finding, and nobody waits for it."""
_UNITS_MS = {"s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def _say_nothing() -> None:
    return None


class Gathering:
    def __init__(
        self,
        admin: Admin,
        now_ms: Callable[[], int],
        tell: Tell = _say_nothing,
        member_seconds: float = MEMBER_SECONDS,
    ) -> None:
        """`tell` is called for each topic that was searched."""
        self._member_seconds = member_seconds
        self._admin = admin
        self._now_ms = now_ms
        self._tell = tell

    # A message.

    async def message(
        self, message_id: str, *, topic: str = "", group: str = ""
    ) -> tuple[MessageFacts, list[GroupFacts]]:
        """Return the facts of a message, and of one group or of all that consume its topic."""
        placed, is_gone = await self._at_place(message_id)
        unique_id = placed.unique_id if placed is not None and placed.unique_id else message_id
        topic = topic or (_topic_of(placed) if placed is not None else "")
        copies = await self._copies(unique_id, [topic] if topic else await self._topics())
        if placed is not None and placed.log_offset not in [one.log_offset for one in copies]:
            copies.append(placed)
        held = await self._open(unique_id, message_id)
        topic = topic or _topic_in(copies, held)
        groups = [group] if group else await self._groups_of(topic)
        derived = [name for one in groups for name in _derived(one, topic)]
        copies += await self._copies(unique_id, derived)
        names = await self._broker_names()
        route = await self._route(topic)
        facts = MessageFacts(
            message_id,
            topic,
            route is not None or not topic,
            tuple((names.get(_host(one), _host(one)), one) for one in copies),
            held,
            await self._oldest_ms(topic, route),
            born_ms(unique_id, self._now_ms()),
            is_gone,
            await self._delay_levels(),
        )
        return facts, [await self.group(one, topic=topic) for one in groups]

    async def _at_place(self, message_id: str) -> tuple[StoredMessage | None, bool]:
        """Return the message at the address that an id contains, if it contains one; and whether
        that part of the log is already deleted."""
        try:
            place = parse_offset_message_id(message_id)
        except ProtocolError:
            return None, False
        names = await self._broker_names()
        address = f"{place.address}:{place.port}"
        if address not in names:
            return None, False
        try:
            return await self._admin.messages.by_offset_id(message_id), False
        except (RemoteAnswer, ProtocolError):
            (info,) = (await self._admin.brokers.runtime(on=address)).values()
            return None, place.log_offset < info.log_start

    async def _topics(self) -> list[str]:
        """Return the topics that applications send to."""
        system = set(await self._admin.topics.system_names())
        return [
            name
            for name in await self._admin.topics.names()
            if name not in system and not (is_retry_topic(name) or is_dead_letter_topic(name))
        ]

    async def _copies(self, unique_id: str, topics: Iterable[str]) -> list[StoredMessage]:
        """Return all messages with this id in these topics, and in the system topics where messages
        wait."""

        async def search(topic: str) -> list[StoredMessage]:
            try:
                return await self._admin.messages.by_unique_id(topic, unique_id)
            except TopicNotFound:
                return []
            finally:
                self._tell()

        found = await _all_of(search(topic) for topic in dict.fromkeys([*topics, *WAITING_ROOMS]))
        return [message for messages in found for message in messages]

    async def _open(self, *ids: str) -> OpenTransaction | None:
        try:
            async for held in self._admin.transactions.open():
                if held.facts.message_id in ids or held.facts.offset_message_id in ids:
                    return held.facts
        except RemoteAnswer:  # only our brokers can list them
            pass
        return None

    async def _groups_of(self, topic: str) -> list[str]:
        try:
            return await self._admin.topics.groups(topic) if topic else []
        except TopicNotFound:
            return []

    async def _route(self, topic: str) -> TopicRoute | None:
        try:
            return await self._admin.topics.route(topic) if topic else None
        except TopicNotFound:
            return None

    async def _broker_names(self) -> dict[str, str]:
        """Return broker names, by address."""
        return {
            address: broker.name
            for broker in (await self._admin.cluster()).brokers
            for address in broker.addresses.values()
        }

    async def _oldest_ms(self, topic: str, route: TopicRoute | None) -> int:
        if route is None:
            times = [info.earliest_ms for info in (await self._admin.brokers.runtime()).values()]
        else:
            queues = _queues_of(topic, route)
            times = await _all_of(self._admin.offsets.earliest_ms(queue) for queue in queues)
        known = [at for at in times if at > 0]
        return min(known, default=0)

    async def _delay_levels(self) -> tuple[int, ...]:
        for settings in (await self._admin.brokers.config()).values():
            levels = settings.get("messageDelayLevel", "").split()
            return tuple(int(one[:-1]) * _UNITS_MS[one[-1]] for one in levels)
        return ()

    # A group.

    async def group(self, group: str, *, topic: str = "") -> GroupFacts:
        """Return the facts of a group in all topics that it consumes, or in one and its retries."""
        configs = [
            config
            for known in (await self._admin.groups.configs()).values()
            for config in known
            if config.name == group
        ]
        there = await self._admin.connections.consumers(group)
        clients = [one.client_id for one in there.clients]
        asked = (self._running(group, client) for client in clients)
        told = await _all_of(asked, MEMBERS_AT_ONCE)
        running = {one: info for one, info in zip(clients, told, strict=True) if info is not None}
        wanted = {one.topic: one for one in there.subscriptions}
        consumed = set(await self._admin.groups.topics(group))
        retries = {retry_topic(group), pop_retry_topic(group, topic)}
        topics = sorted({topic, *retries} if topic else consumed | set(wanted))
        queues: dict[MessageQueue, QueueFacts] = {}
        for one in topics:
            queues.update(await self._queues(group, one, running))
        own = [one for one in topics if not is_retry_topic(one)]
        return GroupFacts(
            group,
            self._now_ms(),
            is_known=bool(configs or consumed),
            is_enabled=all(config.is_enabled for config in configs),
            forbidden=tuple([one for one in own if not await self._may_read(group, one)]),
            model=there.manner.message_model if there.manner is not None else None,
            is_popping=await self._is_popping(group, running.values()),
            members=tuple(clients),
            silent=tuple(one for one in clients if one not in running),
            subscriptions=wanted,
            mismatches=there.mismatches,
            queues=queues,
            dead_letters=await self._admin.dead_letters.count(group),
        )

    async def _running(self, group: str, client: str) -> RunningInfo | None:
        try:
            async with asyncio.timeout(self._member_seconds):
                return await self._admin.connections.running_info(group, client)
        except (AerobeeError, TimeoutError):  # it may be gone, or busy
            return None

    async def _is_popping(self, group: str, running: Iterable[RunningInfo]) -> bool:
        """Whether a group pops: Aerobee's clients report it; for others the broker's setting
        counts."""
        if any(info.properties.get(CONSUME_MODE) == "pop" for info in running):
            return True
        try:
            modes = await self._admin.groups.request_modes()
        except AerobeeError:  # older brokers do not know the question
            return False
        return any(one.group == group and one.mode == POP for of in modes.values() for one in of)

    async def _may_read(self, group: str, topic: str) -> bool:
        try:
            return all((await self._admin.groups.may_read(group, topic)).values())
        except AerobeeError:  # older brokers do not know the question
            return True

    async def _queues(
        self, group: str, topic: str, running: dict[str, RunningInfo]
    ) -> dict[MessageQueue, QueueFacts]:
        route = await self._route(topic)
        if route is None:
            return {}
        readable = {one.broker_name for one in route.queues if is_readable(one.permission)}
        stats = await self._admin.topics.stats(topic)
        progress = await self._admin.groups.progress(group, topic=topic)
        found = {}
        for queue, bounds in stats.queues.items():
            at = progress.queues.get(queue)
            owner = next((one for one, info in running.items() if queue in info.queues), "")
            held = running[owner].queues[queue] if owner else None
            paused = running[owner].properties.get(PAUSED_QUEUES, "") if owner else ""
            found[queue] = QueueFacts(
                bounds.min_offset,
                bounds.max_offset,
                at.consumer_offset if at is not None else await self._committed(group, queue),
                at.pull_offset if at is not None else 0,
                owner,
                held.pull_wall_ms if held is not None else 0,
                str(queue) in paused.split(","),
                queue.broker_name in readable,
                at.last_timestamp if at is not None else 0,
            )
        return found

    async def _committed(self, group: str, queue: MessageQueue) -> int:
        """Return the committed offset in a queue that brokers do not list, such as that of a pop
        retry topic."""
        at = await self._admin.offsets.committed(group, queue)
        return -1 if at is None else at


def born_ms(unique_id: str, now_ms: int) -> int:
    """Return the creation time in an id, which counts from the start of a month: the latest
    possible; 0 if the id has none. Months begin in the sender's time zone: a day in the future may
    be today."""
    try:
        elapsed_ms = parse_unique_id(unique_id).elapsed_ms
    except ProtocolError:
        return 0
    now = datetime.fromtimestamp(now_ms / 1000, UTC)
    start = datetime(now.year, now.month, 1, tzinfo=UTC)
    made_ms = int(start.timestamp() * 1000) + elapsed_ms
    if made_ms <= now_ms + _UNITS_MS["d"]:
        return min(made_ms, now_ms)
    before = datetime(now.year - (now.month == 1), (now.month - 2) % 12 + 1, 1, tzinfo=UTC)
    return int(before.timestamp() * 1000) + elapsed_ms


def _topic_of(message: StoredMessage) -> str:
    """Return the topic that a message was sent to."""
    return message.properties.get(REAL_TOPIC, message.topic)


def _topic_in(copies: Iterable[StoredMessage], held: OpenTransaction | None) -> str:
    if held is not None:
        return held.topic
    for message in copies:
        topic = _topic_of(message)
        if not is_retry_topic(topic) and not is_dead_letter_topic(topic):
            return topic
    return ""


def _derived(group: str, topic: str) -> tuple[str, ...]:
    """Return the retry and dead-letter topics of a group."""
    return retry_topic(group), pop_retry_topic(group, topic), dead_letter_topic(group)


def _queues_of(topic: str, route: TopicRoute) -> list[MessageQueue]:
    return [
        MessageQueue(topic, one.broker_name, QueueId(number))
        for one in route.queues
        for number in range(one.read_queues)
    ]


def _host(message: StoredMessage) -> str:
    return f"{message.store_host.address}:{message.store_host.port}"


async def _all_of(asked: Iterable[Coroutine[Any, Any, T]], at_once: int = AT_ONCE) -> list[T]:
    """Await all of them, some at a time; returns their results."""
    room = asyncio.Semaphore(at_once)

    async def one(asking: Coroutine[Any, Any, T]) -> T:
        async with room:
            return await asking

    return list(await asyncio.gather(*map(one, asked)))
