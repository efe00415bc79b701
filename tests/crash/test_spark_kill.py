"""Queries on a real Spark cluster whose processes are killed: each row once, each key in order.

    topic ─▶ executor: Python workers ─▶ sink ─▶ topic
                ▲
              driver, with its checkpoint

Killed, with SIGKILL, are the driver with all it has started, an executor, a Python worker and the
broker. When is drawn from a seed: in a batch, at a row that waits for it, or some time after a
batch's last row. And the checkpoint loses its last commit, as when a driver dies just before it.
A driver that has ended is started again, until everything is through.

SPARK_SEED    which moments; printed with what was counted
SPARK_ROUNDS  of the long tests: how often each of them is killed
"""

import asyncio
import contextlib
import json
import os
import random
import select
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

import aerobee
from aerobee.pipeline.spark.worker_client import close_kept
from tests.score import LINES
from tests.server_kit import RestartableServer
from tests.sink_kit import stored
from tests.spark_cluster import Cluster, python_workers, session_of, words_of
from tests.spark_kit import forget_last_commit

SEED = int(os.environ.get("SPARK_SEED", "8"))
ROUNDS = int(os.environ.get("SPARK_ROUNDS", "3"))
ROWS = 300
"""That come before each kill, in two batches."""
KEYS = 7
QUEUES = 4
LOCAL = "local[2,20]"
STARTS_MAX = 5
"""Of a driver, until everything is through after one kill."""
LOOK_SECONDS = 0.005
_LOG_CHARS = 5_000


class Query:
    """The driver; a test kills it, and starts it again."""

    def __init__(self, server: RestartableServer, master: str, home: Path, guarantee: str) -> None:
        self.checkpoint = home / "checkpoint"
        self._steps, self._hold, self._held = (home / name for name in ("steps", "hold", "held"))
        self._steps.touch()
        self._log = home / "driver.log"
        at = server.name_server
        given = {
            "master": master,
            "folder": str(home),
            "checkpoint": str(self.checkpoint),
            "keys": KEYS,
            "source": {
                "nameServer": at,
                "topic": "In",
                "startingOffsets": "earliest",
                "columns": "key,value",
                "maxOffsetsPerTrigger": str(ROWS // 2),
                "fetchOffset.numRetries": "100",
            },
            "sink": {
                "nameServer": at,
                "topic": "Out",
                "deliveryGuarantee": guarantee,
                "requestBytes": "400",
            },
        }
        self._words = [sys.executable, "-m", "tests.crash.spark_query", json.dumps(given)]
        self._process: subprocess.Popen[bytes] | None = None
        self.starts = 0

    def steps(self) -> int:
        """How many rows have passed so far, those that did again counted again."""
        return self._steps.stat().st_size

    def hold(self, number: int) -> None:
        """Have this row wait."""
        making = self._hold.with_suffix(".new")
        making.write_text(str(number))
        making.rename(self._hold)

    def is_held(self) -> bool:
        return self._held.exists()

    def release(self) -> None:
        self._hold.unlink()
        self._held.unlink(missing_ok=True)

    def java(self) -> list[int]:
        """The driver's; it runs the tasks of a local session."""
        assert self._process is not None
        return [one for one in session_of(self._process.pid) if b"SparkSubmit" in words_of(one)]

    def kill(self) -> None:
        """All of it: the program, its Java, and the Pythons which that has started."""
        process = self._process
        assert process is not None
        while left := session_of(process.pid):
            for one in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(one, signal.SIGKILL)
            process.poll()
        process.wait()

    def drain(self, look: Callable[[], None]) -> None:
        """Have everything that is there pass and be committed, with a look now and then."""
        last = self.starts + STARTS_MAX
        self._ask()
        while (said := self._heard()) != b"drained\n":
            if said == b"" or self._process is None or self._process.poll() is not None:
                assert self.starts < last, self._log.read_text("utf-8", "replace")[-_LOG_CHARS:]
                self._ask()
            look()

    def _ask(self) -> None:
        if self._process is None or self._process.poll() is not None:
            self._start()
        assert self._process is not None
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(b"drain\n")

    def _start(self) -> None:
        self.end()
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                bufsize=0,
                start_new_session=True,
            )
        self.starts += 1

    def _heard(self) -> bytes | None:
        """A line; nothing at all from one that has ended; None: nothing yet."""
        assert self._process is not None
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], LOOK_SECONDS)
        return self._process.stdout.readline() if ready else None

    def end(self) -> None:
        if self._process is not None:
            self.kill()
            for pipe in (self._process.stdin, self._process.stdout):
                assert pipe is not None
                pipe.close()
            self._process = None


class Stage:
    """Everything that a story needs, and whom it kills."""

    def __init__(self, cluster: Cluster | None, home: Path, guarantee: str) -> None:
        """Without a cluster the driver runs everything itself."""
        self.choice = random.Random(f"{SEED} {guarantee}")
        self.cluster = cluster
        self.server = RestartableServer(home)
        master = LOCAL if cluster is None else cluster.master
        self.query = Query(self.server, master, home, guarantee)
        self.sent = 0
        self.killed: Counter[str] = Counter()
        for topic in ("In", "Out"):
            self.server.create(topic, queues=QUEUES)

    def send(self) -> None:
        async def send() -> None:
            async with aerobee.connect(self.server.name_server) as client:
                for number in range(self.sent, self.sent + ROWS):
                    key = str(number % KEYS)
                    body = b"%d" % number
                    await client.send("In", body, keys=[f"k{number}"], order_by=key)

        asyncio.run(send())
        self.sent += ROWS

    def tell(self, event: "Event", *, is_in_batch: bool = False) -> None:
        """More rows come; something happens at some moment; everything is through in the end."""
        self.send()
        query = self.query
        number = self.choice.randrange(self.sent - ROWS, self.sent)
        is_in_batch = is_in_batch or self.choice.random() < 0.6
        last_row = query.steps() + self.choice.choice([ROWS // 2, ROWS])
        looks = self.choice.randrange(60)
        is_over = False

        def is_time() -> bool:
            nonlocal looks
            if is_in_batch:
                return query.is_held()
            looks -= query.steps() >= last_row
            return looks < 0

        def look() -> None:
            nonlocal is_over
            if not is_over and is_time():
                is_over = event(self)
                if is_in_batch and is_over:
                    query.release()

        if event is last_commit:
            query.drain(lambda: None)
        else:
            if is_in_batch:
                query.hold(number)
            query.drain(look)
        if not is_over:
            assert event(self)
            query.drain(lambda: None)
        self.killed[event.__name__] += 1

    def executors(self) -> list[int]:
        return self.query.java() if self.cluster is None else self.cluster.executors()

    def found(self) -> dict[tuple[str, int], list[dict[str, bytes]]]:
        return stored(self.server, "Out", "key,value")

    def close(self) -> None:
        self.query.end()
        self.server.__exit__()
        close_kept()


def driver(stage: Stage) -> bool:
    stage.query.kill()
    return True


def executor(stage: Stage) -> bool:
    return _kill_one(stage, stage.executors())


def python_worker(stage: Stage) -> bool:
    return _kill_one(
        stage, [one for executor in stage.executors() for one in python_workers(executor)]
    )


def broker(stage: Stage) -> bool:
    stage.server.up_again()
    return True


def last_commit(stage: Stage) -> bool:
    """Gone, and so is the driver."""
    stage.query.kill()
    forget_last_commit(stage.query.checkpoint)
    return True


def _kill_one(stage: Stage, processes: list[int]) -> bool:
    if not processes:
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(stage.choice.choice(sorted(processes)), signal.SIGKILL)
        return True
    return False


Event = Callable[[Stage], bool]
EVENTS: tuple[Event, ...] = (driver, executor, python_worker, broker, last_commit)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@contextlib.contextmanager
def stage_of(cluster: Cluster | None, home: Path, guarantee: str) -> Iterator[Stage]:
    stage = Stage(cluster, home, guarantee)
    try:
        yield stage
        again = stage.query.steps() - stage.sent
        told = ", ".join(f"{name} {count}" for name, count in stage.killed.items())
        LINES.append(
            f"Spark, {guarantee}, seed {SEED}: killed {told}; {stage.query.starts} drivers; "
            f"{stage.sent} rows, {again} done again"
        )
    finally:
        stage.close()


def check(stage: Stage) -> None:
    """What went in is what came out, row by row."""
    rows = [row for values in stage.found().values() for row in values]
    found = sorted((int(row["value"].split()[0]), row["key"], row["value"]) for row in rows)
    assert found == [
        (number, b"k%d" % number, b"%d %d" % (number, 2 * number)) for number in range(stage.sent)
    ]
    for queue, values in stage.found().items():
        orders: dict[int, list[int]] = defaultdict(list)
        for row in values:
            number = int(row["value"].split()[0])
            orders[number % KEYS].append(number)
        for key, numbers in orders.items():
            assert numbers == sorted(numbers), (queue, key)


def kill_each(stage: Stage, events: Sequence[Event]) -> None:
    for event in events:
        stage.tell(event)
        check(stage)
    assert set(stage.killed) == {event.__name__ for event in events}
    assert stage.query.steps() > stage.sent, "no row was done again: nothing was seen"


@pytest.mark.timeout(900)
def test_a_driver_and_a_worker_are_killed_and_each_row_is_there_once(tmp_path: Path) -> None:
    with stage_of(None, tmp_path, "idempotent") as stage:
        for event in (python_worker, broker, driver):
            stage.tell(event, is_in_batch=True)
            check(stage)
        assert stage.query.steps() > stage.sent


@pytest.mark.night
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("guarantee", ["idempotent", "transactional"])
def test_whatever_is_killed_each_row_is_there_once(
    cluster: Cluster, tmp_path: Path, guarantee: str
) -> None:
    with stage_of(cluster, tmp_path, guarantee) as stage:
        kill_each(stage, EVENTS * ROUNDS)


@pytest.mark.night
@pytest.mark.timeout(3600)
def test_without_a_guarantee_the_same_kills_leave_rows_twice(
    cluster: Cluster, tmp_path: Path
) -> None:
    """Which shows that they come when rows are on their way."""
    with stage_of(cluster, tmp_path, "atLeastOnce") as stage:
        for event in EVENTS:
            stage.tell(event, is_in_batch=True)
        values = [row["value"] for rows in stage.found().values() for row in rows]
        assert {int(value.split()[0]) for value in values} == set(range(stage.sent))
        assert len(values) > stage.sent
