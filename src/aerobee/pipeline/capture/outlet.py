"""Changes on their way into topics: in the order of each row, in batches, with a bound.

All changes of a key go to one queue, one batch of that queue after the other. What is said of a
whole table goes to every queue, when all that was sent before it is stored.

O1. After `drain` returns, all that was sent is stored. After it raises, some of it may not be:
    whoever sends goes back to where it was known to be.
"""

import contextlib

from aerobee.client.client import Client
from aerobee.client.send.producer import Producer
from aerobee.errors import ProducerFull
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.pipeline.capture.errors import BrokerGone

PENDING_MAX = 10_000
PENDING_BYTES_MAX = 16 << 20


class Outlet:
    """It belongs to its client's loop."""

    def __init__(self, client: Client, queues: int, known: set[str] | None = None) -> None:
        """`known` are topics that were there before, and are made by nobody a second time."""
        self._client = client
        self._queues = queues
        self._known = set() if known is None else known
        self._producers: dict[str, Producer] = {}

    async def send(self, topic: str, body: bytes, *, op: str, key: str, order_by: str) -> None:
        """Hand a change over, when there is room."""
        producer = self._producers.get(topic) or await self._open(topic)
        try:
            producer.send_nowait(body, tag=op, keys=(key,) if key else (), order_by=order_by)
        except ProducerFull:
            await producer.drain()
            producer.send_nowait(body, tag=op, keys=(key,) if key else (), order_by=order_by)

    async def send_to_all_queues(self, topic: str, body: bytes, *, op: str) -> None:
        """Behind all that was sent, before all that will be; stored when it returns."""
        if topic not in self._producers:
            await self._open(topic)
        await self.drain()
        route = await self._client.admin.topics.route(topic)
        for data in route.queues:
            for number in range(data.write_queues):
                queue = MessageQueue(topic, data.broker_name, QueueId(number))
                await self._client.send(topic, body, tag=op, queue=queue)

    async def drain(self) -> None:
        """Wait until everything is stored. SendFailed."""
        for producer in self._producers.values():
            await producer.drain()

    async def close(self) -> None:
        """What is not stored yet, is given up."""
        producers, self._producers = self._producers, {}
        for producer in producers.values():
            with contextlib.suppress(Exception):
                await producer.close()

    async def _open(self, topic: str) -> Producer:
        topics = self._client.admin.topics
        if not await topics.exists(topic):
            if topic in self._known:
                raise BrokerGone(
                    f"no broker that is up has {topic}", hint="start the broker that has it"
                )
            await topics.create(topic, queues=self._queues)
        self._known.add(topic)
        producer = self._client.producer(
            topic, max_pending=PENDING_MAX, max_pending_bytes=PENDING_BYTES_MAX
        )
        await producer.open()
        self._producers[topic] = producer
        return producer
