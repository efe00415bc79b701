"""`python -m bench.pipeline`: topics read and written by Spark, beside its Kafka connector.

python -m bench.pipeline --quick            # a hundred thousand rows, one round: does it work?
python -m bench.pipeline                    # two million rows, five rounds, some ten minutes
python -m bench.pipeline --cases batch      # one case; see bench/pipeline/cases.py

Both sides hold the same messages (a key of 16 bytes, a value of 100), are read by the same session
and take turns. Seconds of CPU are those of all processes of a side: Spark's, its Python workers',
its broker's. The first round warms up and is not counted. Needs Java and Maven.
"""

import argparse
import asyncio
import contextlib
import json
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import aerobee
from aerobee.model.message_queue import MessageQueue, QueueId
from bench.broker_servers import Aerobee, NameServer
from bench.pipeline import servers
from bench.pipeline.cases import AEROBEE, CASES, HANDED, KAFKA, KEY, LOG, VALUE
from bench.pipeline.plot import bars

TOPIC, MICRO, SINK = "bench", "micro", "sink"
QUEUES, MICRO_QUEUES, MICRO_BATCHES = 4, 32, 20
BATCH_MESSAGES = 1000


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
    rounds = given.rounds or (1 if given.quick else 5)
    _say("fetching Kafka, its connector and their Spark, unless they are there")
    servers.jars("kafka_broker")
    servers.jars("kafka_connector")
    servers.python()
    with tempfile.TemporaryDirectory(prefix="bench-pipeline-") as folder:
        found = _compared(Path(folder), rows, rounds, given)
    _show(found, given.plot)
    return 0


def _compared(folder: Path, rows: int, rounds: int, given: Any) -> dict[str, Any]:
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
        return _measured(Sides(session, broker, kafka, address), rows, rounds, given.cases)


class Sides(NamedTuple):
    """What runs meanwhile."""

    session: "Session"
    aerobee: Aerobee
    kafka: servers.Kafka
    name_server: str


def _measured(sides: Sides, rows: int, rounds: int, cases: list[str]) -> dict[str, Any]:
    where = {
        "nameServer": sides.name_server,
        "kafka": f"127.0.0.1:{sides.kafka.port}",
        "store": str(sides.aerobee.folder / "store"),
        "topic": TOPIC,
        "microTopic": MICRO,
        "sinkTopic": SINK,
        "rows": str(rows),
    }
    _say(f"{rows:,} messages for each side")
    asyncio.run(_fill(sides.name_server, rows))
    _fill_kafka(sides.session, where, rows)
    brokers: dict[str, Aerobee | servers.Kafka] = {AEROBEE: sides.aerobee, KAFKA: sides.kafka}
    found: dict[str, Any] = {}
    for number in range(rounds + 1):
        _say(f"round {number} of {rounds}" if number else "warming up")
        for case in cases:
            order = list(CASES[case])
            random.shuffle(order)
            for side in order:
                broker = brokers.get(side)
                before = broker.cpu_seconds() if broker else 0.0
                told = sides.session.ask({"case": case, "side": side, "where": where})
                told["broker"] = (broker.cpu_seconds() if broker else 0.0) - before
                if number:
                    found.setdefault(case, {}).setdefault(side, []).append(told)
    return found


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


async def _fill(address: str, rows: int) -> None:
    async with aerobee.connect(address) as client:
        for topic, queues in ((TOPIC, QUEUES), (MICRO, MICRO_QUEUES), (SINK, QUEUES)):
            await client.admin.topics.create(topic, queues=queues)
        for start in range(0, rows, BATCH_MESSAGES):
            numbers = range(start, min(rows, start + BATCH_MESSAGES))
            queue = MessageQueue(TOPIC, "broker-a", QueueId(start // BATCH_MESSAGES % QUEUES))
            messages = [aerobee.Outgoing(_body(n), keys=[f"{n:016}"]) for n in numbers]
            await client.send_batch(TOPIC, messages, queue=queue)
        for number in range(MICRO_QUEUES):
            queue = MessageQueue(MICRO, "broker-a", QueueId(number))
            await client.send_batch(MICRO, [_body(n) for n in range(MICRO_BATCHES)], queue=queue)


def _fill_kafka(session: Session, where: dict[str, str], rows: int) -> None:
    for topic, queues in ((TOPIC, QUEUES), (MICRO, MICRO_QUEUES), (SINK, QUEUES)):
        session.ask({"case": "topic", "where": {**where, "topic": topic, "queues": queues}})
    topics = [(TOPIC, rows, KEY, VALUE), (MICRO, MICRO_QUEUES * MICRO_BATCHES, KEY, VALUE)]
    session.ask({"case": "load", "where": {**where, "topics": topics}})


def _show(found: dict[str, Any], plot: Path) -> None:
    rates: dict[str, dict[str, float]] = {}
    print(f"\n{'case':8} {'side':8} {'rows/s':>12} {'CPU µs/row':>11} {'of it broker':>13}"
          f" {'Python RSS':>11} {'batch ms':>9}")  # fmt: skip
    for case, sides in found.items():
        for side in (AEROBEE, KAFKA, LOG, HANDED):
            if side not in sides:
                continue
            runs = sides[side]
            rate = statistics.median(one["rows"] / one["seconds"] for one in runs)
            cpu = statistics.median(
                1e6 * (one["jvm"] + one["python"] + one["broker"]) / one["rows"] for one in runs
            )
            own = statistics.median(1e6 * one["broker"] / one["rows"] for one in runs)
            rss = max(one["rssMax"] for one in runs) / 2**20
            batch = [one["batchMs"] for one in runs if "batchMs" in one]
            told = f"{statistics.median(batch):9.0f}" if batch else ""
            print(f"{case:8} {side:8} {rate:12,.0f} {cpu:11.2f} {own:13.2f} {rss:8.0f} MiB {told}")
            if not batch:
                rates.setdefault(case, {})[side] = rate
    plot.parent.mkdir(parents=True, exist_ok=True)
    plot.write_text(bars("Rows read and written by Spark", "rows/s", rates))
    plot.with_suffix(".json").write_text(json.dumps(found, indent=1))
    print(f"\n{plot}")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
