"""The store: one directory, one log, what is derived from it, and the promises about both.

    commitlog/            every record                       commit
    consumequeue/         per topic and queue                index
    batchconsumequeue/    the same, for queues of batches    index
    index/                by key                             index
    compacted/            kept of compacted topics, ours     index
    checkpoint            RocketMQ's                         recover
    durable_mark          ours                               recover
    abort                 there while a process writes       recover
    diverged/             cut off by `open`, ours            recover
    lock                  held while a process writes

It delegates everything: appends to the appender, reads to the readers, recovery to `opening`.
Called from one thread, which also calls `step` every few milliseconds; nothing here waits for the
disk but `open`, `sync` and `close`.

Imports more than 15 modules because every part of a store has its one caller here.
"""

from typing import NamedTuple

from aerobee.errors import DiskFailed, Misuse, StorageError, StoreBusy
from aerobee.model.histogram import Histogram
from aerobee.ports.clock import Now
from aerobee.ports.disk import Disk, DiskSpace
from aerobee.ports.disk_worker import DiskWorker, Lane
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.storage.appender import Appender
from aerobee.storage.commit.confirmation import Confirmation
from aerobee.storage.commit.flush import Flush
from aerobee.storage.config import FlushMode, StorageConfig
from aerobee.storage.defects import NO_DEFECTS, Defect, Defects
from aerobee.storage.index.consume_queue import ConsumeQueue
from aerobee.storage.opening import StoreParts, open_parts
from aerobee.storage.raw_appender import RawAppender
from aerobee.storage.read.hot_records import HotRecords
from aerobee.storage.read.readers import Readers
from aerobee.storage.recover.log_recovery import Progress
from aerobee.storage.retain.cleaner import Cleaner, shortage_of
from aerobee.storage.retain.compaction import Compaction
from aerobee.storage.retain.topic_deletions import Over, TopicDeletions

_RECORDS_A_DISPATCH = 1 << 40  # whatever was appended since


class StepResult(NamedTuple):
    """What became of those who waited."""

    safe: list[object]
    """Tickets whose bytes are as safe as they waited for."""
    failed: list[object]
    """Tickets whose bytes may be lost: they must not be."""


def _silent(what: str, done: int, total: int) -> None:
    """No progress is shown."""


class Store(Readers):
    """An open store directory. Made by `open`, ended by `close`."""

    def __init__(
        self,
        root: str,
        parts: StoreParts,
        config: StorageConfig,
        worker: DiskWorker,
        defects: Defects,
    ) -> None:
        self.root = root
        self.config = config
        self._parts = parts
        self._worker = worker
        self._defects = defects
        self._log = parts.log
        self._dispatcher = parts.dispatcher
        self._flush = Flush(
            parts.log.sequence,
            worker,
            config.flush_mode,
            config.flush_interval_ms,
            config.flush_lag_ms_max,
            defects,
        )
        self._flush.start_at(parts.log.end_offset(), parts.log.last_timestamp)
        self.sync_seconds: Histogram = self._flush.sync_seconds
        """How long syncs of the log took."""
        self.confirmation = Confirmation(parts.log.end_offset, self._flush, config.flush_mode)
        self.confirmation.when_expected = self._note_flushed
        super().__init__(parts.log, parts.derived, parts.records)
        self._reader.crc_from = parts.records.crc_from = parts.crc_from
        # Older records were not written by this process: reads check their checksums.
        self._opened_at = parts.log.end_offset()
        self.confirmed_at_start = parts.marking.confirmed
        """How far the log was lasting when the last process had it, as far as is known."""
        self._is_closed = False
        # Why nothing can be appended, and why no draft may be.
        self._hindrance: StorageError | None = None
        self._ban: StorageError | None = None
        # Which topics are compacted is told it after every start, before the first step.
        self.compaction = Compaction(
            parts.log.sequence, parts.derived, worker, config, parts.crc_from
        )
        self._cleaner = Cleaner(
            parts.log.sequence,
            parts.derived,
            parts.records.store_timestamp_at,
            worker,
            config,
            self.compaction.needed_from,
            defects,
        )
        self._deletions = TopicDeletions(
            parts.log.sequence.disk,
            worker,
            parts.deleted,
            parts.derived,
            parts.marking,
            self._cleaner.is_removing_in,
        )
        # For callers who append or look per message and cannot spare a call in between.
        self.hot_records = HotRecords(parts.log.sequence, self._reader)
        self.raw_appender = RawAppender(parts, self._flush, self._reader, self.compaction)
        self.appender = Appender(parts.log, self._queues)
        self._note_hindrance(self._cleaner.refusal())
        self._bound_reads()

    @classmethod
    def open(
        cls,
        disk: Disk,
        root: str,
        config: StorageConfig,
        worker: DiskWorker,
        *,
        progress: Progress = _silent,
        defects: Defects = NO_DEFECTS,
        cut_at: int | None = None,
    ) -> "Store":
        """Open a store directory, new or as any stop left it, RocketMQ's too.

        CorruptRecord, CorruptFile, StoreLocked: it cannot be opened as it is; nothing was changed.
        DiskFull: there is no room for what is missing in it.

        `cut_at`: a log offset at which a record ends, where the log is to end. What lies behind it
        is saved in `diverged/` first. Misuse: no record ends there; the log is as it was.
        """
        try:
            parts = open_parts(disk, root, config, worker, progress, defects, cut_at)
        except OSError as error:
            shortage = shortage_of(error)
            if shortage is None:
                raise
            raise shortage from error
        return cls(root, parts, config, worker, defects)

    # Appending.

    def append(self, draft: MessageDraft, wall_ms: int) -> int:
        """Store a draft; the log offset of its (first) record. See `Appender.append`."""
        return self.appender.append(draft, wall_ms)

    def refuse_appends(self, ban: StorageError | None) -> None:
        """Refuse drafts with this error from now on; None: take them, unless the disk forbids."""
        self._ban = ban
        self._note_hindrance(self._hindrance)

    def _note_hindrance(self, hindrance: StorageError | None) -> None:
        """The disk hinders appends of any kind, or does not."""
        self._hindrance = hindrance
        self.appender.refusal = hindrance or self._ban

    def append_raw(self, log_offset: int, data: memoryview) -> int:
        """Append the whole records and fillers at the begin of bytes of another broker's log; how
        many bytes that were. For a replica, which takes no drafts. See `RawAppender.append`."""
        if self._hindrance is not None:
            raise self._hindrance
        return self.raw_appender.append(log_offset, data)

    def wait_for(self, end_offset: int, ticket: object) -> None:
        """Have `step` return `ticket` once the log is lasting up to here, or cannot be."""
        self.confirmation.wait_lasting(end_offset, ticket)

    @property
    def end_offset(self) -> int:
        """Where the next record goes: after an append, what `wait_for` wants."""
        return self._log.end_offset()

    @property
    def min_offset(self) -> int:
        return self._log.min_offset()

    @property
    def flushed_offset(self) -> int:
        """How far the log is on the disk. Saved progress goes by `confirmation`."""
        return self._flush.flushed

    @property
    def dispatched_offset(self) -> int:
        """Everything below can be read by queue and key."""
        return self._dispatcher.offset

    def disk_used_ratio(self) -> float:
        return self._cleaner.disk_used_ratio()

    def disk_space(self) -> DiskSpace | None:
        """As the disk said last; None: it has said nothing yet."""
        return self._cleaner.disk_space()

    # Time.

    def flush_soon(self, now: Now) -> int:
        """The appends of one read of the network are over: have them synced now, not at the next
        step. SYNC only; cheap enough for every read. How far the log is on the disk by now.

        Call it too when a disk thread is done (`ThreadDiskWorker`'s wake): what waited for the sync
        can go out, and the next one starts with all that came meanwhile. The tickets come from the
        next `step`.
        """
        self._collect()
        if self.config.flush_mode is FlushMode.SYNC and not self._is_closed:
            self._flush.step(self._log.end_offset(), self._log.last_timestamp, now.monotonic_ms)
        return self._flush.flushed

    def _collect(self) -> None:
        """Learn what the disk threads did. After a failed sync nothing is appended any more, not
        even until the next step: in ASYNC mode it would be acknowledged."""
        self._worker.collect()
        if self._flush.failure is not None:
            self._note_hindrance(self._flush.failure)

    def step(self, now: Now) -> StepResult:
        """Do what is due: finished disk work, syncs, dispatch, marks, cleaning."""
        if self._is_closed:
            raise Misuse("the store is closed")
        self._collect()
        self._flush.step(self._log.end_offset(), self._log.last_timestamp, now.monotonic_ms)
        # Not only since the last line: a roll that waits for its file collects, too.
        is_new = self._is_confirmation_new()
        if is_new or self._flush.flushed != self._parts.marking.mark.flushed:
            self._note_flushed()
        if Defect.MARK_BEFORE_SYNC in self._defects:
            self._parts.marking.note_flushed(self._log.end_offset(), self._log.last_timestamp)
        self._derive(now)
        self._parts.log_files.step(self._log.is_half_full(), now.monotonic_ms)
        self._parts.log_files.make_ready(self._log.end_offset(), self._log.is_large)
        self._note_hindrance(self._refusal(now))
        failure = self.failure
        if failure is None:
            # Neither power cut nor change of master takes back what is compacted or removed.
            durable_to = min(
                self._parts.marking.dispatched_durably, self.confirmation.lasting_offset
            )
            self.compaction.step(now, self._cleaner.time_ms(now), durable_to)
            self._cleaner.step(now, durable_to)
            self._deletions.step(self._log.min_offset())
            self._parts.marking.sync_subtractions()
        else:
            self._flush.stop(failure)
            self._deletions.stop(failure)
            self._bound_reads()
        return StepResult(self.confirmation.take_released(), self.confirmation.take_failed())

    def _derive(self, now: Now) -> None:
        """Dispatch, and have it remembered. Without room for a file both wait: a mark would speak
        of queues that hold a part of what comes after it."""
        if self._cleaner.has_room(now.monotonic_ms):
            self._dispatch()  # whoever asks for the queues that got some is still told
        if not self._cleaner.is_short:
            try:
                self._parts.marking.step(self._parts.derived, self._dispatcher, now)
            except OSError as error:
                self._cleaner.note_shortage(error)

    def dispatch(self) -> list[ConsumeQueue]:
        """Make what was appended visible, as far as the mode promises; the queues that got some
        since the last call."""
        self._dispatch()
        return self._dispatcher.take_touched()

    def _dispatch(self) -> None:
        if not self._cleaner.is_short:
            try:
                self._dispatcher.run(self._visible_to(), _RECORDS_A_DISPATCH)
            except OSError as error:
                self._cleaner.note_shortage(error)
        self._bound_reads()

    def _visible_to(self) -> int:
        """What is confirmed, so that no reader sees a message that can be taken back. On the disk
        of a store that has failed, nothing more is."""
        if Defect.DISPATCH_AHEAD_OF_SYNC in self._defects and self._flush.failure is None:
            return self._log.end_offset()
        return self.confirmation.confirmed_offset

    def _bound_reads(self) -> None:
        """Tell the readers how far they may go, and what they may believe unchecked."""
        readable_to = self._dispatcher.offset
        if self._flush.failure is None or Defect.READ_AFTER_FAILED_SYNC not in self._defects:
            readable_to = min(readable_to, self._visible_to())
        self._reader.readable_to = self._parts.records.readable_to = readable_to
        self._reader.dispatched_to = self._dispatcher.offset
        self._reader.hot_from = max(self._opened_at, self._log.end_offset() - self.config.hot_bytes)

    def _refusal(self, now: Now) -> StorageError | None:
        """Why appends are refused, if they are."""
        if self._flush.failure is not None:
            return self._flush.failure
        if self._parts.marking.failure is not None:
            return DiskFailed(
                f"a sync of the store failed: {self._parts.marking.failure}",
                hint="the store takes no more writes; check the disk, then restart",
            )
        if self._deletions.failure is not None:
            return self._deletions.failure
        if self.compaction.failure is not None:
            return self.compaction.failure
        refusal = self._parts.log_files.refusal() or self._cleaner.refusal()
        if refusal is not None:
            return refusal
        if self._flush.is_behind(now.monotonic_ms):
            return StoreBusy(
                f"the disk is more than {self.config.flush_lag_ms_max} ms behind",
                hint="try again; if it lasts, the disk is too slow for this load",
            )
        return None

    @property
    def failure(self) -> DiskFailed | None:
        """Set once the disk has failed: the process should end, and not with success."""
        refusal = self.appender.refusal
        return refusal if isinstance(refusal, DiskFailed) else None

    def set_retention(self, retention_ms: int) -> None:
        """Keep the log for so long from now on; the next start is told anew."""
        self._cleaner.set_retention(retention_ms)

    def set_topic_retention(self, topic: bytes, retention_ms: int | None) -> None:
        """Hide messages of a topic that are older than this; None: show what the log has.

        Not remembered: set it again after every start. See `TopicRetention`.
        """
        self._cleaner.set_topic_retention(topic, retention_ms)

    def delete_topic(
        self, topic: bytes, over: Over | None = None, before: int | None = None
    ) -> None:
        """Take the queues of a topic out, and their files in the steps that follow.

        Messages of the topic are found by log offset and by key until their log files go. Until
        its files are gone, appends to it are refused as busy. After that its queues begin at 0
        again, no crash brings its messages back, and `over` is called. See `TopicDeletions`.
        `before`, for a replica: records from this log offset on stay, and nothing is refused.
        """
        self.compaction.forget(topic)
        self._cleaner.set_topic_retention(topic, None)
        if before is None:
            self._deletions.delete(topic, self._log.end_offset(), over)
        else:
            self._deletions.delete_before(topic, before, over)

    # Ending.

    def sync(self) -> None:
        """Block until everything appended is on the disk; DiskFailed if it cannot be."""
        self._flush.sync_now(self._log.end_offset(), self._log.last_timestamp)
        if self._flush.failure is not None:
            self._note_hindrance(self._flush.failure)
            raise self._flush.failure
        self._note_flushed()

    def _is_confirmation_new(self) -> bool:
        """Whether the mark says something else than how far the log is confirmed: readers of the
        files, and the next start, go by that."""
        told, lasting = self._parts.marking, self.confirmation.lasting_offset
        return told.note_confirmed(lasting, is_bound=self.confirmation.waits_for_copies)

    def _note_flushed(self) -> None:
        self._is_confirmation_new()
        self._parts.marking.note_flushed(self._flush.flushed, self._flush.flushed_timestamp)

    def close(self) -> None:
        """Stop cleanly. After a failed sync the abort flag stays, so that the next start looks; so
        it does without room for a file of a queue or of the index, for the next start to make."""
        if self._is_closed:
            return
        self._is_closed = True
        parts = self._parts
        try:
            self.compaction.close()
            self._cleaner.close()
            failure = self.failure or self._flush.failure or parts.marking.failure
            if failure is None:
                self.sync()
                self._deletions.note_now()
                self._dispatcher.run(self._visible_to(), _RECORDS_A_DISPATCH)
                parts.marking.checkpoint_now(parts.derived, self._dispatcher)
                self._deletions.remove_now()
                parts.log_files.discard_next()
                parts.abort_flag.clear()
        except OSError as error:
            if shortage_of(error) is None:
                raise
        finally:
            self._finish_work()
            parts.log_files.close()
            parts.derived.close()
            parts.marking.close()
            parts.lock.release()

    def _finish_work(self) -> None:
        """Block until the disk threads have nothing of ours left: after a failure there may be a
        file to make or to sync, and the next process must not meet us there."""
        for lane in Lane:
            last = _Nothing()
            self._worker.submit(lane, last)
            self._worker.wait(last)  # jobs of a lane run in order


class _Nothing:
    """Disk job: none. When it is over, so is everything before it."""

    def run(self) -> None:
        pass

    def done(self, error: BaseException | None) -> None:
        pass
