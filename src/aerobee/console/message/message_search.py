"""MessageSearch: messages of a topic in a span of time, filtered here, with progress as it goes.

Queues are read in windows, all of them in turn: the newest window of each first, then those before
it; or the other way round. So the first rows are about the newest (or oldest) of the topic,
whatever its number of queues. Nothing is consumed, no offset committed. A search ends with its
reader.
"""

import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import NamedTuple

from aerobee.client.admin.admin import Admin
from aerobee.client.core.routes import client_route
from aerobee.console.message.message_filter import MessageFilter
from aerobee.model.message import StoredMessage
from aerobee.model.message_queue import MessageQueue

WINDOW = 64
"""Messages of one queue that are read before the next queue is."""
PROGRESS_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class SearchWish:
    topic: str
    start: int | str = "earliest"
    end: int | str = "latest"
    broker: str = ""
    queue: int | None = None
    limit: int = 500
    is_newest_first: bool = True


class Progress(NamedTuple):
    scanned: int
    total: int
    found: int
    stored: int
    """The store time of the last message that was looked at; 0: none was."""


class Found(NamedTuple):
    message: StoredMessage
    broker: str


class Finished(NamedTuple):
    scanned: int
    found: int
    is_complete: bool
    """Whether everything was looked at."""


Step = Found | Progress | Finished


@dataclass(slots=True)
class _Part:
    """The part of a queue that is still to be read."""

    queue: MessageQueue
    low: int
    high: int

    def window(self, is_newest_first: bool) -> tuple[int, int]:
        """Take the next window off."""
        if is_newest_first:
            end = self.high
            self.high = max(self.low, end - WINDOW)
            return self.high, end
        start = self.low
        self.low = min(self.high, start + WINDOW)
        return start, self.low


class MessageSearch:
    def __init__(self, admin: Admin, now: Callable[[], float] = time.monotonic) -> None:
        self._admin = admin
        self._now = now

    async def run(self, wish: SearchWish, wanted: MessageFilter) -> AsyncGenerator[Step, None]:
        """Yield what is found, and now and then how far the search is; Finished comes last."""
        parts = await self._parts(wish)
        total = sum(one.high - one.low for one in parts)
        scanned = found = stored = 0
        told = self._now()
        yield Progress(0, total, 0, 0)
        while any(one.low < one.high for one in parts):
            for part in parts:
                start, end = part.window(wish.is_newest_first)
                if start >= end:
                    continue
                messages = await self._read(part.queue, start, end, wanted)
                scanned += end - start
                if wish.is_newest_first:
                    messages.reverse()
                for message in messages:
                    stored = message.store_timestamp
                    if wanted.fits(message):
                        found += 1
                        yield Found(message, part.queue.broker_name)
                        if found >= wish.limit:
                            yield Finished(scanned, found, scanned >= total)
                            return
                if self._now() - told >= PROGRESS_SECONDS:
                    told = self._now()
                    yield Progress(scanned, total, found, stored)
        yield Finished(scanned, found, True)

    async def _parts(self, wish: SearchWish) -> list[_Part]:
        route = client_route(wish.topic, await self._admin.topics.route(wish.topic))
        parts = []
        for queue in route.readable:
            if wish.broker not in ("", queue.broker_name):
                continue
            if wish.queue is not None and queue.queue_id != wish.queue:
                continue
            low = await self._admin.offsets.at_time(queue, wish.start)
            high = await self._admin.offsets.at_time(queue, wish.end)
            parts.append(_Part(queue, low, max(low, high)))
        return parts

    async def _read(
        self, queue: MessageQueue, start: int, end: int, wanted: MessageFilter
    ) -> list[StoredMessage]:
        reading = self._admin.queues.read(queue, start=start, end=end, tags=wanted.tags)
        return [message async for message in reading]
