"""`OrderLanes` keeps messages in order: of each lane, one message is out at a time.

    order "none"     no lanes: every message may be handed out at once
    order "queue"    each queue is a lane
    order "key"      each key of each queue is a lane; a message without a key is in no lane

N1. Of one lane, the next message comes out only when the one before it was settled.
N2. Within a lane, messages come out as they went in.
"""

from collections import deque
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

M = TypeVar("M")


class OrderLanes(Generic[M]):
    """The lanes with a message out, and the messages that wait in each."""

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
        """Settle the message that is out; returns the next of its lane, which is out now."""
        waiting = self._waiting.get(lane)
        if waiting:
            return waiting.popleft()
        self._waiting.pop(lane, None)
        return None

    def drop(self, is_meant: Callable[[Hashable], bool]) -> list[M]:
        """Drop lanes; returns the messages that waited there, in order."""
        taken: list[M] = []
        for lane in [lane for lane in self._waiting if is_meant(lane)]:
            taken += self._waiting.pop(lane)
        return taken
