"""CRC-32 (IEEE 802.3, as in zlib) of a run of bytes.

The interpreter asks zlib. Compiled modules use the C twin in `machine.pxd`, which folds 64 bytes
at a time with carry-less multiplication where the processor has it and looks up 8 bytes at a time
where not: a call through Python costs more than the sum of a short record.
"""

import zlib


def crc32(memory: memoryview, position: int, size: int, start: int) -> int:
    """The checksum of [position, position + size), continued from `start` (0 at first)."""
    return zlib.crc32(memory[position : position + size], start)
