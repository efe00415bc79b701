"""Every C twin of `machine.pxd` against its Python original: numbers, runs of bytes, checksums."""

import random
import re
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aerobee
from aerobee._compiled import is_compiled
from aerobee.protocol.message.record import Record, RecordWriter
from aerobee.protocol.primitives import big_endian
from aerobee.protocol.primitives.crc32 import crc32
from tests.store_kit import draft

pytestmark = pytest.mark.skipif(
    not is_compiled("aerobee.protocol.message.record"), reason="nothing is compiled"
)

NUMBERS = {
    "i16": (-(2**15), 2**15 - 1),
    "i32": (-(2**31), 2**31 - 1),
    "u32": (0, 2**32 - 1),
    "i64": (-(2**63), 2**63 - 1),
}
RANDOM = random.Random(7).randbytes(70_000)


def test_every_twin_is_called_here(twins: ModuleType) -> None:
    text = (Path(aerobee.__file__).parent / "protocol" / "primitives" / "machine.pxd").read_text()
    named = set(re.findall(r'(\w+) "aerobee_\w+"\(', text))
    assert len(named) == 15
    # `address` stands in every other one.
    assert named - {"address", "bytes_address"} <= set(dir(twins))


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_are_stored_and_loaded_alike_at_every_alignment(
    twins: ModuleType, kind: str
) -> None:
    lowest, highest = NUMBERS[kind]
    values = {lowest, lowest + 1, 0, 1, 0x0102, 0x7F80, highest - 1, highest}
    values |= {value for bit in range(64) if lowest <= (value := 1 << bit) <= highest}
    for position in range(17):
        for value in values:
            memories = [memoryview(bytearray(b"\xaa" * 32)) for _ in range(2)]
            getattr(twins, f"store_{kind}")(memories[0], position, value)
            getattr(big_endian, f"store_{kind}")(memories[1], position, value)
            assert memories[0] == memories[1]
            assert getattr(twins, f"load_{kind}")(memories[0], position) == value


@given(st.binary(min_size=8, max_size=24), st.integers(0, 16))
def test_any_bytes_are_the_same_number(twins: ModuleType, data: bytes, position: int) -> None:
    view = memoryview(data + bytes(16))
    for kind in NUMBERS:
        loaded = getattr(twins, f"load_{kind}")(view, position)
        assert loaded == getattr(big_endian, f"load_{kind}")(view, position)


@given(st.binary(max_size=300), st.data())
def test_runs_of_bytes_are_copied_zeroed_compared_and_taken_out_alike(
    twins: ModuleType, data: bytes, draw: st.DataObject
) -> None:
    view = memoryview(data)
    start = draw.draw(st.integers(0, len(data)))
    size = draw.draw(st.integers(0, len(data) - start))
    place = draw.draw(st.integers(0, 20))
    targets = [memoryview(bytearray(b"#" * (place + size + 20))) for _ in range(2)]
    twins.copy_bytes(targets[0], place, view, start, size)
    big_endian.copy_bytes(targets[1], place, view, start, size)
    assert targets[0] == targets[1]
    assert twins.bytes_at(view, start, size) == big_endian.bytes_at(view, start, size)
    taken = big_endian.bytes_at(big_endian.bytes_address(data), start, size)
    assert twins.bytes_at_address_of(data, start, size) == taken
    assert twins.same_bytes(targets[0], place, view, start, size)
    if size:
        changed = draw.draw(st.integers(place, place + size - 1))
        targets[0][changed] ^= 1 << draw.draw(st.integers(0, 7))
        assert not twins.same_bytes(targets[0], place, view, start, size)
        assert not big_endian.same_bytes(targets[0], place, view, start, size)
        targets[0][changed] = targets[1][changed]
    twins.zero_bytes(targets[0], place, size)
    big_endian.zero_bytes(targets[1], place, size)
    assert targets[0] == targets[1]


# Checksums: a table below 64 bytes, folding from there on, a rest of up to 15.


def test_the_checksum_of_every_length_at_every_alignment(twins: ModuleType) -> None:
    view = memoryview(RANDOM)
    for size in range(301):
        for position in range(17):
            assert twins.crc32(view, position, size, 0) == crc32(view, position, size, 0)


@pytest.mark.parametrize("content", [bytes(70_000), b"\xff" * 70_000, RANDOM])
def test_the_checksum_of_long_runs(twins: ModuleType, content: bytes) -> None:
    view = memoryview(content)
    for size in (1023, 1024, 1025, 4095, 4096, 4097, 65_535, 65_536, 65_537):
        for position in (0, 1, 7, 8, 15, 16, 33):
            for start in (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF):
                expected = crc32(view, position, size, start)
                assert twins.crc32(view, position, size, start) == expected


@given(st.lists(st.integers(0, 200), max_size=12), st.integers(0, 2**32 - 1))
def test_a_checksum_goes_on_over_any_pieces(
    twins: ModuleType, sizes: list[int], start: int
) -> None:
    view = memoryview(RANDOM)
    value = start
    position = 0
    for size in sizes:
        value = twins.crc32(view, position, size, value)
        position += size
    assert value == crc32(view, 0, position, start)


def test_every_flipped_bit_changes_the_checksum(twins: ModuleType) -> None:
    data = bytearray(RANDOM[:200])
    whole = twins.crc32(memoryview(data), 0, 200, 0)
    for bit in range(1600):
        data[bit // 8] ^= 1 << bit % 8
        assert twins.crc32(memoryview(data), 0, 200, 0) != whole
        data[bit // 8] ^= 1 << bit % 8


def test_the_checksum_inlined_into_records_is_the_same(twins: ModuleType) -> None:
    """As hot modules use it: over a head, a body and properties of every length."""
    writer = RecordWriter(bytes(8), True)
    record = Record()
    for size in (*range(200), 1000, 5000, 65_000):
        made = writer.encode(draft(body=RANDOM[:size]), size, size, size)
        covered = len(made) - 20
        value = crc32(memoryview(made), 0, covered, 0) & 0x7FFFFFFF
        assert made[covered:] == b"__CRC32#\x01" + f"{value:010}"[::-1].encode() + b"\x02"
        assert record.read_from(memoryview(made), 0) == 0
        assert record.body_crc == crc32(memoryview(RANDOM), 0, size, 0) & 0x7FFFFFFF
        assert record.is_sound_in(memoryview(made), True)
