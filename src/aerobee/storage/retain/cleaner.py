"""Cleaning, step by step: what retention and the disk's limits ask for, a little at a time.

A log file goes in this order, so that no reader is led to a record that is gone and no crash leaves
a store that does not open:

    1  hide     every queue's min_offset is raised past the file, a few queues a step
    2  index    files of the key index that lead nowhere else are taken out
    3  forget   the file is taken out of the log: min_offset of the log rises
    4  remove   a disk thread removes the names, in the order in which they were given up

After 1 the messages are just not seen any more. A crash anywhere in between is as if one had come
a little earlier or later: queue files without their log or log without its queue files are both
fine, and a name that comes back is an old file that is there again.

A file that holds a record which compaction has yet to look at stays until it has (`compaction`).

At most one log file goes per `delete_interval_ms`, and none while the one before is not gone.
Called from the core's thread only.
"""

from collections import deque
from collections.abc import Callable

from aerobee.errors import DiskFailed, DiskFull, StorageError, StoreBusy
from aerobee.ports.clock import Now
from aerobee.ports.disk import DiskSpace
from aerobee.ports.disk_worker import DiskWorker
from aerobee.storage.config import StorageConfig
from aerobee.storage.defects import Defects
from aerobee.storage.files.file_sequence import FileSequence
from aerobee.storage.files.lack_of_room import is_out_of_handles, is_out_of_room
from aerobee.storage.index.batch_consume_queue import BatchConsumeQueue
from aerobee.storage.index.consume_queue import ConsumeQueue
from aerobee.storage.index.derived_files import DerivedFiles
from aerobee.storage.retain.disk_space import DiskSpaceWatch, SpaceLimits
from aerobee.storage.retain.removals import Removals
from aerobee.storage.retain.retention import AgeClock, LogRetention
from aerobee.storage.retain.topic_retention import TopicRetention

QUEUES_A_STEP = 256  # about half a millisecond
RETRY_INTERVAL_MS = 1000


class Cleaner:
    """Everything that a store does to have room, for one log and what is derived from it."""

    def __init__(
        self,
        log: FileSequence,
        derived: DerivedFiles,
        store_timestamp_at: Callable[[int], int | None],
        worker: DiskWorker,
        config: StorageConfig,
        needed_from: Callable[[], int | None],
        defects: Defects,
    ) -> None:
        """`needed_from` says from which log offset on somebody else needs the log."""
        self._log = log
        self._needed_from = needed_from
        self._derived = derived
        self._delete_interval_ms = config.delete_interval_ms
        self._removals = Removals(log.disk, worker, defects)
        limits = SpaceLimits(
            config.disk_used_ratio_clean, config.disk_used_ratio_full, config.disk_free_bytes_min
        )
        self._space = DiskSpaceWatch(log.disk, log.directory, worker, limits)
        self._clock = AgeClock()
        self._retention = LogRetention(log, config.retention_ms, store_timestamp_at)
        self._topics = TopicRetention(derived, store_timestamp_at, self._removals)
        # When the next log file may go, and when making a file may be tried again.
        self._next_file_ms = 0
        self._retry_ms: int | None = None
        # Why a file of a queue or of the index could not be made.
        self._shortage: OSError | None = None
        # What a crash left of an earlier cleaning: units of records that are gone.
        self._trim: _Trim | None = _Trim(derived, log.first_offset())

    def set_topic_retention(self, topic: bytes, retention_ms: int | None) -> None:
        """See `TopicRetention.set`."""
        self._topics.set(topic, retention_ms)

    def set_retention(self, retention_ms: int) -> None:
        """See `LogRetention`."""
        self._retention.set(retention_ms)

    def time_ms(self, now: Now) -> int | None:
        """The time by which things are old; None: too early to say."""
        return self._clock.time_ms(now)

    def step(self, now: Now, safe_to: int) -> None:
        """Do a little of what is due. Log files from `safe_to` on are needed for a start."""
        removals = self._removals
        self._space.step(now.monotonic_ms, removals.removed_bytes)
        removals.step(now.monotonic_ms)
        if removals.failure is not None:
            return
        time_ms = self._clock.time_ms(now)
        if time_ms is not None:
            self._topics.step(time_ms, now.monotonic_ms)
        if self._trim is None and self._is_file_due(now.monotonic_ms, time_ms, safe_to):
            self._trim = _Trim(self._derived, self._log.files[0].end_offset())
        if self._trim is not None:
            self._go_on(self._trim, now.monotonic_ms)

    def _is_file_due(self, monotonic_ms: int, time_ms: int | None, safe_to: int) -> bool:
        """Whether the oldest log file is to go now."""
        oldest = self._retention.removable(safe_to)
        if oldest is None or self._removals.is_pending_in(self._log.directory):
            return False
        if monotonic_ms < self._next_file_ms:
            return False
        is_too_full = self._space.excess_bytes(self._removals.removed_bytes) > 0
        if not is_too_full and not self._retention.is_expired(oldest, time_ms):
            return False
        needed = self._needed_from()
        return needed is None or oldest.end_offset() <= needed

    def _go_on(self, trim: "_Trim", monotonic_ms: int) -> None:
        for _ in range(min(QUEUES_A_STEP, len(trim.queues))):
            for queue_file in trim.queues.popleft().hide_below(trim.below):
                self._removals.add(queue_file.disk_file)
        if trim.queues:
            return
        self._trim = None
        if self._derived.index is not None:
            for index_file in self._derived.index.remove_below(trim.below):
                self._removals.add(index_file)
        if self._log.first_offset() < trim.below:
            self._next_file_ms = monotonic_ms + self._delete_interval_ms
            self._removals.add(self._log.take_first().disk_file)

    def is_removing_in(self, folder: str) -> bool:
        """Whether files of a folder are still to go."""
        return self._removals.is_pending_in(folder)

    # Running out of room.

    def note_shortage(self, error: OSError) -> None:
        """A file of a queue or of the index could not be made.

        Whatever wanted it waits until `has_room`, and may then try again; if it was not for lack
        of room or of handles, it waits for good.
        """
        error.__traceback__ = None
        self._shortage = error

    def has_room(self, monotonic_ms: int) -> bool:
        """Whether files can be made, for all we know; true once a second if they could not."""
        if self._shortage is None:
            return True
        if isinstance(_refusal_of(self._shortage), DiskFailed):
            return False
        if self._retry_ms is None:
            self._retry_ms = monotonic_ms + RETRY_INTERVAL_MS
        if monotonic_ms < self._retry_ms:
            return False
        self._shortage = None
        self._retry_ms = None
        return True

    @property
    def is_short(self) -> bool:
        return self._shortage is not None

    def disk_used_ratio(self) -> float:
        return self._space.used_ratio()

    def disk_space(self) -> DiskSpace | None:
        return self._space.space

    def refusal(self) -> StorageError | None:
        """Why appends are refused, if they are: a failed sync, or a disk that is too full."""
        if self._removals.failure is not None:
            return self._removals.failure
        if self._shortage is not None:
            return _refusal_of(self._shortage)
        return self._space.refusal(self._removals.problem)

    def close(self) -> None:
        """Block until what a disk thread does for us is done."""
        self._removals.close()
        self._space.close()


def shortage_of(error: OSError) -> DiskFull | None:
    """What it means that a file could not be made; None if not that there is no room."""
    if not is_out_of_room(error):
        return None
    return DiskFull(
        f"no room for a file of the store: {error}",
        hint="free room on this disk or shorten the retention; an open store goes on by itself",
    )


def _refusal_of(error: OSError) -> StorageError:
    """Why appends are refused if a file of a queue or of the index could not be made."""
    shortage = shortage_of(error)
    if shortage is not None:
        return shortage
    if is_out_of_handles(error):
        return StoreBusy(f"a file of the store could not be made: {error}")
    return DiskFailed(
        f"a file of the store could not be made: {error}",
        hint="the store takes no more writes; check the disk, then restart",
    )


class _Trim:
    """The queues in which units of records below a log offset are still to be hidden."""

    def __init__(self, derived: DerivedFiles, below: int) -> None:
        self.below = below
        self.queues: deque[ConsumeQueue | BatchConsumeQueue] = deque(derived.all_queues())
