"""FinishedRounds records rounds that are stored completely, by tasks or by whole writes.

    write "nightly", round 4, epoch 4194307
        Orders     complete
        Refunds    tasks 0..811, 813

A task recorded here has nothing left to send. So one entry for each write replaces the marks of all
its tasks and queues, and can be kept for as long.

D1. An entry is a fact when it is added: the client was acknowledged every message of it.
D2. There is one entry for each write, of the last round that was reported: rounds come one after
    the other, so those before it are over.
D3. No task recorded here sends with its epoch again: `epoch_floor` is above all of them.

Tasks are the producers `write/0`, `write/1`, …; other producers are not recorded. The write that
was reported longest ago is forgotten first. Called from the core's thread only.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from aerobee.protocol.message.producer_mark import ROUND_EPOCHS, ROUND_SEQUENCES

WRITES_MAX = 10_000
RUNS_MAX = 1_000
"""Limit of runs of task numbers of one write, all topics together: tasks end about in order."""


class SavedRound(NamedTuple):
    """An entry as it is saved in the file."""

    round_id: int
    epoch: int
    used_ms: int
    whole: Sequence[str]
    """The topics for which all tasks are finished."""
    tasks: Mapping[str, Sequence[int]]
    """For other topics: starts and ends of runs of task numbers, alternating."""


class _Tasks:
    """A set of task numbers, kept as runs."""

    __slots__ = ("_ends", "_starts")

    def __init__(self, runs: Sequence[int] = ()) -> None:
        self._starts, self._ends = array("q", runs[::2]), array("q", runs[1::2])

    def __len__(self) -> int:
        return len(self._starts)

    def __contains__(self, task: int) -> bool:
        index = bisect_right(self._starts, task) - 1
        return index >= 0 and task < self._ends[index]

    def add(self, task: int) -> None:
        """Add a number that is not in the set."""
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
        # Both empty: its topics were deleted.
        is_whole = bool(self.whole) or not self.tasks
        return is_whole or any(task in tasks for tasks in self.tasks.values())

    def covers(self, task: int, topic: str) -> bool:
        return topic in self.whole or task in self.tasks.get(topic, ())


class FinishedRounds:
    def __init__(self, writes_max: int = WRITES_MAX) -> None:
        self._writes_max = writes_max
        # In the order of the last report, oldest first.
        self._rounds: dict[str, _Round] = {}

    def __len__(self) -> int:
        return len(self._rounds)

    def __contains__(self, write_id: str) -> bool:
        return write_id in self._rounds

    def covers(self, producer: str, topic: str, round_id: int) -> bool:
        """Whether the producer has nothing left to send to the topic in this round: it is finished,
        or a later round was reported."""
        found = self._find(producer)
        if found is None:
            return False
        one, task = found
        return round_id < one.round_id or (round_id == one.round_id and one.covers(task, topic))

    def epoch_floor(self, producer: str) -> int:
        """The epoch below which sends of this producer, if it is not known otherwise, are refused;
        -1: its write is not recorded."""
        found = self._find(producer)
        if found is None:
            return -1
        one, task = found
        return one.epoch if one.has_task(task) else one.round_id * ROUND_EPOCHS

    def sequence_floor(self, producer: str, topic: str) -> int:
        """The sequence below which the producer sends nothing to this topic any more."""
        found = self._find(producer)
        if found is None:
            return 0
        one, task = found
        return (one.round_id + one.covers(task, topic)) * ROUND_SEQUENCES

    def add_task(
        self, write_id: str, task: int, topic: str, round_id: int, epoch: int, wall_ms: int
    ) -> bool:
        """Record that a task has stored its messages for a topic; `epoch` is above its own. False:
        there is no room for it."""
        one = self._used(write_id, round_id, wall_ms)
        if one is None or one.covers(task, topic):
            return True
        if sum(map(len, one.tasks.values())) >= RUNS_MAX:
            return False
        one.tasks.setdefault(topic, _Tasks()).add(task)
        one.epoch = max(one.epoch, epoch)
        return True

    def add_write(self, write_id: str, topic: str, round_id: int, epoch: int, wall_ms: int) -> None:
        """Record that all tasks have stored their messages for a topic; `epoch` is above theirs."""
        one = self._used(write_id, round_id, wall_ms)
        if one is not None:
            one.whole.add(topic)
            one.tasks.pop(topic, None)
            one.epoch = max(one.epoch, epoch)

    def forget_topic(self, topic: str) -> list[str]:
        """The topic was deleted: nothing is stored in a new topic of its name. Returns the writes
        that had an entry for it."""
        found = []
        for write_id, one in self._rounds.items():
            if topic in one.whole or topic in one.tasks:
                one.whole.discard(topic)
                one.tasks.pop(topic, None)
                found.append(write_id)
        return found

    def forget_before(self, wall_ms: int) -> None:
        """Forget writes without a report since this time."""
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
        for write_id, saved in sorted(rounds, key=lambda one: one[1].used_ms):
            one = self._rounds[write_id] = _Round(saved.round_id)
            one.epoch, one.used_ms = saved.epoch, saved.used_ms
            one.whole = set(saved.whole)
            one.tasks = {topic: _Tasks(runs) for topic, runs in saved.tasks.items()}

    def _find(self, producer: str) -> tuple[_Round, int] | None:
        write_id, _, task = producer.rpartition("/")
        one = self._rounds.get(write_id)
        return (one, int(task)) if one is not None and is_task(task) else None

    def _used(self, write_id: str, round_id: int, wall_ms: int) -> _Round | None:
        """The entry of a write, for this round; None: the round is over."""
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
    """Whether the text is the number of a task, as Spark counts them."""
    return text.isascii() and text.isdigit() and len(text) < 10


def tasks_of(write_id: str, producers: Iterable[str]) -> Iterator[str]:
    """The producers that are tasks of a write."""
    for producer in producers:
        name, _, task = producer.rpartition("/")
        if name == write_id and is_task(task):
            yield producer
