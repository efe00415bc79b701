"""The commit log's files, with the next one made ahead of need.

Making a file means: create it with its room reserved, sync it, sync its folder, and warm its first
pages. All of that blocks, so a disk thread does it while the current file fills; a roll then only
takes what lies ready. If nothing lies ready (tiny files, a slow disk), the roll waits.

The order is what makes the first acknowledgement from a new file true: its name is durable before
any record is in it.
"""

from aerobee.errors import DiskFailed, DiskFull, StorageError
from aerobee.ports.disk import Disk, DiskFile
from aerobee.ports.disk_worker import DiskWorker, Lane
from aerobee.storage.defects import Defect, Defects
from aerobee.storage.files.file_sequence import FileSequence
from aerobee.storage.files.mapped_file import MappedFile

_OUT_OF_SPACE = frozenset({28, 122})  # ENOSPC, EDQUOT


class LogFiles:
    """The file sequence of the commit log, and the file after its last."""

    def __init__(
        self, sequence: FileSequence, worker: DiskWorker, warm_bytes: int, defects: Defects
    ) -> None:
        self.sequence = sequence
        self._worker = worker
        self._warm_bytes = warm_bytes
        self._defects = defects
        self._making: _MakeFile | None = None

    def prepare_next(self) -> None:
        """Have the next file made, unless it is made or being made."""
        if self._making is None:
            sequence = self.sequence
            self._making = _MakeFile(
                sequence.disk,
                sequence.directory,
                sequence.path_of(sequence.end_offset()),
                sequence.file_size,
                self._warm_bytes,
                Defect.NO_DIRECTORY_SYNC_ON_ROLL not in self._defects,
            )
            self._worker.submit(Lane.BACKGROUND, self._making)

    def advance(self) -> MappedFile:
        """The next file, now the last of the sequence, durable by name."""
        self.prepare_next()
        making = self._making
        assert making is not None
        if not making.is_done:
            self._worker.wait(making)
        self._making = None
        if making.error is not None:
            raise _explain(making.error)
        assert making.file is not None
        file = MappedFile(making.file, self.sequence.end_offset())
        self.sequence.files.append(file)
        return file

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
        self.is_done = False

    def run(self) -> None:
        file = self._disk.create(self._path, self._size)
        try:
            file.sync()
            if self._sync_directory:
                self._disk.sync_directory(self._directory)
            file.warm(0, min(self._warm_bytes, self._size))
        except OSError:
            # Half-made files must not be found by the next start.
            file.close()
            self._disk.remove(self._path)
            raise
        self.file = file

    def done(self, error: BaseException | None) -> None:
        self.error = error
        self.is_done = True


def _explain(error: BaseException) -> StorageError:
    if isinstance(error, OSError) and error.errno in _OUT_OF_SPACE:
        return DiskFull(
            f"no room for the next commit log file: {error}",
            hint="free space on the store's disk or shorten the retention; sends go on by themselves",
        )
    return DiskFailed(f"the next commit log file could not be made: {error}")
