"""Poll: a question that is asked again and again, no more often than its cost allows.

P1. A question that took t is not asked again before t / SHARE has passed: all the time that brokers
    spend on one kind of question stays below that share, however large the cluster.
P2. Nobody looks: it is asked IDLE_FACTOR times less often.

Time is an argument, in monotonic seconds.
"""

from collections.abc import Awaitable, Callable

SHARE = 0.01
IDLE_FACTOR = 10
FAILED_SECONDS = 5.0
"""Before a question that failed is asked again."""


class Poll:
    def __init__(self, seconds: float, ask: Callable[[], Awaitable[None]]) -> None:
        self._seconds = seconds
        self.ask = ask
        self._cost = 0.0
        self._failed = False
        self._asked = -float("inf")

    def is_due(self, now: float, *, is_watched: bool) -> bool:
        factor = 1 if is_watched else IDLE_FACTOR
        pause = max(self._seconds * factor, self._cost / SHARE)
        if self._failed:
            pause = max(pause, FAILED_SECONDS)
        # A tick that comes a little early would otherwise wait for the next one.
        return now - self._asked >= pause - self._seconds / 10

    def asked(self, begun: float, ended: float, *, failed: bool = False) -> None:
        self._asked = begun
        self._cost = ended - begun
        self._failed = failed

    def again(self) -> None:
        """Ask as soon as possible: something was changed."""
        self._asked = -float("inf")
        self._cost = 0.0
