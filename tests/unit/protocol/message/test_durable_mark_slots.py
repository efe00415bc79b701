"""The slots of a durable mark, byte by byte."""

import struct
import zlib

import pytest

from aerobee.protocol.message.durable_mark_slots import (
    FILE_BYTES,
    NO_BOUND,
    SLOT_BYTES,
    SLOT_POSITIONS,
    DurableMark,
    decode_slot,
    encode_slot,
    newest_slot,
)

SAMPLE = DurableMark(
    flushed=0x0102030405060708,
    dispatched=2,
    queue_count=3,
    unit_total=4,
    index_count=5,
    crc_from=6,
    first_total=7,
    confirmed=8,
)
FIELDS_2 = bytes.fromhex(
    "41454d4b 00000002 0000000000000007 0102030405060708 0000000000000002"
    "0000000000000003 0000000000000004 0000000000000005 0000000000000006"
    "0000000000000007"
)


def sealed(fields: bytes) -> bytes:
    return fields + struct.pack(">I", zlib.crc32(fields))


def test_a_slot_has_the_drawn_bytes() -> None:
    slot = encode_slot(SAMPLE, sequence=7)
    version_3 = FIELDS_2[:7] + b"\x03" + FIELDS_2[8:] + bytes.fromhex("0000000000000008")
    assert slot == sealed(version_3)
    assert len(slot) == SLOT_BYTES
    assert decode_slot(memoryview(slot), 0) == (SAMPLE, 7)


def test_a_slot_of_the_version_before_is_read_and_its_log_has_no_bound() -> None:
    slot = sealed(FIELDS_2)
    assert decode_slot(memoryview(slot), 0) == (SAMPLE._replace(confirmed=NO_BOUND), 7)


def test_a_slot_over_one_of_the_version_before_is_the_newer_one() -> None:
    file = bytearray(FILE_BYTES)
    file[: len(sealed(FIELDS_2))] = sealed(FIELDS_2)
    second = SLOT_POSITIONS[1]
    file[second : second + SLOT_BYTES] = encode_slot(SAMPLE, 8)
    assert newest_slot(memoryview(file)) == (SAMPLE, 8, 1)
    file[:SLOT_BYTES] = encode_slot(SAMPLE._replace(confirmed=9), 9)
    assert newest_slot(memoryview(file)) == (SAMPLE._replace(confirmed=9), 9, 0)


@pytest.mark.parametrize("slot", [sealed(FIELDS_2), encode_slot(SAMPLE, 7)])
def test_no_flip_of_a_bit_makes_another_mark(slot: bytes) -> None:
    """Not even one that makes a version of the other."""
    for bit in range(8 * len(slot)):
        broken = bytearray(slot).ljust(SLOT_BYTES, b"\0")
        broken[bit // 8] ^= 1 << bit % 8
        assert decode_slot(memoryview(broken), 0) is None


@pytest.mark.parametrize("slot", [sealed(FIELDS_2), encode_slot(SAMPLE, 7)])
def test_a_slot_that_is_cut_is_no_slot(slot: bytes) -> None:
    for size in range(len(slot)):
        assert decode_slot(memoryview(slot)[:size], 0) is None
    assert newest_slot(memoryview(slot)) is not None


@pytest.mark.parametrize(("version", "zeros"), [(2, 6), (3, 7)])
def test_a_slot_with_a_sequence_or_field_out_of_range_is_no_slot(version: int, zeros: int) -> None:
    def slot(version: int, sequence: int, flushed: int) -> memoryview:
        head = (0x41454D4B, version, sequence, flushed)
        return memoryview(sealed(struct.pack(f">Ii{2 + zeros}q", *head, *(0,) * zeros)))

    assert decode_slot(slot(version, 1, 1), 0) is not None
    assert decode_slot(slot(version, 0, 1), 0) is None
    assert decode_slot(slot(version, 2**63 - 1, 1), 0) is None  # it could have no successor
    assert decode_slot(slot(version, 1, -1), 0) is None
    for unknown in (1, 4):
        assert decode_slot(slot(unknown, 1, 1), 0) is None


def test_a_log_that_is_cut_is_confirmed_no_further_and_one_without_a_bound_gets_none() -> None:
    mark = DurableMark(flushed=100, confirmed=80)
    assert mark.ending_at(90) == DurableMark(flushed=90, confirmed=80)
    assert mark.ending_at(70) == DurableMark(flushed=70, confirmed=70)
    assert DurableMark(flushed=100).ending_at(70) == DurableMark(flushed=70)
