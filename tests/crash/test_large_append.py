"""A large append stopped at each of its writes: what lies before it is whole, and of it a part.

Which sectors of the page cache a power cut leaves is as open as with small appends; a kill leaves
all that the calls have put there.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from aerobee.sim.disk import SimDisk
from aerobee.sim.faults import PowerCut
from aerobee.storage.commit.write_through import PIECE_BYTES
from aerobee.storage.config import FlushMode
from tests.crash.recovery_check import RecoveryCheck, Truth, log_of
from tests.store_kit import SMALL, StoreKit, batch_draft, draft, read_all

LARGE = replace(SMALL, log_file_bytes=1 << 20, queue_file_units=8192)
ROWS = [b"%06d" % number + b"r" * 994 for number in range(2 * PIECE_BYTES // 1000)]
PIECES = 3


def stopped_at(piece: int, mode: FlushMode) -> tuple[StoreKit, bytes]:
    """A store that went dark at one of the writes, and the log as it was to be."""
    kit = StoreKit(config=replace(LARGE, flush_mode=mode))
    whole = StoreKit(config=replace(LARGE, flush_mode=mode))
    for one in (kit, whole):
        one.append_many(11)
        one.settle()
    whole.append(batch_draft(b"Orders", 0, ROWS))
    kit.disk.faults.power_cut_at(piece)
    with pytest.raises(PowerCut):
        kit.append(batch_draft(b"Orders", 0, ROWS))
    assert kit.disk.faults.calls[-1].name == "write"
    return kit, log_of(whole.disk.kill())[: whole.store.end_offset]


def left_by(disk: SimDisk) -> Iterator[SimDisk]:
    yield disk.kill()
    yield disk.power_cut()
    yield from disk.crash_states(random_count=4, share=0.01)


@pytest.mark.parametrize("mode", FlushMode)
@pytest.mark.parametrize("piece", range(1, PIECES + 1))
def test_what_was_stored_before_it_is_there_whatever_is_left_of_it(
    piece: int, mode: FlushMode
) -> None:
    kit, log = stopped_at(piece, mode)
    check = RecoveryCheck(kit.config)
    for state in left_by(kit.disk):
        check.check(state, Truth(log), kit.store.flushed_offset)
    assert check.count > 2 or piece == 1


@pytest.mark.parametrize("piece", range(1, PIECES + 1))
def test_after_a_kill_its_first_rows_are_there_and_the_log_goes_on_behind_them(piece: int) -> None:
    kit, _ = stopped_at(piece, FlushMode.ASYNC)
    after = StoreKit(kit.disk.kill(), kit.config)
    after.append(draft(b"Orders", 0, b"the next one"))
    after.settle()
    bodies = [message.body for message in read_all(after.store, b"Orders", 0)][11:]
    rows = len(bodies) - 1
    assert bodies == [*ROWS[:rows], b"the next one"]
    assert rows * 1000 <= (piece - 1) * PIECE_BYTES < (rows + 3) * 1200
