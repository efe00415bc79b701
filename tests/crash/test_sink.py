"""A sink's tasks and its broker, killed at every step: each row once, in order, whatever is done
again.

A task writes rows in some record batches. Between two of them its process is killed, or the broker
is, or both, or another attempt begins while it still writes. Whatever has not finished is done
again, as Spark would; and then the whole micro-batch once more, as after a crash of the driver
before it wrote down that the batch is done. Of every other batch brokers are told that it is
finished, and of some they are killed just then.

A transactional write is published while its broker is killed: afterwards a batch is there whole or
not at all, and published again it is there once.
"""

import contextlib
import multiprocessing
import os
import signal
from collections import defaultdict
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from aerobee.errors import AerobeeError
from aerobee.pipeline.sink.partition_writer import WriteTask, write_partition
from aerobee.pipeline.sink.staged_write import StagedRows, publish
from aerobee.pipeline.sink.write_round import finish_write
from aerobee.pipeline.spark.worker_client import WorkerClient, close_kept
from tests.server_kit import RestartableServer, Server
from tests.sink_kit import batch, options_of, stored

PROCESSES = multiprocessing.get_context("forkserver")
# What every attempt would import by itself.
PROCESSES.set_forkserver_preload(["aerobee.pipeline.sink.partition_writer"])
QUEUES = 3
ROWS = 120
SIZE = 20
STEPS = range(ROWS // SIZE + 1)
SECONDS = 200


def rows_of(round_id: int, partition: int) -> list[Any]:
    """Every third row has a key; the rest goes to the queues by turns."""
    values = [f"{round_id} {partition} {row}" for row in range(ROWS)]
    keys = [f"k{row % 4}" if row % 3 == 0 else None for row in range(ROWS)]
    return [
        batch(values[at : at + SIZE], orderingKey=keys[at : at + SIZE])
        for at in range(0, ROWS, SIZE)
    ]


def attempt(name_server: str, task: WriteTask, steps: Connection) -> None:
    """One attempt of a task, in a process of its own: before each step it asks whether to go on."""

    def step_by_step() -> Iterator[Any]:
        for rows in rows_of(task.round_id, task.partition):
            steps.send("step")
            steps.recv()
            yield rows
        steps.send("step")
        steps.recv()

    options = options_of(Server(name_server), "Sunk", requestBytes="900", sendTimeout="30s")
    try:
        steps.send(write_partition(options, task, step_by_step()).rows)
    except AerobeeError as error:
        steps.send(error.message)
    close_kept()


class Attempt:
    """What a test does with one."""

    def __init__(self, server: Server, task: WriteTask) -> None:
        self._steps, theirs = PROCESSES.Pipe()
        self._process = PROCESSES.Process(target=attempt, args=(server.name_server, task, theirs))
        self._process.start()
        theirs.close()

    def go_to(self, step: int) -> None:
        """Let it write, and stop it before this step."""
        for _ in range(step):
            assert self._heard() == "step"
            self._steps.send("go")
        assert self._heard() == "step"

    def finish(self) -> object:
        """How many rows it has written, or what went wrong."""
        while True:
            with contextlib.suppress(OSError):
                self._steps.send("go")
            said = self._heard()
            if said != "step":
                self._process.join()
                return said

    def kill(self) -> None:
        assert self._process.pid is not None
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.join()

    def _heard(self) -> object:
        assert self._steps.poll(SECONDS), "nothing is heard of a task"
        return self._steps.recv()


def die(server: RestartableServer, task: WriteTask, step: int) -> None:
    one = Attempt(server, task)
    one.go_to(step)
    one.kill()


def lose_broker(server: RestartableServer, task: WriteTask, step: int) -> None:
    one = Attempt(server, task)
    one.go_to(step)
    server.up_again()
    assert one.finish() == ROWS


def lose_both(server: RestartableServer, task: WriteTask, step: int) -> None:
    one = Attempt(server, task)
    one.go_to(step)
    one.kill()
    server.up_again()


def be_succeeded(server: RestartableServer, task: WriteTask, step: int) -> None:
    """A first attempt that nobody waits for goes on when the second has begun to write. Whoever
    began to write later counts: at step 0 that is the first."""
    first = Attempt(server, task)
    first.go_to(step)
    second = Attempt(server, task)
    second.go_to(2)
    said = first.finish()
    if step == 0:
        assert said == ROWS
        assert "another attempt" in str(second.finish())
    else:
        assert step == STEPS[-1] or "another attempt" in str(said)
        assert second.finish() == ROWS


EVENTS = (die, lose_broker, lose_both, be_succeeded)


def publish_there(name_server: str, written: list[StagedRows], steps: Connection) -> None:
    """The driver's part, in a process of its own."""
    blocking = WorkerClient(options_of(Server(name_server), "Sunk").target)
    steps.send("step")
    try:
        blocking.run(publish(blocking.session, written, 30.0))
        steps.send("done")
    except AerobeeError as error:
        steps.send(error.message)
    blocking.close()


def staged(server: Server, task: WriteTask) -> StagedRows:
    options = options_of(server, "Sunk", deliveryGuarantee="transactional", requestBytes="900")
    found = write_partition(options, task, rows_of(task.round_id, task.partition)).staged
    assert found is not None
    return found


def publish_and_kill(server: RestartableServer, round_id: int) -> None:
    """One micro-batch; its broker is killed while it publishes, the driver perhaps, too."""
    tasks = [WriteTask("query", round_id, partition) for partition in range(2)]
    written = [staged(server, task) for task in tasks]
    ours, theirs = PROCESSES.Pipe()
    driver = PROCESSES.Process(target=publish_there, args=(server.name_server, written, theirs))
    driver.start()
    theirs.close()
    assert ours.poll(SECONDS)
    ours.recv()
    if round_id % 2:
        driver.kill()
    server.up_again()
    seen = sum(
        value.startswith(b"%d " % round_id)
        for values in stored(server, "Sunk").values()
        for value in values
    )
    assert seen in (0, 2 * ROWS)
    driver.join()
    for rows in (written, [staged(server, task) for task in tasks]):
        options = options_of(server, "Sunk")
        blocking = WorkerClient(options.target)
        blocking.run(publish(blocking.session, rows, 30.0))
        blocking.close()


def check(server: Server, rounds: int, partitions: int) -> None:
    """Each row once; in each queue, those of a task in order."""
    seen: dict[tuple[int, int], list[int]] = defaultdict(list)
    for queue, values in stored(server, "Sunk").items():
        orders: dict[tuple[int, int], list[int]] = defaultdict(list)
        for value in values:
            round_id, partition, row = map(int, value.split())
            orders[round_id, partition].append(row)
        for task, found in orders.items():
            assert found == sorted(found), (queue, task)
            seen[task] += found
    expected = [(number, part) for number in range(rounds) for part in range(partitions)]
    assert sorted(seen) == expected
    for task, found in seen.items():
        assert sorted(found) == list(range(ROWS)), task


def write_all(server: Server, tasks: list[WriteTask]) -> None:
    for task in tasks:
        assert Attempt(server, task).finish() == ROWS


def finish(server: Server, task: WriteTask) -> None:
    """What the driver says of a whole round."""
    blocking = WorkerClient(options_of(server, "Sunk").target)
    route = blocking.run(blocking.session.routes.of("Sunk"))
    places = {("Sunk", queue.broker_name) for queue in route.writable}
    blocking.run(finish_write(blocking.session, task.write_id, task.round_id, places))
    blocking.close()


def run(home: Path, stories: list[tuple[Any, int]]) -> None:
    """One micro-batch for each story: what happens to partition 0 at which step."""
    with RestartableServer(home) as server:
        server.create("Sunk", queues=QUEUES)
        for round_id, (event, step) in enumerate(stories):
            tasks = [WriteTask("query", round_id, partition) for partition in range(2)]
            event(server, tasks[0], step)
            write_all(server, tasks)
            if round_id % 2:
                finish(server, tasks[0])
            if round_id % 4 == 1:
                server.up_again()
            write_all(server, tasks)
        check(server, len(stories), 2)
        close_kept()


def test_killed_at_some_steps_each_row_is_there_once(tmp_path: Path) -> None:
    run(tmp_path, [(die, 3), (lose_broker, 2), (lose_both, 5), (be_succeeded, 4), (die, 0)])


@pytest.mark.night
@pytest.mark.timeout(1800)
def test_killed_at_every_step_each_row_is_there_once(tmp_path: Path) -> None:
    run(tmp_path, [(event, step) for event in EVENTS for step in STEPS])


def publish_rounds(home: Path, rounds: int) -> None:
    with RestartableServer(home) as server:
        server.create("Sunk", queues=QUEUES)
        for round_id in range(rounds):
            publish_and_kill(server, round_id)
        check(server, rounds, 2)
        close_kept()


def test_a_broker_that_is_killed_while_it_publishes_has_all_of_a_batch_or_nothing(
    tmp_path: Path,
) -> None:
    publish_rounds(tmp_path, 3)


@pytest.mark.night
@pytest.mark.timeout(1800)
def test_however_often_it_is_killed_a_batch_is_there_whole_and_once(tmp_path: Path) -> None:
    publish_rounds(tmp_path, 60)
