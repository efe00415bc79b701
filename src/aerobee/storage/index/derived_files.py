"""Everything that follows from the log and can be built from it again, as one thing.

Consume queues, batch consume queues and the key index are cut, synced, remembered by a mark and
trimmed together. Called from the core's thread only; the syncs that `take_unsynced` asks for may
run on another.
"""

from typing import NamedTuple

from aerobee.ports.disk import DiskFile
from aerobee.storage.index.batch_consume_queue import UNIT_BYTES as BATCH_UNIT_BYTES
from aerobee.storage.index.batch_consume_queue import BatchConsumeQueue
from aerobee.storage.index.batch_consume_queues import BatchConsumeQueues
from aerobee.storage.index.consume_queue import FILLER_SIZE, UNIT_BYTES, ConsumeQueue
from aerobee.storage.index.consume_queues import ConsumeQueues
from aerobee.storage.index.kept_files import KeptFiles
from aerobee.storage.index.key_index import KeyIndex

NO_COUNT = 1 << 62  # what no files ever count up to: not kept, or begun anew


class UnsyncedFiles(NamedTuple):
    """What must be synced for all that is derived so far to be on the disk."""

    files: list[DiskFile]
    directories: list[str]


class Fingerprint(NamedTuple):
    """What a mark remembers: enough to notice that files are missing or of another time."""

    queue_count: int
    unit_total: int
    index_count: int
    first_total: int


class TakenTopic:
    """The queues of a topic that was taken out of the tables of a store, and whose files are still
    on the disk."""

    def __init__(
        self, queues: list[ConsumeQueue], batch_queues: list[BatchConsumeQueue], kept: list[str]
    ) -> None:
        """`kept`: the folders of its compacted files."""
        self._queues = queues
        self._batch_queues = batch_queues
        self.folders = [
            *(queue.sequence.directory for queue in queues),
            *(queue.sequence.directory for queue in batch_queues),
            *kept,
        ]
        """To be removed."""

    def share_at(self, log_offset: int) -> Fingerprint:
        """The part of the store's fingerprint that its queues make up if all are cut back to a log
        offset."""
        count = total = first = 0
        for end, sequence, unit_bytes in (
            *((queue.first_at(log_offset), queue.sequence, UNIT_BYTES) for queue in self._queues),
            *(
                (queue.end_at(log_offset), queue.sequence, BATCH_UNIT_BYTES)
                for queue in self._batch_queues
            ),
        ):
            if end > 0:
                count += 1
                total += end
                first += sequence.first_offset() // unit_bytes
        return Fingerprint(count, total, 0, first)

    def clear(self) -> None:
        """Forget the units and remove the files; folders stay. Blocks, but not for long."""
        for queue in self._queues:
            queue.clear()
        for batch_queue in self._batch_queues:
            batch_queue.clear()

    def let_go(self) -> None:
        """Forget the units; the files are still to be removed."""
        for queue in self._queues:
            queue.let_go()
        for batch_queue in self._batch_queues:
            batch_queue.let_go()


class DerivedFiles:
    """The three kinds of derived files of one store, and what outlives the log of its queues."""

    def __init__(
        self,
        queues: ConsumeQueues,
        batch_queues: BatchConsumeQueues,
        index: KeyIndex | None,
        kept: KeptFiles,
    ) -> None:
        self.queues = queues
        self.batch_queues = batch_queues
        self.index = index
        self.kept = kept

    def all_queues(self) -> list[ConsumeQueue | BatchConsumeQueue]:
        return [*self.queues.all(), *self.batch_queues.all()]

    def fingerprint(self) -> Fingerprint:
        count, total, first = self.queues.fingerprint()
        for queue in self.batch_queues.all():
            if queue.max_offset > 0:
                count += 1
                total += queue.max_offset
                first += queue.sequence.first_offset() // BATCH_UNIT_BYTES
        index_count = NO_COUNT if self.index is None else self.index.unit_count
        return Fingerprint(count, total, index_count, first)

    def log_end(self) -> int:
        """Where the newest record that a queue points at ends in the log."""
        return max((queue.log_end for queue in self.all_queues()), default=0)

    def newest_record(self) -> int:
        """Log offset of the newest record that a queue points at; -1 if there is none."""
        newest = -1
        for queue in self.queues.all():
            unit = queue.unit(queue.max_offset - 1)
            if unit is not None and unit[1] != FILLER_SIZE:
                newest = max(newest, unit[0])
        for batch_queue in self.batch_queues.all():
            batch_unit = batch_queue.find(batch_queue.max_offset - 1)
            if batch_unit is not None:
                newest = max(newest, batch_unit.log_offset)
        return newest

    def truncate_queues_to(self, log_offset: int, is_torn: bool) -> None:
        for queue in self.all_queues():
            queue.truncate_to(log_offset, is_torn)

    def take_topic(self, topic: bytes) -> TakenTopic:
        """Take the queues of a topic out of the tables; the caller removes their files. Appends to
        the topic are refused until `ConsumeQueues.let_in`."""
        return TakenTopic(
            self.queues.take_topic(topic),
            self.batch_queues.take_topic(topic),
            self.kept.take_topic(topic),
        )

    def ended_before(self, topic: bytes, log_offset: int) -> TakenTopic:
        """The queues of a topic that hold units, and none of a record at or after a log offset.
        They stay in the tables: clear them."""
        return TakenTopic(
            [queue for queue in self.queues.of_topic(topic) if _has_ended(queue, log_offset)],
            [
                queue
                for queue in self.batch_queues.all()
                if queue.topic == topic and _has_ended(queue, log_offset)
            ],
            [],
        )

    def take_dead(self) -> list[str]:
        """Forget the queues that end before their topic was deleted; their folders."""
        return [
            *self.queues.take_dead(),
            *self.batch_queues.take_dead(),
            *self.kept.take_dead(),
        ]

    def begin_where_kept(self) -> None:
        """A queue of which only compacted messages are left goes on behind them."""
        for topic, queue_id, kept in self.kept.all():
            self.queues.find_or_make(topic, queue_id).begin_at(kept.end)

    def clear_queues(self) -> None:
        self.queues.clear()
        self.batch_queues.clear()

    def take_unsynced(self) -> UnsyncedFiles:
        """What changed since the last call. The caller syncs it all, or stops for good."""
        files: list[DiskFile] = []
        directories: set[str] = set()
        # The index first: it may need a file for keys that wait, and find no room for it. Then
        # nothing was taken yet.
        if self.index is not None:
            files += self.index.sync_targets()
            index_directory = self.index.directory_to_sync()
            if index_directory is not None:
                directories |= {index_directory, _parent(index_directory)}
        for queue in self.all_queues():
            if queue.is_dirty:
                queue.is_dirty = False
                files += [file.disk_file for file in queue.take_unsynced_files()]
            sequence = queue.sequence
            if sequence.names_changed:
                sequence.names_changed = False
                # The folders may be new, each of them.
                topic_directory = _parent(sequence.directory)
                all_topics = _parent(topic_directory)
                directories |= {sequence.directory, topic_directory, all_topics}
                directories.add(_parent(all_topics))
        return UnsyncedFiles(files, sorted(directories))

    def close(self) -> None:
        self.queues.close()
        self.batch_queues.close()
        if self.index is not None:
            self.index.close()


def _has_ended(queue: ConsumeQueue | BatchConsumeQueue, log_offset: int) -> bool:
    # One that came far and is empty now may be of the topic's next life.
    return queue.max_offset > queue.min_offset and queue.log_end <= log_offset


def _parent(path: str) -> str:
    return path.rpartition("/")[0]
