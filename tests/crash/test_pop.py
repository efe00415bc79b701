"""POP, crashed at every moment: before each disk call and after each step of popping, of
acknowledging, of hiding for longer and of coming back. The process is killed, or the power is cut.

    nothing is lost     every message was acknowledged, or comes (again) to the next process
    nothing comes back  whose acknowledgement was answered: after a kill, and with synchronous flush
                        after a power cut, too
    priorities stay     where retries are separated, a message that comes again is in the queue of
                        its priority
"""

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.sim.faults import SimFaults
from aerobee.storage.config import FlushMode, StorageConfig
from tests.broker_kit import STORAGE, SYNC
from tests.pop_kit import CONFIG as SMALL_WHEEL
from tests.pop_kit import Got, PopKit

MESSAGES = 12
INVISIBLE_MS = 3_000
STATES_MIN = 150
SEEDS = [(1, 0.25), *(pytest.param(seed, 1, marks=pytest.mark.night) for seed in range(2, 8))]
"""(seed, share of the moments that are looked at)"""
# Offsets are saved more often than the log is synced.
CONFIG = replace(SMALL_WHEEL, offsets_interval_ms=100)


class Watch(SimFaults):
    """Faults that fail nothing, and tell before every call."""

    __slots__ = ("is_on", "visit")

    def __init__(self, visit: Callable[[], None]) -> None:
        super().__init__()
        self.is_on = False
        self.visit = visit

    def enter(self, name: str, path: str, *, is_sync: bool = False) -> None:
        super().enter(name, path, is_sync=is_sync)
        if self.is_on:
            self.visit()


class Story:
    def __init__(
        self, storage: StorageConfig, seed: int, share: float, priorities: int = 1
    ) -> None:
        self.random = random.Random(seed)
        self.share = share
        self.storage = storage
        self.config = replace(CONFIG, separates_retries=priorities > 1)
        self.kit = PopKit(queues=priorities, storage=storage, config=self.config)
        if priorities > 1:
            self.kit.rank(priorities)
        self.watch = Watch(self.visit)
        self.kit.disk.faults = self.watch
        self.each = MESSAGES // priorities
        for priority in range(priorities):
            self.kit.fill(self.each, priority, first=priority * self.each)
        self.kit.run(1_000)
        self.asked: set[bytes] = set()
        """Whose acknowledgement is on its way or answered."""
        self.answered: set[bytes] = set()
        self.states = 0

    def run(self) -> None:
        self.watch.is_on = True
        got = self.kit.pop(maxMsgNums=5, invisibleTime=INVISIBLE_MS)
        for one in got[:3]:
            self.ack(one)
        self.visit()
        self.kit.change(got[3], 2 * INVISIBLE_MS)
        self.visit()
        others = self.kit.pop(maxMsgNums=4, invisibleTime=INVISIBLE_MS)
        self.ack(others[0])
        self.kit.run(INVISIBLE_MS + 1_500, 300)
        self.visit()
        again = self.kit.pop(invisibleTime=INVISIBLE_MS)
        assert len(again) > 4
        for one in again[: len(again) // 2]:
            if one.topic == "Orders":
                self.ack(one)
        self.kit.run(INVISIBLE_MS + 1_500, 300)
        self.watch.is_on = False

    def ack(self, got: Got) -> None:
        self.asked.add(got.body)
        assert self.kit.ack(got) == 0
        self.answered.add(got.body)
        self.visit()

    # Crashes.

    def visit(self) -> None:
        if self.random.random() >= self.share:
            return
        self.watch.is_on = False
        if self.random.random() < 0.25:
            self.judge(self.kit.disk.kill(), is_sure=True)
        is_sync = self.storage.flush_mode is FlushMode.SYNC
        for state in self.kit.disk.crash_states(2, self.random.getrandbits(32), 0.02):
            self.judge(state, is_sure=is_sync)
        self.watch.is_on = True

    def judge(self, disk: SimDisk, *, is_sure: bool) -> None:
        self.states += 1
        origin = disk.origin
        wall_ms = self.kit.clock.now().wall_ms
        after = PopKit(disk=disk, storage=self.storage, clock=SimClock(wall_ms), config=self.config)
        came: set[bytes] = set()
        for _ in range(2 * INVISIBLE_MS // 500 + 8):
            for one in after.pop(invisibleTime=60_000):
                came.add(one.body)
                assert one.message.queue_id == int(one.body[1:]) // self.each, (origin, one)
                assert after.ack(one) == 0
            after.run(500, 500)
        all_bodies = {b"m%d" % number for number in range(MESSAGES)}
        assert all_bodies <= came | self.asked, (origin, sorted(all_bodies - came - self.asked))
        if is_sure:
            assert not came & self.answered, (origin, sorted(came & self.answered))


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("seed", "share"), SEEDS)
@pytest.mark.parametrize("storage", [STORAGE, SYNC], ids=["async", "sync"])
def test_no_crash_loses_a_message_or_an_answered_acknowledgement(
    storage: StorageConfig, seed: int, share: float
) -> None:
    story = Story(storage, seed, share)
    story.run()
    assert story.states >= STATES_MIN


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("seed", "share"), SEEDS)
@pytest.mark.parametrize("storage", [STORAGE, SYNC], ids=["async", "sync"])
def test_no_crash_loses_a_message_or_its_priority(
    storage: StorageConfig, seed: int, share: float
) -> None:
    story = Story(storage, seed, share, priorities=3)
    story.run()
    assert story.states >= STATES_MIN
