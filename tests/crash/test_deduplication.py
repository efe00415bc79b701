"""A crash at every step of a producer that is to be stored once: nothing is there twice, and with
synchronous flush nothing that was acknowledged is missing.

The producer sends messages and batches, tries again whatever was not acknowledged, and is succeeded
once. At every disk job and after every tick the process is killed and the power is cut; another
broker goes on with what is left, and the producer with what it knows.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.storage.config import FlushMode
from tests.broker_kit import STORAGE, BrokerKit
from tests.crash.moments import judge_every_moment
from tests.once_kit import (
    FENCED,
    FORGOTTEN,
    ORDERS,
    QUEUE,
    SEND_ONCE,
    batch_body,
    once_fields,
    open_producer,
    send_batch_once,
    send_once,
)
from tests.wire import JAVA_FIELDS

SHARE = 0.1
"""Of the states that a power cut can leave at each moment."""
BATCH = 4
BATCH_FIELDS = {**JAVA_FIELDS, "e": str(QUEUE), "i": "", "m": "true", "known": "true"}


class Story:
    """A broker and its producer, which numbers what it sends: the bodies are the numbers."""

    def __init__(self, mode: FlushMode) -> None:
        self.storage = replace(STORAGE, flush_mode=mode, log_file_bytes=1 << 13)
        self.kit = BrokerKit(ORDERS, storage=self.storage)
        self.epoch, _ = open_producer(self.kit)
        self.sent = 0
        self.acknowledged = 0
        """Below these numbers."""
        self.is_succeeded = False

    def run(self) -> Iterator[str]:
        """Every moment, by name."""
        kit = self.kit
        for number in range(8):
            kit.tell(
                SEND_ONCE,
                once_fields(self.sent, self.sent > 0, epoch=self.epoch),
                str(self.sent).encode(),
            )
            self.sent += 1
            yield from self._let_pass(f"message {number}", 1)
            self._hear(1)
            numbers = range(self.sent, self.sent + BATCH)
            body = batch_body(self.sent, [str(one).encode() for one in numbers], epoch=self.epoch)
            kit.tell(SEND_ONCE, {**BATCH_FIELDS}, body)
            self.sent += BATCH
            yield from self._let_pass(f"batch {number}", 1)
            self._hear(1)
            kit.clock.advance(2000)  # the file of sequences is written now and then
        self.epoch, last = open_producer(kit)
        self.is_succeeded = True
        assert last == {QUEUE: self.sent - 1}
        yield from self._let_pass("succeeded", 2)

    def _hear(self, count: int) -> None:
        self.kit.finish()
        answers: list[RemotingCommand] = self.kit.heard()
        assert [answer.code for answer in answers] == [0] * count
        self.acknowledged = self.sent

    def _let_pass(self, name: str, ticks: int) -> Iterator[str]:
        """Tick by tick, disk job by disk job."""
        for tick in range(ticks):
            self.kit.tick(5)
            yield f"{name}, tick {tick}"
            job = 0
            while self.kit.worker.run_next():
                self.kit.tick()
                yield f"{name}, tick {tick}, job {job}"
                job += 1


def judge(story: Story, survivor: SimDisk, *, has_all: bool) -> None:
    """Another process goes on with what is left; `has_all`: that is everything that was
    acknowledged. The producer sends everything again that it has, in batches of another size."""
    now = story.kit.clock.now()
    kit = BrokerKit(
        disk=survivor, storage=story.storage, clock=SimClock(now.wall_ms, now.monotonic_ms)
    )
    left = Counter(kit.bodies(queue_id=QUEUE))
    assert all(count == 1 for count in left.values()), left
    if has_all:
        assert set(left) >= {str(number).encode() for number in range(story.acknowledged)}
    if story.is_succeeded:
        assert send_once(kit, story.sent, epoch=story.epoch - 1).code == FENCED
    for start in range(0, story.sent, 3):
        numbers = range(start, min(start + 3, story.sent))
        answer = send_batch_once(
            kit, start, [str(one).encode() for one in numbers], epoch=story.epoch
        )
        assert answer.code == 0, answer.remark
    assert Counter(kit.bodies(queue_id=QUEUE)) == Counter(
        str(number).encode() for number in range(story.sent)
    )


@pytest.mark.parametrize("mode", FlushMode)
def test_at_every_step_of_a_producer_a_crash_leaves_nothing_twice(mode: FlushMode) -> None:
    story = Story(mode)
    assert judge_every_moment(story, judge, mode, SHARE) > 15
    assert len(story.kit.bodies(queue_id=QUEUE)) == story.sent


def test_a_producer_whose_acknowledged_messages_a_power_cut_took_is_told_so() -> None:
    kit = BrokerKit(ORDERS)
    epoch, _ = open_producer(kit)
    kit.run(6000)
    kit.tell(SEND_ONCE, once_fields(0, epoch=epoch), b"acknowledged, in memory")
    (answer,) = kit.heard()
    assert answer.code == 0
    kit = kit.power_cut()
    assert kit.bodies(queue_id=QUEUE) == []
    assert send_once(kit, 1, known=True, epoch=epoch).code == FORGOTTEN
