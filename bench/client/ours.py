"""Our client's programs, for our broker and for Apache's; and what fills a topic of either.

Every one is what a reader of docs/client.md would write. The consumer asks for as many at a time as
the others do; everything else is as it is by default.
"""

import os

import aerobee
from bench.client.meter import (
    BATCH,
    BODY,
    FETCH,
    FILLED,
    IN_FLIGHT,
    PARTS,
    TOPIC,
    Asked,
    Meter,
    Taking,
    at_once,
    measure_one_by_one,
    measure_sending,
)

BATCHES_IN_FLIGHT = 4
WAITING_MAX = 4096
"""How much a producer is given before it is waited for."""


async def fill(asked: Asked) -> None:
    bodies = [BODY] * BATCH
    meter = Meter()
    async with aerobee.connect(asked.address) as client:
        for topic in (TOPIC, FILLED):
            await client.admin.topics.create(topic, queues=PARTS)
        send = at_once(lambda: client.send_batch(FILLED, bodies), BATCHES_IN_FLIGHT, BATCH)
        meter.report(await send(asked.filled))


async def flood(asked: Asked) -> None:
    async with aerobee.connect(asked.address) as client:
        await measure_sending(asked, at_once(lambda: client.send(TOPIC, BODY), IN_FLIGHT))


async def one(asked: Asked) -> None:
    async with aerobee.connect(asked.address) as client:
        await measure_one_by_one(asked, lambda: client.send(TOPIC, BODY))


async def batch(asked: Asked) -> None:
    bodies = [BODY] * BATCH
    async with aerobee.connect(asked.address) as client:
        send = at_once(lambda: client.send_batch(TOPIC, bodies), BATCHES_IN_FLIGHT, BATCH)
        await measure_sending(asked, send)


async def stream(asked: Asked) -> None:
    async with aerobee.connect(asked.address) as client, client.producer(TOPIC) as producer:

        async def send(count: int) -> int:
            for number in range(count):
                producer.send_nowait(BODY)
                if number % WAITING_MAX == 0:
                    await producer.drain()
            await producer.drain()
            return count

        await measure_sending(asked, send)


async def receive(asked: Asked) -> None:
    taking = Taking(asked)
    async with (
        aerobee.connect(asked.address) as client,
        client.consumer(
            FILLED,
            group=f"bench-{os.getpid()}",
            start="earliest",
            auto_ack=True,
            pull_batch=FETCH,
        ) as consumer,
    ):
        count = size = 0
        async for message in consumer:  # each is acknowledged when the next is taken
            count += 1
            size += len(message.body)
            if count == BATCH:
                if taking.take(count, size):
                    break
                count = size = 0
