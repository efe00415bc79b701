"""RestartDelays computes when a process that ended is restarted: at once, or with growing delays.

Pure: times are arguments, in seconds.
"""

FIRST_SECONDS = 0.5
LONGEST_SECONDS = 30.0
WELL_SECONDS = 60.0
"""Who ran for so long did not end over what it began with."""


class RestartDelays:
    """The delays of one process."""

    def __init__(self) -> None:
        self._failures = 0
        self._begun = 0.0

    def begun(self, now: float) -> None:
        self._begun = now

    def wait_seconds(self, now: float) -> float:
        """Return the delay before the next start; called when the process has ended."""
        if now - self._begun >= WELL_SECONDS:
            self._failures = 0
        wait = min(LONGEST_SECONDS, FIRST_SECONDS * float(2**self._failures))
        self._failures += 1
        return wait
