"""`python -m bench.pipeline`: topics read and written by Spark, beside its Kafka connector.

python -m bench.pipeline --quick            # a hundred thousand rows, one round: does it work?
python -m bench.pipeline                    # two million rows, five rounds, some ten minutes
python -m bench.pipeline --cases batch      # one case; see bench/pipeline/cases.py

Both sides hold the same messages (a key of 16 bytes, a value of 100), as many in each queue, are
read and written by the same session and take turns. Seconds of CPU are those of all processes of a
side: of Spark and all that it starts, of its broker, of our name server. The first two rounds warm
up and are not counted. Needs Java and Maven.
"""

import argparse
import asyncio
import contextlib
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import aerobee
from aerobee.model.message_queue import MessageQueue, QueueId
from bench.__main__ import touch_memory
from bench.broker_servers import Aerobee, NameServer
from bench.pipeline import servers
from bench.pipeline.cases import (
    AEROBEE,
    CASES,
    COLUMNS,
    EIGHTH,
    FILES_A_BATCH,
    KAFKA,
    SAME,
    WHOLE,
    WRITING,
    WRITTEN_BATCHES,
)
from bench.pipeline.table import show

TOPIC, MICRO, SINK = "bench", "micro", "sink"
QUEUES, MICRO_QUEUES, MICRO_BATCHES = 4, 32, 20
BATCH_MESSAGES = 1000
WARMING_ROUNDS = 2


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.pipeline",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="small, one round")
    parser.add_argument("--rows", type=int, help="messages of the topic (2,000,000)")
    parser.add_argument("--rounds", type=int, help="counted rounds (5)")
    parser.add_argument("--cores", type=int, default=2, help="of Spark (2)")
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--plot", type=Path, default=servers.BUILD / "pipeline.svg")
    given = parser.parse_args()
    absent = servers.missing()
    if absent is not None:
        print(f"{absent}: the Kafka side cannot be had", file=sys.stderr)
        return 1
    rows = given.rows or (100_000 if given.quick else 2_000_000)
    rows -= rows % (QUEUES * BATCH_MESSAGES)  # whole batches, as many for each queue
    rounds = given.rounds or (1 if given.quick else 5)
    _say("fetching Kafka, its connector and their Spark, unless they are there")
    servers.jars("kafka_broker")
    servers.jars("kafka_connector")
    servers.python()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("told to stop"))  # servers are stopped, too
    found: dict[str, Any] = {}
    try:
        with tempfile.TemporaryDirectory(prefix="bench-pipeline-") as folder:
            _compare(Path(folder), rows, rounds, given, found)
    finally:
        if found:
            show(found, given.plot)
    return 0


def _compare(folder: Path, rows: int, rounds: int, given: Any, found: dict[str, Any]) -> None:
    """Whatever was measured is in `found`, even if not all of it comes to its end."""
    with contextlib.ExitStack() as undo:
        nameserver = NameServer(folder / "nameserver", {})
        undo.callback(nameserver.stop)
        address = f"127.0.0.1:{nameserver.port}"
        broker = Aerobee(folder / "aerobee", {"namesrvAddr": address})
        undo.callback(broker.stop)
        kafka = servers.Kafka(folder / "kafka", {})
        undo.callback(kafka.stop)
        session = Session(given.cores)
        undo.callback(session.close)
        sides = Sides(session, nameserver, broker, kafka)
        where = _filled(sides, rows, str(folder / "rows"))
        _measure(sides, where, rounds, given.cases, found)


class Sides(NamedTuple):
    """What runs meanwhile."""

    session: "Session"
    nameserver: NameServer
    aerobee: Aerobee
    kafka: servers.Kafka

    def seconds(self, side: str) -> float:
        """Of CPU, so far, of the servers that a side needs."""
        if side == KAFKA:
            return self.kafka.cpu_seconds()
        if side in (AEROBEE, SAME, WHOLE, EIGHTH):
            return self.aerobee.cpu_seconds() + self.nameserver.cpu_seconds()
        return 0.0


def _filled(sides: Sides, rows: int, folder: str) -> dict[str, str]:
    """Have both sides hold the same; where everything is."""
    session = sides.session
    where = {
        "nameServer": f"127.0.0.1:{sides.nameserver.port}",
        "kafka": f"127.0.0.1:{sides.kafka.port}",
        "store": str(sides.aerobee.folder / "store"),
        "topic": TOPIC,
        "queues": str(QUEUES),
        "microTopic": MICRO,
        "sinkTopic": SINK,
        "rows": str(rows),
        "rowsFolder": folder,
    }
    _say(f"{rows:,} messages for us")
    where["logEnd"] = str(asyncio.run(_fill(where["nameServer"], rows)))
    _say(f"{rows:,} messages for Kafka")
    for topic, queues in ((TOPIC, QUEUES), (MICRO, MICRO_QUEUES), (SINK, QUEUES)):
        session.ask({"case": "topic", "where": {**where, "topic": topic, "queues": queues}})
    micro = MICRO_QUEUES * MICRO_BATCHES
    topics = [(TOPIC, rows, QUEUES, COLUMNS), (MICRO, micro, MICRO_QUEUES, COLUMNS)]
    session.ask({"case": "load", "where": {**where, "topics": topics}})
    files = FILES_A_BATCH * WRITTEN_BATCHES
    session.ask({"case": "ready", "where": {**where, "columns": COLUMNS, "files": files}})
    held = session.ask({"case": "same", "where": where})
    if held["aerobee rows"] != rows or any(
        held[f"aerobee {what}"] != held[f"kafka {what}"] for what in ("rows", "sum")
    ):
        raise RuntimeError(f"the sides do not hold the same: {held}")
    return where


def _measure(
    sides: Sides, where: dict[str, str], rounds: int, cases: list[str], found: dict[str, Any]
) -> None:
    began = time.monotonic()
    for number in range(1 - WARMING_ROUNDS, rounds + 1):
        what = f"round {number} of {rounds}" if number > 0 else "warming up"
        for case in cases:
            _say(f"{time.monotonic() - began:5.0f} s  {what}: {case}")
            order = list(CASES[case])
            random.shuffle(order)
            for side in order:
                if case in WRITING:
                    touch_memory()
                before = sides.seconds(side)
                told = sides.session.ask({"case": case, "side": side, "where": where})
                told["broker"] = sides.seconds(side) - before
                if number > 0:
                    found.setdefault(case, {}).setdefault(side, []).append(told)


class Session:
    """A program with a Spark session, asked line by line."""

    def __init__(self, cores: int) -> None:
        jars = servers.jars("kafka_connector")
        self._process = subprocess.Popen(
            [str(servers.python()), "-m", "bench.pipeline.session", str(jars), str(cores)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=servers.environment(),
        )
        self._answer()

    def ask(self, told: Any) -> dict[str, float]:
        assert self._process.stdin is not None
        print(json.dumps(told), file=self._process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> dict[str, float]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("RESULT "):
                answer: dict[str, float] = json.loads(line.removeprefix("RESULT "))
                return answer
        raise RuntimeError("the Spark session ended: what it said is above")

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _body(number: int) -> bytes:
    return b"%016d" % number + b"x" * 84


async def _fill(address: str, rows: int) -> int:
    """Our topics and their messages, as the other side gets them; where the log ends then."""
    async with aerobee.connect(address) as client:
        for topic, queues in ((TOPIC, QUEUES), (MICRO, MICRO_QUEUES), (SINK, QUEUES)):
            await client.admin.topics.create(topic, queues=queues)
        for number in range(MICRO_QUEUES):
            queue = MessageQueue(MICRO, "broker-a", QueueId(number))
            bodies = [_body(n * MICRO_QUEUES + number) for n in range(MICRO_BATCHES)]
            await client.send_batch(MICRO, bodies, queue=queue)
        end = 0
        for start in range(0, rows, QUEUES * BATCH_MESSAGES):
            for number in range(QUEUES):
                numbers = range(start + number, start + QUEUES * BATCH_MESSAGES, QUEUES)
                queue = MessageQueue(TOPIC, "broker-a", QueueId(number))
                messages = [aerobee.Outgoing(_body(n), keys=[f"{n:016}"]) for n in numbers]
                sent = await client.send_batch(TOPIC, messages, queue=queue)
                end = int(sent[-1].offset_id[-16:], 16) + 1  # its last half is its place
        return end


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
