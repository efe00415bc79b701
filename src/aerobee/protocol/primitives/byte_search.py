"""Finding a byte: the Python original; the C twin, which is the C library's, is in
`search_machine.pxd`. Neither checks its bounds: callers have compared them with the memory's end.
"""

_BLOCK_BYTES = 4096


def find_byte(memory: memoryview, value: int, position: int, end: int) -> int:
    """The first place of a byte in [position, end), or `end`."""
    while position < end:
        # A block at a time: a caller that goes on behind each hit would copy all the rest again.
        found = bytes(memory[position : min(position + _BLOCK_BYTES, end)]).find(value)
        if found >= 0:
            return position + found
        position += _BLOCK_BYTES
    return end
