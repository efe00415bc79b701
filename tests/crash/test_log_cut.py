"""A power cut at every disk call of an open that cuts the log: the old log is left, or the cut one.

The store is opened again without a cut, and with the same cut. Neither may report damage; the tail
that was cut off is saved whole; queues and index are those of a rebuild.
"""

import contextlib
import struct

import pytest

from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.message.record import RecordWriter
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.sim.faults import PowerCut
from aerobee.storage.store import Store
from tests.crash.recovery_check import Rebuilds, derived_of, log_of
from tests.replica_kit import log_bytes
from tests.score import show
from tests.store_kit import ROOT, SMALL, StoreKit, draft, properties

COUNT = 14
STARTED_MS = 1_800_000_000_000
"""After every time of a record that is not of this test."""


class Left:
    """A store of four log files that some stop has left, a record every 7 ms in its log."""

    def __init__(self, stop: str) -> None:
        kit = StoreKit()
        self.offsets: list[int] = []
        for number in range(COUNT):
            self.offsets.append(kit.store.append(message(number), stored_ms(number)))
            if number in (4, 9):
                kit.settle()
        self.log = log_bytes(kit.store)
        if stop == "killed":
            kit.store.sync()
            kit.step()
            self.disk = kit.disk.kill()
            return
        kit.store.close()
        self.disk = kit.disk.power_cut()
        if stop == "another program's":
            self._add_theirs()

    def _add_theirs(self) -> None:
        """Three records without a record CRC, behind our mark."""
        end = len(self.log)
        file = self.disk.open(f"{ROOT}/commitlog/{end - end % SMALL.log_file_bytes:020d}")
        for number in range(COUNT, COUNT + 3):
            self.offsets.append(end)
            writer = RecordWriter(SMALL.store_host, False)
            record = writer.encode(draft(b"Theirs"), number - COUNT, end, stored_ms(number))
            position = end % SMALL.log_file_bytes
            file.view[position : position + len(record)] = record
            self.log += record
            end += len(record)
        file.sync()
        self.disk.replace(f"{ROOT}/abort", b"4711")


def message(number: int) -> MessageDraft:
    topic = b"Orders" if number < 8 or number % 2 else b"Trades"
    return draft(topic, 0, b"%d" % number * 450, properties(KEYS=f"k{number} all", TAGS="t"))


def stored_ms(number: int) -> int:
    return STARTED_MS + 7 * number


@pytest.mark.parametrize("stop", ["clean", "killed", "another program's"])
@pytest.mark.parametrize("kept", [3, 9, 13])
def test_wherever_a_cut_is_cut_short_the_old_log_is_left_or_the_cut_one(
    stop: str, kept: int
) -> None:
    left = Left(stop)
    log, cut_at = left.log, left.offsets[kept]
    saved = f"{ROOT}/diverged/{cut_at:020d}-{len(log):020d}"
    share = 0.15 if stop == "killed" else 0.5  # derived files that are not synced: many states
    rebuilds = Rebuilds(SMALL)
    number = states = old = 0
    is_over = False
    while not is_over:
        number += 1
        disk = left.disk.kill()
        disk.faults.power_cut_at(number)
        with contextlib.suppress(PowerCut):
            Store.open(disk, ROOT, SMALL, SimDiskWorker(), cut_at=cut_at)
            is_over = True
        for survivor in disk.crash_states(random_count=3, seed=number, share=share):
            states += 1
            origin = (number, survivor.origin)
            checkpoint = survivor.files()[f"{ROOT}/checkpoint"]
            twin = survivor.kill()
            end = opened(survivor, None, rebuilds, log, origin)
            assert end in (cut_at, len(log)), origin
            old += end > cut_at
            if end == cut_at:
                # RocketMQ's checkpoint does not vouch for what was cut off.
                *times, _, _, queue_log_offset = struct.unpack_from(">6q", checkpoint)
                assert max(times) < stored_ms(kept), origin
                assert queue_log_offset <= cut_at, origin
            assert opened(twin, cut_at, rebuilds, log, origin) == cut_at, origin
            assert twin.files().get(saved) == log[cut_at:], origin
    show(f"cuts of a log at {number} calls: {states} states, {old} with the old log")
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
