"""Unit tests of finding a byte."""

from aerobee.protocol.primitives.byte_search import find_byte


def test_the_first_place_in_a_range_is_found_or_its_end() -> None:
    memory = memoryview(b"\x02ab\x02c\x02")
    assert find_byte(memory, 2, 0, 6) == 0
    assert find_byte(memory, 2, 1, 6) == 3
    assert find_byte(memory, 2, 4, 5) == 5
    assert find_byte(memory, 2, 6, 6) == 6
    assert find_byte(memory, 9, 0, 6) == 6


def test_a_range_of_any_size_is_searched_to_its_end() -> None:
    memory = memoryview(bytes(10_000) + b"\x02" + bytes(10_000) + b"\x02")
    assert find_byte(memory, 2, 0, 20_002) == 10_000
    assert find_byte(memory, 2, 10_001, 20_002) == 20_001
    assert find_byte(memory, 2, 10_001, 20_001) == 20_001
    assert find_byte(memory, 9, 0, 8192) == 8192
