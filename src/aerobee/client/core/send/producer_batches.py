"""`ProducerBatches` collects a producer's messages that were not sent yet, in batches by
destination.

    add ─▶ a batch is full      ─▶ send it
           its linger is over   ─▶ send it
           drain or close       ─▶ send it

Each destination (`place`) has at most one open batch: None for messages that may go to any queue,
else the queue of a key. Times are handed in.

G1. Messages of one destination leave in the order in which they came.
G2. A batch is never larger than the limits, unless one message alone is.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class Batch(Generic[T]):
    place: Hashable
    due: float
    """When it leaves, full or not."""
    items: list[T] = field(default_factory=list)
    size: int = 0


class ProducerBatches(Generic[T]):
    def __init__(self, linger: float, items_max: int, bytes_max: int) -> None:
        self._linger = linger
        self._items_max = items_max
        self._bytes_max = bytes_max
        # In the order in which they are due: all linger equally long.
        self._open: dict[Hashable, Batch[T]] = {}

    def add(self, place: Hashable, item: T, size: int, now: float) -> list[Batch[T]]:
        """Add a message; returns the batches that are to be sent now, in order."""
        leaving = []
        batch = self._open.get(place)
        if batch is not None and batch.size + size > self._bytes_max:
            leaving.append(self._open.pop(place))
            batch = None
        if batch is None:
            batch = self._open[place] = Batch(place, now + self._linger)
        batch.items.append(item)
        batch.size += size
        if len(batch.items) >= self._items_max or batch.size >= self._bytes_max:
            leaving.append(self._open.pop(place))
        return leaving

    def take_due(self, now: float) -> list[Batch[T]]:
        """Batches whose linger is over."""
        due = [batch for batch in self._open.values() if batch.due <= now]
        for batch in due:
            del self._open[batch.place]
        return due

    def take_all(self) -> list[Batch[T]]:
        taken = list(self._open.values())
        self._open.clear()
        return taken

    def next_due(self) -> float | None:
        """The time at which `take_due` will have a batch, if none is added before."""
        return next((batch.due for batch in self._open.values()), None)
