"""Retention decides which commit log files may be deleted; it deletes nothing itself.

A file goes because it is old, or because the disk is too full. Either way it is the oldest, and
the next file must hold a record that is flushed, dispatched, and remembered as such by the durable
mark on the disk: so the end of the log never goes, and a start after any crash finds all it needs.

Age is judged without believing a wall clock that runs ahead:

- A file is as old as its newest record, and that one is at most as new as the first record of the
  next file. The times of the files themselves say when somebody copied them, so nobody asks.
- It is now the wall time, but never later than the wall time at the start plus what the monotonic
  clock counted since. A jump of a day forward therefore deletes nothing; a jump back keeps files
  longer. So does a clock that was far behind at the start and was set right later, until the next
  start: the disk limit still holds.
- In the first minute after a start nothing is old: a machine that boots with a wrong clock gets the
  time to have it set. (RocketMQ first looks after a minute, too.)
"""

from collections.abc import Callable

from aerobee.ports.clock import Now
from aerobee.storage.files.file_sequence import FileSequence
from aerobee.storage.files.mapped_file import MappedFile

CLOCK_SETTLE_MS = 60_000


class AgeClock:
    """The time by which things are old. It starts with the first call."""

    def __init__(self) -> None:
        self._start: Now | None = None

    def time_ms(self, now: Now) -> int | None:
        """Milliseconds since 1970, not ahead of what has passed; None: too early to say."""
        if self._start is None:
            self._start = now
        elapsed_ms = now.monotonic_ms - self._start.monotonic_ms
        if elapsed_ms < CLOCK_SETTLE_MS:
            return None
        return min(now.wall_ms, self._start.wall_ms + elapsed_ms)


class LogRetention:
    """The rules for one commit log."""

    def __init__(
        self,
        log: FileSequence,
        retention_ms: int,
        store_timestamp_at: Callable[[int], int | None],
    ) -> None:
        self._log = log
        self._retention_ms = retention_ms
        self._store_timestamp_at = store_timestamp_at
        # (log offset of a file's end, when its newest record was stored): asked at every step.
        self._newest: tuple[int, int | None] = (-1, None)

    def set(self, retention_ms: int) -> None:
        """Files go at this age from now on."""
        self._retention_ms = retention_ms

    def removable(self, safe_to: int) -> MappedFile | None:
        """The oldest file, if nothing needs it: the record after it lies below `safe_to`."""
        files = self._log.files
        if len(files) < 2:
            return None
        oldest = files[0]
        return oldest if oldest.end_offset() < safe_to else None

    def is_expired(self, file: MappedFile, time_ms: int | None) -> bool:
        """Whether every record of a file that has a successor is past its time."""
        newest_ms = self._newest_in(file)
        if time_ms is None or newest_ms is None:
            return False
        return time_ms - newest_ms >= self._retention_ms

    def _newest_in(self, file: MappedFile) -> int | None:
        """When the next file was begun; None if its first record cannot be read: keep the file."""
        end = file.end_offset()
        if self._newest[0] != end:
            self._newest = (end, self._store_timestamp_at(end))
        return self._newest[1]
