"""Finding a byte: the Python original; the C twin, which is the C library's, is in
`search_machine.pxd`. Neither checks its bounds: callers have compared them with the memory's end.
"""


def find_byte(memory: memoryview, value: int, position: int, end: int) -> int:
    """The first place of a byte in [position, end), or `end`."""
    found = bytes(memory[position:end]).find(value)
    return end if found < 0 else position + found
