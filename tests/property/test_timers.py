"""Messages for a time through any life of a broker: sends near and far, some taken back, time in
ticks of any length, clocks that are set, disks that do their work when they like, clean stops,
kills and power cuts.

Never before the wall clock shows the time; never lost while the record that waits is not; never
when it was taken back in time; twice only over a crash.
"""

from collections import Counter
from dataclasses import replace
from itertools import islice

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from aerobee.errors import StorageError
from aerobee.ports.disk_worker import Lane
from aerobee.storage.config import FlushMode
from tests.timer_kit import PRECISION_MS, STORAGE, TIMER_TOPIC, WINDOW_MS, TimerKit

delays = st.one_of(st.integers(1, 6_000), st.integers(1, 70_000))
clock_steps = st.one_of(
    st.integers(30, 20_000), st.integers(-20_000, -30), st.sampled_from([10**9, -(10**9)])
)
# What the disk gets done between two ticks.
disks = st.sampled_from([(), (Lane.BACKGROUND,), (Lane.SYNC, Lane.BACKGROUND)])
# A log that is often behind on the disk: what was delivered may be lost.
LAGGING = replace(STORAGE, flush_interval_ms=2_000, flush_lag_ms_max=10_000)
LATE_MS_MAX = PRECISION_MS + 600
TURN_MS = 64 * PRECISION_MS


class TimerMachine(RuleBasedStateMachine):
    """T1. `at_ms` is when, by the wall clock, each message is to be delivered."""

    @initialize(mode=st.sampled_from(FlushMode))
    def begin(self, mode: FlushMode) -> None:
        self.kit = TimerKit(storage=replace(LAGGING, flush_mode=mode))
        self.at_ms: dict[bytes, int] = {}
        self.crashes = 0
        self.seen = 0
        self.latest_ms = 0
        # By how much the clock was set, in all.
        self.set_ms = 0

    # What happens.

    @rule(delay_ms=delays, count=st.integers(1, 6))
    def send(self, delay_ms: int, count: int) -> None:
        for number in range(count):
            body = b"%d" % len(self.at_ms)
            at_ms = self.kit.clock.now().wall_ms + delay_ms + 700 * (number % 2)
            try:
                self.kit.send_at(body, at_ms)
            except StorageError:
                return
            self.at_ms[body] = at_ms
            self.latest_ms = max(self.latest_ms, at_ms)

    @rule(back=st.integers(1, 5))
    def take_back(self, back: int) -> None:
        body = b"%d" % (len(self.at_ms) - back)
        if body in self.at_ms:
            try:
                self.kit.take_back(body, self.at_ms[body])
            except StorageError:
                return

    @rule(ms=clock_steps)
    def set_clock(self, ms: int) -> None:
        self.kit.clock.jump_wall(ms)
        self.set_ms += abs(ms)

    @rule(tick_ms=st.sampled_from([1, 5, 20, 100, 250, 999]), count=st.integers(1, 40), disk=disks)
    def pass_time(self, tick_ms: int, count: int, disk: tuple[Lane, ...]) -> None:
        for _ in range(count):
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
        self.begin_again(self.kit.on(disk))

    # What must hold.

    def begin_again(self, kit: TimerKit) -> None:
        self.kit = kit
        self.seen = len(kit.bodies())

    def tick(self, ms: int) -> None:
        self.kit.tick(ms)
        queue = self.kit.store.queue(b"Orders", 0)
        if queue is None or queue.max_offset <= self.seen:
            return
        found = self.kit.messages()
        for copy in found[self.seen :]:
            # Then, not now: it may have waited for the disk, and the clock may have been set.
            assert self.at_ms[copy.body] <= int(copy.properties["TIMER_DEQUEUE_MS"]), copy.body
        self.seen = len(found)
        bodies = [copy.body for copy in found]
        # Only a crash may have any delivered again.
        assert max(Counter(bodies).values()) <= 1 + self.crashes

    def waiting(self) -> set[bytes]:
        """Everything that was ever to be delivered, that the log still has, and that nobody took
        back."""
        messages = self.kit.messages(TIMER_TOPIC)
        taken = {one.properties.get("TIMER_DEL_UNIQKEY", "") for one in messages}
        return {
            one.body
            for one in messages
            if "TIMER_DEL_UNIQKEY" not in one.properties
            and f"Orders+{one.body.decode()}" not in taken
        }

    def teardown(self) -> None:
        if not hasattr(self, "kit"):
            return
        last_ms = max(self.latest_ms, self.kit.clock.now().wall_ms) + LATE_MS_MAX
        ahead_ms = last_ms - self.kit.clock.now().wall_ms
        if ahead_ms > 100_000:
            # Back to the time that the messages are for.
            self.kit.clock.jump_wall(ahead_ms - 100_000)
        while self.kit.clock.now().wall_ms < last_ms:
            self.kit.worker.run_all()
            self.tick(250)
        bodies = set(self.kit.bodies())
        assert self.waiting() <= bodies
        if self.set_ms < TURN_MS - WINDOW_MS:
            # Else a tick may have the place of another one: messages of it come a tick late, and
            # are not met by what takes them back.
            assert not any(f"Orders+{body.decode()}" in self.never_due() for body in bodies)

    def never_due(self) -> set[str]:
        """Messages that were taken back before anything was delivered."""
        messages = self.kit.messages(TIMER_TOPIC)
        first_ms = min((one.store_timestamp for one in self.kit.messages()), default=1 << 62)
        return {
            one.properties["TIMER_DEL_UNIQKEY"]
            for one in messages
            if "TIMER_DEL_UNIQKEY" in one.properties and one.store_timestamp < first_ms
        }


TestTimers = TimerMachine.TestCase
TestTimers.settings = settings(stateful_step_count=30)
