"""ConsumerOffsets has the committed offset of each group in each queue, and encodes
`config/consumerOffset.json`.

    {"dataVersion":{…},"groupTopicMap":{"group":["topic"]},
     "offsetTable":{"topic@group":{0:123,1:4}},"pullOffsetTable":{"topic@group":{0:130,1:4}}}

An offset may be set back (that is how a group reads again), but is never kept beyond the end of its
queue: after a loss in asynchronous mode a group must not wait for messages that will never come.
Pull offsets are for display only. The map of groups repeats the table, for Apache.

Offsets of pops follow the log (`pop/take/pop_offsets.py`): `popLogOffset` is the log offset from
which checkpoints may not be counted yet. It is there once anything was popped.

`logOffset` is where the log ended when the file was written. Offsets in a topic that was deleted
after that are dropped when the file is loaded: a topic that was made under the same name since has
other messages.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias, cast

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
    TopicGroup,
    key_text,
    parse_key,
)

__all__ = ["NO_ROOM", "UNKNOWN", "ConsumerOffsets", "ConsumerOffsetsSnapshot", "MaxOffset"]

NO_ROOM = "there is no room for the offsets of another queue: delete groups that are not used"

NOTHING_POPPED = -1

MaxOffset: TypeAlias = Callable[[str, int], int]
"""(topic, queue) → the end of that queue."""
BornAt: TypeAlias = Callable[[str], int]
"""Topic → the log offset at which a topic of this name was deleted; 0: none was."""
OnCommit: TypeAlias = Callable[[str, str, int, int], None]
"""(topic, group, queue, offset) of a commit."""
_NO_LOG_OFFSET = -1  # in a file that has no `logOffset`: Apache's, or an older one of ours


class ConsumerOffsets:
    """Committed offsets by (group, topic, queue)."""

    def __init__(self, count_max: int = OFFSETS_MAX) -> None:
        self._committed = self.table = OffsetTable(count_max)
        """The committed offsets, for who wants to know which have changed."""
        self._pulled = OffsetTable(count_max)
        # Offsets set by an operator: the next pull is moved there, commits are ignored until then.
        self._resets: dict[tuple[str, str, int], int] = {}
        self.version = DataVersion()
        self.is_dirty = False
        # Checkpoints of pops before this log offset are counted; -1: none was written.
        self.popped_to = NOTHING_POPPED
        # The end of the log when the file that was loaded was written.
        self._loaded_at = _NO_LOG_OFFSET
        # Told of every changed commit, if set: a slave hands them to its master.
        self.on_commit: OnCommit | None = None

    # Consuming.

    def commit(self, group: str, topic: str, queue_id: int, offset: int, max_offset: int) -> None:
        """Set an offset; if there is no room for another queue it stays unknown."""
        if self._resets and (group, topic, queue_id) in self._resets:
            return
        # Consumers repeat commits: only a changed offset makes the table dirty.
        kept = max(0, min(offset, max_offset))
        if self._committed.put(topic, group, queue_id, kept):
            self.is_dirty = True
            if self.on_commit is not None:
                self.on_commit(topic, group, queue_id, kept)

    def find(self, group: str, topic: str, queue_id: int) -> int:
        """The committed offset, or the one that an operator set; UNKNOWN if there is none."""
        return self._committed.find(topic, group, queue_id)

    def reset(self, group: str, topic: str, queue_id: int, offset: int) -> None:
        """Move the group to an offset at its next pull. RemoteProtocolError: there is no room."""
        self._committed.put(topic, group, queue_id, offset)
        if self._committed.find(topic, group, queue_id) == UNKNOWN:
            raise RemoteProtocolError(NO_ROOM)
        self._resets[group, topic, queue_id] = offset
        self.is_dirty = True

    @property
    def has_resets(self) -> bool:
        """Whether a reset of any queue of any group is not applied yet."""
        return bool(self._resets)

    def take_reset(self, group: str, topic: str, queue_id: int) -> int | None:
        """The offset that a pull of this queue must be moved to, once; None: none."""
        return self._resets.pop((group, topic, queue_id), None) if self._resets else None

    def note_pulled(self, group: str, topic: str, queue_id: int, next_offset: int) -> None:
        """A pull was answered, and the next one begins here."""
        self._pulled.put(topic, group, queue_id, next_offset)

    def find_pulled(self, group: str, topic: str, queue_id: int) -> int:
        """The offset after the newest pull; the committed one if that is higher."""
        return max(
            self._committed.find(topic, group, queue_id), self._pulled.find(topic, group, queue_id)
        )

    # Administration.

    def of(self, group: str, topic: str) -> Mapping[int, int]:
        """All offsets of a group in a topic, by queue."""
        return self._committed.of(topic, group)

    def clone(self, source: str, target: str, topic: str) -> None:
        """Set the offsets of one group to those of another."""
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

    # Copying from a master.

    def take_over(self, changed: Picture, gone: Iterable[TopicGroup], popped_to: int) -> None:
        """Replace the offsets of some (topic, group) pairs by a master's, remove others, and count
        checkpoints of pops as the master does."""
        for (topic, group), offsets in changed.items():
            self._committed.replace(topic, group, offsets)
            self.is_dirty = True
        pairs = frozenset(gone)
        if pairs:
            self._remove(lambda topic, group: (topic, group) in pairs)
        if popped_to != self.popped_to:
            self.popped_to = popped_to
            self.is_dirty = True

    # The file.

    def load(self, saved: Mapping[Key, Parsed], max_offset: MaxOffset, born_at: BornAt) -> None:
        """Load the file's content, cut to the ends of the queues. ProtocolError: it is not
        valid."""
        members = Members(dict(saved), "the file of offsets")
        self.version = data_version_from(members.object("dataVersion"))
        self.popped_to = members.int64("popLogOffset", NOTHING_POPPED)
        log_offset = self._loaded_at = members.int64("logOffset", _NO_LOG_OFFSET)

        def is_dead(topic: str) -> bool:
            # Equal: the file may be older or newer than the deletion. If it is newer, the new topic
            # was empty when it was written, and there is nothing to lose.
            return log_offset != _NO_LOG_OFFSET and born_at(topic) >= max(1, log_offset)

        _load(self._pulled, members.object("pullOffsetTable"), max_offset, is_dead)
        if _load(self._committed, members.object("offsetTable"), max_offset, is_dead):
            self.is_dirty = True

    def cut_log(self, log_end: int) -> None:
        """The log ends here. If the file is of a longer one, whose tail was cut, the log offsets in
        it would be taken for those of other records once the log has grown beyond them."""
        if max(self.popped_to, self._loaded_at) > log_end:
            self.popped_to = min(self.popped_to, log_end)
            self.is_dirty = True

    def picture(self) -> "ConsumerOffsetsSnapshot":
        """A snapshot of the present state."""
        return ConsumerOffsetsSnapshot(
            self.version, self._committed.picture(), self._pulled.picture(), self.popped_to
        )

    def take_saved(self, wall_ms: int, log_offset: int) -> "ConsumerOffsetsSnapshot":
        """A snapshot to be saved, with a new version. `log_offset`: the end of the log."""
        self.version = self.version.next(wall_ms)
        self.is_dirty = False
        return self.picture()._replace(log_offset=log_offset)


class ConsumerOffsetsSnapshot(NamedTuple):
    """Immutable offsets: may be read on any thread."""

    version: DataVersion
    committed: Picture
    pulled: Picture
    popped_to: int = NOTHING_POPPED
    log_offset: int = _NO_LOG_OFFSET

    def json(self) -> dict[str, Value]:
        """The offsets as in the file: what `text` writes, for readers of this module and tests."""
        return {
            **self._head(),
            "offsetTable": {key_text(key): offsets for key, offsets in self.committed.items()},
            "pullOffsetTable": {key_text(key): offsets for key, offsets in self.pulled.items()},
        }

    def text(self) -> bytes:
        """`write_pretty(json())`, four times as fast: the content of the file, and the answer to
        slaves and tools. Thousands of topics are written while others wait to be served."""
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
        if self.popped_to >= 0:
            head["popLogOffset"] = self.popped_to
        if self.log_offset >= 0:
            head["logOffset"] = self.log_offset
        return head


def offsets_from(members: Members) -> ConsumerOffsetsSnapshot:
    """The offsets in an answer of a master, without those of pulls. ProtocolError: it is not
    valid."""
    committed: dict[TopicGroup, Mapping[int, int]] = {}
    for name, offsets in members.object("offsetTable").objects():
        key = parse_key(name)
        if key is not None:
            committed[key] = _numbers(offsets)
    return ConsumerOffsetsSnapshot(
        data_version_from(members.object("dataVersion")),
        committed,
        {},
        members.int64("popLogOffset", NOTHING_POPPED),
    )


def _numbers(offsets: Members) -> dict[int, int]:
    """Offsets by queue. A master has tens of thousands, and most are written as Java does."""
    plain = offsets.plain()
    try:
        numbers = {int(queue_id): offset for queue_id, offset in plain.items()}  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return offsets.numbers_by_number()
    for offset in numbers.values():
        if type(offset) is not int or not -(2**63) <= offset < 2**63:
            return offsets.numbers_by_number()
    return cast("dict[int, int]", numbers)


def _load(
    table: OffsetTable, members: Members, max_offset: MaxOffset, is_dead: Callable[[str], bool]
) -> bool:
    """Fill a table; whether anything had to be cut."""
    is_cut = False
    for name, offsets in members.objects():
        key = parse_key(name)
        if key is None:
            continue
        if is_dead(key[0]):
            is_cut = True
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
