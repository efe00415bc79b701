"""Keeping the marks: what the next start may believe.

Two files say how far things were on the disk: our durable mark and RocketMQ's checkpoint. They are
written after the syncs they speak of, never before, and synced now and then in the background.

    commit log synced  ──────────▶  mark: flushed       (every sync of the log; in memory)
    queues, index synced  ───────▶  mark: dispatched    (a checkpoint job, every few seconds)
    mark, checkpoint synced                             (at most once a second)

Called from the core's thread only; its jobs run on the background lane.
"""

from collections.abc import Callable
from typing import TypeAlias

from aerobee.errors import DiskFailed
from aerobee.ports.clock import Now
from aerobee.ports.disk import Disk
from aerobee.ports.disk_worker import DiskWorker, Lane
from aerobee.protocol.message.durable_mark_slots import NO_BOUND, NO_CRC, DurableMark
from aerobee.storage.config import StorageConfig
from aerobee.storage.defects import Defect, Defects
from aerobee.storage.dispatch.dispatcher import Dispatcher
from aerobee.storage.index.derived_files import DerivedFiles, Fingerprint, UnsyncedFiles
from aerobee.storage.recover.checkpoint import Checkpoint, CheckpointFields
from aerobee.storage.recover.durable_mark import DurableMarkFile

SYNCS_MAX = 256
"""More files and folders are not synced one by one. Each takes a write of the file system's
journal: 40,000 new queues would take minutes, and whatever else waits for a disk thread waits."""

ShareAt: TypeAlias = Callable[[int], Fingerprint]
"""The part of the fingerprint that some queues make up if they are cut back to a log offset."""


class Marking:
    """The durable mark and the checkpoint of one store."""

    def __init__(
        self,
        disk: Disk,
        mark_file: DurableMarkFile,
        checkpoint: Checkpoint,
        worker: DiskWorker,
        config: StorageConfig,
        defects: Defects,
    ) -> None:
        self._disk = disk
        self._mark_file = mark_file
        self._checkpoint = checkpoint
        self._worker = worker
        self._config = config
        self._defects = defects
        self._is_checkpointing = False
        # The jobs that are under way.
        self._checkpoint_job: _CheckpointJob | None = None
        self._mark_job: _MarkSyncJob | None = None
        # Set by the deletion of topics: while it is true, no checkpoint begins.
        self.is_held = False
        # Subtractions are numbered from 1: the newest, the newest that the mark being synced
        # contains, and the newest that the mark on the disk contains.
        self._subtractions = 0
        self._syncing_subtraction = 0
        self.durable_subtraction = 0
        # A finished checkpoint that waits for the log it points at to be on the disk too.
        self._finished_job: _CheckpointJob | None = None
        self._is_mark_dirty = False
        self._mark_synced_ms = 0
        self._checkpointed_ms = 0
        # Store timestamps: of the newest flushed record, and of the newest in synced indexes.
        self._flushed_timestamp = 0
        self._derived_timestamp = 0
        # From where RocketMQ must dispatch again after a crash of ours: it throws away index files
        # that are newer than the checkpoint, whole, so from where the newest of them begins.
        self._dispatch_again_from = 0
        # `dispatched` of the mark that a power cut surely leaves, and of the one being synced.
        self.dispatched_durably = 0
        self._syncing_dispatched = 0
        # For RocketMQ's file: no power cut and no change of master takes the log below it back.
        self.confirmed = 0
        self._confirmed_mark = NO_BOUND
        self.failure: BaseException | None = None

    @property
    def path(self) -> str:
        """A file that is always there."""
        return self._mark_file.path

    @property
    def mark(self) -> DurableMark:
        return self._mark_file.mark

    def start_at(self, mark: DurableMark, flushed_ms: int, derived_ms: int) -> None:
        """Say what recovery found and made durable, and when the newest records of the log and of
        the derived files were stored; on the disk when this returns."""
        self._flushed_timestamp = flushed_ms
        self._derived_timestamp = derived_ms
        fields = self._checkpoint.fields
        self._dispatch_again_from = min(fields.queue_log_offset, mark.dispatched)
        # The file has no checksum: never more than there is.
        self.confirmed = max(0, min(fields.confirmed_offset, mark.flushed))
        self._confirmed_mark = mark.confirmed
        self._write(mark)
        self.sync_now()

    # What happened.

    def note_confirmed(self, lasting: int, *, is_bound: bool) -> bool:
        """The log is lasting up to here; `is_bound`: what is behind may be taken back. Written with
        the next note of a flush; returns whether that says anything new."""
        self.confirmed = lasting
        self._confirmed_mark = lasting if is_bound else NO_BOUND
        return self._confirmed_mark != self.mark.confirmed

    def note_flushed(self, flushed: int, timestamp: int) -> None:
        """The commit log is on the disk up to here."""
        self._flushed_timestamp = timestamp
        self._write(self.mark._replace(flushed=flushed, confirmed=self._confirmed_mark))
        self._note_finished_checkpoint()

    def _note_finished_checkpoint(self) -> None:
        """A power cut may take log that was dispatched but not flushed: units of such records
        count only once the records are on the disk."""
        job = self._finished_job
        if job is not None and job.dispatched <= self.mark.flushed:
            self._finished_job = None
            self._is_checkpointing = False
            self._note_derived(job)

    def subtract(self, share_at: ShareAt) -> int:
        """Subtract queues that were taken out of the store from the fingerprint in the mark, and
        from that of a checkpoint that waits for the log. Returns the number of the subtraction: it
        is on the disk once `durable_subtraction` has reached it.

        No checkpoint may be running, and none may have begun since the queues were taken out: its
        fingerprint would already be without them.
        """
        job, mark = self._finished_job, self.mark
        if job is not None:
            job.fingerprint = _without(job.fingerprint, share_at(job.dispatched))
        said = Fingerprint(mark.queue_count, mark.unit_total, mark.index_count, mark.first_total)
        self._write(mark._replace(**_without(said, share_at(mark.dispatched))._asdict()))
        self._subtractions += 1
        return self._subtractions

    def _note_derived(self, job: "_CheckpointJob") -> None:
        # A dispatcher that had nothing to do yet knows no time.
        self._derived_timestamp = max(self._derived_timestamp, job.timestamp)
        self._dispatch_again_from = min(job.dispatched, job.index_from)
        self._write(self.mark._replace(dispatched=job.dispatched, **job.fingerprint._asdict()))

    def _write(self, mark: DurableMark) -> None:
        self._mark_file.write(mark)
        self._checkpoint.write(
            CheckpointFields(
                log_timestamp_ms=self._flushed_timestamp,
                queue_timestamp_ms=self._derived_timestamp,
                index_timestamp_ms=self._derived_timestamp,
                master_flushed_offset=0,
                confirmed_offset=self.confirmed,
                queue_log_offset=self._dispatch_again_from,
            )
        )
        self._is_mark_dirty = True

    # What is due.

    def step(self, derived: DerivedFiles, dispatcher: Dispatcher, now: Now) -> None:
        """Start a checkpoint or a sync of the marks if one is due."""
        behind = dispatcher.offset - self.mark.dispatched
        is_free = not self._is_checkpointing and not self.is_held and self.failure is None
        if is_free and behind > 0:
            age_ms = now.monotonic_ms - self._checkpointed_ms
            if (
                age_ms >= self._config.checkpoint_interval_ms
                or behind >= self._config.checkpoint_bytes
            ):
                self._checkpointed_ms = now.monotonic_ms
                self.start_checkpoint(derived, dispatcher)
        if (
            self._is_mark_dirty
            and self._mark_job is None
            and self.failure is None
            and now.monotonic_ms - self._mark_synced_ms >= self._config.mark_interval_ms
        ):
            self._mark_synced_ms = now.monotonic_ms
            self._start_mark_sync()

    def sync_subtractions(self) -> None:
        """Start a sync of the marks if a subtraction is not on the disk. It does not wait for
        `mark_interval_ms`, because a client waits for it."""
        if (
            self._subtractions > self.durable_subtraction
            and self._mark_job is None
            and self.failure is None
        ):
            self._start_mark_sync()

    def start_checkpoint(self, derived: DerivedFiles, dispatcher: Dispatcher) -> "_CheckpointJob":
        """Have everything derived so far synced, and then remembered by the mark."""
        job = _CheckpointJob(self, self._disk, derived, dispatcher)
        self._is_checkpointing = True
        if Defect.CHECKPOINT_AHEAD_OF_DATA in self._defects:
            self._note_derived(job)
            job.unsynced = UnsyncedFiles([], [])
        self._checkpoint_job = job
        self._worker.submit(Lane.BACKGROUND, job)
        return job

    def _finish_checkpoint(self, job: "_CheckpointJob", error: BaseException | None) -> None:
        if self._checkpoint_job is job:
            self._checkpoint_job = None
        if error is not None:
            self.failure = error
            return
        self._finished_job = job
        self._note_finished_checkpoint()

    def _start_mark_sync(self) -> None:
        self._is_mark_dirty = False
        self._syncing_dispatched = self.mark.dispatched
        self._syncing_subtraction = self._subtractions
        self._mark_file.begin_sync()
        self._mark_job = _MarkSyncJob(self._sync_files, self._finish_mark_sync)
        self._worker.submit(Lane.BACKGROUND, self._mark_job)

    def _sync_files(self) -> None:
        self._mark_file.sync()
        self._checkpoint.sync()

    def _finish_mark_sync(self, error: BaseException | None) -> None:
        self._mark_job = None
        if error is not None:
            self.failure = error
        else:
            self._mark_file.note_synced()
            self.dispatched_durably = self._syncing_dispatched
            self.durable_subtraction = self._syncing_subtraction

    def checkpoint_now(self, derived: DerivedFiles, dispatcher: Dispatcher) -> None:
        """Block until everything derived is on the disk and remembered (start and stop).

        Jobs of a lane run in order: whatever was under way is over when this one is.
        """
        self._worker.wait(self.start_checkpoint(derived, dispatcher))
        if self.failure is not None:
            raise DiskFailed(f"a checkpoint failed: {self.failure}")
        self.sync_now()

    def sync_now(self) -> None:
        """Block until the marks are on the disk (start and stop)."""
        assert self._mark_job is None
        self._mark_file.begin_sync()
        self._sync_files()
        self._mark_file.note_synced()
        self._is_mark_dirty = False
        self.dispatched_durably = self.mark.dispatched
        self.durable_subtraction = self._subtractions

    # A log that comes from elsewhere.

    def give_up_crc(self) -> None:
        """Say that no record need carry the record CRC, on the disk when this returns: records
        without one are about to be appended. Recovery would take them for a torn tail, and cut
        them off, until the next sync of the mark. A start says anew from where on records do."""
        self._write_now(self.mark._replace(crc_from=NO_CRC))

    def begin_anew(self) -> None:
        """Say that nothing is on the disk, and have that on the disk when this returns: a log
        without records is about to begin elsewhere, and a mark from before would be beyond its
        end."""
        if self._checkpoint_job is not None:
            self._worker.wait_alone(self._checkpoint_job)
        self._finished_job = None
        self._is_checkpointing = False
        self._flushed_timestamp = self._derived_timestamp = self._dispatch_again_from = 0
        anew = self.mark.ending_at(0)
        self._confirmed_mark = anew.confirmed
        self._write_now(anew._replace(dispatched=0))

    def _write_now(self, mark: DurableMark) -> None:
        """Have a mark on the disk. Blocks, and leaves what other jobs did to `collect`: an append
        is under way."""
        if self._mark_job is not None:
            self._worker.wait_alone(self._mark_job)
        if self.failure is None:
            try:
                self._write(mark)
                self.sync_now()
            except OSError as error:
                self.failure = error
        if self.failure is not None:
            raise DiskFailed(
                f"the durable mark could not be written: {self.failure}",
                hint="the store takes no more writes; check the disk, then restart",
            )

    def close(self) -> None:
        self._mark_file.close()
        self._checkpoint.close()


class _CheckpointJob:
    """Disk job: sync the derived files as they stood when it was made."""

    def __init__(
        self, marking: Marking, disk: Disk, derived: DerivedFiles, dispatcher: Dispatcher
    ) -> None:
        self._marking = marking
        self._disk = disk
        self.unsynced = derived.take_unsynced()
        self.fingerprint = derived.fingerprint()
        self.dispatched = dispatcher.offset
        self.index_from = dispatcher.offset
        if derived.index is not None and derived.index.unit_count > 0:
            # To RocketMQ a 0 says nothing; the record at 0 is at or below 1, too.
            self.index_from = max(1, derived.index.newest_file_begin)
        self.timestamp = dispatcher.last_timestamp

    def run(self) -> None:
        if len(self.unsynced.files) + len(self.unsynced.directories) > SYNCS_MAX:
            self._disk.sync_all(self._marking.path)
            return
        for file in self.unsynced.files:
            file.sync()
        for directory in self.unsynced.directories:
            self._disk.sync_directory(directory)

    def done(self, error: BaseException | None) -> None:
        self._marking._finish_checkpoint(self, error)


class _MarkSyncJob:
    """Disk job: the marks themselves."""

    def __init__(
        self, sync: Callable[[], None], finish: Callable[[BaseException | None], None]
    ) -> None:
        self._sync = sync
        self._finish = finish

    def run(self) -> None:
        self._sync()

    def done(self, error: BaseException | None) -> None:
        self._finish(error)


def _without(all_queues: Fingerprint, some: Fingerprint) -> Fingerprint:
    """The difference, but never below zero: a mark holds no negative numbers, and a wrong
    fingerprint only makes the next start build the queues again."""
    return Fingerprint(
        max(0, all_queues.queue_count - some.queue_count),
        max(0, all_queues.unit_total - some.unit_total),
        all_queues.index_count,
        max(0, all_queues.first_total - some.first_total),
    )
