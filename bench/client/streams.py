"""The programs of `nats-py` (JetStream, file storage) and `redis` (Streams).

Redis has no acknowledged position here: XREAD is told from where. It is its fastest way. JetStream
keeps one, by one acknowledgement for each fetch.
"""

import os
from importlib import import_module
from typing import Any

from bench.client.meter import (
    BATCH,
    BODY,
    FETCH,
    FILLED,
    IN_FLIGHT,
    TOPIC,
    Asked,
    Meter,
    Taking,
    at_once,
    measure_one_by_one,
    measure_sending,
)

BATCHES_IN_FLIGHT = 4
CONNECTIONS_MAX = 512
WAITING_MAX = 4000
"""Messages that nats-py's publish_async lets wait; its own default."""


async def nats_fill(asked: Asked) -> None:
    async with _Nats(asked) as nats:
        for topic in (TOPIC, FILLED):
            await nats.add_stream(name=topic, subjects=[topic])
        meter = Meter()
        meter.report(await _published(nats, FILLED, asked.filled))


async def nats_flood(asked: Asked) -> None:
    async with _Nats(asked) as nats:
        await measure_sending(asked, at_once(lambda: nats.publish(TOPIC, BODY), IN_FLIGHT))


async def nats_one(asked: Asked) -> None:
    async with _Nats(asked) as nats:
        await measure_one_by_one(asked, lambda: nats.publish(TOPIC, BODY))


async def nats_stream(asked: Asked) -> None:
    async with _Nats(asked) as nats:
        await measure_sending(asked, lambda count: _published(nats, TOPIC, count))


async def nats_receive(asked: Asked) -> None:
    api = import_module("nats.js.api")
    taking = Taking(asked)
    async with _Nats(asked) as nats:
        # An acknowledgement holds for all before it.
        settings = api.ConsumerConfig(ack_policy=api.AckPolicy.ALL, max_ack_pending=2 * FETCH)
        name = f"bench-{os.getpid()}"
        consumer = await nats.pull_subscribe(FILLED, name, stream=FILLED, config=settings)
        while not taking.is_over:
            messages = await consumer.fetch(FETCH, 10)
            await messages[-1].ack()
            taking.take(len(messages), sum(len(message.data) for message in messages))


class _Nats:
    """A connection, and its JetStream."""

    def __init__(self, asked: Asked) -> None:
        self._address = asked.address

    async def __aenter__(self) -> Any:
        self._connection = await import_module("nats").connect(f"nats://{self._address}")
        return self._connection.jetstream(timeout=30, publish_async_max_pending=WAITING_MAX)

    async def __aexit__(self, *error: object) -> None:
        await self._connection.close()


async def _published(nats: Any, topic: str, count: int) -> int:
    """It holds back who publishes while as many wait as may."""
    waiting = [await nats.publish_async(topic, BODY) for _ in range(count)]
    await nats.publish_async_completed()
    for one in waiting:
        one.result()
    return count


async def redis_fill(asked: Asked) -> None:
    client = _redis(asked)
    meter = Meter()
    send = at_once(lambda: _piped(client, FILLED), BATCHES_IN_FLIGHT, BATCH)
    meter.report(await send(asked.filled))
    await client.aclose()


async def redis_flood(asked: Asked) -> None:
    client = _redis(asked)
    await measure_sending(asked, at_once(lambda: client.xadd(TOPIC, {"b": BODY}), IN_FLIGHT))
    await client.aclose()


async def redis_one(asked: Asked) -> None:
    client = _redis(asked)
    await measure_one_by_one(asked, lambda: client.xadd(TOPIC, {"b": BODY}))
    await client.aclose()


async def redis_batch(asked: Asked) -> None:
    client = _redis(asked)
    await measure_sending(asked, at_once(lambda: _piped(client, TOPIC), BATCHES_IN_FLIGHT, BATCH))
    await client.aclose()


async def redis_receive(asked: Asked) -> None:
    client = _redis(asked)
    taking = Taking(asked)
    place: bytes = b"0"
    while not taking.is_over:
        ((_, messages),) = await client.xread({FILLED: place}, count=FETCH)
        place = messages[-1][0]
        taking.take(len(messages), sum(len(fields[b"b"]) for _, fields in messages))
    await client.aclose()


async def _piped(client: Any, topic: str) -> None:
    pipeline = client.pipeline(transaction=False)
    for _ in range(BATCH):
        pipeline.xadd(topic, {"b": BODY})
    await pipeline.execute()


def _redis(asked: Asked) -> Any:
    host, _, port = asked.address.rpartition(":")
    library = import_module("redis.asyncio")
    return library.Redis(host=host, port=int(port), max_connections=CONNECTIONS_MAX)
