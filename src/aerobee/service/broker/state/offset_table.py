"""OffsetTable has offsets by (topic, group) and queue, with cheap copy-on-write snapshots.

A snapshot ("picture") is read on a disk thread while consuming goes on. Taking one copies no
offsets: those of a (topic, group) in a snapshot are copied when they are changed next.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

SEPARATOR = "@"
UNKNOWN = -1
OFFSETS_MAX = 1_000_000
"""Limit for all groups in all queues: some 100 bytes each, and written every few seconds."""

TopicGroup: TypeAlias = tuple[str, str]
Picture: TypeAlias = Mapping[TopicGroup, Mapping[int, int]]


class OffsetTable:
    """T1. Entries in `_owned` are in no snapshot. T2. `_count` is the number of offsets."""

    __slots__ = ("_count", "_count_max", "_offsets", "_owned", "changed")

    def __init__(self, count_max: int = OFFSETS_MAX) -> None:
        self._count = 0
        self._count_max = count_max
        self._offsets: dict[TopicGroup, dict[int, int]] = {}
        self._owned: set[TopicGroup] = set()
        self.changed: set[TopicGroup] | None = None
        """The pairs that have changed, if anybody wants to know; who takes them removes them."""

    def find(self, topic: str, group: str, queue_id: int) -> int:
        offsets = self._offsets.get((topic, group))
        return UNKNOWN if offsets is None else offsets.get(queue_id, UNKNOWN)

    def of(self, topic: str, group: str) -> Mapping[int, int]:
        """All offsets of a group in a topic, by queue, as they are now."""
        return dict(self._offsets.get((topic, group), {}))

    def put(self, topic: str, group: str, queue_id: int, offset: int) -> bool:
        """Set an offset; False if it is unchanged, or there is no room for another one."""
        if self._count >= self._count_max and self.find(topic, group, queue_id) == UNKNOWN:
            return False
        return self.restore(topic, group, queue_id, offset)

    def restore(self, topic: str, group: str, queue_id: int, offset: int) -> bool:
        """Set an offset, whether there is room for another one or not."""
        key = (topic, group)
        offsets = self._offsets.get(key)
        before = offsets.get(queue_id) if offsets is not None else None
        if before == offset:
            return False
        self._count += before is None
        if offsets is None or key not in self._owned:
            self._owned.add(key)
            offsets = self._offsets[key] = dict(offsets or {})
        offsets[queue_id] = offset
        if self.changed is not None:
            self.changed.add(key)
        return True

    def replace(self, topic: str, group: str, offsets: Mapping[int, int]) -> None:
        """Set all offsets of a group in a topic, whether there is room for them or not."""
        key = (topic, group)
        self._count += len(offsets) - len(self._offsets.get(key, ()))
        self._owned.add(key)
        self._offsets[key] = dict(offsets)
        if self.changed is not None:
            self.changed.add(key)

    def remove(self, is_gone: Callable[[str, str], bool]) -> bool:
        """Remove the (topic, group) pairs that the predicate selects; whether there was any."""
        gone = [key for key in self._offsets if is_gone(*key)]
        for key in gone:
            self._count -= len(self._offsets.pop(key))
            self._owned.discard(key)
        if self.changed is not None:
            self.changed.update(gone)
        return bool(gone)

    def picture(self) -> Picture:
        """A snapshot of the table."""
        self._owned.clear()
        return dict(self._offsets)

    def __iter__(self) -> Iterator[TopicGroup]:
        return iter(self._offsets)


def key_text(key: TopicGroup) -> str:
    return SEPARATOR.join(key)


def parse_key(text: str) -> TopicGroup | None:
    """(topic, group), or None: not a valid key."""
    topic, _, group = text.partition(SEPARATOR)
    return (topic, group) if topic and group and SEPARATOR not in group else None
