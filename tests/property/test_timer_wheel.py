"""The wheel against a dictionary: whatever is put, cleared, frozen, written and read back, a time
is found as it was last put, and a wheel that is loaded from the disk has what was written."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from aerobee.sim.disk import SimDisk
from aerobee.storage.timer.timer_wheel import Slot, TimerWheel

SLOTS = 150
PRECISION_MS = 1_000
BEGIN_MS = 1_700_000_000_000
# Within one turn, so that no place has two times.
times = st.integers(0, SLOTS - 1).map(lambda tick: BEGIN_MS + PRECISION_MS * tick)
positions = st.integers(0, 1 << 40)


class WheelMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.disk = SimDisk()
        self.disk.make_directory("store")
        self.wheel = self.opened()
        self.slots: dict[int, Slot] = {}
        self.aside: dict[int, Slot] = {}
        self.is_frozen = False

    def opened(self) -> TimerWheel:
        wheel = TimerWheel(self.disk, "store/timerwheel", SLOTS, PRECISION_MS)
        wheel.load()
        return wheel

    @rule(time_ms=times, first=positions, last=positions, count=st.integers(-5, 1000))
    def put(self, time_ms: int, first: int, last: int, count: int) -> None:
        self.slots[time_ms] = Slot(time_ms, first, last, count)
        self.wheel.put(self.slots[time_ms])

    @rule(time_ms=times)
    def clear(self, time_ms: int) -> None:
        self.slots.pop(time_ms, None)
        self.wheel.clear(time_ms)

    @precondition(lambda self: not self.is_frozen)
    @rule()
    def freeze(self) -> None:
        self.wheel.freeze()
        self.aside = dict(self.slots)
        self.is_frozen = True

    @precondition(lambda self: self.is_frozen)
    @rule(count=st.integers(1, 20))
    def write(self, count: int) -> None:
        self.is_frozen = not self.wheel.write_some(count)

    @precondition(lambda self: not self.is_frozen)
    @rule()
    def begin_again(self) -> None:
        """Another process finds what was set aside the last time, all of it."""
        self.wheel = self.opened()
        self.slots = dict(self.aside)

    @rule(time_ms=times)
    def look(self, time_ms: int) -> None:
        assert self.wheel.find(time_ms) == self.slots.get(time_ms)
        assert self.wheel.find(time_ms + self.wheel.turn_ms) is None

    @rule(start_ms=times, end_ms=times)
    def look_for_the_next(self, start_ms: int, end_ms: int) -> None:
        inside = [time_ms for time_ms in self.slots if start_ms <= time_ms < end_ms]
        assert self.wheel.next_time(start_ms, end_ms) == min(inside, default=end_ms)

    @invariant()
    def the_earliest_is_found_from_far_away(self) -> None:
        end_ms = BEGIN_MS + 10 * self.wheel.turn_ms
        assert self.wheel.next_time(0, end_ms) == min(self.slots, default=end_ms)


TestTimerWheel = WheelMachine.TestCase
TestTimerWheel.settings = settings(stateful_step_count=40)
