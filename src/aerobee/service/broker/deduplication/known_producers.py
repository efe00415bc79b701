"""Every producer that sends to be stored once: its epoch, and what it has in which queue.

K1. Of two that send under one id the one with the greater epoch counts: the first message or the
    first opening with it ends the other.
K2. A sequence is stored once, whichever epoch sent it: whoever takes over may send all of it again.
K3. Who was forgotten, for there are limits, is not taken for new: a producer says whether it was
    acknowledged before.

K4. A round that begins ends the one before it: its epochs are refused, its sequences forgotten. How
    a round's messages go to queues is what its first opening said.

Whoever sent longest ago is forgotten first. Called from the core's thread only.
"""

from collections.abc import Iterator
from typing import NamedTuple

from aerobee.protocol.producer_mark import ROUND_SEQUENCES, ProducerMark
from aerobee.service.broker.deduplication.seen import Place, Seen, Verdict

PRODUCERS_MAX = 10_000
QUEUES_MAX = 10_000
"""Of all producers together: each costs up to 15 KiB."""
IDLE_MS_MAX = 7 * 24 * 3_600_000
"""Who has sent nothing for so long is forgotten."""

QueueKey = tuple[str, int]


class Limits(NamedTuple):
    producers: int = PRODUCERS_MAX
    queues: int = QUEUES_MAX
    idle_ms: int = IDLE_MS_MAX


class Producer:
    __slots__ = ("epoch", "plans", "queues", "round_id", "used_ms")

    def __init__(self, epoch: int, used_ms: int) -> None:
        self.epoch = epoch
        self.used_ms = used_ms
        self.queues: dict[QueueKey, Seen] = {}
        self.round_id = -1
        self.plans: dict[str, str] = {}
        """Of this round, by topic."""


class KnownProducers:
    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        # Who sent last comes last.
        self._producers: dict[str, Producer] = {}
        self._queues = 0
        self.changes = 0
        """Counts on whenever something is no longer what it was."""

    def __len__(self) -> int:
        return len(self._producers)

    def all(self) -> Iterator[tuple[str, Producer]]:
        return iter(self._producers.items())

    def epoch_of(self, producer: str) -> int:
        """-1: it is not known."""
        known = self._producers.get(producer)
        return -1 if known is None else known.epoch

    def raise_epoch(self, producer: str, epoch: int, wall_ms: int) -> None:
        """Whoever sends with a smaller one has been succeeded."""
        known = self._use(producer, epoch, wall_ms)
        known.epoch = max(known.epoch, epoch)

    def begin_round(self, producer: str, round_id: int, wall_ms: int) -> Producer:
        """Whoever works on this round, or on none so far, goes on with it."""
        known = self._use(producer, 0, wall_ms)
        if round_id > known.round_id:
            known.round_id = round_id
            known.plans = {}
            for key, seen in list(known.queues.items()):
                if not seen.forget_below(round_id * ROUND_SEQUENCES):
                    del known.queues[key]
                    self._queues -= 1
        return known

    def find_producer(self, producer: str) -> Producer | None:
        return self._producers.get(producer)

    def find(self, producer: str, topic: str, queue_id: int) -> Seen | None:
        known = self._producers.get(producer)
        return None if known is None else known.queues.get((topic, queue_id))

    def last_sequences(self, producer: str, topic: str) -> dict[int, int]:
        """By queue, where it has stored something."""
        known = self._producers.get(producer)
        if known is None:
            return {}
        return {
            queue_id: seen.last for (name, queue_id), seen in known.queues.items() if name == topic
        }

    def note(
        self, mark: ProducerMark, topic: str, queue_id: int, place: Place, wall_ms: int
    ) -> None:
        """A message was stored, if it was not known: replaying tells some of them again."""
        seen = self._seen_by(mark, topic, queue_id, wall_ms)
        if seen.judge(mark.sequence) is Verdict.NEW:
            seen.note(mark.sequence, place)

    def note_run(
        self, mark: ProducerMark, count: int, topic: str, queue_id: int, wall_ms: int
    ) -> None:
        """So many messages were stored that follow each other, all of them new. Where they are,
        nobody will ask."""
        self._seen_by(mark, topic, queue_id, wall_ms).note_run(mark.sequence, count)

    def _seen_by(self, mark: ProducerMark, topic: str, queue_id: int, wall_ms: int) -> Seen:
        known = self._use(mark.producer, mark.epoch, wall_ms)
        known.epoch = max(known.epoch, mark.epoch)
        seen = known.queues.get((topic, queue_id))
        if seen is None:
            seen = known.queues[topic, queue_id] = Seen()
            self._queues += 1
            self._keep_limits(mark.producer)
        return seen

    def restore(self, producer: str, known: Producer) -> None:
        """As the file had it; the oldest first."""
        self._queues += len(known.queues)
        self._producers[producer] = known
        self._keep_limits(producer)

    def forget_topic(self, topic: str) -> None:
        """It was deleted: should there be another of its name, nothing was sent to that."""
        for known in self._producers.values():
            for key in [key for key in known.queues if key[0] == topic]:
                del known.queues[key]
                self._queues -= 1
                self.changes += 1

    def forget_idle(self, wall_ms: int) -> None:
        while self._producers:
            oldest = next(iter(self._producers))
            if wall_ms - self._producers[oldest].used_ms < self._limits.idle_ms:
                return
            self._forget(oldest)

    def _use(self, producer: str, epoch: int, wall_ms: int) -> Producer:
        self.changes += 1
        known = self._producers.pop(producer, None)
        if known is None:
            known = Producer(epoch, wall_ms)
        self._producers[producer] = known
        known.used_ms = max(known.used_ms, wall_ms)
        self._keep_limits(producer)
        return known

    def _keep_limits(self, spared: str) -> None:
        while len(self._producers) > self._limits.producers or self._queues > self._limits.queues:
            oldest = next(iter(self._producers))
            if oldest == spared:
                return  # one alone, with more queues than there may be: its topics bound those
            self._forget(oldest)

    def _forget(self, producer: str) -> None:
        self._queues -= len(self._producers.pop(producer).queues)
        self.changes += 1
