import sys

import pytest

from aerobee.pipeline.arrow.native_order import (
    get_bit,
    get_i32,
    get_i64,
    is_ascii_at,
    put_bit,
    put_i32,
    put_i64,
)


def test_numbers_are_in_the_machines_own_order() -> None:
    memory = memoryview(bytearray(20))
    put_i32(memory, 4, -2)
    put_i64(memory, 8, -(2**63))
    assert memory[4:8].cast("i")[0] == -2
    assert int.from_bytes(memory[8:16], sys.byteorder, signed=True) == -(2**63)
    assert bytes(memory[:4]) + bytes(memory[16:]) == bytes(8)


def test_bits_count_from_the_lowest() -> None:
    memory = memoryview(bytearray(2))
    put_bit(memory, 0)
    put_bit(memory, 9)
    assert bytes(memory) == b"\x01\x02"


@pytest.mark.parametrize("data", [b"", b"abcdefghi"])
def test_ascii_is_told_from_the_rest(data: bytes) -> None:
    assert is_ascii_at(memoryview(data), 0, len(data))
    for place in range(len(data)):
        other = data[:place] + b"\x80" + data[place + 1 :]
        assert not is_ascii_at(memoryview(other), 0, len(other))
        assert is_ascii_at(memoryview(other), 0, place)


def test_what_was_put_is_read_back() -> None:
    memory = memoryview(bytearray(24))
    put_i32(memory, 3, -(2**31))
    put_i64(memory, 9, -5)
    put_bit(memory, 8 * 20 + 6)
    assert (get_i32(memory, 3), get_i64(memory, 9)) == (-(2**31), -5)
    assert [get_bit(memory, 8 * 20 + bit) for bit in range(8)] == [bit == 6 for bit in range(8)]
