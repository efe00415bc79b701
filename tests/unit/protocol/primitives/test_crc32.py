"""CRC-32 of a run of bytes. The C twin is held against it in tests/parity."""

import zlib

from aerobee.protocol.primitives.crc32 import crc32


def test_the_check_value_of_the_standard() -> None:
    assert crc32(memoryview(b"..123456789."), 2, 9, 0) == 0xCBF43926


def test_nothing_has_the_sum_it_started_from() -> None:
    assert crc32(memoryview(b"x"), 1, 0, 0) == 0
    assert crc32(memoryview(b"x"), 1, 0, 0x1234) == 0x1234


def test_a_sum_goes_on_where_another_ended() -> None:
    data = memoryview(bytes(range(256)) * 3)
    for cut in (0, 1, 63, 64, 65, 700, 768):
        head = crc32(data, 0, cut, 0)
        assert crc32(data, cut, 768 - cut, head) == zlib.crc32(data)
