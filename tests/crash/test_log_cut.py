"""A power cut at every disk call of an open that cuts the log: the old log is left, or the cut one.

The store is opened again without a cut, and with the same cut. Neither may report damage; the tail
that was cut off is saved whole; queues and index are those of a rebuild.
"""

import pytest

from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.sim.faults import PowerCut
from aerobee.storage.store import Store
from tests.crash.recovery_check import Rebuilds, derived_of, log_of
from tests.crash.score import show
from tests.replica_kit import log_bytes
from tests.store_kit import ROOT, SMALL, StoreKit, draft, properties

COUNT = 14


def left_by(stop: str) -> tuple[SimDisk, bytes, list[int]]:
    """A store of four log files after a stop, its log, and the log offsets of its records."""
    kit = StoreKit()
    offsets = []
    for number in range(COUNT):
        kit.clock.advance(7)
        topic = b"Orders" if number < 8 or number % 2 else b"Trades"
        text = properties(KEYS=f"k{number} all", TAGS="t")
        offsets.append(kit.append(draft(topic, 0, b"%d" % number * 450, text)))
        if number in (4, 9):
            kit.settle()
    log = log_bytes(kit.store)
    if stop == "clean":
        kit.store.close()
        return kit.disk.power_cut(), log, offsets
    kit.store.sync()
    kit.step()
    return kit.disk.kill(), log, offsets


@pytest.mark.parametrize("stop", ["clean", "killed"])
@pytest.mark.parametrize("kept", [3, 9, 13])
def test_wherever_a_cut_is_cut_short_the_old_log_is_left_or_the_cut_one(
    stop: str, kept: int
) -> None:
    before, log, offsets = left_by(stop)
    cut_at = offsets[kept]
    saved = f"{ROOT}/diverged/{cut_at:020d}-{len(log):020d}"
    rebuilds = Rebuilds(SMALL)
    number = states = old = 0
    is_over = False
    while not is_over:
        number += 1
        disk = before.kill()
        disk.faults.power_cut_at(number)
        try:
            Store.open(disk, ROOT, SMALL, SimDiskWorker(), cut_at=cut_at)
            is_over = True
        except PowerCut:
            pass
        share = 0.5 if stop == "clean" else 0.15  # derived files that are not synced: many states
        for survivor in disk.crash_states(random_count=3, seed=number, share=share):
            states += 1
            origin = (number, survivor.origin)
            twin = survivor.kill()
            end = opened(survivor, None, rebuilds, log, origin)
            old += end > cut_at
            assert end in (cut_at, len(log)), origin
            assert opened(twin, cut_at, rebuilds, log, origin) == cut_at, origin
            assert twin.files().get(saved) == log[cut_at:], origin
    show(f"cuts of the log at {number} calls: {states} states, {old} with the old log")
    assert number > 40
    assert states > number
    assert 0 < old < states


def opened(
    disk: SimDisk, cut_at: int | None, rebuilds: Rebuilds, log: bytes, origin: object
) -> int:
    """Where the log ends after the store was opened."""
    store = Store.open(disk, ROOT, SMALL, SimDiskWorker(), cut_at=cut_at)
    end = store.end_offset
    found = log_of(disk)
    assert found[:end] == log[:end], origin
    assert not found[end:].strip(b"\0"), origin
    assert log_of(disk.power_cut()) == found, origin
    assert derived_of(disk) == rebuilds.of(log[:end]), origin
    return end
