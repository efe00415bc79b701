"""A store that is stopped anywhere while it cleans: it opens, and goes on where it was.

Log files, queue files and index files go in many small steps. Here the power fails at every disk
call of such a cleaning, and every choice of what reached the disk is opened again.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import pytest

from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.sim.faults import PowerCut
from aerobee.storage.retain.retention import CLOCK_SETTLE_MS
from tests.store_kit import ROOT, SMALL, StoreKit, contents, draft, properties, read_all

RETENTION_MS = 600_000
CONFIG = replace(
    SMALL, retention_ms=RETENTION_MS, disk_free_bytes_min=1, queue_file_units=4, index_units=16
)
QUEUES = ((b"Orders", 0), (b"Orders", 1), (b"Quiet", 0))
STATES_A_CUT = 12
KEPT = b"kept"


def filled() -> StoreKit:
    """Six log files, soon too old but for the last. Of `Quiet` nothing is in the last."""
    kit = StoreKit(config=CONFIG)
    for number in range(45):
        topic, queue_id = QUEUES[number % 3] if number < 30 else QUEUES[number % 2]
        body = str(number).encode().ljust(330)
        kit.append(draft(topic, queue_id, body, properties(KEYS=f"k{number} l{number}")))
    kit.settle()
    kit.clock.advance(RETENTION_MS - CLOCK_SETTLE_MS)
    for queue_id in range(2):
        kit.append(draft(b"Orders", queue_id, KEPT))
    kit.settle()
    kit.store.set_topic_retention(b"Quiet", 1000)
    return kit


def clean(kit: StoreKit) -> None:
    """Wait until it is time, and go on until nothing is left to clean."""
    kit.step()
    kit.step(CLOCK_SETTLE_MS)
    for _ in range(80):
        kit.step(50)
        kit.worker.run_all()


def names(disk: SimDisk) -> list[str]:
    """The files that cleaning is about."""
    folders = (f"{ROOT}/commitlog", f"{ROOT}/consumequeue", f"{ROOT}/index")
    return sorted(path for path in contents(disk) if path.startswith(folders))


def reopened(disk: SimDisk, clock: SimClock) -> StoreKit:
    return StoreKit(disk, CONFIG, clock=SimClock(clock.now().wall_ms))


def check_queues(kit: StoreKit, ends: dict[tuple[bytes, int], int], origin: str) -> None:
    """No offset is given out twice, what is seen is dense, and what is young is seen."""
    for topic, queue_id in QUEUES:
        queue = kit.store.queue(topic, queue_id)
        assert queue is not None, origin
        assert (queue.max_offset, queue.next_offset) == (ends[topic, queue_id],) * 2, origin
        messages = read_all(kit.store, topic, queue_id)
        seen = [message.queue_offset for message in messages]
        assert seen == list(range(queue.min_offset, queue.max_offset)), origin
        if topic == b"Orders":
            assert messages[-1].body == KEPT, origin


def ends_of(kit: StoreKit) -> dict[tuple[bytes, int], int]:
    found = {}
    for topic, queue_id in QUEUES:
        queue = kit.store.queue(topic, queue_id)
        assert queue is not None
        found[topic, queue_id] = queue.max_offset
    return found


def cut_at(n: int) -> tuple[StoreKit, bool]:
    """The story up to its n-th disk call; whether it got that far."""
    kit = filled()
    kit.disk.faults.power_cut_at(n)
    try:
        clean(kit)
    except PowerCut:
        return kit, True
    return kit, False


def survivors(kit: StoreKit, n: int) -> Iterator[SimDisk]:
    yield from islice(kit.disk.crash_states(random_count=4, seed=n), STATES_A_CUT)


def test_cleaning_ends_with_the_last_file_and_what_belongs_to_it() -> None:
    kit = filled()
    ends = ends_of(kit)
    before = names(kit.disk)
    clean(kit)
    assert len(before) > len(names(kit.disk)) + 10
    check_queues(kit, ends, "no crash")
    assert read_all(kit.store, b"Quiet", 0) == []


def test_a_power_cut_at_any_call_of_a_cleaning_leaves_a_store_that_opens_and_goes_on() -> None:
    whole = filled()
    ends = ends_of(whole)
    before = len(whole.disk.faults.calls)
    clean(whole)
    calls = len(whole.disk.faults.calls) - before
    assert calls > 40
    states = 0
    for n in range(1, calls + 1):
        kit, was_cut = cut_at(n)
        assert was_cut
        for survivor in survivors(kit, n):
            origin = f"call {n}, {survivor.origin}"
            again = reopened(survivor, kit.clock)
            check_queues(again, ends, origin)
            states += 1
    assert states > 2 * calls


@pytest.mark.parametrize("n", range(1, 42, 5))
def test_after_a_power_cut_the_same_files_go(n: int) -> None:
    whole = filled()
    ends = ends_of(whole)
    clean(whole)
    kit, was_cut = cut_at(n)
    assert was_cut
    for survivor in survivors(kit, n):
        again = reopened(survivor, kit.clock)
        again.store.set_topic_retention(b"Quiet", 1000)
        clean(again)
        check_queues(again, ends, survivor.origin)
        assert logs(again.disk) == logs(whole.disk), survivor.origin
        assert read_all(again.store, b"Quiet", 0) == []


def logs(disk: SimDisk) -> list[str]:
    return [path for path in names(disk) if "/index/" not in path]


def test_a_kill_between_any_two_steps_of_a_cleaning_leaves_a_store_that_opens() -> None:
    kit = filled()
    ends = ends_of(kit)
    kit.step(CLOCK_SETTLE_MS)
    for number in range(80):
        kit.step(50)
        check_queues(reopened(kit.disk.kill(), kit.clock), ends, f"after step {number}")
        kit.worker.run_all()
        check_queues(reopened(kit.disk.kill(), kit.clock), ends, f"after jobs of {number}")
