"""Rate at which one process receives with our client: each message handed out and acknowledged.

`receive` is for whoever measures clients side by side: it wants a topic that holds enough messages,
and a group that was never there. CPU time is what says something on a machine that others use.
"""

import time
from dataclasses import dataclass
from typing import Literal

from aerobee.client.api.consumer_options import ConsumerKeywords
from aerobee.client.client import connect

How = Literal["auto", "ack", "process"]
"""Acknowledged by going on, by a word, or by `async with message.process()`."""


@dataclass(frozen=True, slots=True)
class Received:
    messages: int
    seconds: float
    cpu_seconds: float

    @property
    def per_second(self) -> float:
        return self.messages / self.seconds


async def receive(
    name_server: str, topic: str, count: int, *, group: str, how: How = "auto"
) -> Received:
    """So many messages of a topic, from its beginning."""
    options: ConsumerKeywords = {
        "group": group,
        "start": "earliest",
        "auto_ack": how == "auto",
        "queue_messages_max": 4000,
        "queue_span_max": 8000,
    }
    async with connect(name_server) as client, client.consumer(topic, **options) as consumer:
        began, cpu_began = time.perf_counter(), time.process_time()
        left = count
        async for message in consumer:
            if how == "ack":
                await message.ack()
            elif how == "process":
                async with message.process():
                    pass
            left -= 1
            if left == 0:
                break
        return Received(count, time.perf_counter() - began, time.process_time() - cpu_began)
