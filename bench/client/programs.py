"""What one client does while it is measured: `python -m bench.client.programs NAME ADDRESS COUNT`.

Prints one line of JSON: messages, seconds on the clock, seconds of this process's own CPU, and for
sends one at a time the percentiles of their latency. Every program warms up with a tenth of its
messages, which do not count. Bodies are 100 bytes.
"""

import asyncio
import json
import os
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

import aerobee

TOPIC = "BenchClient"
BODY = b"x" * 100
IN_FLIGHT = 256
BATCH = 256


class Meter:
    """Counts from `start` on."""

    def start(self) -> None:
        self._clock = time.perf_counter()
        self._cpu = time.process_time()

    def report(self, count: int, latencies: list[float] | None = None) -> None:
        said: dict[str, float] = {
            "count": count,
            "seconds": time.perf_counter() - self._clock,
            "cpu": time.process_time() - self._cpu,
        }
        if latencies:
            latencies.sort()
            said["p50"] = latencies[len(latencies) // 2]
            said["p99"] = latencies[len(latencies) * 99 // 100]
        print(json.dumps(said), flush=True)


async def _flood(send: Callable[[], Awaitable[object]], count: int, in_flight: int) -> None:
    async def one_after_the_other() -> None:
        for _ in range(count // in_flight):
            await send()

    await asyncio.gather(*(one_after_the_other() for _ in range(in_flight)))


async def _measured_flood(
    send: Callable[[], Awaitable[object]], count: int, in_flight: int, each: int = 1
) -> None:
    await _flood(send, max(count // 10, in_flight), in_flight)
    meter = Meter()
    meter.start()
    await _flood(send, count, in_flight)
    meter.report(count // in_flight * in_flight * each)


async def _measured_one_by_one(send: Callable[[], Awaitable[object]], count: int) -> None:
    await _flood(send, count // 10, 1)
    latencies = []
    meter = Meter()
    meter.start()
    for _ in range(count):
        began = time.perf_counter()
        await send()
        latencies.append(time.perf_counter() - began)
    meter.report(count, latencies)


async def aerobee_flood(address: str, count: int) -> None:
    async with aerobee.connect(address) as client:
        await client.send(TOPIC, BODY)
        await _measured_flood(lambda: client.send(TOPIC, BODY), count, IN_FLIGHT)


async def aerobee_one(address: str, count: int) -> None:
    async with aerobee.connect(address) as client:
        await client.send(TOPIC, BODY)
        await _measured_one_by_one(lambda: client.send(TOPIC, BODY), count)


async def aerobee_batch(address: str, count: int) -> None:
    bodies = [BODY] * BATCH
    async with aerobee.connect(address) as client:
        await client.send(TOPIC, BODY)
        await _measured_flood(lambda: client.send_batch(TOPIC, bodies), count // BATCH, 4, BATCH)


async def aerobee_producer(address: str, count: int) -> None:
    async with aerobee.connect(address) as client, client.producer(TOPIC) as producer:
        await producer.send(BODY)
        meter = Meter()
        meter.start()
        for number in range(count):
            producer.send_nowait(BODY)
            if number % 4096 == 0:
                await producer.drain()
        await producer.drain()
        meter.report(count)


async def aerobee_receive(address: str, count: int) -> None:
    async with aerobee.connect(address) as client:
        bodies = [BODY] * BATCH
        for _ in range(count // BATCH + 1):
            await client.send_batch(TOPIC, bodies)
        group = f"bench-{os.getpid()}"
        async with client.consumer(TOPIC, group=group, start="earliest", auto_ack=True) as consumer:
            meter = Meter()
            taken = 0
            async for _ in consumer:  # each is acknowledged when the next is taken
                if taken == 0:
                    meter.start()
                if taken == count:
                    break
                taken += 1
            meter.report(count)


async def redis_flood(address: str, count: int) -> None:
    client = _redis(address)
    await _measured_flood(lambda: client.xadd(TOPIC, {"b": BODY}), count, IN_FLIGHT)
    await client.aclose()


async def redis_one(address: str, count: int) -> None:
    client = _redis(address)
    await _measured_one_by_one(lambda: client.xadd(TOPIC, {"b": BODY}), count)
    await client.aclose()


async def redis_batch(address: str, count: int) -> None:
    client = _redis(address)

    async def send() -> None:
        pipeline = client.pipeline(transaction=False)
        for _ in range(BATCH):
            pipeline.xadd(TOPIC, {"b": BODY})
        await pipeline.execute()

    await _measured_flood(send, count // BATCH, 4, BATCH)
    await client.aclose()


def _redis(address: str) -> Any:
    host, _, port = address.rpartition(":")
    return import_module("redis.asyncio").Redis(host=host, port=int(port), max_connections=512)


async def cpp_one(address: str, count: int) -> None:
    producer, message = _cpp(address)
    for _ in range(count // 10):
        producer.send_sync(message)
    latencies = []
    meter = Meter()
    meter.start()
    for _ in range(count):
        began = time.perf_counter()
        producer.send_sync(message)
        latencies.append(time.perf_counter() - began)
    meter.report(count, latencies)
    sys.stdout.flush()
    os._exit(0)  # its shutdown may hang


async def cpp_flood(address: str, count: int) -> None:
    """As many threads as there are messages in flight: it has no other way."""
    producer, message = _cpp(address)

    def send(times: int) -> None:
        for _ in range(times):
            producer.send_sync(message)

    def flood(times: int) -> None:
        threads = [
            threading.Thread(target=send, args=(times // IN_FLIGHT,)) for _ in range(IN_FLIGHT)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    flood(count // 10)
    meter = Meter()
    meter.start()
    flood(count)
    meter.report(count // IN_FLIGHT * IN_FLIGHT)
    sys.stdout.flush()
    os._exit(0)


def _cpp(address: str) -> tuple[Any, Any]:
    library = import_module("rocketmq.client")
    producer = library.Producer("bench-cpp")
    producer.set_namesrv_addr(address)
    producer.start()
    message = library.Message(TOPIC)
    message.set_body(BODY.decode())
    return producer, message


PROGRAMS: dict[str, Callable[[str, int], Awaitable[None]]] = {
    name: program
    for name, program in globals().items()
    if name.partition("_")[0] in ("aerobee", "redis", "cpp")
    and name.partition("_")[2] in ("flood", "one", "batch", "producer", "receive")
}


def main() -> None:
    name, address, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    loop_factory = None
    if name.startswith("aerobee") and os.environ.get("BENCH_LOOP") != "asyncio":
        loop_factory = import_module("uvloop").new_event_loop
    with asyncio.Runner(loop_factory=loop_factory) as runner:
        runner.run(_run(name, address, count))


async def _run(name: str, address: str, count: int) -> None:
    await PROGRAMS[name](address, count)


if __name__ == "__main__":
    main()
