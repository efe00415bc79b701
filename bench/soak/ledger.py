"""Ledger of sent and received messages. It remembers only messages on their way, so that its own
memory does not hide that of the client.

    begin ─▶ acked ─▶ awaited ─▶ seen          a message that must come
    begin ─▶ failed                            one that may come: nobody knows
    begin ─▶ refused                           one that must never come

A message that comes before its send was answered is remembered until it is. One that comes again
is counted; whether it was stored twice its place tells.
"""

from collections import deque
from dataclasses import dataclass, field

PLACES_MAX = 20_000
"""Of how many messages the place is remembered: longer ago, nothing is sent again."""


@dataclass(slots=True)
class Ledger:
    """Of one kind of message, and one group that must get all of it."""

    title: str
    is_ordered: bool = False
    is_stored_once: bool = False
    acked: int = 0
    failed: int = 0
    seen: int = 0
    repeated: int = 0
    faults: list[str] = field(default_factory=list)
    _under_way: set[int] = field(default_factory=set)
    _early: set[int] = field(default_factory=set)
    _awaited: set[int] = field(default_factory=set)
    _refused: deque[int] = field(default_factory=lambda: deque(maxlen=PLACES_MAX))
    _highest: dict[str, int] = field(default_factory=dict)
    _places: dict[int, str] = field(default_factory=dict)

    def begin(self, number: int) -> None:
        self._under_way.add(number)

    def ack(self, number: int) -> None:
        """The broker has it: it must come."""
        self._under_way.remove(number)
        self.acked += 1
        if number in self._early:
            self._early.remove(number)
        else:
            self._awaited.add(number)

    def fail(self, number: int) -> None:
        """Whether the broker has it is not known."""
        self._under_way.remove(number)
        self._early.discard(number)
        self.failed += 1

    def refuse(self, number: int) -> None:
        """It was taken back: it must not come."""
        self._under_way.remove(number)
        self._refused.append(number)
        if number in self._early:
            self.faults.append(f"{self.title} {number} came, and was rolled back")

    def see(self, number: int, place: str, lane: str = "") -> None:
        self.seen += 1
        is_new = number in self._awaited or (
            number in self._under_way and number not in self._early
        )
        if number in self._refused:
            self.faults.append(f"{self.title} {number} came, and was rolled back")
        if number in self._awaited:
            self._awaited.remove(number)
        elif number in self._under_way:
            self._early.add(number)
        if not is_new:
            self.repeated += 1
        elif self.is_ordered:
            if number < self._highest.get(lane, -1):
                self.faults.append(f"{self.title} {number} came after {self._highest[lane]}")
            self._highest[lane] = max(number, self._highest.get(lane, -1))
        if self.is_stored_once:
            self._remember(number, place)

    def _remember(self, number: int, place: str) -> None:
        known = self._places.setdefault(number, place)
        if known != place:
            self.faults.append(f"{self.title} {number} lies at {known} and at {place}")
        if len(self._places) > PLACES_MAX:
            del self._places[next(iter(self._places))]

    @property
    def missing(self) -> int:
        return len(self._awaited)

    def oldest_missing(self) -> list[int]:
        return sorted(self._awaited)[:5]
