"""The saved state of a Raft node after a power cut at any point of a save: old or new, never less.

A vote that was given and is forgotten elects two leaders.
"""

from aerobee.raft.epochs import Epoch
from aerobee.raft.membership import voters
from aerobee.raft.saved_state import SavedState, first_state
from aerobee.raft.state_file import load_state, save_state
from aerobee.sim.disk import SimDisk
from aerobee.sim.faults import PowerCut

PATH = "store/config/raft"
FIRST = first_state(voters(1, 2, 3))
OLD = SavedState(4, 2, FIRST.epochs)
NEW = SavedState(5, 1, (*FIRST.epochs, Epoch(0, 5, voters(1, 2, 3))))


def _save(disk: SimDisk, cut_at: int | None) -> int:
    """Save once, with the power cut at the n-th disk call of it; how many calls were made."""
    disk.make_directory("store/config")
    save_state(disk, PATH, OLD)
    before = len(disk.faults.calls)
    if cut_at is not None:
        disk.faults.power_cut_at(cut_at)
    try:
        save_state(disk, PATH, NEW)
    except PowerCut:
        return len(disk.faults.calls) - before - 1
    return len(disk.faults.calls) - before


def test_a_vote_is_old_or_new_after_any_power_cut_and_new_once_it_was_saved() -> None:
    calls = _save(SimDisk(), None)
    count = 0
    for n in range(1, calls + 2):
        disk = SimDisk()
        is_done = _save(disk, n) == calls
        for state in (*disk.crash_states(), *disk.torn_states(), disk.kill()):
            loaded = load_state(state, PATH)
            wanted = (NEW,) if is_done else (OLD, NEW)
            assert loaded in wanted, f"[{state.origin}] at call {n}: {loaded}"
            count += 1
    assert count > 10
