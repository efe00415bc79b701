"""The commit log's files, with the next one made ahead of need.

Making a file means: create it with its room reserved, sync it, sync its folder, and warm its first
pages. All of that blocks, so a disk thread does it while the current file fills; a roll then only
takes what lies ready. If nothing lies ready (tiny files, a slow disk), the roll waits.

The order is what makes the first acknowledgement from a new file true: its name is durable before
any record is in it.

A file that cannot be made for lack of room (or of file handles) is tried again every second; the
append that needed it is refused, and so are those that follow until it is there. Any other failure
is for good: when a sync has failed, the next one that says OK proves nothing.
"""

import contextlib

from aerobee.errors import DiskFailed, DiskFull, StorageError, StoreBusy
from aerobee.ports.disk import Disk, DiskFile
from aerobee.ports.disk_worker import DiskWorker, Lane
from aerobee.storage.defects import Defect, Defects
from aerobee.storage.files.file_sequence import FileSequence
from aerobee.storage.files.lack_of_room import is_out_of_handles, is_out_of_room
from aerobee.storage.files.mapped_file import MappedFile

RETRY_INTERVAL_MS = 1000


class PagesAhead:
    """Has the pages at hand that the next appends go to: a writer that has to fault them in itself
    pays several times as much, on the thread that everybody waits for. Large appends want none:
    what is there before them was cleared for nothing (`write_through`)."""

    def __init__(self, worker: DiskWorker, ahead_bytes: int) -> None:
        self._worker = worker
        self._ahead_bytes = ahead_bytes
        self._file: MappedFile | None = None
        self._is_left_alone = False
        self._warmed_to = 0
        self._is_warming = False

    def step(self, file: MappedFile, position: int, is_large: bool) -> None:
        """The next append goes to this position of this file, and will be large or not."""
        if file is not self._file:
            self._leave_alone(False)
            self._file = file
            # So much was warmed when the file was made or opened.
            self._warmed_to = position + self._ahead_bytes
        self._leave_alone(is_large)
        if not is_large:
            self._warm(file, position)

    def _leave_alone(self, is_wanted: bool) -> None:
        """Whoever reads the last record would have the system read on behind it."""
        if self._file is not None and is_wanted != self._is_left_alone:
            self._is_left_alone = is_wanted
            with contextlib.suppress(OSError):  # advice, no more
                self._file.disk_file.read_ahead(not is_wanted)

    def _warm(self, file: MappedFile, position: int) -> None:
        if self._is_warming or self._warmed_to - position > self._ahead_bytes // 2:
            return
        start = max(self._warmed_to, position)
        end = min(start + self._ahead_bytes, file.size)
        if start < end:
            self._is_warming = True
            self._worker.submit(Lane.WARM, _Warm(self, file.disk_file, start, end))

    def ended(self, end: int) -> None:
        self._warmed_to = end
        self._is_warming = False


class _Warm:
    """Disk job: bring pages in. What cannot be warmed is written to all the same."""

    def __init__(self, owner: PagesAhead, file: DiskFile, start: int, end: int) -> None:
        self._owner = owner
        self._file = file
        self._start = start
        self._end = end

    def run(self) -> None:
        self._file.warm(self._start, self._end)

    def done(self, error: BaseException | None) -> None:
        self._owner.ended(self._end)


class LogFiles:
    """The file sequence of the commit log, and the file after its last.

    I1. A try that failed stays in `_making` until it is time for another: nobody else tries.
    """

    def __init__(
        self, sequence: FileSequence, worker: DiskWorker, warm_bytes: int, defects: Defects
    ) -> None:
        self.sequence = sequence
        self._worker = worker
        self._warm_bytes = warm_bytes
        self._defects = defects
        self._pages_ahead = PagesAhead(worker, warm_bytes)
        self._making: _MakeFile | None = None
        # When a try that failed is followed by another.
        self._retry_ms: int | None = None
        # The try that failed an append, until one does not: the next may be under way.
        self._missed: _MakeFile | None = None

    def make_ready(self, end_offset: int, is_large: bool) -> None:
        """Have the next appends find what they need; the last one was large or not."""
        file = self.sequence.files[-1]
        self._pages_ahead.step(file, end_offset - file.first_offset, is_large)

    def step(self, is_wanted: bool, monotonic_ms: int) -> None:
        """Have the next file made if it is wanted, or was missed; try again if it is time."""
        making = self._making
        if making is not None and making.is_done:
            if making.error is None:
                self._missed = None
            elif not isinstance(_explain(making), DiskFailed):
                self._wait_or_forget(monotonic_ms)
        if is_wanted or self._missed is not None:
            self.prepare_next()

    def _wait_or_forget(self, monotonic_ms: int) -> None:
        """Forget a failed try once it is time for another."""
        if self._retry_ms is None:
            self._retry_ms = monotonic_ms + RETRY_INTERVAL_MS
        elif monotonic_ms >= self._retry_ms:
            self._retry_ms = None
            self._making = None

    def refusal(self) -> StorageError | None:
        """Why appends are refused: no room for a file that one needed, or a failed disk."""
        error = None if self._making is None else _explain(self._making)
        if isinstance(error, DiskFailed):
            return error  # whatever was missed before: it is not tried again
        return None if self._missed is None else _explain(self._missed)

    def prepare_next(self) -> None:
        """Have the next file made, unless it is made or being made."""
        if self._making is None:
            self._making = self._make_at(self.sequence.end_offset())
            self._worker.submit(Lane.BACKGROUND, self._making)

    def _make_at(self, first_offset: int) -> "_MakeFile":
        """The job that makes the file of an offset."""
        sequence = self.sequence
        return _MakeFile(
            sequence.disk,
            sequence.directory,
            sequence.path_of(first_offset),
            sequence.file_size,
            self._warm_bytes,
            Defect.NO_DIRECTORY_SYNC_ON_ROLL not in self._defects,
        )

    def advance(self) -> MappedFile:
        """The next file, now the last of the sequence, durable by name."""
        self.prepare_next()
        making = self._making
        assert making is not None
        if not making.is_done:
            # An append is under way: nobody else's may begin before it is over.
            self._worker.wait_alone(making)
        error = _explain(making)
        if error is not None:
            self._missed = making
            raise error
        self._making = self._missed = None
        assert making.file is not None
        file = MappedFile(making.file, self.sequence.end_offset())
        self.sequence.files.append(file)
        return file

    def find_shortage(self, end_offset: int) -> StorageError | None:
        """Why there is no file for appends up to here; None: there is, or the next one is ready.
        Blocks while that is made."""
        if end_offset <= self.sequence.end_offset():
            return None
        self.prepare_next()
        making = self._making
        assert making is not None
        if not making.is_done:
            self._worker.wait_alone(making)
        error = _explain(making)
        if error is not None:
            self._missed = making
        return error

    def begin_at(self, first_offset: int) -> None:
        """Have a log without records begin elsewhere. Blocks.

        The old file is gone for good before the new one is made: with both, the files between them
        would be missing. DiskFailed: the log has no file, which only a start can put right.
        """
        making = self._make_at(first_offset)
        before = list(self.sequence.files)
        try:
            self.discard_next()
            self.sequence.remove_after(0)
            self.sequence.disk.sync_directory(self.sequence.directory)
            making.run()
        except OSError as error:
            making.is_sync_failed = True
            making.done(error)
            self._making = making
            self.sequence.files[:] = before  # without a name perhaps, but nobody misses a file
            raise DiskFailed(
                f"the first commit log file could not be made: {error}",
                hint="the store takes no more writes; check the disk, then restart",
            ) from error
        assert making.file is not None
        self.sequence.files.append(MappedFile(making.file, first_offset))

    def discard_next(self) -> None:
        """Remove a file that was made ahead and is not needed any more."""
        making = self._making
        self._making = None
        if making is None:
            return
        if not making.is_done:
            self._worker.wait(making)
        if making.file is not None:
            making.file.close()
            self.sequence.disk.remove(making.file.path)
            self.sequence.disk.sync_directory(self.sequence.directory)

    def close(self) -> None:
        self.sequence.close()


class _MakeFile:
    """Disk job: a new log file, durable by name before anything is in it."""

    def __init__(
        self,
        disk: Disk,
        directory: str,
        path: str,
        size: int,
        warm_bytes: int,
        sync_directory: bool,
    ) -> None:
        self._disk = disk
        self._directory = directory
        self._path = path
        self._size = size
        self._warm_bytes = warm_bytes
        self._sync_directory = sync_directory
        self.file: DiskFile | None = None
        self.error: BaseException | None = None
        self.is_sync_failed = False
        self.is_done = False

    def run(self) -> None:
        file = self._disk.create(self._path, self._size)
        try:
            self.is_sync_failed = True
            file.sync()
            if self._sync_directory:
                self._disk.sync_directory(self._directory)
            self.is_sync_failed = False
            file.warm(0, min(self._warm_bytes, self._size))
        except OSError:
            # Half-made files must not be found by the next start.
            file.close()
            self._disk.remove(self._path)
            raise
        self.file = file

    def done(self, error: BaseException | None) -> None:
        if error is not None:
            error.__traceback__ = None  # it would keep the file mapped
        self.error = error
        self.is_done = True


def _explain(making: _MakeFile) -> StorageError | None:
    """What a try came to, as a new error: one that is raised again and again keeps every trace."""
    error = making.error
    if error is None:
        return None
    if not making.is_sync_failed:
        if is_out_of_room(error):
            return DiskFull(
                f"no room for the next commit log file: {error}",
                hint="free space on the store's disk or shorten the retention; "
                "appends go on by themselves",
            )
        if is_out_of_handles(error):
            return StoreBusy(f"the next commit log file could not be made: {error}")
    return DiskFailed(
        f"the next commit log file could not be made: {error}",
        hint="the store takes no more writes; check the disk, then restart",
    )
