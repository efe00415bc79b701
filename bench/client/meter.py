"""The meter of a client's program: warm-up first, then one stretch of about so many seconds.

What a program prints is one line of JSON: messages, seconds on the clock, seconds of this process's
own CPU (all its threads), and for sends one after the other the percentiles of their latency.

    {"count": 310784, "seconds": 2.01, "cpu": 1.02}

How many messages a stretch has is found while warming up, so that nothing is asked of a clock
between two of them.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

TOPIC, FILLED = "BenchClient", "BenchFilled"
"""What is sent to, and what was filled before and is received from."""
PARTS = 4
"""Queues, partitions: of each topic, where there are such."""
BODY = b"x" * 100
IN_FLIGHT = 256
BATCH = 256
FETCH = 500
"""Most messages of one call, where a client asks for many."""
WARM_SECONDS = 0.5
# The next try of a warm-up is this much longer at most: the first ones say little.
GROWTH_MAX = 8

Sending = Callable[[int], Awaitable[int]]
"""Sends so many messages or a few more and waits until they are acknowledged; how many it were."""


@dataclass(frozen=True)
class Asked:
    """What a program is to do."""

    address: str
    seconds: float
    filled: int
    """Messages that wait in the topic to be received from."""


class Meter:
    """Counts from when it is made."""

    def __init__(self) -> None:
        self._clock = time.perf_counter()
        self._cpu = time.process_time()

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._clock

    def report(self, count: int, latencies: list[float] | None = None) -> None:
        said: dict[str, float] = {
            "count": count,
            "seconds": self.seconds,
            "cpu": time.process_time() - self._cpu,
        }
        if latencies:
            latencies.sort()
            said["p50"] = latencies[len(latencies) // 2]
            said["p99"] = latencies[len(latencies) * 99 // 100]
        print(json.dumps(said), flush=True)


def next_try(count: int, seconds: float, wanted: float) -> int:
    """How many messages take `wanted` seconds, if `count` took `seconds`."""
    return max(1, min(count * GROWTH_MAX, round(count * wanted / max(seconds, 1e-6))))


async def warmed(send: Sending, first: int) -> tuple[int, float]:
    """Messages and seconds of the last try, which took about as long as a warm-up should."""
    count = first
    while True:
        meter = Meter()
        done = await send(count)
        seconds = meter.seconds
        if seconds >= WARM_SECONDS / 2:
            return done, seconds
        count = next_try(done, seconds, WARM_SECONDS)


async def measure_sending(asked: Asked, send: Sending, first: int = 4 * IN_FLIGHT) -> None:
    done, seconds = await warmed(send, first)
    count = max(1, round(done * asked.seconds / seconds))
    meter = Meter()
    meter.report(await send(count))


def at_once(send: Callable[[], Awaitable[object]], in_flight: int, each: int = 1) -> Sending:
    """So many tasks, each of which sends, waits, and sends again; `each` messages at a time."""

    async def go(count: int) -> int:
        times = -(-count // (in_flight * each))

        async def one_after_the_other() -> None:
            for _ in range(times):
                await send()

        await asyncio.gather(*(one_after_the_other() for _ in range(in_flight)))
        return times * in_flight * each

    return go


async def measure_one_by_one(asked: Asked, send: Callable[[], Awaitable[object]]) -> None:
    """Sends each of which waits for the one before."""
    done, seconds = await warmed(at_once(send, 1), 16)
    latencies = []
    now = time.perf_counter
    meter = Meter()
    for _ in range(max(1, round(done * asked.seconds / seconds))):
        began = now()
        await send()
        latencies.append(now() - began)
    meter.report(len(latencies), latencies)


class Taking:
    """What is received, counted: `take` says when it is enough.

    The first tenth of the time or of the messages is the warm-up. The end is when the time is over
    or, for who is so fast, when a little less than what is there was received.
    """

    def __init__(self, asked: Asked) -> None:
        self._seconds = asked.seconds
        self._left = asked.filled
        self._left_after_warming = asked.filled - asked.filled // 10
        self._count = self._size = 0
        self._warming: Meter | None = None
        self._meter: Meter | None = None
        self.is_over = False

    def take(self, count: int, size: int) -> bool:
        """So many messages with bodies of so many bytes in all were received. True: that is all."""
        if self.is_over:
            return True
        self._left -= count
        if self._meter is not None:
            self._count += count
            self._size += size
            if self._meter.seconds >= self._seconds or self._left < FETCH:
                self._finish(self._meter)
        elif self._warming is None:
            self._warming = Meter()
        elif self._warming.seconds >= self._seconds / 10 or self._left <= self._left_after_warming:
            self._meter = Meter()
        return self.is_over

    def _finish(self, meter: Meter) -> None:
        self.is_over = True
        if self._size != self._count * len(BODY):
            raise ValueError(f"{self._count} messages of {self._size} bytes came")
        meter.report(self._count)
