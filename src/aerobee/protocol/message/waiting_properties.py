"""`WaitingProperties` reads the properties of a delayed message: its topic, queue, due time and id.

    … REAL_TOPIC ␁ Orders ␂ REAL_QID ␁ 3 ␂ TIMER_OUT_MS ␁ 1700000008000 ␂ … [record CRC]

One pass over the text, where it lies in the log; nothing is copied. Law: a value is the one that
`find_property` finds, the last of its name that is not empty. The record CRC is no part of the
text: a copy of the message gets its own.
"""

from typing import TYPE_CHECKING

from aerobee.model.properties import (
    REAL_QUEUE_ID,
    REAL_TOPIC,
    TIMER_DELAY_MS,
    TIMER_DELAY_SECONDS,
    TIMER_DELETE_UNIQUE_KEY,
    TIMER_OUT_MS,
    UNIQUE_KEY,
)
from aerobee.protocol.message.record import CRC_PROPERTY_BYTES

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.message.record import ends_in_crc
    from aerobee.protocol.primitives.big_endian import address, same_bytes
    from aerobee.protocol.primitives.byte_search import find_byte

_QUEUE_DIGITS_MAX = 9
_TIME_DIGITS_MAX = 15  # the year 33,658

# Each with its end, so that a longer name is another.
_REAL_TOPIC_VIEW = memoryview(REAL_TOPIC.encode() + b"\x01")
_REAL_QUEUE_ID_VIEW = memoryview(REAL_QUEUE_ID.encode() + b"\x01")
_UNIQUE_KEY_VIEW = memoryview(UNIQUE_KEY.encode() + b"\x01")
_OUT_MS_VIEW = memoryview(TIMER_OUT_MS.encode() + b"\x01")
_DELAY_MS_VIEW = memoryview(TIMER_DELAY_MS.encode() + b"\x01")
_DELAY_SECONDS_VIEW = memoryview(TIMER_DELAY_SECONDS.encode() + b"\x01")
_DELETE_KEY_VIEW = memoryview(TIMER_DELETE_UNIQUE_KEY.encode() + b"\x01")
_REAL_TOPIC = address(_REAL_TOPIC_VIEW)
_REAL_QUEUE_ID = address(_REAL_QUEUE_ID_VIEW)
_UNIQUE_KEY = address(_UNIQUE_KEY_VIEW)
_OUT_MS = address(_OUT_MS_VIEW)
_DELAY_MS = address(_DELAY_MS_VIEW)
_DELAY_SECONDS = address(_DELAY_SECONDS_VIEW)
_DELETE_KEY = address(_DELETE_KEY_VIEW)
_CRC_PROPERTY_BYTES = CRC_PROPERTY_BYTES


def is_compiled() -> bool:
    return cython.compiled


class WaitingProperties:
    """One object is reused for every message. Starts are positions in the memory that was read; a
    size of 0 and a number of -1: the text does not have the property.
    """

    __slots__ = (
        "delete_size",
        "delete_start",
        "is_delayed",
        "key_size",
        "key_start",
        "out_ms",
        "queue_id",
        "size",
        "topic_size",
        "topic_start",
    )

    def __init__(self) -> None:
        # Of the text, without a record CRC.
        self.size = 0
        self.topic_start = 0
        self.topic_size = 0
        self.queue_id = -1
        self.out_ms = -1
        # Of its unique id; of what it takes back.
        self.key_start = 0
        self.key_size = 0
        self.delete_start = 0
        self.delete_size = 0
        # Whether it was to wait for so long, not for a time of day.
        self.is_delayed = False

    def read(self, memory: memoryview, start: int, size: int) -> None:
        """Look at a text of so many bytes."""
        if ends_in_crc(memory, start, size):
            size -= _CRC_PROPERTY_BYTES
        self.size = size
        self.topic_size = self.key_size = self.delete_size = 0
        self.queue_id = self.out_ms = -1
        self.is_delayed = False
        at = start
        end = start + size
        while at < end:
            piece_end = find_byte(memory, 2, at, end)
            value = find_byte(memory, 1, at, piece_end) + 1
            if value < piece_end:
                self._note(memory, at, value, piece_end)
            at = piece_end + 1

    def read_from(self, text: memoryview) -> None:
        """`read` for callers without a memory: a view of the text, contiguous."""
        self.read(address(text), 0, len(text))

    def _note(self, memory: memoryview, at: int, value: int, end: int) -> None:
        """One property: its name, and the value that is not empty. Names by their length."""
        size = value - at
        if size == 9:
            if same_bytes(memory, at, _REAL_QUEUE_ID, 0, 9):
                self.queue_id = number_at(memory, value, end, _QUEUE_DIGITS_MAX)
            elif same_bytes(memory, at, _UNIQUE_KEY, 0, 9):
                self.key_start = value
                self.key_size = end - value
        elif size == 11:
            if same_bytes(memory, at, _REAL_TOPIC, 0, 11):
                self.topic_start = value
                self.topic_size = end - value
        elif size == 13:
            if same_bytes(memory, at, _OUT_MS, 0, 13):
                self.out_ms = number_at(memory, value, end, _TIME_DIGITS_MAX)
        elif size == 15:
            if same_bytes(memory, at, _DELAY_MS, 0, 15):
                self.is_delayed = True
        elif size == 16:
            if same_bytes(memory, at, _DELAY_SECONDS, 0, 16):
                self.is_delayed = True
        elif size == 18 and same_bytes(memory, at, _DELETE_KEY, 0, 18):
            self.delete_start = value
            self.delete_size = end - value


def number_at(memory: memoryview, start: int, end: int, digits_max: int) -> int:
    """The number in [start, end); -1 if it is none, or has too many digits."""
    if start >= end or end - start > digits_max:
        return -1
    value = 0
    for index in range(start, end):
        digit = memory[index] - 48
        if digit < 0 or digit > 9:
            return -1
        value = value * 10 + digit
    return value
