"""Messages that must not overtake each other wait in lanes: of each lane, one is out at a time.

    order "none"     no lanes: every message may be handed out at once
    order "queue"    each queue is a lane
    order "key"      each key of each queue is a lane; a message without a key waits for nobody

N1. Of one lane, the next comes out only when the one before it was done with.
N2. Within a lane, messages come out as they went in.
"""

from collections import deque
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

M = TypeVar("M")


class OrderLanes(Generic[M]):
    """Who is out, and who waits behind whom."""

    def __init__(self) -> None:
        # A lane is here while one of its messages is out.
        self._waiting: dict[Hashable, deque[M]] = {}

    def enter(self, lane: Hashable, message: M) -> bool:
        """Whether the message may come out at once; otherwise it waits."""
        waiting = self._waiting.get(lane)
        if waiting is None:
            self._waiting[lane] = deque()
            return True
        waiting.append(message)
        return False

    def leave(self, lane: Hashable) -> M | None:
        """The one that is out was done with: the next of its lane, which is out now."""
        waiting = self._waiting.get(lane)
        if waiting:
            return waiting.popleft()
        self._waiting.pop(lane, None)
        return None

    def drop(self, is_meant: Callable[[Hashable], bool]) -> list[M]:
        """Forget lanes. What waited there, in order."""
        taken: list[M] = []
        for lane in [lane for lane in self._waiting if is_meant(lane)]:
            taken += self._waiting.pop(lane)
        return taken
