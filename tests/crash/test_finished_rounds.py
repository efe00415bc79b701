"""A crash at every step of a write whose tasks, and which as a whole, are said to be finished: done
again it adds what is missing and nothing else, and whoever of it is late adds nothing.

Some tasks say that they are through, some do not; in the end the driver says it of all. At every
disk job and after every tick the process is killed and the power is cut. Another broker goes on
with what is left: attempts that nobody waits for any more send all their rows once more; then the
write is done again. Each row is there once, with either flush mode: what is known to be finished is
on the disk, and what is not known is sent again.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.storage.config import FlushMode
from tests.broker_kit import STORAGE, BrokerKit
from tests.crash.moments import judge_every_moment
from tests.once_kit import (
    FENCED,
    FINISH_ROUND,
    FINISHED,
    OPEN_PRODUCER,
    ORDERS,
    QUEUE,
    SEND_ONCE,
    batch_body,
    finish_round,
    open_task,
    send_rows,
)
from tests.wire import JAVA_FIELDS

SHARE = 0.1
"""Of the states that a power cut can leave at each moment."""
TASKS = 2
ROUNDS = 2
FIELDS = {**JAVA_FIELDS, "e": str(QUEUE), "i": "", "m": "true", "quiet": "true"}


def rows_of(round_id: int, task: int) -> list[bytes]:
    return [f"{round_id} {task} {row}".encode() for row in range(3)]


class Story:
    def __init__(self, mode: FlushMode) -> None:
        self.storage = replace(STORAGE, flush_mode=mode, log_file_bytes=1 << 13)
        self.kit = BrokerKit(ORDERS, storage=self.storage)
        self.round_id = 0
        self.attempts: list[tuple[str, int, list[bytes]]] = []
        """Of this round: who, with which epoch, what."""
        self.before: list[bytes] = []
        """The rows of rounds that are over."""

    def run(self) -> Iterator[str]:
        """Every moment, by name."""
        for self.round_id in range(ROUNDS):
            self.attempts = []
            for task in range(TASKS):
                yield from self._attempt(task)
            yield from self._said("all through", FINISH_ROUND, self._header())
            self.kit.clock.advance(2000)  # the file of sequences is written now and then
            yield from self._let_pass("later", 2)
            self.before += [row for task in range(TASKS) for row in self._rows(task)]

    def _attempt(self, task: int) -> Iterator[str]:
        """One that writes all, after another that has begun to."""
        producer, rows = f"w/{task}", self._rows(task)
        for part in (rows[:2], rows):
            said = {"producerId": producer, "topic": "Orders", "roundId": str(self.round_id)}
            yield from self._said(f"{producer} opens", OPEN_PRODUCER, {**said, "plan": "a plan"})
            epoch = self._epoch
            self.attempts.append((producer, epoch, rows))
            body = batch_body(self.round_id << 32, part, producer=producer, epoch=epoch)
            yield from self._said(f"{producer} sends", SEND_ONCE, FIELDS, body)
        if task % 2 == 0:
            header = {**self._header(), "task": str(task), "epoch": str(epoch)}
            yield from self._said(f"{producer} is through", FINISH_ROUND, header)

    def _rows(self, task: int) -> list[bytes]:
        return rows_of(self.round_id, task)

    def _header(self) -> dict[str, str]:
        return {"writeId": "w", "topic": "Orders", "roundId": str(self.round_id)}

    def _said(
        self, name: str, code: int, fields: dict[str, str], body: bytes = b""
    ) -> Iterator[str]:
        self.kit.tell(code, fields, body)
        yield f"{name}, asked"
        yield from self._let_pass(name, 1)
        self.kit.finish()
        (answer,) = self.kit.heard()
        assert answer.code == 0, (name, answer.remark)
        self._epoch = int(answer.ext_fields.get("epoch", -1))

    def _let_pass(self, name: str, ticks: int) -> Iterator[str]:
        for tick in range(ticks):
            self.kit.tick(5)
            yield f"{name}, tick {tick}"
            job = 0
            while self.kit.worker.run_next():
                self.kit.tick()
                yield f"{name}, tick {tick}, job {job}"
                job += 1


def judge(story: Story, survivor: SimDisk, *, has_all: bool) -> None:
    """`has_all`: nothing that was acknowledged is lost."""
    now = story.kit.clock.now()
    kit = BrokerKit(
        disk=survivor, storage=story.storage, clock=SimClock(now.wall_ms, now.monotonic_ms)
    )
    for producer, epoch, rows in story.attempts:
        assert send_rows(kit, producer, epoch, rows).code in (0, FENCED)
    told = set()
    for task in range(TASKS):
        opened = open_task(kit, f"w/{task}", story.round_id)
        told.add(opened.code)
        if opened.code != FINISHED:
            assert opened.code == 0, opened.remark
            rows = rows_of(story.round_id, task)
            epoch = int(opened.ext_fields["epoch"])
            assert send_rows(kit, f"w/{task}", epoch, rows).code == 0
    this_round = [row for task in range(TASKS) for row in rows_of(story.round_id, task)]
    found = Counter(kit.bodies(queue_id=QUEUE))
    assert all(count == 1 for count in found.values()), found
    assert set(this_round) <= set(found), (told, found)
    if has_all:
        assert set(story.before) <= set(found)
    assert finish_round(kit, "w", story.round_id).code == 0
    kit.run(100)
    for producer, epoch, rows in story.attempts:
        assert send_rows(kit, producer, epoch, rows).code == FENCED
    assert Counter(kit.bodies(queue_id=QUEUE)) == found


@pytest.mark.parametrize("mode", FlushMode)
def test_at_every_step_of_a_write_a_crash_leaves_each_row_once(mode: FlushMode) -> None:
    story = Story(mode)
    assert judge_every_moment(story, judge, mode, SHARE) > 40
