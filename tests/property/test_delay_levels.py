"""Delayed messages through any life of a broker: sends, time in ticks of any length, clocks that
are set, disks that do their work when they like, clean stops, kills and power cuts.

Never early, in time that really passed; never lost while the record that waits is not; in order
within a level; and never late once the clock is left alone.
"""

from collections import Counter
from dataclasses import replace
from itertools import islice

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from aerobee.errors import StoreBusy
from aerobee.ports.disk_worker import Lane
from aerobee.storage.config import FlushMode
from tests.delay_kit import CONFIG, LEVELS_MS, DelayKit

levels = st.integers(1, len(LEVELS_MS))
clock_steps = st.one_of(
    st.integers(30, 20_000), st.integers(-20_000, -30), st.sampled_from([10**9, -(10**9)])
)
# What the disk gets done between two ticks.
disks = st.sampled_from([(), (Lane.BACKGROUND,), (Lane.SYNC, Lane.BACKGROUND)])
# A log that is often behind on the disk: what was delivered may be lost.
LAGGING = replace(CONFIG, log_file_bytes=1 << 16, flush_interval_ms=2_000, flush_lag_ms_max=10_000)
LATE_MS_MAX = 700  # two looks and the distance of two marks


class DelayMachine(RuleBasedStateMachine):
    """D1. `sent_ms` is when, by the clock that only runs, each message was stored."""

    @initialize(mode=st.sampled_from(FlushMode))
    def begin(self, mode: FlushMode) -> None:
        self.kit = DelayKit(config=replace(LAGGING, flush_mode=mode))
        self.sent_ms: dict[bytes, int] = {}
        # Messages stored before the clock was set: a process that begins later cannot know it.
        self.misdated: set[bytes] = set()
        self.excused: set[bytes] = set()
        self.crashes = 0
        # How many copies were looked at, by level.
        self.seen: dict[int, int] = dict.fromkeys(range(1, len(LEVELS_MS) + 1), 0)

    # What happens.

    @rule(level=levels, count=st.integers(1, 4))
    def send(self, level: int, count: int) -> None:
        for _ in range(count):
            body = b"%d:%d" % (level, len(self.sent_ms))
            try:
                # A topic for each level, so that its order can be seen.
                self.kit.send(body, level, f"Level{level}")
            except StoreBusy:
                return
            self.sent_ms[body] = self.kit.clock.now().monotonic_ms

    @rule(level=levels, ms=clock_steps)
    def send_and_set_clock(self, level: int, ms: int) -> None:
        self.send(level, 1)
        self.kit.clock.jump_wall(ms)
        self.misdated = set(self.sent_ms)

    @rule(tick_ms=st.sampled_from([1, 5, 20, 100, 250]), count=st.integers(1, 40), disk=disks)
    def pass_time(self, tick_ms: int, count: int, disk: tuple[Lane, ...]) -> None:
        for _ in range(count):
            self.kit.worker.run_all(disk)
            self.tick(tick_ms)

    @rule(level=levels, disk=disks)
    def wait_for_a_level(self, level: int, disk: tuple[Lane, ...]) -> None:
        """Almost, and a little longer."""
        for tick_ms in (LEVELS_MS[level - 1] - 10, 5, 5, 5):
            self.kit.worker.run_all(disk)
            self.tick(tick_ms)

    @rule(how=st.sampled_from(["stop", "kill", "power cut"]), seed=st.integers(0, 1000))
    def end_and_begin_again(self, how: str, seed: int) -> None:
        if how == "stop":
            self.begin_again(self.kit.stopped())
            return
        self.crashes += 1
        if how == "kill":
            self.begin_again(self.kit.killed())
            return
        states = self.kit.disk.crash_states(1, seed, share=0.1)
        disk = next(islice(states, seed % 20, None), None) or self.kit.disk.power_cut()
        self.begin_again(DelayKit(disk, self.kit.config, self.kit.clock))

    # What must hold.

    def begin_again(self, kit: DelayKit) -> None:
        self.kit = kit
        self.excused |= self.misdated
        for level in self.seen:
            self.seen[level] = len(self.copies(level))
            self.check_order(level)

    def tick(self, ms: int) -> None:
        self.kit.tick(ms)
        now_ms = self.kit.clock.now().monotonic_ms
        for level in self.seen:
            queue = self.kit.store.queue(b"Level%d" % level, 0)
            if queue is None or queue.max_offset <= self.seen[level]:
                continue
            copies = self.copies(level)
            for body in copies[self.seen[level] :]:
                if body in self.excused:
                    continue
                elapsed_ms = now_ms - self.sent_ms[body]
                assert elapsed_ms >= LEVELS_MS[level - 1], (body, elapsed_ms)
            self.seen[level] = len(copies)
            self.check_order(level)

    def check_order(self, level: int) -> None:
        copies = self.copies(level)
        firsts = list(dict.fromkeys(copies))
        assert firsts == sorted(firsts, key=lambda body: int(body.split(b":")[1]))
        # Only a crash may have any delivered again.
        assert max(Counter(copies).values(), default=0) <= 1 + self.crashes

    def copies(self, level: int) -> list[bytes]:
        return self.kit.bodies(f"Level{level}")

    def waiting(self, level: int) -> list[bytes]:
        """Everything that was ever to be delivered, and that the log still has."""
        return self.kit.bodies("SCHEDULE_TOPIC_XXXX", level - 1)

    def teardown(self) -> None:
        if not hasattr(self, "kit"):
            return
        for level in sorted(self.seen):
            self.kit.worker.run_all()
            for _ in range(0, LEVELS_MS[level - 1] + LATE_MS_MAX, 250):
                self.kit.worker.run_all()
                self.tick(250)
            assert set(self.copies(level)) == set(self.waiting(level))


TestDelayLevels = DelayMachine.TestCase
TestDelayLevels.settings = settings(stateful_step_count=30)
