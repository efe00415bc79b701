"""Health tells whether a broker is well and ready: a list of problems, empty if there is none.

well     it is called regularly, and the store takes writes
ready    it is well, and a name server knows it, if it has any
"""

from collections.abc import Callable, Sequence

from aerobee.ports.clock import Now
from aerobee.storage.store import Store

QUIET_MS_MAX = 5_000
"""A broker that was not called for so long hangs: it is called at least every second."""


class Health:
    def __init__(
        self,
        store: Store,
        nameservers: Sequence[str],
        strangers: Callable[[], Sequence[str]],
        now: Now,
    ) -> None:
        """`strangers` returns the name servers that do not know the broker now."""
        self._store = store
        self._nameservers = nameservers
        self._strangers = strangers
        self._called_ms = now.monotonic_ms

    def on_tick(self, now: Now) -> None:
        self._called_ms = now.monotonic_ms

    def ailments(self, now: Now) -> list[str]:
        found = []
        quiet_ms = now.monotonic_ms - self._called_ms
        if quiet_ms > QUIET_MS_MAX:
            found.append(f"the broker was not called for {quiet_ms} ms")
        refusal = self._store.appender.refusal
        if refusal is not None:
            found.append(f"the store takes no writes: {refusal}")
        return found

    def obstacles(self, now: Now) -> list[str]:
        found = self.ailments(now)
        strangers = self._strangers()
        if self._nameservers and len(strangers) == len(self._nameservers):
            found.append(f"no name server knows the broker: {', '.join(strangers)}")
        return found

    def known_to(self) -> int:
        """The number of name servers that know the broker."""
        return len(self._nameservers) - len(self._strangers())
