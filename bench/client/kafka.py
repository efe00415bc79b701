"""The programs of `confluent-kafka` and `aiokafka`: both wait for the partition's leader (acks=1).

Streams and batches wait 5 ms for more, single sends not at all, but for confluent-kafka's with many
in flight. Positions are committed by themselves, as both do unless told otherwise.
"""

import asyncio
import itertools
import os
from collections import deque
from collections.abc import Mapping
from importlib import import_module
from typing import Any

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

LINGER_MS = 5
MANY_SINGLE: Mapping[str, object] = {"linger.ms": 0.5}
"""Of confluent-kafka with many in flight: with linger 0 each is a request, a tenth as fast."""
BATCH_BYTES = 256 * 1024
BATCHES_IN_FLIGHT = 8
WAITING_MAX = 50_000
"""Messages that confluent-kafka's queue is given before it is waited for; it takes 100,000."""
SECONDS_MAX = 30.0


class Confluent:
    """Its producer, and how many of its messages are not acknowledged yet."""

    def __init__(self, asked: Asked, settings: Mapping[str, object]) -> None:
        library: Any = import_module("confluent_kafka")
        usual = {"bootstrap.servers": asked.address, "acks": 1, "batch.size": BATCH_BYTES}
        self.producer = library.Producer({**usual, **settings})
        self.waiting = 0

    def acknowledged(self, error: Any, message: Any) -> None:
        if error is not None:
            raise OSError(str(error))
        self.waiting -= 1

    def send(self, topic: str = TOPIC) -> None:
        self.producer.produce(topic, BODY, on_delivery=self.acknowledged)
        self.waiting += 1

    def send_many(self, messages: list[dict[str, bytes]], topic: str = TOPIC) -> None:
        taken = self.producer.produce_batch(topic, messages, on_delivery=self.acknowledged)
        if taken != len(messages):
            raise OSError(f"{len(messages) - taken} messages were not taken")
        self.waiting += taken

    def wait(self, most: int) -> None:
        """Until so many wait at most."""
        self.producer.poll(0)
        while self.waiting > most:
            self.producer.poll(SECONDS_MAX)


async def confluent_fill(asked: Asked) -> None:
    admin = import_module("confluent_kafka.admin")
    client = admin.AdminClient({"bootstrap.servers": asked.address})
    made = client.create_topics([admin.NewTopic(topic, PARTS, 1) for topic in (TOPIC, FILLED)])
    for one in made.values():
        one.result(SECONDS_MAX)
    confluent = Confluent(asked, {"linger.ms": LINGER_MS})
    meter = Meter()
    for number in range(asked.filled):
        confluent.send(FILLED)
        if number % BATCH == 0:
            confluent.wait(WAITING_MAX)
    confluent.wait(0)
    meter.report(asked.filled)


async def confluent_flood(asked: Asked) -> None:
    """So many in flight, each with its callback: faster than its asyncio producer."""
    confluent = Confluent(asked, MANY_SINGLE)

    async def send(count: int) -> int:
        for _ in range(count):
            confluent.wait(IN_FLIGHT - 1)
            confluent.send()
        confluent.wait(0)
        return count

    await measure_sending(asked, send)


async def confluent_one(asked: Asked) -> None:
    confluent = Confluent(asked, {"linger.ms": 0})

    async def send() -> None:
        confluent.send()
        confluent.wait(0)

    await measure_one_by_one(asked, send)


async def confluent_stream(asked: Asked) -> None:
    confluent = Confluent(asked, {"linger.ms": LINGER_MS})

    async def send(count: int) -> int:
        for number in range(count):
            confluent.send()
            if number % BATCH == 0:
                confluent.wait(WAITING_MAX)
        confluent.wait(0)
        return count

    await measure_sending(asked, send)


async def confluent_batch(asked: Asked) -> None:
    confluent = Confluent(asked, {"linger.ms": LINGER_MS})

    async def send(count: int) -> int:
        batches = max(1, count // BATCH)
        for _ in range(batches):
            confluent.send_many([{"value": BODY} for _ in range(BATCH)])
            confluent.wait(WAITING_MAX)
        confluent.wait(0)
        return batches * BATCH

    await measure_sending(asked, send)


async def confluent_receive(asked: Asked) -> None:
    library: Any = import_module("confluent_kafka")
    settings = {
        "bootstrap.servers": asked.address,
        "group.id": f"bench-{os.getpid()}",
        "auto.offset.reset": "earliest",
    }
    consumer = library.Consumer(settings)
    consumer.subscribe([FILLED])
    taking = Taking(asked)
    while not taking.is_over:
        found = consumer.consume(FETCH, SECONDS_MAX)
        taking.take(len(found), sum(len(message.value()) for message in found))
    consumer.close()


async def aiokafka_flood(asked: Asked) -> None:
    async with _aiokafka(asked, 0) as producer:
        await measure_sending(
            asked, at_once(lambda: producer.send_and_wait(TOPIC, BODY), IN_FLIGHT)
        )


async def aiokafka_one(asked: Asked) -> None:
    async with _aiokafka(asked, 0) as producer:
        await measure_one_by_one(asked, lambda: producer.send_and_wait(TOPIC, BODY))


async def aiokafka_stream(asked: Asked) -> None:
    """It holds back who sends while its batches are full."""
    async with _aiokafka(asked, LINGER_MS) as producer:

        async def send(count: int) -> int:
            for _ in range(count):
                last = await producer.send(TOPIC, BODY)
            await producer.flush()
            await last
            return count

        await measure_sending(asked, send)


async def aiokafka_batch(asked: Asked) -> None:
    """Batches of its own making, a partition after the other."""
    async with _aiokafka(asked, 0) as producer:
        parts = itertools.cycle(range(PARTS))

        async def send(count: int) -> int:
            batches = max(1, count // BATCH)
            waiting: deque[asyncio.Future[object]] = deque()
            for _ in range(batches):
                batch = producer.create_batch()
                for _ in range(BATCH):
                    batch.append(value=BODY, key=None, timestamp=None)
                if len(waiting) == BATCHES_IN_FLIGHT:
                    await waiting.popleft()
                waiting.append(await producer.send_batch(batch, TOPIC, partition=next(parts)))
            await asyncio.gather(*waiting)
            return batches * BATCH

        await measure_sending(asked, send)


async def aiokafka_receive(asked: Asked) -> None:
    consumer = import_module("aiokafka").AIOKafkaConsumer(
        FILLED,
        bootstrap_servers=asked.address,
        group_id=f"bench-{os.getpid()}",
        auto_offset_reset="earliest",
    )
    taking = Taking(asked)
    async with consumer:
        while not taking.is_over:
            found = await consumer.getmany(timeout_ms=1000, max_records=FETCH)
            for messages in found.values():
                taking.take(len(messages), sum(len(message.value) for message in messages))


def _aiokafka(asked: Asked, linger_ms: int) -> Any:
    return import_module("aiokafka").AIOKafkaProducer(
        bootstrap_servers=asked.address, acks=1, linger_ms=linger_ms, max_batch_size=BATCH_BYTES
    )
