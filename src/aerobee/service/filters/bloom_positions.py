"""Computes the bit positions of a consumer group in RocketMQ's Bloom filter: three of 112.

    hash       the low 64 bits of MurmurHash3 x64-128, seed 0, of `group#topic`, two halves h1, h2
    position   (h1 + i·h2 in 32 bits, its bits inverted if negative) mod 112, for i = 1, 2, 3

This broker has no such filter: it evaluates each message. But Apache's relies on the positions in
its file, and compares them with its own.
"""

BITS = 112
HASHES = 3

_MASK = 2**64 - 1
_C1 = 0x87C37B91114253D5
_C2 = 0x4CF5AD432745937F


def bloom_positions(group: str, topic: str) -> list[int]:
    low = murmur3_low64(f"{group}#{topic}".encode())
    first, second = _signed32(low), _signed32(low >> 32)
    found = []
    for index in range(1, HASHES + 1):
        combined = _signed32(first + index * second)
        found.append((~combined if combined < 0 else combined) % BITS)
    return found


def murmur3_low64(data: bytes) -> int:
    """The first half of the 128-bit hash."""
    h1 = h2 = 0
    whole = len(data) - len(data) % 16
    for start in range(0, whole, 16):
        k1 = int.from_bytes(data[start : start + 8], "little")
        k2 = int.from_bytes(data[start + 8 : start + 16], "little")
        h1 = (_turned(h1 ^ _mixed1(k1), 27) + h2) & _MASK
        h1 = (h1 * 5 + 0x52DCE729) & _MASK
        h2 = (_turned(h2 ^ _mixed2(k2), 31) + h1) & _MASK
        h2 = (h2 * 5 + 0x38495AB5) & _MASK
    rest = data[whole:]
    h2 ^= _mixed2(int.from_bytes(rest[8:], "little"))
    h1 ^= _mixed1(int.from_bytes(rest[:8], "little"))
    h1 ^= len(data)
    h2 ^= len(data)
    h1 = (h1 + h2) & _MASK
    h2 = (h2 + h1) & _MASK
    return (_finished(h1) + _finished(h2)) & _MASK


def _mixed1(word: int) -> int:
    return _turned(word * _C1 & _MASK, 31) * _C2 & _MASK


def _mixed2(word: int) -> int:
    return _turned(word * _C2 & _MASK, 33) * _C1 & _MASK


def _turned(word: int, bits: int) -> int:
    return (word << bits | word >> (64 - bits)) & _MASK


def _finished(word: int) -> int:
    word = (word ^ word >> 33) * 0xFF51AFD7ED558CCD & _MASK
    word = (word ^ word >> 33) * 0xC4CEB9FE1A85EC53 & _MASK
    return word ^ word >> 33


def _signed32(value: int) -> int:
    value &= 0xFFFFFFFF
    return value - 2**32 if value >= 2**31 else value
