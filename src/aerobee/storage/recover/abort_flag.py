"""`abort` and `lock`: files that tell whether a process writes the store.

`abort` is there while one does. Found at a start, it says that the last stop was not clean.
RocketMQ writes its process id into it; we write our name, so that a start can tell whose records
lie at the end of the log: ours all carry the record CRC, RocketMQ's need not.

`lock` is locked while one does, so that no two processes do.
"""

from enum import Enum

from aerobee.errors import StoreLocked
from aerobee.ports.disk import Disk, FileLock

_OURS = b"aerobee"


class LastStop(Enum):
    CLEAN = "clean"
    OURS_UNCLEAN = "unclean, of this program"
    OTHERS_UNCLEAN = "unclean, of another program"


class AbortFlag:
    """The flag of one store directory."""

    def __init__(self, disk: Disk, root: str) -> None:
        self._disk = disk
        self._root = root
        self._path = f"{root}/abort"

    def last_stop(self) -> LastStop:
        if not self._disk.exists(self._path):
            return LastStop.CLEAN
        if self._disk.read(self._path).startswith(_OURS):
            return LastStop.OURS_UNCLEAN
        return LastStop.OTHERS_UNCLEAN

    def set(self) -> None:
        self._disk.replace(self._path, _OURS)

    def clear(self) -> None:
        self._disk.remove(self._path)
        self._disk.sync_directory(self._root)


def take_lock(disk: Disk, root: str) -> FileLock:
    """The right to write the store. StoreLocked: another process has it."""
    try:
        return disk.lock(f"{root}/lock")
    except BlockingIOError as error:
        raise StoreLocked(
            f"another process has the store {root} open",
            hint="stop it, or give this one a directory of its own",
        ) from error
