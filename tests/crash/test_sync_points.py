"""A crash at every disk call and after every step: what was promised is there, whatever is left.

Promises and laws are in `story` and `recovery_check`. The number of states is asserted, so that
nobody makes the sweep smaller without saying so.
"""

import pytest

from aerobee.sim.disk import SimDisk
from aerobee.sim.faults import PowerCut
from aerobee.storage.config import FlushMode
from tests.crash.story import Story
from tests.crash.sweep import Job, sweep_all
from tests.score import show

STATES_MIN = 12_000
NIGHT_STATES_MIN = 400_000

_NIGHTS = 8  # each short enough to say soon where it is


@pytest.mark.timeout(900)  # half a minute, on a machine that does nothing else
def test_every_state_that_a_crash_can_leave_recovers() -> None:
    jobs = [Job(seed, mode, 80, 0.065) for seed in range(2) for mode in FlushMode]
    done = sweep_all(jobs)
    show(f"crash states: {done.states:,} at {done.moments:,} moments")
    assert done.states >= STATES_MIN
    assert done.moments >= 200 * len(jobs)


@pytest.mark.night
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("night", range(_NIGHTS))
def test_every_state_of_a_long_night_recovers(night: int) -> None:
    seeds = range(1000 + 10 * night, 1010 + 10 * night)
    done = sweep_all(Job(seed, mode, 120, 0.065) for seed in seeds for mode in FlushMode)
    show(f"crash states, part {night + 1} of {_NIGHTS}: {done.states:,}")
    assert done.states >= NIGHT_STATES_MIN // _NIGHTS


def test_a_crash_before_a_call_is_what_a_power_cut_at_that_call_leaves() -> None:
    """The sweep looks at the disk from inside a call; here the machine really stops there."""
    seen: list[list[dict[str, bytes]]] = []
    calls: list[int] = []

    def note(story: Story) -> None:
        seen.append(_states(story.disk))
        calls.append(len(story.disk.faults.calls))

    Story(5, FlushMode.SYNC, note).run(30)
    for n in range(1, calls[-1], 7):
        story = Story(5, FlushMode.SYNC, lambda story: None)
        story.disk.faults.power_cut_at(n)
        with pytest.raises(PowerCut):
            story.run(30)
        # The first visit with n - 1 calls behind it may be after an action: the last is the call.
        last = max(index for index, count in enumerate(calls) if count == n - 1)
        assert _states(story.disk) == seen[last]


def _states(disk: SimDisk) -> list[dict[str, bytes]]:
    return [state.files() for state in disk.crash_states(seed=1, share=0.1)]
