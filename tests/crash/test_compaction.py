"""A store that is stopped anywhere while it compacts: nothing of what it kept is lost.

The power fails at every disk call of a compaction and of the cleaning that follows it, and every
choice of what reached the disk is opened again. A reader then still gets the newest message of each
key, and the store goes on to where it would have come without the cut.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import islice

import pytest

from aerobee.sim.disk import SimDisk
from aerobee.sim.faults import PowerCut
from aerobee.storage.retain.compaction_run import KEY_BYTES
from tests.compaction_kit import CONFIG, TOPIC, CompactionKit, Seen, seen

STATES_A_CUT = 10
# Two runs for each queue: the table of keys is too small for one.
STORAGE = replace(CONFIG, compaction_map_bytes=2 * KEY_BYTES, deletion_retention_ms=1 << 40)
QUEUES = (0, 1)

Story = Callable[[CompactionKit], None]


def filled() -> CompactionKit:
    """Two queues that were compacted once, and came on since; k3 is deleted."""
    kit = CompactionKit(config=STORAGE)
    for number in range(16):
        kit.put(f"k{number % 6}", b"old%d" % number, queue_id=number % 2)
    kit.fill()
    kit.compact()
    for number in range(6):
        kit.put(f"k{number}", b"new%d" % number if number != 3 else b"", queue_id=number % 2)
    kit.fill()
    return kit


def wanted(kit: CompactionKit) -> dict[tuple[int, str], Seen]:
    """The newest of each key in each queue."""
    found = {}
    for queue_id in QUEUES:
        for one in seen(kit.store, TOPIC, queue_id):
            found[queue_id, one.key] = one
    return found


def check(kit: CompactionKit, newest: dict[tuple[int, str], Seen], origin: str) -> None:
    assert wanted(kit) == newest, origin
    for queue_id in QUEUES:
        offsets = [one.offset for one in seen(kit.store, TOPIC, queue_id)]
        assert offsets == sorted(set(offsets)), origin
        queue = kit.store.queue(TOPIC, queue_id)
        assert queue is not None, origin
        assert queue.max_offset == 11, origin


def survivors(kit: CompactionKit, n: int) -> list[SimDisk]:
    return list(islice(kit.disk.crash_states(random_count=4, seed=n), STATES_A_CUT))


@pytest.mark.parametrize("story", [CompactionKit.compact, CompactionKit.grow_old])
def test_a_power_cut_at_any_call_of_a_compaction_loses_nothing_of_it(story: Story) -> None:
    whole = filled()
    newest = wanted(whole)
    assert len(newest) == 6
    before = len(whole.disk.faults.calls)
    story(whole)
    calls = len(whole.disk.faults.calls) - before
    check(whole, newest, "no crash")
    end = [seen(whole.store, TOPIC, queue_id) for queue_id in QUEUES]
    assert sum(map(len, end)) == 6
    assert calls > 20
    states = 0
    for n in range(1, calls + 1):
        kit = filled()
        kit.disk.faults.power_cut_at(n)
        with pytest.raises(PowerCut):
            story(kit)
        for state in survivors(kit, n):
            origin = f"call {n}: {state.origin}"
            after = kit.opened_again(state)
            check(after, newest, origin)
            states += 1
        # The last of them goes on.
        after.step()
        story(after)
        check(after, newest, origin)
        assert [seen(after.store, TOPIC, queue_id) for queue_id in QUEUES] == end, origin
    assert states > 2 * calls


def test_a_disk_call_that_fails_in_a_compaction_loses_nothing() -> None:
    whole = filled()
    newest = wanted(whole)
    before = len(whole.disk.faults.calls)
    whole.grow_old()
    calls = len(whole.disk.faults.calls) - before
    failed = 0
    for n in range(1, calls + 1):
        kit = filled()
        kit.disk.faults.fail_call(n)
        kit.grow_old()
        check(kit, newest, f"call {n}")
        failed += bool(kit.store.failure or kit.store.compaction.problem)
        check(kit.opened_again(kit.disk.kill()), newest, f"call {n}, opened again")
    assert failed > 5
