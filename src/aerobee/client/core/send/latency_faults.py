"""`LatencyFaults` remembers brokers that were slow, and for how long sends avoid them.

The table is RocketMQ's, so that its users find what they know:

    latency of a send, at least (ms)     50   100    550   1800   3000    5000   15000
    not to be used for (ms)               0     0   2000   5000   6000   10000   30000

The last row that fits counts; below the first, nothing. A broker that could not be reached, or
refused, is isolated: it counts as one that took 10 s. If there is no other broker, it is used all
the same.

L1. The end of a broker's rest only moves forward.
"""

from collections.abc import Sequence
from itertools import pairwise

from aerobee.errors import Misuse

LATENCY_TABLE = (
    (50, 0),
    (100, 0),
    (550, 2_000),
    (1_800, 5_000),
    (3_000, 6_000),
    (5_000, 10_000),
    (15_000, 30_000),
)
ISOLATION_LATENCY_MS = 10_000


class LatencyFaults:
    def __init__(self, table: Sequence[tuple[int, int]] = LATENCY_TABLE) -> None:
        """`table`: pairs of a latency, rising, and the rest that follows from it, in ms."""
        if any(low >= high for (low, _), (high, _) in pairwise(table)):
            raise Misuse("the latencies of the table do not rise")
        self._table = tuple(table)
        self._rest_until: dict[str, int] = {}
        self._unreachable: set[str] = set()

    def rest_ms(self, latency_ms: int) -> int:
        """The time for which a broker with this latency is avoided."""
        for at_least, rest in reversed(self._table):
            if latency_ms >= at_least:
                return rest
        return 0

    def note(
        self,
        broker_name: str,
        latency_ms: int,
        now_ms: int,
        *,
        is_isolated: bool = False,
        is_reachable: bool = True,
    ) -> None:
        """Record the latency of a send to a broker, and whether it failed in a way that isolates
        it.
        """
        rest = self.rest_ms(ISOLATION_LATENCY_MS if is_isolated else latency_ms)
        if rest > 0:
            until = max(now_ms + rest, self._rest_until.get(broker_name, 0))
            self._rest_until[broker_name] = until
        (self._unreachable.discard if is_reachable else self._unreachable.add)(broker_name)

    def is_available(self, broker_name: str, now_ms: int) -> bool:
        return now_ms >= self._rest_until.get(broker_name, now_ms)

    def is_reachable(self, broker_name: str) -> bool:
        return broker_name not in self._unreachable
