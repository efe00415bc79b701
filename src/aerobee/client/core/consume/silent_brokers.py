"""`SilentBrokers` keeps the addresses of brokers that did not answer a read, so that reads go to
another broker of the same name for a while.

    did not answer ─▶ silent, for AVOID_MS ─▶ on trial: a short read ─▶ answered: not kept any more
                        ▲                                │
                        └──────── did not answer ────────┘

Without it a consumer whose master hangs would go back to it after every answer of a slave, because
a slave sends readers that have caught up back to the master.
"""

AVOID_MS = 10_000
"""How long a broker is avoided after it did not answer."""


class SilentBrokers:
    """Times are milliseconds on a clock that does not jump."""

    __slots__ = ("_until_ms",)

    def __init__(self) -> None:
        self._until_ms: dict[str, int] = {}

    def __len__(self) -> int:
        """The number of addresses that are silent or on trial."""
        return len(self._until_ms)

    def note(self, address: str, now_ms: int) -> None:
        """A broker did not answer, or does not let anybody read."""
        self._until_ms[address] = now_ms + AVOID_MS

    def answered(self, address: str) -> None:
        self._until_ms.pop(address, None)

    def avoided(self, now_ms: int) -> set[str]:
        """The addresses to avoid now, where there are others."""
        return {address for address, until_ms in self._until_ms.items() if now_ms < until_ms}

    def is_on_trial(self, address: str) -> bool:
        """Whether the next read of an address is to be a short one: it did not answer the last."""
        return address in self._until_ms
