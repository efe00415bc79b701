"""A start that is cut after another program wrote the store: its records are kept.

RocketMQ's records need not carry the record CRC, ours all do. Behind our mark, the abort flag says
whose they are. Set before the mark is past them, it would call them ours, and damaged.
"""

import pytest

from aerobee.protocol.message.record import RecordWriter
from aerobee.sim.disk import SimDisk
from aerobee.sim.faults import PowerCut
from tests.store_kit import ROOT, SMALL, StoreKit, bodies_of, draft

THEIRS = [b"theirs %d" % number for number in range(4)]
STORED_MS = 1_700_000_000_000


def written_by_both(abort: bytes) -> SimDisk:
    """Ours, stopped cleanly; then theirs, without a CRC, and their abort flag, if any."""
    kit = StoreKit()
    kit.append_many(3)
    end = kit.store.end_offset
    kit.store.close()
    disk = kit.disk
    file = disk.open(f"{ROOT}/commitlog/{0:020}")
    writer = RecordWriter(SMALL.store_host, False)
    for number, body in enumerate(THEIRS, 3):
        record = writer.encode(draft(body=body), number, end, STORED_MS + number)
        file.view[end : end + len(record)] = record
        end += len(record)
    file.sync()
    if abort:
        disk.replace(f"{ROOT}/abort", abort)
    return disk


@pytest.mark.parametrize("abort", [b"", b"4711"])
def test_wherever_a_start_is_cut_the_records_of_another_program_are_kept(abort: bytes) -> None:
    number, is_over = 0, False
    while not is_over:
        number += 1
        disk = written_by_both(abort)
        disk.faults.power_cut_at(number)
        try:
            StoreKit(disk)
            is_over = True
        except PowerCut:
            pass
        for survivor in disk.crash_states(random_count=4):
            found = bodies_of(StoreKit(survivor).store)
            assert found == [b"0", b"1", b"2", *THEIRS], (number, survivor.origin)
    assert number > 20
