"""The Huffman code of HPACK (RFC 7541, appendix B): decoding of header strings.

The code is canonical: the codes of one length follow each other in the order of their symbols, and
those of the next length follow these. So the lengths are the whole table. A string is decoded by
four bits at a time: a state is a place in the code's tree, and a step leads to the next state and
perhaps emits a byte (no code is shorter than five bits, so never two).
"""

from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from aerobee.errors import RemoteProtocolError

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import bytes_address, load_i16

# By symbol; the last one is the end of a string, which must not occur in it.
LENGTHS = bytes.fromhex(
    "0d171c1c1c1c1c1c1c181e1c1c1e1c1c1c1c1c1c1c1c1e1c1c1c1c1c1c1c1c1c060a0a0c0d06080b"
    "0a0a080b080606060505050606060606060607080f060c0a0d060707070707070707070707070707"
    "07070707070707070807080d130d0e060f0506050605060606050707060606050607060505060707"
    "0707070f0b0e0d1c1416141416161617161717171717181718181617181717171715161716171718"
    "16151416161717151716161815161717151516151716171714161616171616171a1a141316171619"
    "1a1a1a1b1b1a181913151a1b1b1a1b1815151a1a1c1b1b1b14181415161515171616191918181a17"
    "1a1b1a1a1b1b1b1b1b1c1b1b1b1b1b1a1e"
)

_END = 256
_SYMBOLS = 257

_Step: TypeAlias = tuple[int, int]
"""The next state, and the emitted byte or -1. State -1: there is no such code."""


def is_compiled() -> bool:
    return cython.compiled


def decode_huffman(data: bytes) -> bytes:
    """The string that a code of HPACK stands for. RemoteProtocolError: it is none."""
    out = bytearray()
    state = 0
    steps = bytes_address(_STEPS)
    memory = bytes_address(data)
    for index in range(2 * len(data)):
        byte = memory[index >> 1]
        at = 4 * (16 * state + (byte & 15 if index & 1 else byte >> 4))
        state = load_i16(steps, at)
        symbol = load_i16(steps, at + 2)
        if symbol >= 0:
            out.append(symbol)
        if state < 0:
            break
    if state not in _ENDINGS:
        raise RemoteProtocolError("a header string with a wrong Huffman code")
    return bytes(out)


def is_huffman(memory: memoryview, start: int, stop: int) -> bool:
    """Whether `decode_huffman` would take the bytes at [start, stop) of a memory."""
    state = 0
    steps = bytes_address(_STEPS)
    for index in range(2 * start, 2 * stop):
        byte = memory[index >> 1]
        state = load_i16(steps, 4 * (16 * state + (byte & 15 if index & 1 else byte >> 4)))
        if state < 0:
            return False
    return state in _ENDINGS


def encode_huffman(text: bytes) -> bytes:
    """The code of a string, as a client may send it."""
    codes = _codes()
    number = count = 0
    for byte in text:
        code, length = codes[byte]
        number = number << length | code
        count += length
    padding = -count % 8
    return (number << padding | (1 << padding) - 1).to_bytes((count + padding) // 8, "big")


@cache
def _codes() -> list[tuple[int, int]]:
    """Code and length of each symbol."""
    codes = [(0, 0)] * _SYMBOLS
    code, before = -1, LENGTHS[ord("0")]
    for symbol in sorted(range(_SYMBOLS), key=lambda symbol: (LENGTHS[symbol], symbol)):
        code = code + 1 << LENGTHS[symbol] - before
        before = LENGTHS[symbol]
        codes[symbol] = (code, before)
    return codes


def _machine() -> tuple[list[list[_Step]], frozenset[int]]:
    """The steps of each state by four bits, and the states in which a string may end: those that
    only padding leads to, at most seven bits of ones."""
    # A node of the tree has two children: another node, or a symbol as -1 - symbol.
    nodes: list[list[int | None]] = [[None, None]]
    for symbol, (code, length) in enumerate(_codes()):
        at = 0
        for shift in range(length - 1, 0, -1):
            child = nodes[at][code >> shift & 1]
            if child is None:
                child = nodes[at][code >> shift & 1] = len(nodes)
                nodes.append([None, None])
            at = child
        nodes[at][code & 1] = -1 - symbol
    steps = [[_step(nodes, at, bits) for bits in range(16)] for at in range(len(nodes))]
    endings, at = {0}, 0
    for _ in range(7):
        following = nodes[at][1]
        assert following is not None
        endings.add(following)
        at = following
    return steps, frozenset(endings)


def _step(nodes: list[list[int | None]], at: int, bits: int) -> _Step:
    emitted = -1
    for shift in (3, 2, 1, 0):
        child = nodes[at][bits >> shift & 1]
        assert child is not None  # the code is complete
        if child >= 0:
            at = child
        elif child == -1 - _END:
            return -1, emitted
        else:
            emitted, at = -1 - child, 0
    return at, emitted


def _packed(steps: list[list[_Step]]) -> bytes:
    """The steps as numbers of two bytes: the next state, the emitted byte."""
    numbers = [number for row in steps for step in row for number in step]
    return b"".join([number.to_bytes(2, "big", signed=True) for number in numbers])


_TREE_STEPS, _ENDINGS = _machine()
_STEPS = _packed(_TREE_STEPS)
