"""How far each group has consumed each queue: `config/consumerOffset.json`.

    {"dataVersion":{…},"offsetTable":{"topic@group":{0:123,1:4}}}

An offset may be set back (that is how a group reads again), but is never kept beyond the end of its
queue: after a loss in asynchronous mode a group must not wait for messages that will never come.
"""

from collections.abc import Iterator

SEPARATOR = "@"
UNKNOWN = -1


class Offsets:
    """Committed offsets by (group, topic, queue)."""

    def __init__(self) -> None:
        self._table: dict[tuple[str, str], dict[int, int]] = {}
        # Offsets that an operator set: the next pull is sent there, commits are ignored until then.
        self._resets: dict[tuple[str, str, int], int] = {}
        self.is_dirty = False

    def commit(self, group: str, topic: str, queue_id: int, offset: int, max_offset: int) -> None:
        if (group, topic, queue_id) in self._resets:
            return
        self._table.setdefault((topic, group), {})[queue_id] = max(0, min(offset, max_offset))
        self.is_dirty = True

    def find(self, group: str, topic: str, queue_id: int) -> int:
        """The committed offset, or the one that an operator set; UNKNOWN if there is none."""
        reset = self._resets.get((group, topic, queue_id))
        if reset is not None:
            return reset
        return self._table.get((topic, group), {}).get(queue_id, UNKNOWN)

    def reset(self, group: str, topic: str, queue_id: int, offset: int) -> None:
        """Send the group to an offset at its next pull."""
        self._table.setdefault((topic, group), {})[queue_id] = offset
        self._resets[group, topic, queue_id] = offset
        self.is_dirty = True

    def take_reset(self, group: str, topic: str, queue_id: int) -> int | None:
        """The offset that a pull of this queue must be sent to, once."""
        return self._resets.pop((group, topic, queue_id), None)

    def topics_of(self, group: str) -> list[str]:
        return sorted(topic for topic, owner in self._table if owner == group)

    def groups_of(self, topic: str) -> list[str]:
        return sorted(group for name, group in self._table if name == topic)

    def remove_group(self, group: str) -> None:
        for key in [key for key in self._table if key[1] == group]:
            del self._table[key]
            self.is_dirty = True

    def remove_topic(self, topic: str) -> None:
        for key in [key for key in self._table if key[0] == topic]:
            del self._table[key]
            self.is_dirty = True

    def __iter__(self) -> Iterator[tuple[str, str, dict[int, int]]]:
        """(topic, group, offsets by queue), in order."""
        for (topic, group), offsets in sorted(self._table.items()):
            yield topic, group, offsets
