"""MessageTail: messages of a topic as they are stored, from now on, without consuming them.

The ends of all queues are asked for twice a second; what lies between the last end and the new one
is read. More than RATE_MAX messages a second are counted and not shown: nobody reads them.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import NamedTuple

from aerobee.client.admin.admin import Admin
from aerobee.console.message.message_filter import MessageFilter
from aerobee.console.message.message_search import Found
from aerobee.model.message_queue import MessageQueue

PAUSE_SECONDS = 0.5
RATE_MAX = 200
_TURN_MAX = int(RATE_MAX * PAUSE_SECONDS)


class Following(NamedTuple):
    """The ends of all queues are known: what is stored from now on is followed."""

    queues: int


class Dropped(NamedTuple):
    """Messages that came too fast to be shown."""

    messages: int


TailStep = Following | Found | Dropped


class MessageTail:
    def __init__(
        self,
        admin: Admin,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._admin = admin
        self._pause = pause

    async def run(self, topic: str, wanted: MessageFilter) -> AsyncGenerator[TailStep, None]:
        """Yield messages that are stored from now on."""
        ends = await self._ends(topic)
        yield Following(len(ends))
        while True:
            await self._pause(PAUSE_SECONDS)
            told = await self._ends(topic)
            room = _TURN_MAX
            dropped = 0
            for queue, end in told.items():
                start = ends.get(queue, 0)
                if end - start > room:
                    dropped += end - start - room
                    start = end - room
                if start < end:
                    room -= end - start
                    reading = self._admin.queues.read(queue, start=start, end=end, tags=wanted.tags)
                    async for message in reading:
                        if wanted.fits(message):
                            yield Found(message, queue.broker_name)
            ends = told
            if dropped:
                yield Dropped(dropped)

    async def _ends(self, topic: str) -> dict[MessageQueue, int]:
        stats = await self._admin.topics.stats(topic)
        return {queue: one.max_offset for queue, one in (stats.logical or stats.queues).items()}
