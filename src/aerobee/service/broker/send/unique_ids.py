"""Generates unique ids (UNIQ_KEY) for messages that were sent without one, in the clients' format.

No randomness is needed: address, port, time and a counter make each one different.
"""

from aerobee.model.message_id import UniqueId
from aerobee.ports.clock import Now


class UniqueIds:
    """The ids of one broker: its address and port, the time, and a counter."""

    def __init__(self, address: str, port: int) -> None:
        self._address = address
        self._port = port
        self._count = 0

    def next(self, now: Now) -> str:
        """A new id. Two of one millisecond differ by the counter, those of two starts by the
        time."""
        self._count += 1
        high, low = divmod(self._count, 0x10000)
        return str(UniqueId(self._address, self._port, now.wall_ms >> 32 ^ high, now.wall_ms, low))
