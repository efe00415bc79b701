"""Client ids and unique message ids, as RocketMQ's clients make them.

    client id    address@pid#nanoseconds[@unit]    one for each client, as Java's
    unique id    the sender's name for a message, before a broker has seen it (`model.message_id`)

Nothing here reads a clock or the process: callers hand in what is needed.
"""

from typing import TYPE_CHECKING

from aerobee.model.message_id import UniqueId

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import address, bytes_at

_TAIL_DIGITS = 12  # elapsed ms, 8 hexadecimal digits, and counter, 4
_COUNTER_MASK = 0xFFFF
_ELAPSED_MASK = 0xFFFFFFFF
_AHEAD_MS_END = 60_000  # by which ids may run ahead of the clock: beyond, a month is over


def is_compiled() -> bool:
    return cython.compiled


def client_id(host: str, pid: int, nanoseconds: int, *, unit: str = "") -> str:
    """A client id that differs from those of all other clients, in this process and in others."""
    name = f"{host}@{pid}#{nanoseconds}"
    return f"{name}@{unit}" if unit else name


class UniqueIds:
    """Unique message ids: no two of one process are the same within a month. With many in one
    millisecond, the time in the ids runs ahead.
    """

    __slots__ = ("_counter", "_last_ms", "_memory", "_view", "size")

    def __init__(self, host: str, pid: int, loader_hash: int) -> None:
        """`loader_hash` tells apart clients with the same host and pid: in containers, and two
        clients of one process.
        """
        # The last id as text: only its tail changes.
        self._view = memoryview(bytearray(str(UniqueId(host, pid, loader_hash, 0, 0)).encode()))
        self._memory = address(self._view)
        self._counter = 0
        self._last_ms = 0
        self.size = len(self._view)
        """Characters of every id."""

    def take(self, elapsed_ms: int) -> str:
        """The next id; `elapsed_ms` since the start of the month."""
        return self.take_bytes(elapsed_ms).decode()

    def take_bytes(self, elapsed_ms: int) -> bytes:
        """The next id, as it is on the wire."""
        last_ms = self._last_ms
        self._counter = (self._counter + 1) & _COUNTER_MASK
        if self._counter == 0:
            last_ms += 1  # one turn of the loop may send more than one millisecond has ids for
        if elapsed_ms < last_ms < elapsed_ms + _AHEAD_MS_END:
            elapsed_ms = last_ms
        self._last_ms = elapsed_ms
        value = (elapsed_ms & _ELAPSED_MASK) << 16 | self._counter
        for index in range(self.size - 1, self.size - _TAIL_DIGITS - 1, -1):
            digit = value & 15
            self._memory[index] = digit + (0x30 if digit < 10 else 0x37)
            value >>= 4
        return bytes_at(self._memory, 0, self.size)
