"""Numbers and runs of bytes at a position: the one place that orders bytes.

Hot modules work on a *memory*: in the interpreter a `memoryview`, in a compiled module the plain
address of its bytes. Every function here takes (memory, position), never a slice, so that one
source serves both. `machine.pxd` holds the C twins; a hot module says

    if not cython.compiled:
        from aerobee.protocol.primitives.big_endian import address, load_i32, ...

in its .py and cimports the same names from `machine` in its .pxd.

Laws. The C twins check nothing: whoever calls them has compared position and size with the end of
the memory before. An address is valid only while the memoryview it came from is referenced: keep
the view beside it.
"""

import struct

_I16 = struct.Struct(">h")
_I32 = struct.Struct(">i")
_U32 = struct.Struct(">I")
_I64 = struct.Struct(">q")


def address(view: memoryview) -> memoryview:
    """The memory behind a contiguous view of bytes."""
    return view


def bytes_address(data: bytes) -> memoryview:
    """The memory of a bytes object, valid while that object is referenced."""
    return memoryview(data)


def load_i16(memory: memoryview, position: int) -> int:
    value: int = _I16.unpack_from(memory, position)[0]
    return value


def load_i32(memory: memoryview, position: int) -> int:
    value: int = _I32.unpack_from(memory, position)[0]
    return value


def load_u32(memory: memoryview, position: int) -> int:
    value: int = _U32.unpack_from(memory, position)[0]
    return value


def load_i64(memory: memoryview, position: int) -> int:
    value: int = _I64.unpack_from(memory, position)[0]
    return value


def store_i16(memory: memoryview, position: int, value: int) -> None:
    _I16.pack_into(memory, position, value)


def store_i32(memory: memoryview, position: int, value: int) -> None:
    _I32.pack_into(memory, position, value)


def store_u32(memory: memoryview, position: int, value: int) -> None:
    _U32.pack_into(memory, position, value)


def store_i64(memory: memoryview, position: int, value: int) -> None:
    _I64.pack_into(memory, position, value)


def copy_bytes(
    target: memoryview, target_position: int, source: memoryview, source_position: int, size: int
) -> None:
    target[target_position : target_position + size] = source[
        source_position : source_position + size
    ]


def zero_bytes(memory: memoryview, position: int, size: int) -> None:
    memory[position : position + size] = bytes(size)


def same_bytes(
    left: memoryview, left_position: int, right: memoryview, right_position: int, size: int
) -> bool:
    return (
        left[left_position : left_position + size] == right[right_position : right_position + size]
    )


def bytes_at(memory: memoryview, position: int, size: int) -> bytes:
    """A copy, as an object."""
    return bytes(memory[position : position + size])
