"""Programs that are measured: one client each, in a process of its own.

    python -m bench.client.programs PROGRAM CASE LOOP ADDRESS SECONDS FILLED

`meter.py` says what it prints. CASE is one of `sides.CASES`, or `fill`: make the topics and fill
the one that is received from.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from importlib import import_module

from bench.client import kafka, ours, rocketmq, streams
from bench.client.meter import Asked

Program = Callable[[Asked], Awaitable[None]]

PROGRAMS: dict[str, dict[str, Program]] = {
    "aerobee": {
        "fill": ours.fill,
        "flood": ours.flood,
        "one": ours.one,
        "stream": ours.stream,
        "batch": ours.batch,
        "receive": ours.receive,
    },
    "cpp": {
        "flood": rocketmq.cpp_flood,
        "one": rocketmq.cpp_one,
        "stream": rocketmq.cpp_stream,
        "batch": rocketmq.cpp_batch,
        "receive": rocketmq.cpp_receive,
    },
    "grpc": {
        "flood": rocketmq.grpc_flood,
        "one": rocketmq.grpc_one,
        "stream": rocketmq.grpc_stream,
        "receive": rocketmq.grpc_receive,
    },
    "confluent": {
        "fill": kafka.confluent_fill,
        "flood": kafka.confluent_flood,
        "one": kafka.confluent_one,
        "stream": kafka.confluent_stream,
        "batch": kafka.confluent_batch,
        "receive": kafka.confluent_receive,
    },
    "aiokafka": {
        "flood": kafka.aiokafka_flood,
        "one": kafka.aiokafka_one,
        "stream": kafka.aiokafka_stream,
        "batch": kafka.aiokafka_batch,
        "receive": kafka.aiokafka_receive,
    },
    "nats": {
        "fill": streams.nats_fill,
        "flood": streams.nats_flood,
        "one": streams.nats_one,
        "stream": streams.nats_stream,
        "receive": streams.nats_receive,
    },
    "redis": {
        "fill": streams.redis_fill,
        "flood": streams.redis_flood,
        "one": streams.redis_one,
        "batch": streams.redis_batch,
        "receive": streams.redis_receive,
    },
}


def main() -> None:
    name, case, loop, address, seconds, filled = sys.argv[1:]
    asked = Asked(address, float(seconds), int(filled))
    factory = import_module("uvloop").new_event_loop if loop == "uvloop" else None
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(_run(PROGRAMS[name][case], asked))


async def _run(program: Program, asked: Asked) -> None:
    await program(asked)


if __name__ == "__main__":
    main()
