"""The receiving side of a worker: consumers of groups, each message counted and acknowledged.

Stamped messages of a run are timed from their due time to their arrival in the application; other
messages in the topic are not counted then.
"""

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Literal, cast

from aerobee.app.load.worker.pacing import until
from aerobee.app.load.worker.tally import Tally
from aerobee.app.load.workload.bodies import stamp_in
from aerobee.app.load.workload.job import Job
from aerobee.app.load.workload.schedule import SECOND_NS

if TYPE_CHECKING:
    from aerobee.client.client import Client
    from aerobee.client.consumer.consumer import Consumer
    from aerobee.model.message_queue import MessageQueue

_PULL_BATCH = 256
_QUEUE_MESSAGES = 10_000
_NEVER_NS = 1 << 62


class Receiver:
    def __init__(self, clients: Sequence["Client"], job: Job) -> None:
        """Make a client for each consumer: two consumers of one group cannot share one."""
        self._clients = clients
        self._job = job
        self._run = bytes.fromhex(job.run)
        self._stack = AsyncExitStack()
        self._consumers: list[Consumer] = []
        # What is timed counts from when its senders begin, which is told later.
        self.tally = Tally(_NEVER_NS if job.is_stamped else 0)
        self._is_stopped = False
        self._stopping: list[asyncio.Future[None]] = []

    async def prepare(self) -> None:
        """Do nothing: consumers start with `run`."""

    async def run(self, start_ns: int) -> None:
        job = self._job
        if not job.is_stamped:
            self.tally.measured_from_ns = start_ns + round(job.warm_up * SECOND_NS)
        await until(start_ns)
        async with self._stack:
            for client, (topic, group) in zip(self._clients, job.consumers, strict=True):
                consumer = client.consumer(
                    topic,
                    group=group,
                    start=cast(Literal["earliest", "latest"], job.start),
                    auto_ack=True,
                    pull_batch=_PULL_BATCH,
                    queue_messages_max=_QUEUE_MESSAGES,
                    grace=1.0,
                )
                if self._is_stopped:
                    return
                self._consumers.append(await self._stack.enter_async_context(consumer))
            if self._is_stopped:
                return
            await asyncio.gather(*map(self._take, self._consumers))

    @property
    def owned(self) -> int:
        """The number of queues that are read here."""
        return sum(1 for _ in self._queues())

    @property
    def position(self) -> int:
        """The sum of the offsets that were read in all queues."""
        return sum(consumer.position(queue) for consumer, queue in self._queues())

    def measure_from(self, moment_ns: int) -> None:
        self.tally.measured_from_ns = moment_ns

    def result(self) -> dict[str, Any]:
        return self.tally.to_json()

    def stop(self) -> None:
        """Stop receiving. May be called before the start, and more than once."""
        self._is_stopped = True
        self._stopping += [asyncio.ensure_future(one.close()) for one in self._consumers]

    def _queues(self) -> Iterator[tuple["Consumer", "MessageQueue"]]:
        """Return the queues of the topics, without those of retries."""
        for consumer in self._consumers:
            for queue in consumer.queues:
                if queue.topic in consumer.options.topics:
                    yield consumer, queue

    async def _take(self, consumer: "Consumer") -> None:
        tally, now_ns, run = self.tally, time.monotonic_ns, self._run
        is_stamped = self._job.is_stamped
        async for message in consumer:
            body = message.body
            due = stamp_in(run, body) if is_stamped else None
            if due is not None or not is_stamped:
                tally.received(now_ns(), len(body), due)
