"""Rounds of which everything is stored, of tasks and of whole writes: what is left of their marks.

    write "nightly", round 4, epoch 4194307
        Orders     all of it
        Refunds    tasks 0..811, 813

Whoever is in here has nothing to send any more. So a line for each write does for what would be a
line for each of its tasks and queues, and can be kept for as long.

D1. It is a fact when it is said: the one who says it was acknowledged all of it.
D2. One line for each write, of the last round that was said anything of: rounds come one after the
    other, so those before it are over.
D3. Nobody sends with an epoch of a task that is in here: `epoch_floor` is above all of them.

Tasks are producers `write/0`, `write/1`, …; no other producer is meant. The write that something
was said of longest ago is forgotten first. Called from the core's thread only.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from aerobee.protocol.message.producer_mark import ROUND_EPOCHS, ROUND_SEQUENCES

WRITES_MAX = 10_000
RUNS_MAX = 1_000
"""Of the tasks of one write, all topics together: they end about in order."""


class SavedRound(NamedTuple):
    """As it is written down."""

    round_id: int
    epoch: int
    used_ms: int
    whole: Sequence[str]
    """The topics of which all is there."""
    tasks: Mapping[str, Sequence[int]]
    """Of other topics: starts and ends of runs, one after the other."""


class _Tasks:
    """Numbers, neighbours joined."""

    __slots__ = ("_ends", "_starts")

    def __init__(self, runs: Sequence[int] = ()) -> None:
        self._starts, self._ends = array("q", runs[::2]), array("q", runs[1::2])

    def __len__(self) -> int:
        return len(self._starts)

    def __contains__(self, task: int) -> bool:
        index = bisect_right(self._starts, task) - 1
        return index >= 0 and task < self._ends[index]

    def add(self, task: int) -> None:
        """One that is not in here."""
        starts, ends = self._starts, self._ends
        index = bisect_right(starts, task)
        follows = index > 0 and ends[index - 1] == task
        leads = index < len(starts) and starts[index] == task + 1
        if follows and leads:
            ends[index - 1] = ends[index]
            del starts[index], ends[index]
        elif follows:
            ends[index - 1] = task + 1
        elif leads:
            starts[index] = task
        else:
            starts.insert(index, task)
            ends.insert(index, task + 1)

    def runs(self) -> tuple[int, ...]:
        return tuple(bound for run in zip(self._starts, self._ends, strict=True) for bound in run)


class _Round:
    __slots__ = ("epoch", "round_id", "tasks", "used_ms", "whole")

    def __init__(self, round_id: int) -> None:
        self.round_id = round_id
        self.epoch = round_id * ROUND_EPOCHS
        self.used_ms = 0
        self.whole: set[str] = set()
        self.tasks: dict[str, _Tasks] = {}

    def has_task(self, task: int) -> bool:
        # None of either: its topics were deleted.
        is_whole = bool(self.whole) or not self.tasks
        return is_whole or any(task in tasks for tasks in self.tasks.values())

    def covers(self, task: int, topic: str) -> bool:
        return topic in self.whole or task in self.tasks.get(topic, ())


class FinishedRounds:
    def __init__(self, writes_max: int = WRITES_MAX) -> None:
        self._writes_max = writes_max
        # Who was said anything of last comes last.
        self._rounds: dict[str, _Round] = {}

    def __len__(self) -> int:
        return len(self._rounds)

    def __contains__(self, write_id: str) -> bool:
        return write_id in self._rounds

    def covers(self, producer: str, topic: str, round_id: int) -> bool:
        """Whether nothing is left to send: that is finished, or the round is over."""
        found = self._find(producer)
        if found is None:
            return False
        one, task = found
        return round_id < one.round_id or (round_id == one.round_id and one.covers(task, topic))

    def epoch_floor(self, producer: str) -> int:
        """Below, nobody sends any more under this id, of whom nothing else is known; -1: that
        cannot be said."""
        found = self._find(producer)
        if found is None:
            return -1
        one, task = found
        return one.epoch if one.has_task(task) else one.round_id * ROUND_EPOCHS

    def sequence_floor(self, producer: str, topic: str) -> int:
        """Below, it sends nothing any more to this topic."""
        found = self._find(producer)
        if found is None:
            return 0
        one, task = found
        return (one.round_id + one.covers(task, topic)) * ROUND_SEQUENCES

    def add_task(
        self, write_id: str, task: int, topic: str, round_id: int, epoch: int, wall_ms: int
    ) -> bool:
        """A task has stored all that it has for a topic; `epoch` is above its own. False: there is
        no room to remember it."""
        one = self._used(write_id, round_id, wall_ms)
        if one is None or one.covers(task, topic):
            return True
        if sum(map(len, one.tasks.values())) >= RUNS_MAX:
            return False
        one.tasks.setdefault(topic, _Tasks()).add(task)
        one.epoch = max(one.epoch, epoch)
        return True

    def add_write(self, write_id: str, topic: str, round_id: int, epoch: int, wall_ms: int) -> None:
        """All tasks have; `epoch` is above theirs."""
        one = self._used(write_id, round_id, wall_ms)
        if one is not None:
            one.whole.add(topic)
            one.tasks.pop(topic, None)
            one.epoch = max(one.epoch, epoch)

    def forget_topic(self, topic: str) -> list[str]:
        """It was deleted: should there be another of its name, nothing is stored there. Whose
        writes knew of it."""
        found = []
        for write_id, one in self._rounds.items():
            if topic in one.whole or topic in one.tasks:
                one.whole.discard(topic)
                one.tasks.pop(topic, None)
                found.append(write_id)
        return found

    def forget_before(self, wall_ms: int) -> None:
        """Those that nothing was said of since."""
        while self._rounds:
            oldest = next(iter(self._rounds))
            if self._rounds[oldest].used_ms > wall_ms:
                return
            del self._rounds[oldest]

    # For the file.

    def saved(self, write_id: str) -> SavedRound | None:
        one = self._rounds.get(write_id)
        if one is None:
            return None
        tasks = {topic: tasks.runs() for topic, tasks in one.tasks.items()}
        return SavedRound(one.round_id, one.epoch, one.used_ms, tuple(sorted(one.whole)), tasks)

    def restore(self, rounds: Iterable[tuple[str, SavedRound]]) -> None:
        for write_id, saved in rounds:
            one = self._rounds[write_id] = _Round(saved.round_id)
            one.epoch, one.used_ms = saved.epoch, saved.used_ms
            one.whole = set(saved.whole)
            one.tasks = {topic: _Tasks(runs) for topic, runs in saved.tasks.items()}

    def _find(self, producer: str) -> tuple[_Round, int] | None:
        write_id, _, task = producer.rpartition("/")
        one = self._rounds.get(write_id)
        return (one, int(task)) if one is not None and is_task(task) else None

    def _used(self, write_id: str, round_id: int, wall_ms: int) -> _Round | None:
        """The line of a write; None: this round is over."""
        one = self._rounds.pop(write_id, None)
        if one is None or one.round_id < round_id:
            used_ms = 0 if one is None else one.used_ms
            one = _Round(round_id)
            one.used_ms = used_ms
        self._rounds[write_id] = one
        one.used_ms = max(one.used_ms, wall_ms)
        while len(self._rounds) > self._writes_max:
            del self._rounds[next(iter(self._rounds))]
        return one if one.round_id == round_id else None


def is_task(text: str) -> bool:
    """Whether this is the number of a task, as Spark counts them."""
    return text.isascii() and text.isdigit() and len(text) < 10


def tasks_of(write_id: str, producers: Iterable[str]) -> Iterator[str]:
    """Those of them that are tasks of a write."""
    for producer in producers:
        name, _, task = producer.rpartition("/")
        if name == write_id and is_task(task):
            yield producer
