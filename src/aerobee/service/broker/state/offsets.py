"""How far each group has consumed each queue, and `config/consumerOffset.json` ⇄ that table.

    {"dataVersion":{…},"groupTopicMap":{"group":["topic"]},"offsetTable":{"topic@group":{0:123,1:4}}}

An offset may be set back (that is how a group reads again), but is never kept beyond the end of its
queue: after a loss in asynchronous mode a group must not wait for messages that will never come.
The map of groups says again what the table says; it is written for Apache's broker, which shows it.

What is being saved is read on a disk thread meanwhile: the offsets of a (topic, group) that a saved
picture holds are copied before they are changed.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from aerobee.errors import ProtocolError
from aerobee.model.topic import DataVersion
from aerobee.protocol.bodies.topic_config import data_version_from, data_version_json
from aerobee.protocol.json_members import Members
from aerobee.protocol.json_text import Key, Parsed, Value, by_number

SEPARATOR = "@"
UNKNOWN = -1

MaxOffset: TypeAlias = Callable[[str, int], int]
"""(topic, queue) → the end of that queue."""
_Table: TypeAlias = dict[tuple[str, str], dict[int, int]]


class Offsets:
    """Committed offsets by (group, topic, queue)."""

    def __init__(self) -> None:
        self._table: _Table = {}
        # Keys whose offsets no picture holds.
        self._owned: set[tuple[str, str]] = set()
        # Offsets that an operator set: the next pull is sent there, commits are ignored until then.
        self._resets: dict[tuple[str, str, int], int] = {}
        # Where the newest pull of each queue went on: only shown.
        self._pulled: dict[tuple[str, str, int], int] = {}
        self.version = DataVersion()
        self.is_dirty = False

    # Consuming.

    def commit(self, group: str, topic: str, queue_id: int, offset: int, max_offset: int) -> None:
        if self._resets and (group, topic, queue_id) in self._resets:
            return
        self._put(topic, group, queue_id, max(0, min(offset, max_offset)))

    def find(self, group: str, topic: str, queue_id: int) -> int:
        """The committed offset, or the one that an operator set; UNKNOWN if there is none."""
        reset = self._resets.get((group, topic, queue_id))
        if reset is not None:
            return reset
        return self._table.get((topic, group), {}).get(queue_id, UNKNOWN)

    def reset(self, group: str, topic: str, queue_id: int, offset: int) -> None:
        """Send the group to an offset at its next pull."""
        self._put(topic, group, queue_id, offset)
        self._resets[group, topic, queue_id] = offset

    def take_reset(self, group: str, topic: str, queue_id: int) -> int | None:
        """The offset that a pull of this queue must be sent to, once."""
        return self._resets.pop((group, topic, queue_id), None) if self._resets else None

    def note_pulled(self, group: str, topic: str, queue_id: int, next_offset: int) -> None:
        """A pull was answered, and the next one begins here."""
        self._pulled[group, topic, queue_id] = next_offset

    def find_pulled(self, group: str, topic: str, queue_id: int) -> int:
        """Where the newest pull went on; what is committed if that is further or all there is."""
        committed = self.find(group, topic, queue_id)
        return max(committed, self._pulled.get((group, topic, queue_id), committed))

    # Administration.

    def of(self, group: str, topic: str) -> dict[int, int]:
        """All offsets of a group in a topic, by queue."""
        return dict(self._table.get((topic, group), {}))

    def clone(self, source: str, target: str, topic: str) -> None:
        """Let one group begin where another is."""
        for queue_id, offset in self.of(source, topic).items():
            self._put(topic, target, queue_id, offset)

    def topics_of(self, group: str) -> list[str]:
        return sorted(topic for topic, owner in self._table if owner == group)

    def groups_of(self, topic: str) -> list[str]:
        return sorted(group for name, group in self._table if name == topic)

    def remove_group(self, group: str) -> None:
        self._remove(lambda topic, owner: owner == group)

    def remove_topic(self, topic: str) -> None:
        self._remove(lambda name, group: name == topic)

    def __iter__(self) -> Iterator[tuple[str, str, dict[int, int]]]:
        """(topic, group, offsets by queue), in order."""
        for (topic, group), offsets in sorted(self._table.items()):
            yield topic, group, offsets

    # The file.

    def load(self, saved: Mapping[Key, Parsed], max_offset: MaxOffset) -> None:
        """Take what the file says, as far as the queues go. ProtocolError: it says nonsense."""
        members = Members(dict(saved), "the file of offsets")
        self.version = data_version_from(members.object("dataVersion"))
        for name, offsets in members.object("offsetTable").objects():
            topic, separator, group = name.partition(SEPARATOR)
            if not separator or not topic or not group or SEPARATOR in group:
                continue  # nobody can have asked for it
            loaded = {}
            for queue_id, offset in by_number(offsets.plain()).items():
                if isinstance(offset, bool) or not isinstance(offset, int):
                    raise ProtocolError(f"{name[:100]} of the offsets is {offset!r:.100}")
                loaded[queue_id] = max(0, min(offset, max_offset(topic, queue_id)))
                self.is_dirty |= loaded[queue_id] != offset
            self._table[topic, group] = loaded
            self._owned.add((topic, group))

    def picture(self) -> "OffsetsPicture":
        """The table as it is now, whatever is committed later."""
        self._owned.clear()
        return OffsetsPicture(self.version, dict(self._table))

    def take_saved(self, wall_ms: int) -> "OffsetsPicture":
        """What is to be saved now, as a version of its own."""
        self.version = self.version.next(wall_ms)
        self.is_dirty = False
        return self.picture()

    def _put(self, topic: str, group: str, queue_id: int, offset: int) -> None:
        key = (topic, group)
        offsets = self._table.get(key)
        if offsets is not None and offsets.get(queue_id) == offset:
            return  # consumers say again and again how far they are
        if offsets is None or key not in self._owned:
            self._owned.add(key)
            offsets = self._table[key] = dict(offsets or {})
        offsets[queue_id] = offset
        self.is_dirty = True

    def _remove(self, is_gone: Callable[[str, str], bool]) -> None:
        for key in [key for key in self._table if is_gone(*key)]:
            del self._table[key]
            self._owned.discard(key)
            self.is_dirty = True
        for marks in (self._resets, self._pulled):
            for group, topic, queue_id in [key for key in marks if is_gone(key[1], key[0])]:
                del marks[group, topic, queue_id]


class OffsetsPicture:
    """A table of offsets that nobody changes any more: read on any thread."""

    __slots__ = ("_table", "_version")

    def __init__(self, version: DataVersion, table: _Table) -> None:
        self._version = version
        self._table = table

    def json(self) -> dict[str, Value]:
        """As the file holds it, and as slaves and tools are told."""
        topics: dict[str, list[str]] = {}
        table = {}
        for (topic, group), offsets in self._table.items():
            topics.setdefault(group, []).append(topic)
            table[f"{topic}{SEPARATOR}{group}"] = offsets
        return {
            "dataVersion": data_version_json(self._version),
            "groupTopicMap": topics,
            "offsetTable": table,
        }
