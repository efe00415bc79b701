"""Two hosts and the processes on them, for tests of the simulated network."""

import asyncio
import random
from collections.abc import Coroutine
from typing import Any, cast

from aerobee.sim.event_loop import SimLoop
from aerobee.sim.network import Network, Process
from aerobee.sim.timeline import Timeline

PORT = 7


class Place:
    """A network with hosts `near` and `far` and a process on each."""

    def __init__(self, seed: int = 1, buffer_bytes: int = 1 << 20) -> None:
        self.random = random.Random(seed)
        self.timeline = Timeline()
        self.network = Network(self.timeline, self.random, buffer_bytes)
        self.failures: list[BaseException] = []
        self.near = self.start("near")
        self.far = self.start("far")

    @property
    def loop(self) -> SimLoop:
        return self.near.loop

    def start(self, host: str) -> Process:
        return self.network.host(host).start(self.failures.append)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self.loop.run(lambda: self.loop.create_task(work))

    def run(self, ms: int) -> None:
        self.timeline.run(self.timeline.now_ms + ms)

    def connect(self) -> "tuple[Side, Side]":
        """A connection from `near` to `far`."""
        accepted: list[Side] = []

        def accept() -> Side:
            accepted.append(Side())
            return accepted[-1]

        listener = self.far.listen(accept, PORT)
        made: list[Side] = []

        async def connect() -> None:
            _, side = await self.near.connect(Side, "far", PORT)
            made.append(cast(Side, side))

        self.spawn(connect())
        self.run(100)
        listener.close()
        return made[0], accepted[0]


class Side(asyncio.Protocol):
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.chunks: list[bytes] = []
        self.lost: list[Exception | None] = []
        self.pauses: list[bool] = []
        self.transport = cast(asyncio.Transport, None)

    @property
    def data(self) -> bytes:
        return b"".join(self.chunks)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self.chunks.append(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.append(exc)

    def pause_writing(self) -> None:
        self.pauses.append(True)

    def resume_writing(self) -> None:
        self.pauses.append(False)
