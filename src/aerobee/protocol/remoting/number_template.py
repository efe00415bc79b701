"""`NumberTemplate`: a header as the template of others that differ from it in a few numbers only,
and, where requests are signed, in their signature.

    {"code":11,"extFields":{"queueId":"1",..."queueOffset":"7",...},...,"opaque":303,...}
    |----------- run -----------------| |---- run --------| |----- run --------|

A client that repeats a request (a consumer pulling its queues) writes the same header with other
numbers. Equal bytes mean the same, so a match is exactly as strict as the codec that read the first
header.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from aerobee.errors import Misuse

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import bytes_address, same_bytes
    from aerobee.protocol.text.json_bytes import (
        NO_NUMBER,
        is_bare_integer,
        number_end,
        parse_decimal,
        plain_end,
    )

PLACES_MAX = 12
_TEXTS = (re.compile(rb'"Signature":"([^"\\]+)"'), re.compile(rb'"RequestStamp":"([^"\\]+)"'))
"""Text that differs from one signed request to the next."""


def is_compiled() -> bool:
    return cython.compiled


class NumberTemplate:
    """N1. Places are in order, do not overlap, and have a byte before and behind them."""

    __slots__ = ("_bytes", "_count", "_ends", "_numbers", "_starts", "_texts")

    def __init__(self, header: bytes, places: list[tuple[int, int]], texts: int = 0) -> None:
        """`places` are the ranges of `header` where digits may differ; those whose bits are set in
        `texts` are strings that may."""
        if len(places) > PLACES_MAX:
            raise Misuse(f"{len(places)} places; at most {PLACES_MAX} may differ")
        last = 0
        for start, end in places:
            if not last < start < end < len(header):
                raise Misuse("places must be in order, apart and inside")
            last = end
        self._bytes = header
        self._count = len(places)
        self._texts = texts
        if not cython.compiled:
            self._starts = [0] * PLACES_MAX
            self._ends = [0] * PLACES_MAX
            self._numbers = [0] * PLACES_MAX
        for index in range(self._count):
            self._starts[index], self._ends[index] = places[index]
            self._numbers[index] = 0

    def match(self, memory: memoryview, start: int, end: int) -> bool:
        """Whether the header at [start, end) differs in its numbers only; they are read then."""
        known = bytes_address(self._bytes)
        position = start
        run_start = 0
        for index in range(self._count):
            run_size = self._starts[index] - run_start
            if end - position < run_size or not same_bytes(
                memory, position, known, run_start, run_size
            ):
                return False
            position += run_size
            if self._texts >> index & 1:
                position = plain_end(memory, position, end)
                run_start = self._ends[index]
                continue
            stop = number_end(memory, position, end)
            number = parse_decimal(memory, position, stop)
            if number == NO_NUMBER or (
                memory[position - 1] != 0x22 and not is_bare_integer(memory, position, stop)
            ):
                return False
            if number == 0 and memory[position] == 0x2D:
                return False  # not every reader takes it for 0
            self._numbers[index] = number
            position = stop
            run_start = self._ends[index]
        run_size = len(self._bytes) - run_start
        return end - position == run_size and same_bytes(
            memory, position, known, run_start, run_size
        )

    def number(self, index: int) -> int:
        """The number at a place of the header that matched last."""
        return self._numbers[index]


def template_of(
    header: bytes, patterns: Sequence[re.Pattern[bytes]]
) -> tuple[NumberTemplate, list[int], list[int]] | None:
    """The template of a header whose places are the groups of these patterns, with the place and
    the number of each. None: a pattern is missing, or is there twice.
    """
    spans: list[tuple[int, int]] = []
    for pattern in patterns:
        found = list(pattern.finditer(header))
        if len(found) != 1:
            return None
        spans += found[0].regs[1:]
    strings = [found.regs[1] for pattern in _TEXTS for found in pattern.finditer(header)]
    places = sorted([*spans, *strings])
    if len(places) > PLACES_MAX:
        return None
    numbers = [int(header[start:end]) for start, end in spans]
    texts = sum(1 << places.index(span) for span in strings)
    return NumberTemplate(header, places, texts), [places.index(span) for span in spans], numbers
