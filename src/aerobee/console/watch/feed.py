"""Feed: the samples of all series, handed to everybody who watches.

A watcher that does not keep up gets the newest sample and misses those between: a chart that is a
second late is of more use than one that falls further behind.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from typing import NamedTuple

from aerobee.console.history.history import Mark

WATCHERS_MAX = 200


class FigureSample(NamedTuple):
    at: int
    values: Mapping[str, float]
    marks: tuple[Mark, ...] = ()


class Feed:
    def __init__(self) -> None:
        self._watchers: set[asyncio.Queue[FigureSample]] = set()

    def __len__(self) -> int:
        return len(self._watchers)

    def publish(self, sample: FigureSample) -> None:
        for queue in self._watchers:
            if queue.full():
                queue.get_nowait()
            queue.put_nowait(sample)

    async def samples(self) -> AsyncGenerator[FigureSample, None]:
        """Yield every sample from now on."""
        queue: asyncio.Queue[FigureSample] = asyncio.Queue(maxsize=2)
        self._watchers.add(queue)
        try:
            while True:
                yield await queue.get()
        finally:
            self._watchers.discard(queue)
