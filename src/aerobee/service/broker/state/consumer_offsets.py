"""How far each group has consumed each queue, and `config/consumerOffset.json` ⇄ that.

    {"dataVersion":{…},"groupTopicMap":{"group":["topic"]},
     "offsetTable":{"topic@group":{0:123,1:4}},"pullOffsetTable":{"topic@group":{0:130,1:4}}}

An offset may be set back (that is how a group reads again), but is never kept beyond the end of its
queue: after a loss in asynchronous mode a group must not wait for messages that will never come.
Where pulls are is only shown. The map of groups says again what the table says, for Apache.

Offsets of pops follow the log (`pop/pop_offsets.py`): `popLogOffset` is where in the log the
checkpoints begin that may not be counted yet. It is there once anything was popped.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from aerobee.errors import ProtocolError, RemoteProtocolError
from aerobee.model.topic import DataVersion
from aerobee.protocol.bodies.topic_config import data_version_from, data_version_json
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import (
    Key,
    Parsed,
    Value,
    by_number,
    quoted,
    write_pretty,
)
from aerobee.service.broker.state.offset_table import (
    OFFSETS_MAX,
    UNKNOWN,
    OffsetTable,
    Picture,
    key_text,
    parse_key,
)

__all__ = ["NO_ROOM", "UNKNOWN", "ConsumerOffsets", "ConsumerOffsetsSnapshot", "MaxOffset"]

NO_ROOM = "there is no room for the offsets of another queue: delete groups that are not used"

NOTHING_POPPED = -1

MaxOffset: TypeAlias = Callable[[str, int], int]
"""(topic, queue) → the end of that queue."""


class ConsumerOffsets:
    """Committed offsets by (group, topic, queue)."""

    def __init__(self, count_max: int = OFFSETS_MAX) -> None:
        self._committed = OffsetTable(count_max)
        self._pulled = OffsetTable(count_max)
        # Offsets that an operator set: the next pull is sent there, commits are ignored until then.
        self._resets: dict[tuple[str, str, int], int] = {}
        self.version = DataVersion()
        self.is_dirty = False
        # Checkpoints of pops before this log offset are counted; -1: none was written.
        self.popped_to = NOTHING_POPPED

    # Consuming.

    def commit(self, group: str, topic: str, queue_id: int, offset: int, max_offset: int) -> None:
        """Where there is no room for another queue it stays unknown."""
        if self._resets and (group, topic, queue_id) in self._resets:
            return
        # Consumers say again and again how far they are.
        if self._committed.put(topic, group, queue_id, max(0, min(offset, max_offset))):
            self.is_dirty = True

    def find(self, group: str, topic: str, queue_id: int) -> int:
        """The committed offset, or the one that an operator set; UNKNOWN if there is none."""
        return self._committed.find(topic, group, queue_id)

    def reset(self, group: str, topic: str, queue_id: int, offset: int) -> None:
        """Send the group to an offset at its next pull. RemoteProtocolError: there is no room."""
        self._committed.put(topic, group, queue_id, offset)
        if self._committed.find(topic, group, queue_id) == UNKNOWN:
            raise RemoteProtocolError(NO_ROOM)
        self._resets[group, topic, queue_id] = offset
        self.is_dirty = True

    @property
    def has_resets(self) -> bool:
        """Whether any queue of any group is to be read from elsewhere."""
        return bool(self._resets)

    def take_reset(self, group: str, topic: str, queue_id: int) -> int | None:
        """The offset that a pull of this queue must be sent to, once."""
        return self._resets.pop((group, topic, queue_id), None) if self._resets else None

    def note_pulled(self, group: str, topic: str, queue_id: int, next_offset: int) -> None:
        """A pull was answered, and the next one begins here."""
        self._pulled.put(topic, group, queue_id, next_offset)

    def find_pulled(self, group: str, topic: str, queue_id: int) -> int:
        """Where the newest pull went on; what is committed if that is further or all there is."""
        return max(
            self._committed.find(topic, group, queue_id), self._pulled.find(topic, group, queue_id)
        )

    # Administration.

    def of(self, group: str, topic: str) -> Mapping[int, int]:
        """All offsets of a group in a topic, by queue."""
        return self._committed.of(topic, group)

    def clone(self, source: str, target: str, topic: str) -> None:
        """Let one group begin where another is."""
        for queue_id, offset in self.of(source, topic).items():
            if self._committed.put(topic, target, queue_id, offset):
                self.is_dirty = True

    def topics_of(self, group: str) -> list[str]:
        return sorted(topic for topic, owner in self._committed if owner == group)

    def topics_by_group(self) -> dict[str, list[str]]:
        topics: dict[str, list[str]] = {}
        for topic, group in sorted(self._committed):
            topics.setdefault(group, []).append(topic)
        return topics

    def groups_of(self, topic: str) -> list[str]:
        return sorted(group for name, group in self._committed if name == topic)

    def remove_group(self, group: str) -> None:
        self._remove(lambda topic, owner: owner == group)

    def remove_topic(self, topic: str) -> None:
        self._remove(lambda name, group: name == topic)

    def _remove(self, is_gone: Callable[[str, str], bool]) -> None:
        if self._committed.remove(is_gone):
            self.is_dirty = True
        self._pulled.remove(is_gone)
        self._resets = {
            (group, topic, queue_id): offset
            for (group, topic, queue_id), offset in self._resets.items()
            if not is_gone(topic, group)
        }

    def pairs(self) -> list[tuple[str, str]]:
        """Every (topic, group) that has an offset, in no order."""
        return list(self._committed)

    def __iter__(self) -> Iterator[tuple[str, str, Mapping[int, int]]]:
        """(topic, group, offsets by queue), in order."""
        for topic, group in sorted(self._committed):
            yield topic, group, self._committed.of(topic, group)

    # The file.

    def load(self, saved: Mapping[Key, Parsed], max_offset: MaxOffset) -> None:
        """Take what the file says, as far as the queues go. ProtocolError: it says nonsense."""
        members = Members(dict(saved), "the file of offsets")
        self.version = data_version_from(members.object("dataVersion"))
        self.popped_to = members.int64("popLogOffset", NOTHING_POPPED)
        _load(self._pulled, members.object("pullOffsetTable"), max_offset)
        if _load(self._committed, members.object("offsetTable"), max_offset):
            self.is_dirty = True

    def picture(self) -> "ConsumerOffsetsSnapshot":
        """Everything as it is now, whatever is committed later."""
        return ConsumerOffsetsSnapshot(
            self.version, self._committed.picture(), self._pulled.picture(), self.popped_to
        )

    def take_saved(self, wall_ms: int) -> "ConsumerOffsetsSnapshot":
        """What is to be saved now, as a version of its own."""
        self.version = self.version.next(wall_ms)
        self.is_dirty = False
        return self.picture()


class ConsumerOffsetsSnapshot(NamedTuple):
    """Offsets that nobody changes any more: read on any thread."""

    version: DataVersion
    committed: Picture
    pulled: Picture
    popped_to: int = NOTHING_POPPED

    def json(self) -> dict[str, Value]:
        """As the file holds it, and as slaves and tools are told."""
        return {
            **self._head(),
            "offsetTable": {key_text(key): offsets for key, offsets in self.committed.items()},
            "pullOffsetTable": {key_text(key): offsets for key, offsets in self.pulled.items()},
        }

    def text(self) -> bytes:
        """`write_pretty(json())`, three times as fast: the disk thread that writes thousands of
        topics shares the interpreter with the one that serves."""
        parts = [
            write_pretty(self._head()).decode().removesuffix("\n}"),
            f',\n\t"offsetTable":{_table_text(self.committed)}',
            f',\n\t"pullOffsetTable":{_table_text(self.pulled)}\n}}',
        ]
        return "".join(parts).encode()

    def _head(self) -> dict[str, Value]:
        topics: dict[str, list[str]] = {}
        for topic, group in self.committed:
            topics.setdefault(group, []).append(topic)
        head: dict[str, Value] = {
            "dataVersion": data_version_json(self.version),
            "groupTopicMap": topics,
        }
        return head if self.popped_to < 0 else {**head, "popLogOffset": self.popped_to}


def _load(table: OffsetTable, members: Members, max_offset: MaxOffset) -> bool:
    """Fill a table; whether anything had to be cut."""
    is_cut = False
    for name, offsets in members.objects():
        key = parse_key(name)
        if key is None:
            continue
        for queue_id, offset in by_number(offsets.plain()).items():
            if isinstance(offset, bool) or not isinstance(offset, int):
                raise ProtocolError(f"{name[:100]} of {members.what} is {offset!r:.100}")
            kept = max(0, min(offset, max_offset(key[0], queue_id)))
            table.restore(*key, queue_id, kept)
            is_cut |= kept != offset
    return is_cut


def _table_text(table: Picture) -> str:
    rows = ",\n".join(
        f"\t\t{quoted(key_text(key))}:{_offsets_text(offsets)}" for key, offsets in table.items()
    )
    return f"{{\n{rows}\n\t}}" if rows else "{}"


def _offsets_text(offsets: Mapping[int, int]) -> str:
    rows = ",\n".join([f"\t\t\t{queue_id}:{offset}" for queue_id, offset in offsets.items()])
    return f"{{\n{rows}\n\t\t}}" if rows else "{}"
