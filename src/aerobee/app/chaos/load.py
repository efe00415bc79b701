"""Load on a cluster while it is broken: senders with a queue each, and a reader of all queues.

Each sender sends one message after another at a fixed rate, with the client's usual retries, as an
application does that is told nothing of the faults.
"""

import asyncio
import contextlib
import time

from aerobee.app.chaos.history import ChaosHistory
from aerobee.app.chaos.log_check import Found, Queue
from aerobee.client.api.message import Message
from aerobee.client.api.receipt import Durability
from aerobee.client.client import Client
from aerobee.errors import AerobeeError
from aerobee.model.message_queue import MessageQueue, QueueId

SEND_SECONDS_MAX = 10.0
READ_SECONDS_MAX = 60.0
READ_COUNT = 512
BODY_BYTES = 200
_LOOK_SECONDS = 1.0


class LoadIsLost(AerobeeError):
    """What the senders have sent cannot be read at the end."""


class ChaosLoad:
    def __init__(self, client: Client, topic: str, broker: str, senders: int, rate: float) -> None:
        """`rate`: messages a second of all senders."""
        self._client = client
        self._topic = topic
        self._queues = [MessageQueue(topic, broker, QueueId(number)) for number in range(senders)]
        self._interval = senders / rate
        self.history = ChaosHistory()
        self._tasks: list[asyncio.Task[None]] = []
        self._is_over = False

    async def open(self) -> None:
        """Make the topic, and begin."""
        await self._client.admin.topics.create(self._topic, queues=len(self._queues))
        self._tasks = [asyncio.ensure_future(self._send(queue)) for queue in self._queues]
        self._tasks.append(asyncio.ensure_future(self._read()))

    def check(self) -> None:
        """Raise what a sender or the reader has ended with."""
        for task in self._tasks:
            if task.done() and not task.cancelled():
                task.result()

    async def close(self) -> None:
        """End, when the sends that are under way have ended."""
        self._is_over = True
        senders = self._tasks[:-1]
        if senders:
            await asyncio.wait(senders, timeout=SEND_SECONDS_MAX)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def found(self) -> dict[Queue, list[Found]]:
        """Everything that is there, read by a new reader."""
        stats = await self._client.admin.topics.stats(self._topic)
        ends = {_named(queue): one.max_offset for queue, one in stats.queues.items()}
        found: dict[Queue, list[Found]] = {_named(queue): [] for queue in self._queues}
        with contextlib.suppress(TimeoutError):
            async with (
                asyncio.timeout(READ_SECONDS_MAX),
                self._client.reader(self._topic, start="earliest") as reader,
            ):
                while any(len(listed) < ends[queue] for queue, listed in found.items()):
                    for message in await reader.read(READ_COUNT):
                        found[_named(message.queue)].append(_found(message))
        lacking = sum(max(0, ends[queue] - len(listed)) for queue, listed in found.items())
        if lacking:
            raise LoadIsLost(
                f"{lacking} messages of {self._topic} could not be read within"
                f" {READ_SECONDS_MAX:.0f} s",
                hint="is the machine overloaded, or is the group without a leader?",
            )
        return found

    async def _send(self, queue: MessageQueue) -> None:
        number = 0
        due = time.monotonic()
        where = _named(queue)
        while not self._is_over:
            name = b"%d-%d" % (queue.queue_id, number)
            body = name.ljust(BODY_BYTES, b".")
            began_ns = time.monotonic_ns()
            is_safe = False
            try:
                receipt = await self._client.send(
                    self._topic, body, queue=queue, timeout=SEND_SECONDS_MAX
                )
                is_safe = receipt.durability is Durability.PROMISED
            except AerobeeError:
                pass  # it may be stored or not
            finally:
                self.history.on_answer(name, where, body, began_ns, is_safe)
            number += 1
            due = max(due + self._interval, time.monotonic() - 1)
            await asyncio.sleep(max(0.0, due - time.monotonic()))

    async def _read(self) -> None:
        async with self._client.reader(self._topic, start="earliest") as reader:
            while True:
                for message in await reader.read(READ_COUNT, timeout=_LOOK_SECONDS):
                    one = _found(message)
                    self.history.on_read(_named(message.queue), one.offset, one.name)


def _named(queue: MessageQueue) -> Queue:
    return queue.topic.encode(), queue.queue_id


def _found(message: Message) -> Found:
    return Found(message.body.rstrip(b"."), message.offset, message.body)
