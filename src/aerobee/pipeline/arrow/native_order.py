"""Numbers in the machine's own order, as Arrow keeps them: the Python originals of
`column_machine.pxd`.

A *memory* here is a memoryview of a bytearray; compiled, it is a raw pointer.
"""

from sys import byteorder


def put_i32(memory: memoryview, position: int, value: int) -> None:
    memory[position : position + 4] = value.to_bytes(4, byteorder, signed=True)


def put_i64(memory: memoryview, position: int, value: int) -> None:
    memory[position : position + 8] = value.to_bytes(8, byteorder, signed=True)


def get_i32(memory: memoryview, position: int) -> int:
    return int.from_bytes(memory[position : position + 4], byteorder, signed=True)


def get_i64(memory: memoryview, position: int) -> int:
    return int.from_bytes(memory[position : position + 8], byteorder, signed=True)


def get_bit(memory: memoryview, index: int) -> bool:
    """Return one bit of a bitmap."""
    return bool(memory[index >> 3] >> (index & 7) & 1)


def put_bit(memory: memoryview, index: int) -> None:
    """Set one bit of a bitmap whose bits are 0; the lowest of each byte comes first."""
    memory[index >> 3] |= 1 << (index & 7)


def is_ascii_at(memory: memoryview, position: int, size: int) -> bool:
    return bytes(memory[position : position + size]).isascii()
