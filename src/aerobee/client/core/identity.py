"""Who a client is: its id towards brokers, and the ids it gives to messages.

    client id    address@pid#nanoseconds[@unit]    one for each client, as Java's
    unique id    the sender's name for a message, before a broker has seen it (`model.message_id`)

Nothing here reads a clock or the process: whoever makes one hands in what it needs.
"""

from aerobee.model.message_id import UniqueId

COUNTER_MASK = 0xFFFF
_TAIL_DIGITS = 12  # elapsed ms, 8 hexadecimal digits, and counter, 4


def client_id(address: str, pid: int, nanoseconds: int, *, unit: str = "") -> str:
    """Unlike that of any other client, of this process and of others."""
    name = f"{address}@{pid}#{nanoseconds}"
    return f"{name}@{unit}" if unit else name


class UniqueIds:
    """Ids for messages: no two of one process are the same within a month."""

    def __init__(self, address: str, pid: int, loader_hash: int) -> None:
        """`loader_hash` tells apart those that share address and pid: containers, and two clients
        of one process."""
        self._head = str(UniqueId(address, pid, loader_hash, 0, 0))[:-_TAIL_DIGITS]
        self._counter = 0

    def take(self, elapsed_ms: int) -> str:
        """The next id; `elapsed_ms` since the start of the month. More than 65,536 in one
        millisecond would repeat: no Python process makes a tenth of that."""
        self._counter = (self._counter + 1) & COUNTER_MASK
        return f"{self._head}{elapsed_ms & 0xFFFFFFFF:08X}{self._counter:04X}"
