"""Outlet sends changes to topics: in the order of each row, in batches, with a bound.

All changes of a key go to one queue, one batch of that queue after the other. A message about a
whole table goes to every queue, when all earlier messages are stored.

O1. After `drain` returns, all messages sent are stored. After it raises, some may not be: the
    caller starts again from the last saved state.
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
    """Sends changes; belongs to its client's event loop."""

    def __init__(self, client: Client, queues: int, known: set[str] | None = None) -> None:
        """`known` are topics that exist already and are not created."""
        self._client = client
        self._queues = queues
        self._known = set() if known is None else known
        self._producers: dict[str, Producer] = {}

    async def send(self, topic: str, body: bytes, *, op: str, key: str, order_by: str) -> None:
        """Queue a change for sending; waits while the bound is reached."""
        producer = self._producers.get(topic) or await self._open(topic)
        try:
            producer.send_nowait(body, tag=op, keys=(key,) if key else (), order_by=order_by)
        except ProducerFull:
            await producer.drain()
            producer.send_nowait(body, tag=op, keys=(key,) if key else (), order_by=order_by)

    async def send_to_all_queues(self, topic: str, body: bytes, *, op: str) -> None:
        """Send a message to every queue, after all earlier ones are stored; stored when it
        returns."""
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
        """Stop sending; messages that are not stored yet are dropped."""
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
