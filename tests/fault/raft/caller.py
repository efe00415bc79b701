"""A caller: our own client on a thread, which sends one message after another and tries each four
times, as applications do."""

import asyncio
import dataclasses
import itertools
import threading
import time

import aerobee
from aerobee.client.api.client_options import options_for
from aerobee.client.client import Client
from aerobee.errors import AerobeeError

RETRIES = 3
_SECONDS_MAX = 60.0
"""For a send with all its tries: a machine that is slow is no error."""
_PAUSE_SECONDS = 0.005
_ROUTE_SECONDS = 0.5
"""Usually 30: for so long a member that is stopped would forward what it sends."""


class Caller(threading.Thread):
    def __init__(self, target: str, topic: str) -> None:
        super().__init__(daemon=True)
        self._target = target
        self._topic = topic
        self._stop_asked = threading.Event()
        self.acknowledged: list[tuple[float, bytes]] = []
        """When, on the monotonic clock, and what."""
        self.errors: list[str] = []

    def run(self) -> None:
        asyncio.run(self._run())

    def end(self) -> None:
        self._stop_asked.set()
        self.join()

    def gap_ms(self, since: float) -> float:
        """The longest time without an acknowledgement, from this moment on."""
        moments = [since, *(at for at, _ in list(self.acknowledged) if at > since)]
        return 1000 * max((b - a for a, b in itertools.pairwise(moments)), default=0.0)

    def missing(self) -> set[bytes]:
        """What was acknowledged, and is not there."""
        return {body for _, body in self.acknowledged} - asyncio.run(self._found())

    async def _run(self) -> None:
        options = dataclasses.replace(options_for(self._target), route_seconds=_ROUTE_SECONDS)
        async with Client(options) as client:
            number = -1
            while not await asyncio.to_thread(self._stop_asked.wait, _PAUSE_SECONDS):
                number += 1
                body = b"%d" % number
                try:
                    await client.send(self._topic, body, timeout=_SECONDS_MAX, retries=RETRIES)
                except AerobeeError as error:
                    self.errors.append(f"message {number}: {error}")
                else:
                    self.acknowledged.append((time.monotonic(), body))

    async def _found(self) -> set[bytes]:
        found: set[bytes] = set()
        async with (
            aerobee.connect(self._target) as client,
            client.reader(self._topic, start="earliest") as reader,
        ):
            while messages := await reader.read(1_000):
                found.update(message.body for message in messages)
        return found
