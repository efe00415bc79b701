"""The state of a capture, kept in a topic of its own: the last message is the current state.

    aerobee-capture-NAME            one queue, on one broker; every message a whole state
    aerobee-capture-NAME-schemas    every version of every table's schema, once or more

Both are compacted where brokers support it, so that retention does not remove them. The capture's
machine needs no disk.

Two processes that capture under one name are detected: if the offset of a saved state is not the
next after our last one, another process has written in between. The process that started later
continues.
"""

from dataclasses import replace

from aerobee.client.admin.admin import Admin
from aerobee.client.client import Client
from aerobee.errors import Misuse, Refused
from aerobee.model.message_queue import MessageQueue
from aerobee.model.route import MASTER_ID
from aerobee.pipeline.capture.errors import BrokerGone, TakenOver
from aerobee.pipeline.capture.position import CaptureState
from aerobee.pipeline.capture.tables import topic_name

PREFIX = "aerobee-capture-"
SCHEMAS = "-schemas"
_COMPACTED = {"cleanup.policy": "COMPACTION"}


def state_topic(name: str) -> str:
    """Return the name of the state topic. Misuse: it is no valid topic name."""
    if not name or topic_name(name) != name or name.endswith(SCHEMAS):
        raise Misuse(
            f"a capture cannot be called {name!r}",
            hint=f"letters, digits, - and _: --name {topic_name(name) or 'shop'}",
        )
    return PREFIX + name


class StateTopic:
    """The state of one capture; belongs to its client's event loop."""

    def __init__(self, client: Client, name: str) -> None:
        self._client = client
        self._topic = state_topic(name)
        self._queue: MessageQueue | None = None
        self._next_offset: int | None = None

    @property
    def schema_topic(self) -> str:
        return self._topic + SCHEMAS

    async def load(self, *, may_be_new: bool = True) -> CaptureState | None:
        """Return the last saved state. None: there is none yet, and the topics are created.
        BrokerGone."""
        for topic in (self._topic, self.schema_topic):
            if not await self._client.admin.topics.exists(topic):
                if not may_be_new:
                    # Another broker would know nothing of it.
                    raise _gone(topic)
                await self._make(topic)
        try:
            found, self._queue, _ = await last_state(self._client.admin, self._topic)
        except Misuse as error:  # a broker that a name server knows no more, or not yet
            raise _gone(self._topic) from error
        return found

    async def save(self, state: CaptureState) -> None:
        """Store the state; returns when the broker has stored it. TakenOver."""
        receipt = await self._client.send(
            self._topic, state.to_json(), keys=["state"], queue=self._queue
        )
        if self._next_offset is not None and receipt.offset > self._next_offset:
            await self._look_at_others(state, receipt.offset)
        self._next_offset = receipt.offset + 1

    async def announce(self, version: str, announcement: bytes) -> None:
        """Publish a version of a schema."""
        await self._client.send(self.schema_topic, announcement, keys=[version], order_by=version)

    async def _look_at_others(self, mine: CaptureState, end: int) -> None:
        assert self._queue is not None
        start = self._next_offset or 0
        async for message in self._client.admin.queues.read(self._queue, start=start, end=end):
            other = CaptureState.from_json(message.body)
            # A send that was repeated is our own.
            if other.instance != mine.instance and other.began_ms >= mine.began_ms:
                raise TakenOver(
                    f"another process captures as {mine.name} since {other.began_ms}",
                    hint="give one of the two another --name",
                )

    async def _make(self, topic: str) -> None:
        topics = self._client.admin.topics
        brokers = (await self._client.admin.cluster()).brokers
        masters = [broker.name for broker in brokers if MASTER_ID in broker.addresses]
        if not masters:
            raise _gone(topic)
        on = min(masters)
        try:
            await topics.create(topic, queues=1, attributes=_COMPACTED, on=on)
        except Refused:  # brokers before 5.0 know no attributes
            await topics.create(topic, queues=1, on=on)


async def last_state(admin: Admin, topic: str) -> tuple[CaptureState | None, MessageQueue, int]:
    """Return the newest state in a topic, the queue that has it, and its store time."""
    stats = await admin.topics.stats(topic)
    newest: tuple[CaptureState | None, MessageQueue, int] | None = None
    for queue, bounds in stats.queues.items():
        state, stored_ms = None, 0
        async for message in admin.queues.read(queue, start=bounds.max_offset - 1):
            state, stored_ms = CaptureState.from_json(message.body), message.store_timestamp
        if newest is None or stored_ms > newest[2]:
            newest = (state, queue, stored_ms)
    if newest is None:
        raise _gone(topic)
    return newest


async def captures(admin: Admin) -> list[CaptureState]:
    """Return the states of all captures of a cluster."""
    names = await admin.topics.names()
    topics = [name for name in names if name.startswith(PREFIX) and not name.endswith(SCHEMAS)]
    found = [(await last_state(admin, topic))[0] for topic in sorted(topics)]
    return [state for state in found if state is not None]


def begun(state: CaptureState, instance: str, now_ms: int) -> CaptureState:
    """Return the same state with the id and the start time of this process."""
    return replace(state, instance=instance, began_ms=now_ms)


def _gone(topic: str) -> BrokerGone:
    return BrokerGone(f"no broker that is up has {topic}", hint="start the broker that has it")
