"""Schedule computes when messages are due: by their number, not by the answer to the one before.

    worker i of n, r events a second:   event k is due at  start + (k * n + i) / r

So a server that stalls does not slow the load down: messages that were due meanwhile are measured
from their due time (no coordinated omission), and messages that were never sent count, too.

S1. The events of all workers together are evenly spaced, and each belongs to one worker.
S2. `due_count(due(k)) == k + 1`: nothing is early.
"""

from collections.abc import Iterator
from dataclasses import dataclass

SECOND_NS = 1_000_000_000
_STEPS_MAX = 1000


@dataclass(frozen=True, slots=True)
class Schedule:
    start_ns: int
    rate: float
    """Events a second, of all workers together. An event is a message, or a batch."""
    share: int = 0
    of: int = 1

    def due(self, number: int) -> int:
        """Return when the event of this number, from 0, is due."""
        return self.start_ns + round((number * self.of + self.share) * SECOND_NS / self.rate)

    def due_count(self, now_ns: int) -> int:
        """Return how many events are due by now."""
        passed = (now_ns - self.start_ns) * self.rate / SECOND_NS
        guess = max(0, int((passed - self.share) // self.of) + 1)
        # Division rounds: one to either side may be right.
        while guess > 0 and self.due(guess - 1) > now_ns:
            guess -= 1
        while self.due(guess) <= now_ns:
            guess += 1
        return guess


def unsent_waits(
    schedule: Schedule, first: int, since_ns: int, end_ns: int
) -> Iterator[tuple[int, int]]:
    """Yield (latency, number) for the events from `first` on that were due and never sent: the
    latency is a lower bound. Many are grouped, each group with its longest."""
    last = schedule.due_count(end_ns - 1)
    first = max(first, schedule.due_count(since_ns - 1))
    step = max(1, -(-(last - first) // _STEPS_MAX))
    for number in range(first, last, step):
        yield end_ns - schedule.due(number), min(step, last - number)


def shares(whole: int, parts: int) -> list[int]:
    """Divide a number into parts that differ by one at most."""
    return [whole // parts + (part < whole % parts) for part in range(parts)]
