"""Numbers and runs of bytes at a position. The C twins are held against these in tests/parity."""

import struct
from collections.abc import Callable

import pytest

from aerobee.protocol.primitives.big_endian import (
    address,
    bytes_address,
    bytes_at,
    copy_bytes,
    load_i16,
    load_i32,
    load_i64,
    load_u32,
    same_bytes,
    store_i16,
    store_i32,
    store_i64,
    store_u32,
    zero_bytes,
)

Load = Callable[[memoryview, int], int]
Store = Callable[[memoryview, int, int], None]

NUMBERS: list[tuple[Load, Store, str, int, int]] = [
    (load_i16, store_i16, ">h", -(2**15), 2**15 - 1),
    (load_i32, store_i32, ">i", -(2**31), 2**31 - 1),
    (load_u32, store_u32, ">I", 0, 2**32 - 1),
    (load_i64, store_i64, ">q", -(2**63), 2**63 - 1),
]


@pytest.mark.parametrize(("load", "store", "form", "lowest", "highest"), NUMBERS)
@pytest.mark.parametrize("position", [0, 1, 7])
def test_a_number_is_stored_big_endian_where_it_is_told_and_nowhere_else(
    load: Load, store: Store, form: str, lowest: int, highest: int, position: int
) -> None:
    for value in (lowest, lowest + 1, -1 if lowest else 0, 0, 1, 0x0102, highest - 1, highest):
        memory = memoryview(bytearray(b"\xaa" * 24))
        store(memory, position, value)
        number = struct.pack(form, value)
        after = b"\xaa" * (24 - position - len(number))
        assert bytes(memory) == b"\xaa" * position + number + after
        assert load(memory, position) == value


@pytest.mark.parametrize(("load", "store", "form", "lowest", "highest"), NUMBERS)
def test_a_number_that_does_not_fit_is_refused_in_the_interpreter(
    load: Load, store: Store, form: str, lowest: int, highest: int
) -> None:
    memory = memoryview(bytearray(8))
    for value in (lowest - 1, highest + 1):
        with pytest.raises(struct.error):
            store(memory, 0, value)
    with pytest.raises(struct.error):
        load(memory, 9 - struct.calcsize(form))


def test_runs_of_bytes_are_copied_zeroed_and_compared_by_position() -> None:
    target = memoryview(bytearray(b"..........")).cast("B")
    copy_bytes(target, 2, memoryview(b"abcdef"), 1, 4)
    assert bytes(target) == b"..bcde...."
    zero_bytes(target, 3, 2)
    assert bytes(target) == b"..b\0\0e...."
    zero_bytes(target, 3, 0)
    copy_bytes(target, 0, memoryview(b"abcdef"), 0, 0)
    assert bytes(target) == b"..b\0\0e...."
    assert same_bytes(memoryview(b"abcab"), 0, memoryview(b"xab"), 1, 2)
    assert not same_bytes(memoryview(b"abcab"), 0, memoryview(b"xab"), 0, 2)
    assert same_bytes(memoryview(b"a"), 0, memoryview(b"b"), 0, 0)


def test_bytes_at_a_position_are_a_copy() -> None:
    memory = bytearray(b"0123456789")
    found = bytes_at(memoryview(memory), 3, 4)
    memory[:] = bytes(10)
    assert found == b"3456"


def test_a_memory_is_the_view_itself() -> None:
    view = memoryview(bytearray(3))
    assert address(view) is view
    assert bytes(bytes_address(b"abc")) == b"abc"
