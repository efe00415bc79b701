"""PopOffsets has the offset at which each group pops next, and commits it when its checkpoint is
safe.

    popped ──▶ position, at once ──▶ committed, once the checkpoint is on the disk

The next pop begins at the position. The committed offset, saved every few seconds, follows when the
log is on the disk up to the end of the checkpoint: after any crash the saved offset passes no
message whose checkpoint is lost.

A log offset is saved with the committed offsets: checkpoints that begin there or later may not be
counted in them. A start reads those again (`offset_catch_up`).

Checkpoints are appended in the order in which they are noted, so their ends rise, and one deque
serves all queues. A position is kept only while a commit for it waits: after that the committed
offset is the same, and an operator's reset takes effect.
"""

from collections import deque
from typing import TypeAlias

from aerobee.service.broker.log_access.queue_facts import QueueFacts
from aerobee.service.broker.state.consumer_offsets import NOTHING_POPPED, UNKNOWN, ConsumerOffsets

PopKey: TypeAlias = tuple[str, str, int]
"""Group, topic, queue."""


class _Place:
    __slots__ = ("is_void", "offset", "waiting")

    def __init__(self) -> None:
        self.offset = 0
        self.waiting = 0
        # The offset was reset, or the topic was deleted: commits that wait are dropped.
        self.is_void = False


class PopOffsets:
    """The positions of popping groups. P1. `_places` has the queues with commits in `_waiting`,
    unless they are void."""

    def __init__(self, offsets: ConsumerOffsets, queues: QueueFacts) -> None:
        self._offsets = offsets
        self._queues = queues
        self._places: dict[PopKey, _Place] = {}
        self._counted_to = offsets.popped_to
        # (start and end of the checkpoint in the log, both rising; key; place; next offset).
        self._waiting: deque[tuple[int, int, PopKey, _Place, int]] = deque()

    def position(self, key: PopKey) -> int:
        """The offset at which the next pop begins; UNKNOWN: the group has not popped this queue
        yet."""
        place = self._places.get(key)
        return place.offset if place is not None else self._offsets.find(*key)

    def begin(self, key: PopKey, offset: int) -> bool:
        """Let a group begin at this offset; False: the offset table is full."""
        self._commit(key, offset)
        return self._offsets.find(*key) != UNKNOWN

    def popped(self, key: PopKey, next_offset: int, log_start: int, log_end: int) -> None:
        """Messages before `next_offset` were popped; their checkpoint is at [log_start,
        log_end)."""
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = _Place()
        place.offset = next_offset
        place.waiting += 1
        self._waiting.append((log_start, log_end, key, place, next_offset))
        if self._offsets.popped_to == NOTHING_POPPED:
            self._offsets.popped_to = log_start

    def passed(self, key: PopKey, next_offset: int) -> None:
        """Messages before `next_offset` do not pass the group's filter: skip them, after the
        commits that wait."""
        if key in self._places:
            log_start, log_end, *_ = self._waiting[-1]
            self.popped(key, next_offset, log_start, log_end)
        else:
            self._commit(key, next_offset)

    def take_reset(self, key: PopKey) -> int | None:
        """Apply an operator's offset reset for this queue, and return the offset; None: there is
        none."""
        offset = self._offsets.take_reset(*key)
        if offset is not None:
            place = self._places.pop(key, None)
            if place is not None:
                place.is_void = True
            self._commit(key, offset)
        return offset

    def forget_topic(self, topic: str) -> None:
        """A topic was deleted: positions in it are not positions in a new topic of the same name,
        and are not committed."""
        for key in [key for key in self._places if key[1] == topic]:
            self._places.pop(key).is_void = True

    @property
    def has_resets(self) -> bool:
        """Whether an operator's offset reset of any group is not applied yet."""
        return self._offsets.has_resets

    def commit_safe(self, flushed: int) -> None:
        """Commit offsets; `flushed`: the log is on the disk up to here."""
        while self._waiting and self._waiting[0][1] <= flushed:
            _, self._counted_to, key, place, next_offset = self._waiting.popleft()
            place.waiting -= 1
            if place.is_void:
                continue
            if place.waiting == 0:
                del self._places[key]
            if self._offsets.find(*key) != UNKNOWN:  # else the group or the topic was deleted
                self._commit(key, next_offset)
        if self._offsets.popped_to != NOTHING_POPPED:
            waiting = self._waiting
            self._offsets.popped_to = waiting[0][0] if waiting else self._counted_to

    def _commit(self, key: PopKey, offset: int) -> None:
        group, topic, queue_id = key
        end = self._queues.max_offset(topic, queue_id)
        self._offsets.commit(group, topic, queue_id, offset, end)
