"""Attempts: log-ins that failed, by user and by address, and how long to wait before the next.

Five may fail; then each further one doubles the wait, up to five minutes. A log-in that succeeds
clears its user. The table is bounded: the oldest entry goes first. Time is an argument, in
monotonic seconds.
"""

from dataclasses import dataclass

FREE = 5
WAIT_MAX_SECONDS = 300.0
FORGOTTEN_SECONDS = 3600.0
ENTRIES_MAX = 10_000


@dataclass(slots=True)
class _Failures:
    count: int = 0
    last: float = 0.0


class Attempts:
    def __init__(self) -> None:
        self._failures: dict[str, _Failures] = {}

    def wait_seconds(self, user: str, address: str, now: float) -> float:
        """Return how long it is until the next try is looked at; 0: now."""
        return max(self._wait(key, now) for key in _keys(user, address))

    def failed(self, user: str, address: str, now: float) -> None:
        for key in _keys(user, address):
            one = self._failures.pop(key, None)
            if one is None or now - one.last >= FORGOTTEN_SECONDS:
                one = _Failures()
            one.count += 1
            one.last = now
            self._failures[key] = one  # at the end: the first entry is the oldest
        while len(self._failures) > ENTRIES_MAX:
            del self._failures[next(iter(self._failures))]

    def succeeded(self, user: str, address: str) -> None:
        for key in _keys(user, address):
            self._failures.pop(key, None)

    def _wait(self, key: str, now: float) -> float:
        one = self._failures.get(key)
        if one is None or one.count < FREE:
            return 0.0
        wait = min(WAIT_MAX_SECONDS, 2.0 ** (one.count - FREE))
        return max(0.0, one.last + wait - now)


def _keys(user: str, address: str) -> tuple[str, str]:
    return f"user {user}", f"address {address}"
