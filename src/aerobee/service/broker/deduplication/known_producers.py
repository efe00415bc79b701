"""KnownProducers is the table of producers that send with marks: epochs, and sequences by queue.

K1. Of two clients that send under one id the one with the greater epoch counts: its first message,
    or its OPEN_PRODUCER, fences the other.
K2. A sequence is stored once, whichever epoch sent it: a successor may send everything again.
K3. A producer that was forgotten, because there are limits, is not taken for new: a producer's send
    says whether it was acknowledged before.
K4. A new round ends the one before it: its epochs are refused, its sequences forgotten. The plan of
    a round (which messages go to which queue) is that of its first opening.
K5. Producers that work on one round together, a family (`query/0`, `query/1`, …), do not push each
    other out: the queues that each may send to are reserved when it opens, and one that finds no
    room is refused.
K6. A finished round needs no marks (`finished_rounds`): they are dropped once that is on the disk.
    Until then they recognise repeated sends; from then on such sends are refused, because the epoch
    is above theirs.

The producer that sent longest ago is forgotten first. Called from the core's thread only.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from aerobee.protocol.message.producer_mark import ROUND_EPOCHS, ROUND_SEQUENCES, ProducerMark
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.deduplication.finished_rounds import FinishedRounds, tasks_of
from aerobee.service.broker.deduplication.seen_sequences import (
    SeenSequences,
    SequenceVerdict,
    StoredPlace,
)
from aerobee.service.request import Answer

PRODUCERS_MAX = 10_000
QUEUES_MAX = 10_000
"""Limit of (producer, queue) pairs: each costs up to 15 KiB."""
IDLE_MS_MAX = 7 * 24 * 3_600_000
"""A producer that has sent nothing for so long is forgotten."""

QueueKey = tuple[str, int]


class Limits(NamedTuple):
    producers: int = PRODUCERS_MAX
    queues: int = QUEUES_MAX
    idle_ms: int = IDLE_MS_MAX

    @property
    def crowded(self) -> int:
        """The number of queues above which a family is asked to finish its rounds. The rest is for
        families that work at the same time; small families need not send FINISH_ROUND."""
        return self.queues // 4


class KnownProducer:
    __slots__ = ("epoch", "family", "plans", "queues", "reserved", "round_id", "used_ms")

    def __init__(self, epoch: int, used_ms: int) -> None:
        self.epoch = epoch
        self.used_ms = used_ms
        self.queues: dict[QueueKey, SeenSequences] = {}
        self.round_id = -1
        self.plans: dict[str, str] = {}
        """The plans of this round, by topic."""
        self.reserved: dict[str, int] = {}
        """The number of queues that it may send to in this round, by topic."""
        self.family = ""
        """The name of its family; empty: it does not work in rounds."""


class _Family:
    __slots__ = ("producers", "queues")

    def __init__(self) -> None:
        self.producers = 0
        self.queues = 0
        """The number of reserved queues."""


class KnownProducers:
    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.finished = FinishedRounds()
        self._families: dict[str, _Family] = {}
        self._in_rounds: frozenset[str] = frozenset()
        # In the order of the last send, oldest first.
        self._producers: dict[str, KnownProducer] = {}
        self._queues = 0
        self.changes = 0
        """Incremented by every change, so that the file is saved only if there was one."""

    def __len__(self) -> int:
        return len(self._producers)

    def all(self) -> Iterator[tuple[str, KnownProducer]]:
        return iter(self._producers.items())

    def epoch_of(self, producer: str) -> int:
        """The epoch of a producer; -1: it is not known."""
        known = self._producers.get(producer)
        return self.finished.epoch_floor(producer) if known is None else known.epoch

    def raise_epoch(self, producer: str, epoch: int, wall_ms: int) -> None:
        """Set the epoch: sends with a smaller one are fenced from now on."""
        known = self._use(producer, epoch, wall_ms)
        known.epoch = max(known.epoch, epoch)

    def begin_round(self, producer: str, round_id: int, wall_ms: int) -> KnownProducer:
        """Begin a round of a producer, or continue it; a later round ends the one before."""
        known = self._use(producer, 0, wall_ms)
        self._join(producer, known)
        if round_id > known.round_id:
            known.round_id = round_id
            known.plans = {}
            self._families[known.family].queues -= sum(known.reserved.values())
            known.reserved = {}
            for key, seen in list(known.queues.items()):
                if not seen.forget_below(round_id * ROUND_SEQUENCES):
                    del known.queues[key]
                    self._queues -= 1
        return known

    def expect_rounds(self, producers: Iterable[str]) -> None:
        """Name the producers that work in rounds, before their messages are replayed from the
        log."""
        self._in_rounds = frozenset(producers)

    def has_room(self, producer: str, round_id: int, topic: str, queues: int) -> bool:
        """Whether a producer can send to so many queues of a topic in a round without pushing out
        others of its family."""
        family = self._families.get(family_of(producer)) or _Family()
        known = self._producers.get(producer)
        if known is None or not known.family:
            more, is_new = queues, True
        else:
            reserved, is_new = known.reserved, False
            more = queues - reserved.get(topic, 0)
            if round_id > known.round_id:
                more = queues - sum(reserved.values())
        return (
            family.producers + is_new <= self.limits.producers
            and family.queues + more <= self.limits.queues
        )

    def may_get_room(self, producer: str, round_id: int, queues: int) -> bool:
        """Whether there is room for so many queues once others of the family drop theirs."""
        family = self._families.get(family_of(producer))
        known = self._producers.get(producer)
        is_new = known is None or not known.family
        own = 0
        if known is not None and known.round_id == round_id:
            own = sum(known.reserved.values())
        others = 0 if family is None else family.producers - 1 + is_new
        return others < self.limits.producers and own + queues <= self.limits.queues

    def is_crowded(self, producer: str) -> bool:
        """Whether its family should send FINISH_ROUND, to drop marks."""
        family = self._families.get(family_of(producer))
        return family is not None and family.queues > self.limits.crowded

    def reserve(self, producer: str, topic: str, queues: int) -> None:
        """Reserve queues for a producer whose round has begun."""
        known = self._producers[producer]
        more = max(0, queues - known.reserved.get(topic, 0))
        known.reserved[topic] = known.reserved.get(topic, 0) + more
        self._families[known.family].queues += more

    def finish_task(self, producer: str, topic: str, wall_ms: int) -> int | None:
        """Record that a producer whose round has begun has stored its messages for a topic. Returns
        the epoch that it continues with; None: there is no room for the record."""
        known = self._producers[producer]
        write_id, _, task = producer.rpartition("/")
        epoch = known.epoch + 1
        if not self.finished.add_task(write_id, int(task), topic, known.round_id, epoch, wall_ms):
            return None
        known.epoch = epoch
        return epoch

    def finish_write(self, write_id: str, topic: str, round_id: int, wall_ms: int) -> None:
        """Record that all tasks of a round have stored their messages for a topic."""
        tasks = [self._producers[name] for name in tasks_of(write_id, self._producers)]
        over = [known for known in tasks if known.round_id <= round_id]
        epoch = max([known.epoch for known in over], default=round_id * ROUND_EPOCHS) + 1
        for known in over:
            known.epoch = epoch
        self.finished.add_write(write_id, topic, round_id, epoch, wall_ms)

    def let_go(self, producers: Iterable[str], over: int = -1) -> None:
        """Drop the marks of these producers' finished rounds, whose record is on the disk. All
        rounds up to `over` are finished."""
        for producer in producers:
            known = self._producers.get(producer)
            if known is None or not known.family:
                continue
            if known.round_id <= over:
                self._forget(producer)
            else:
                self._let_go_of(producer, known)

    def _let_go_of(self, producer: str, known: KnownProducer) -> None:
        topics = {topic for topic, _ in known.queues} | known.plans.keys() | known.reserved.keys()
        over = {one for one in topics if self.finished.covers(producer, one, known.round_id)}
        if over == topics:
            self._forget(producer)
            return
        for topic in over:
            known.plans.pop(topic, None)
            self._families[known.family].queues -= known.reserved.pop(topic, 0)
        for key in [key for key in known.queues if key[0] in over]:
            del known.queues[key]
            self._queues -= 1
        self.changes += 1

    def find_producer(self, producer: str) -> KnownProducer | None:
        return self._producers.get(producer)

    def find(self, producer: str, topic: str, queue_id: int) -> SeenSequences | None:
        known = self._producers.get(producer)
        return None if known is None else known.queues.get((topic, queue_id))

    def last_sequences(self, producer: str, topic: str) -> dict[int, int]:
        """The last sequence of a producer by queue, for queues of the topic in which it has
        stored."""
        known = self._producers.get(producer)
        if known is None:
            return {}
        return {
            queue_id: seen.last for (name, queue_id), seen in known.queues.items() if name == topic
        }

    def note(
        self, mark: ProducerMark, topic: str, queue_id: int, place: StoredPlace, wall_ms: int
    ) -> None:
        """Note a stored message, unless it is known: replaying may report it again."""
        seen = self._seen_by(mark, topic, queue_id, wall_ms)
        if seen.judge(mark.sequence) is SequenceVerdict.NEW:
            seen.note(mark.sequence, place)

    def note_run(
        self, mark: ProducerMark, count: int, topic: str, queue_id: int, wall_ms: int
    ) -> None:
        """Note `count` stored messages with consecutive sequences, all new. Their offsets are not
        kept."""
        self._seen_by(mark, topic, queue_id, wall_ms).note_run(mark.sequence, count)

    def _seen_by(
        self, mark: ProducerMark, topic: str, queue_id: int, wall_ms: int
    ) -> SeenSequences:
        known = self._use(mark.producer, mark.epoch, wall_ms)
        known.epoch = max(known.epoch, mark.epoch)
        seen = known.queues.get((topic, queue_id))
        if seen is None:
            seen = known.queues[topic, queue_id] = SeenSequences()
            self._queues += 1
            self._keep_limits(mark.producer)
        return seen

    def restore(self, producer: str, known: KnownProducer) -> None:
        """Add a producer from the file; the oldest first."""
        for (topic, queue_id), seen in list(known.queues.items()):
            floor = self.finished.sequence_floor(producer, topic)
            if floor and not seen.forget_below(floor):
                del known.queues[topic, queue_id]
        if known.epoch < self.finished.epoch_floor(producer) and not known.queues:
            return
        self._queues += len(known.queues)
        self._producers[producer] = known
        self._keep_limits(producer)

    def forget_topic(self, topic: str) -> list[str]:
        """The topic was deleted: nothing is stored in a new topic of its name. Returns the writes
        whose record of finished rounds has changed."""
        for known in self._producers.values():
            for key in [key for key in known.queues if key[0] == topic]:
                del known.queues[key]
                self._queues -= 1
                self.changes += 1
        return self.finished.forget_topic(topic)

    def forget_idle(self, wall_ms: int) -> None:
        self.finished.forget_before(wall_ms - self.limits.idle_ms)
        while self._producers:
            oldest = next(iter(self._producers))
            if wall_ms - self._producers[oldest].used_ms < self.limits.idle_ms:
                return
            self._forget(oldest)

    def _use(self, producer: str, epoch: int, wall_ms: int) -> KnownProducer:
        self.changes += 1
        known = self._producers.pop(producer, None)
        if known is None:
            known = KnownProducer(epoch, wall_ms)
            if producer in self._in_rounds:
                self._join(producer, known)
        self._producers[producer] = known
        known.used_ms = max(known.used_ms, wall_ms)
        self._keep_limits(producer)
        return known

    def _join(self, producer: str, known: KnownProducer) -> None:
        if not known.family:
            known.family = family_of(producer)
            self._families.setdefault(known.family, _Family()).producers += 1

    def _keep_limits(self, spared: str) -> None:
        while len(self._producers) > self.limits.producers or self._queues > self.limits.queues:
            oldest = self._oldest_but(spared)
            if oldest is None:
                return  # one alone, or one family: topics and reservations bound those
            self._forget(oldest)

    def _oldest_but(self, spared: str) -> str | None:
        family = self._producers[spared].family
        for name, one in self._producers.items():
            if name != spared and not (family and one.family == family):
                return name
        return None

    def _forget(self, producer: str) -> None:
        known = self._producers.pop(producer)
        self._queues -= len(known.queues)
        if known.family:
            family = self._families[known.family]
            family.producers -= 1
            family.queues -= sum(known.reserved.values())
            if family.producers == 0:
                del self._families[known.family]
        self.changes += 1


def fenced(producer: str, epoch: int, known: int) -> Answer:
    """The refusal of a producer that another client with its id has succeeded."""
    return Answer(
        ResponseCode.PRODUCER_FENCED,
        f"another sends as {producer!r} now: its epoch is {known}, yours {epoch}",
    )


def too_many(producer: str, limits: Limits) -> str:
    """The remark of the refusal for lack of room."""
    return (
        f"{family_of(producer)!r} would have more than a broker remembers: "
        f"{limits.producers} tasks, or {limits.queues} queues, each counted for every task that "
        "writes to it"
    )


def family_of(producer: str) -> str:
    """The query of a task (`query/7` → `query`). A producer that is no task is a family of its
    own."""
    return producer.rpartition("/")[0] or producer
