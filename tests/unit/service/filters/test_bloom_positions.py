"""Unit tests of the positions in RocketMQ's Bloom filter."""

import pytest

from aerobee.service.filters.bloom_positions import BITS, bloom_positions, murmur3_low64


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", 0),
        (b"hello", 0xCBD8A7B341BD9B02),
        (b"hello, world", 0x342FAC623A5EBC8E),
        (b"19 Jan 2038 at 3:14:07 AM", 0xB89E5988B737AFFC),
        (b"The quick brown fox jumps over the lazy dog.", 0xCD99481F9EE902C9),
    ],
)
def test_the_hash_is_murmurs(text: bytes, expected: int) -> None:
    """Published values of MurmurHash3 x64-128, seed 0."""
    assert murmur3_low64(text) == expected


def test_three_positions_of_a_hundred_and_twelve() -> None:
    seen = set()
    for number in range(200):
        positions = bloom_positions(f"g{number}", "T")
        assert len(positions) == 3
        assert all(0 <= position < BITS for position in positions)
        seen.update(positions)
    assert len(seen) > 100
    assert bloom_positions("g", "T") == bloom_positions("g", "T")


def test_positions_are_as_java_counts_them() -> None:
    """h1 + i·h2 in 32 bits with a sign; a negative one has its bits turned over."""
    low = murmur3_low64(b"g#T")
    first, second = low & 0xFFFFFFFF, low >> 32
    for index, position in enumerate(bloom_positions("g", "T"), 1):
        word = (first + index * second) & 0xFFFFFFFF
        assert position == (word ^ 0xFFFFFFFF if word & 0x80000000 else word) % 112
