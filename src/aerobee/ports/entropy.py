"""Entropy: random numbers, drawn by the caller's generator and never by the core's own.

Elections need them, so that two candidates do not stand up at the same moment for ever. A test
passes a generator with a seed, and the same seed gives the same run.
"""

from typing import Protocol


class Entropy(Protocol):
    def below(self, limit: int) -> int:
        """A number from 0 up to, but not including, `limit`."""
