"""A timer, crashed before every disk call of its life: taking in, delivering, rolling, saving,
building again.

At each call the process is killed and the power is cut; another process goes on with what is left,
for as long as anything waits. Nothing is lost that the log still has, nothing is early, nothing
comes that was taken back in time, and a crash repeats each message once at most.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from aerobee.sim.disk import SimDisk
from aerobee.sim.faults import PowerCut
from aerobee.storage.config import FlushMode
from tests.timer_kit import STORAGE, TIMER_TOPIC, WHEEL_PATH, TimerKit

Story = Callable[[TimerKit], None]
SAMPLES = 3


def take_in_and_deliver(kit: TimerKit) -> None:
    """Files of the timer log roll, slots are added to, delivered and saved."""
    for number in range(9):
        kit.send(b"a%d" % number, 1_200 + 700 * (number % 4))
        if number % 3 == 0:
            kit.run(300)
    stored = kit.send(b"back", 2_500)
    kit.take_back(b"back", stored.out_ms + 1)
    kit.run(3_500)
    kit.send(b"b", 1_500)
    kit.run(2_500)


def roll(kit: TimerKit) -> None:
    kit.send(b"far", 27_000)
    kit.send(b"near", 11_000)
    kit.run(13_000, 100)
    kit.run(16_500, 100)


def stop_and_start(kit: TimerKit) -> None:
    kit.send(b"a", 2_500)
    kit.send(b"b", 4_500)
    kit.run(1_600)
    kit = kit.stopped()
    kit.run(1_600)
    kit.stop()


def build_again(kit: TimerKit) -> None:
    for number in range(7):
        kit.send(b"%d" % number, 1_500 + 1_000 * number)
    kit.run(3_600)
    kit.stop()
    kit.disk.remove(WHEEL_PATH)
    kit = kit.on(kit.disk)
    kit.run(2_500)


STORIES = (take_in_and_deliver, roll, stop_and_start, build_again)


def calls_of(story: Story, mode: FlushMode) -> int:
    kit = TimerKit(storage=replace(STORAGE, flush_mode=mode))
    begun = len(kit.disk.faults.calls)
    story(kit)
    return len(kit.disk.faults.calls) - begun


def crashed_at(story: Story, mode: FlushMode, call: int) -> TimerKit:
    """The story up to a disk call, and the kit whose disk is left."""
    kit = TimerKit(storage=replace(STORAGE, flush_mode=mode))
    kit.disk.faults.power_cut_at(call)
    with pytest.raises(PowerCut):
        story(kit)
    return kit


def judge(kit: TimerKit, disk: SimDisk, call: str) -> None:
    """Another process on this disk."""
    after = kit.on(disk)
    before = len(after.bodies())
    waits = after.messages(TIMER_TOPIC)
    taken_back = {one.properties.get("TIMER_DEL_UNIQKEY") for one in waits} - {None}
    ends_ms = [int(one.properties["TIMER_DELIVER_MS"]) for one in waits]
    last_ms = max(ends_ms, default=0) + 2_500
    while after.clock.now().wall_ms < last_ms:
        after.run(200, 200)
    found = after.messages()
    for copy in found[before:]:
        assert copy.store_timestamp >= int(copy.properties["TIMER_DELIVER_MS"]), (call, copy)
        assert f"Orders+{copy.body.decode()}" not in taken_back, (call, copy)
    wanted = {
        one.body
        for one in waits
        if "TIMER_DEL_UNIQKEY" not in one.properties
        and f"Orders+{one.body.decode()}" not in taken_back
    }
    bodies = Counter(copy.body for copy in found)
    assert wanted <= bodies.keys(), (call, wanted - bodies.keys())
    assert max(bodies.values(), default=0) <= 2, (call, bodies)


@pytest.mark.parametrize("mode", FlushMode, ids=lambda mode: mode.name.lower())
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_a_crash_at_any_disk_call_loses_nothing_and_makes_nothing_early(
    story: Story, mode: FlushMode
) -> None:
    count = calls_of(story, mode)
    assert count > 20
    for call in range(1, count + 1):
        kit = crashed_at(story, mode, call)
        where = str(kit.disk.faults.calls[-1])
        start = kit.clock.now()
        kit.disk.faults.is_off = False
        for number, disk in enumerate(kit.disk.crash_states(SAMPLES, call, share=0.05)):
            kit.clock = type(kit.clock)(start.wall_ms, start.monotonic_ms)
            judge(kit, disk, f"{where} state {number}: {disk.origin}")
        kit.clock = type(kit.clock)(start.wall_ms, start.monotonic_ms)
        judge(kit, kit.disk.kill(), f"{where} killed")
