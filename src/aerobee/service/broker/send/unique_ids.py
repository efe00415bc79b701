"""Ids for messages whose senders gave them none, in the form that clients give.

No randomness is needed: address, port, time and a count make each one different.
"""

from aerobee.model.message_id import UniqueId
from aerobee.ports.clock import Now


class UniqueIds:
    """Ids of one broker: its address and port, the time, and a count of the rest."""

    def __init__(self, address: str, port: int) -> None:
        self._address = address
        self._port = port
        self._count = 0

    def next(self, now: Now) -> str:
        """A new one. Two of one millisecond differ by their count, two starts by their time."""
        self._count += 1
        high, low = divmod(self._count, 0x10000)
        return str(UniqueId(self._address, self._port, now.wall_ms >> 32 ^ high, now.wall_ms, low))
