"""When a half is looked at, on the clock that only runs.

A half that came while the process runs is timed from the instant it came. One that was found at the
start has only its stamps, by the wall clock: what they say counts as far as it is possible, so a
clock that was set makes nobody wait for longer than if the half had just come.
"""

from collections.abc import Callable

from aerobee.ports.clock import Now
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.broker.transaction.open_half_recovery import OpenHalf

HalfTerms = tuple[int, int, int]
"""The limit of open half messages, and for one stored now the monotonic times in milliseconds at
which its producers are asked and at which it is given up."""


class HalfTiming:
    def __init__(self, config: Callable[[], BrokerConfig], retention_ms: int) -> None:
        """`config` as it is now. `retention_ms`: the log may be gone after that, and the half with
        it; so it is given up somewhat earlier."""
        self._config = config
        self._kept_ms = retention_ms - retention_ms // 64

    def first_check_ms(self, immunity_ms: int | None, now: Now) -> int:
        """When the producers of a half that just came are asked."""
        return now.monotonic_ms + self._wait_ms(immunity_ms)

    def next_check_ms(self, now: Now) -> int:
        """When they are asked again."""
        return now.monotonic_ms + self._config().transaction_check_interval_ms

    def expiry_ms(self, now: Now) -> int:
        return now.monotonic_ms + self._kept_ms

    @property
    def times_max(self) -> int:
        return self._config().transaction_checks_max

    # Of halves that were found at the start.

    def found_check_ms(self, half: OpenHalf, now: Now) -> int:
        wait_ms = (
            self._config().transaction_check_interval_ms
            if half.times
            else self._wait_ms(half.immunity_ms)
        )
        return now.monotonic_ms + _left_ms(half.stored_ms, wait_ms, now)

    def found_expiry_ms(self, half: OpenHalf, now: Now) -> int:
        # Each time a half is stored again its store timestamp is new; its producer's clock says how
        # old it is, if that can be right.
        is_likely = 0 <= half.stored_ms - half.born_ms <= self._kept_ms
        since_ms = half.born_ms if is_likely else half.stored_ms
        return now.monotonic_ms + _left_ms(since_ms, self._kept_ms, now)

    def _wait_ms(self, immunity_ms: int | None) -> int:
        if immunity_ms is None:
            return self._config().transaction_timeout_ms
        return min(immunity_ms, self._kept_ms)


def _left_ms(since_ms: int, wait_ms: int, now: Now) -> int:
    """What is left of a time that began by the wall clock."""
    return max(0, min(since_ms + wait_ms - now.wall_ms, wait_ms))
