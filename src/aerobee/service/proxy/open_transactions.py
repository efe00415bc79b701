"""OpenTransactions: where the half message of a transaction lies, by its topic and id.

Clients name a transaction by the id of its message, the broker by the offsets of its half. An entry
comes with the answer to the send or with a check-back, and stays for a while after the end, so that
an end that is repeated is answered as the first. Bounded: the oldest go first. A transaction whose
entry is lost, by a restart or by too many, is ended by the answer to its check-back.
"""

from collections import OrderedDict
from typing import NamedTuple

HALVES_MAX = 100_000


class HalfPlace(NamedTuple):
    """The place of a half message."""

    broker: str
    log_offset: int
    queue_offset: int
    decided: int = 0
    """The resolution that it was ended with; 0: it is open."""


class OpenTransactions:
    def __init__(self, halves_max: int = HALVES_MAX) -> None:
        self._halves_max = halves_max
        self._places: OrderedDict[tuple[str, str], HalfPlace] = OrderedDict()

    def __len__(self) -> int:
        return len(self._places)

    def add(self, topic: str, transaction_id: str, place: HalfPlace) -> None:
        """A half was stored, or stored again."""
        self._places[topic, transaction_id] = place
        self._places.move_to_end((topic, transaction_id))
        while len(self._places) > self._halves_max:
            self._places.popitem(last=False)

    def find(self, topic: str, transaction_id: str) -> HalfPlace | None:
        return self._places.get((topic, transaction_id))

    def end(self, topic: str, transaction_id: str, resolution: int) -> None:
        """The broker has ended it."""
        place = self._places.get((topic, transaction_id))
        if place is not None:
            self._places[topic, transaction_id] = place._replace(decided=resolution)
