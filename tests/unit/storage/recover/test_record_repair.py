"""Damaged records that a replica's bytes take the place of: which may, which may not."""

import contextlib
from dataclasses import replace
from typing import Any

import pytest

from aerobee.errors import CorruptRecord, RawRecordRefused, StoreLocked
from aerobee.protocol.message.record import RecordWriter
from aerobee.sim.disk import SimDisk
from aerobee.sim.faults import PowerCut
from aerobee.storage.recover.record_repair import repair_records
from tests.replica_kit import log_bytes, raw_records
from tests.store_kit import ROOT, SMALL, SMALL_SYNC, StoreKit, bodies_of, draft

FILE_BYTES = SMALL.log_file_bytes
COUNT = 12
BODIES = [b"%d" % number * 400 for number in range(COUNT)]


class DamagedKit:
    """A store that a crash ended, all of it on the disk, with damage in some of its records."""

    def __init__(self, *numbers: int, byte: int = 150, record_crc: bool = True) -> None:
        self.config = replace(SMALL_SYNC, record_crc=record_crc)
        kit = StoreKit(config=self.config)
        self.offsets = [kit.append(draft(body=body)) for body in BODIES]
        kit.settle()
        self.log = log_bytes(kit.store)
        self.disk: SimDisk = kit.disk.kill()
        for number in numbers:
            self.flip(self.offsets[number] + byte)

    def flip(self, offset: int) -> None:
        file = self.disk.open(f"{ROOT}/commitlog/{offset - offset % FILE_BYTES:020d}")
        file.view[offset % FILE_BYTES] ^= 0x20
        file.sync()

    def record(self, number: int) -> bytes:
        """As it was, and as a replica has it."""
        start = self.offsets[number]
        return self.log[start : start + int.from_bytes(self.log[start : start + 4], "big")]

    def damage(self, number: int) -> CorruptRecord:
        """The damage as a read reports it."""
        offset = self.offsets[number]
        return CorruptRecord(
            "damaged",
            path=f"{ROOT}/commitlog/{offset - offset % FILE_BYTES:020d}",
            position=offset % FILE_BYTES,
            log_offset=offset,
        )

    def open(self, disk: SimDisk | None = None) -> StoreKit:
        return StoreKit(self.disk if disk is None else disk, self.config)

    def refuse(self, damage: CorruptRecord, data: bytes, reason: str) -> None:
        before = self.disk.files()
        with pytest.raises(RawRecordRefused, match=reason) as refused:
            repair_records(self.disk, ROOT, damage, memoryview(data))
        assert refused.value.hint
        after = self.disk.files()
        assert {path: after[path] for path in before} == before


def test_a_flipped_bit_is_reported_repaired_and_forgotten() -> None:
    kit = DamagedKit(9)
    with pytest.raises(CorruptRecord) as found:
        kit.open()
    assert found.value.log_offset == kit.offsets[9]
    repair_records(kit.disk, ROOT, found.value, memoryview(kit.record(9)))
    for disk in (kit.disk.power_cut(), kit.disk.kill()):
        store = kit.open(disk).store
        assert log_bytes(store) == kit.log
        assert bodies_of(store) == BODIES


@pytest.mark.parametrize("byte", [0, 2, 3, 4, 7, 20, 28, 36, 84, 87, 100])
@pytest.mark.parametrize("number", [0, 3, COUNT - 1])
def test_wherever_the_bit_is_the_record_is_repaired(number: int, byte: int) -> None:
    kit = DamagedKit(number, byte=byte)
    repair_records(kit.disk, ROOT, kit.damage(number), memoryview(kit.record(number)))
    assert log_bytes(kit.open().store) == kit.log


def test_damage_that_a_read_found_is_repaired() -> None:
    kit = DamagedKit(1)
    opened = kit.open()  # the first file is not looked through
    with pytest.raises(CorruptRecord) as found:
        bodies_of(opened.store)
    opened.store.close()
    repair_records(kit.disk, ROOT, found.value, memoryview(kit.record(1)))
    assert bodies_of(kit.open().store) == BODIES


def test_neighbours_that_are_damaged_are_repaired_together() -> None:
    kit = DamagedKit(8, 9)
    kit.refuse(kit.damage(8), kit.record(8), "behind the replacement")
    repair_records(kit.disk, ROOT, kit.damage(8), memoryview(kit.record(8) + kit.record(9)))
    assert bodies_of(kit.open().store) == BODIES


def test_a_filler_is_repaired() -> None:
    kit = DamagedKit()
    last = [number for number in range(COUNT) if kit.offsets[number] < FILE_BYTES][-1]
    at = kit.offsets[last] + len(kit.record(last))
    assert at < FILE_BYTES
    kit.flip(at + 5)
    damage = kit.damage(last)
    damage.position = damage.log_offset = at
    repair_records(kit.disk, ROOT, damage, memoryview(kit.log[at:FILE_BYTES]))
    assert bodies_of(kit.open().store) == BODIES
    assert kit.disk.files()[f"{ROOT}/commitlog/{0:020d}"] == kit.log[:FILE_BYTES]


def test_a_store_without_the_record_crc_is_repaired() -> None:
    kit = DamagedKit(9, record_crc=False)
    repair_records(kit.disk, ROOT, kit.damage(9), memoryview(kit.record(9)))
    assert bodies_of(kit.open().store) == BODIES


# Refused.


def test_other_bytes_than_a_whole_sound_record_of_that_place_are_refused() -> None:
    kit = DamagedKit(9)
    good = kit.record(9)
    flipped = bytearray(good)
    flipped[200] ^= 1
    damage = kit.damage(9)
    kit.refuse(damage, bytes(flipped), "does not match its checksum")
    kit.refuse(damage, good[:-1], "has not come whole")
    kit.refuse(damage, good + b"x", "has not come whole")
    kit.refuse(damage, b"", "has not come whole")
    kit.refuse(damage, bytes(len(good)), "no record")
    kit.refuse(damage, kit.record(5), "belongs elsewhere")
    with pytest.raises(CorruptRecord):
        kit.open()


def test_a_sound_record_of_another_log_does_not_fit_between_its_neighbours() -> None:
    kit = DamagedKit(5)
    offset = kit.offsets[5]
    for body in (b"shorter", b"x" * 500):
        other = raw_records(1, offset, first=5, body=body)
        kit.refuse(kit.damage(5), other, "behind the replacement")


def test_a_record_without_the_record_crc_is_refused_where_all_have_one() -> None:
    kit = DamagedKit(5)
    size = len(kit.record(5))
    writer = RecordWriter(SMALL.store_host, False)
    body = BODIES[5] + b"x" * 20  # as long as with the CRC
    other = writer.encode(draft(body=body), 5, kit.offsets[5], 1_700_000_000_000)
    assert len(other) == size
    kit.refuse(kit.damage(5), other, "without the record CRC")


def test_what_is_not_damaged_is_not_replaced() -> None:
    kit = DamagedKit()
    other = raw_records(1, kit.offsets[5], first=5, body=BODIES[5])
    kit.refuse(kit.damage(5), other, "no damage")
    kit.refuse(kit.damage(5), kit.record(5), "no damage")


def test_above_the_durable_mark_nothing_is_repaired() -> None:
    kit = StoreKit(config=SMALL_SYNC)
    kit.append(draft(body=BODIES[0]))
    data = log_bytes(kit.store)
    disk = kit.disk.kill()
    damage = CorruptRecord("x", path=f"{ROOT}/commitlog/{0:020d}", position=0, log_offset=0)
    with pytest.raises(RawRecordRefused, match="above the durable mark 0"):
        repair_records(disk, ROOT, damage, memoryview(data))
    disk.remove(f"{ROOT}/durable_mark")
    with pytest.raises(RawRecordRefused, match="above the durable mark 0"):
        repair_records(disk, ROOT, damage, memoryview(data))
    assert not disk.exists(f"{ROOT}/durable_mark")


@pytest.mark.parametrize(
    "path", [f"{ROOT}/compacted/Orders/0/{5:020d}", f"{ROOT}/commitlog/{FILE_BYTES:020d}"]
)
def test_damage_that_is_not_of_this_place_of_the_log_is_not_repaired(path: str) -> None:
    kit = DamagedKit(1)
    damage: Any = kit.damage(1)
    damage.path = path
    kit.refuse(damage, kit.record(1), "outside the commit log")


def test_an_open_store_is_not_repaired() -> None:
    kit = DamagedKit(1)
    kit.open()
    with pytest.raises(StoreLocked):
        repair_records(kit.disk, ROOT, kit.damage(1), memoryview(kit.record(1)))


def test_the_lock_is_released_whatever_comes_of_a_repair() -> None:
    kit = DamagedKit(9)
    kit.refuse(kit.damage(9), b"", "not come whole")
    repair_records(kit.disk, ROOT, kit.damage(9), memoryview(kit.record(9)))
    kit.open()


def test_a_repair_that_a_power_cut_ends_can_be_done_again() -> None:
    kit = DamagedKit(9)
    number, is_over = 0, False
    while not is_over:
        number += 1
        disk = kit.disk.kill()
        disk.faults.power_cut_at(number)
        with contextlib.suppress(PowerCut):
            repair_records(disk, ROOT, kit.damage(9), memoryview(kit.record(9)))
            is_over = True
        for survivor in disk.crash_states(random_count=4):
            with contextlib.suppress(RawRecordRefused):  # repaired already
                repair_records(survivor, ROOT, kit.damage(9), memoryview(kit.record(9)))
            assert bodies_of(kit.open(survivor).store) == BODIES, (number, survivor.origin)
    assert number > 5
