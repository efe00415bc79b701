"""Retry delays: `Backoff` computes the delay of a failed message, `level_for` its delay level.

    level    1   2   3    4    5   6   7   8   9   10  11  12  13  14   15   16   17  18
    delay    1s  5s  10s  30s  1m  2m  3m  4m  5m  6m  7m  8m  9m  10m  20m  30m  1h  2h

A broker delays a retry by one of these levels, so a delay becomes the shortest level that is not
shorter, or the last one. With level 0 the broker chooses: 3 levels above the number of tries. POP
can hide a message for any time, and takes the delay as it is.
"""

from dataclasses import dataclass

from aerobee.errors import Misuse

DELAY_SECONDS = (
    1,
    5,
    10,
    30,
    60,
    120,
    180,
    240,
    300,
    360,
    420,
    480,
    540,
    600,
    1200,
    1800,
    3600,
    7200,
)
"""Of the delay levels, from level 1, as brokers have them unless they are told otherwise."""
BROKER_CHOOSES = 0
DEAD_LETTER = -1
"""In place of a level: never again."""

POP_SECONDS = (10, 30, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600, 1200, 1800, 3600, 7200)
"""How long a popped message that failed stays away, by how often it was tried before."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """Retry after `first` seconds, then `factor` times as long each time, up to `longest`."""

    first: float = 10.0
    longest: float = 7200.0
    factor: float = 2.0

    def __post_init__(self) -> None:
        if not 0 <= self.first <= self.longest < float("inf") or self.factor < 1:
            raise Misuse(
                f"{self!r} does not grow from a first delay to a longest one",
                hint="Backoff(first, longest) in seconds, as in Backoff(1, 300)",
            )

    def seconds(self, attempt: int) -> float:
        """The delay after the `attempt`th try, which is 1 at first."""
        delay = self.first
        for _ in range(attempt - 1):
            if delay >= self.longest or delay == 0:
                break
            delay *= self.factor
        return min(delay, self.longest)


def level_for(seconds: float) -> int:
    """The shortest delay level that is not shorter than the delay."""
    for index, delay in enumerate(DELAY_SECONDS):
        if seconds <= delay:
            return index + 1
    return len(DELAY_SECONDS)


def pop_seconds(attempt: int) -> float:
    """The seconds that a popped message stays hidden after its `attempt`th try, if no delay is
    given.
    """
    return POP_SECONDS[min(attempt, len(POP_SECONDS)) - 1]
