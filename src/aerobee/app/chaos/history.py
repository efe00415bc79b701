"""ChaosHistory: every send and every read of a run, and the verdict over them.

A sender sends one message after another to a queue of its own, and each has a name. Reads are those
of the run, and a last one of everything when nobody sends any more.

    lost          acknowledged, and not there at the end
    out of order  behind one of the same queue that was sent after it had been acknowledged
    twice         there twice: its sender tried again because no answer came; allowed
    wrong         anything else that cannot be: `log_check` has the list; or read once, and not
                  there at the end at the same offset
"""

import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from aerobee.app.chaos.log_check import Anomaly, Found, Queue, Sent, SentOutcome, check

LOST, OUT_OF_ORDER, TWICE = "lost", "reordered", "duplicated"
TAKEN_BACK = "taken back"


class Counts(NamedTuple):
    acknowledged: int
    unknown: int
    """Sends that failed at the client: the message may be stored or not."""
    found: int
    lost: int
    out_of_order: int
    twice: int
    wrong: int

    @property
    def is_sound(self) -> bool:
        return not (self.lost or self.out_of_order or self.wrong)


class HistoryVerdict(NamedTuple):
    counts: Counts
    anomalies: Sequence[Anomaly]
    """All but messages that are there twice."""


class ChaosHistory:
    def __init__(self) -> None:
        self.sent: list[Sent] = []
        self.acknowledged: list[float] = []
        """When sends were acknowledged, by the monotonic clock in seconds; in their order."""
        self.reads: dict[tuple[Queue, int], bytes] = {}
        self._taken_back: list[Anomaly] = []

    def on_answer(
        self, name: bytes, queue: Queue, body: bytes, began_ns: int, is_safe: bool
    ) -> None:
        """A send has ended: acknowledged as the broker promises, or not."""
        ended_ns = time.monotonic_ns()
        outcome = SentOutcome.ACKNOWLEDGED if is_safe else SentOutcome.UNKNOWN
        self.sent.append(Sent(name, queue, body, outcome, began_ns, ended_ns))
        if is_safe:
            self.acknowledged.append(ended_ns / 1e9)

    def on_read(self, queue: Queue, offset: int, name: bytes) -> None:
        before = self.reads.setdefault((queue, offset), name)
        if before != name:
            detail = f"offset {offset} of {queue} was {before!r}, and is {name!r}"
            self._taken_back.append(Anomaly(TAKEN_BACK, before, detail))

    def judge(self, found: Mapping[Queue, Sequence[Found]]) -> HistoryVerdict:
        """`found`: everything that is there at the end."""
        anomalies = [*self._taken_back, *check(self.sent, found), *self._not_there(found)]
        by_kind = [one.kind for one in anomalies]
        severe = [one for one in anomalies if one.kind != TWICE]
        lost, reordered = by_kind.count(LOST), by_kind.count(OUT_OF_ORDER)
        acknowledged = len(self.acknowledged)
        counts = Counts(
            acknowledged,
            len(self.sent) - acknowledged,
            sum(map(len, found.values())),
            lost,
            reordered,
            by_kind.count(TWICE),
            len(severe) - lost - reordered,
        )
        return HistoryVerdict(counts, severe)

    def _not_there(self, found: Mapping[Queue, Sequence[Found]]) -> list[Anomaly]:
        """Reads that nobody could repeat at the end."""
        there = {(queue, one.offset): one.name for queue, listed in found.items() for one in listed}
        return [
            Anomaly(TAKEN_BACK, name, f"was read at offset {offset} of {queue}")
            for (queue, offset), name in self.reads.items()
            if there.get((queue, offset)) != name
        ]
