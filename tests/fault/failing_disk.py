"""A pretended disk of which one call fails, and which knows who still holds its files."""

import errno
import gc
from fnmatch import fnmatchcase

from aerobee.ports.disk import DiskFile
from aerobee.sim.disk import SimDisk
from aerobee.sim.faults import DiskCall, SimFaults

_SYNCS = ("sync", "sync_directory")


class OneFault(SimFaults):
    """The n-th call fails, or the n-th sync of what a pattern matches, folders too. Once.

    `hit` is the call, `before` the one before it.
    """

    def __init__(self, *, fail_at: int = 0, sync_of: str = "", code: int = errno.EIO) -> None:
        super().__init__()
        self.hit: DiskCall | None = None
        self.before: DiskCall | None = None
        self._sync_of = sync_of
        self._code = code
        self._syncs_left = fail_at if sync_of else 0
        if fail_at and not sync_of:
            self.fail_call(fail_at, code)

    def enter(self, name: str, path: str, *, is_sync: bool = False) -> None:
        if self._sync_of and name.endswith(_SYNCS) and fnmatchcase(path, self._sync_of):
            self._syncs_left -= 1
            if self._syncs_left == 0:
                self.fail_call(1, self._code)
        try:
            super().enter(name, path, is_sync=is_sync)
        except OSError:
            self.hit = self.calls[-1]
            self.before = self.calls[-2] if len(self.calls) > 1 else None
            raise


class WatchedDisk(SimDisk):
    """Knows which of its files are still mapped."""

    def __init__(self) -> None:
        super().__init__()
        self._handed_out: dict[str, bytearray] = {}

    def create(self, path: str, size: int) -> DiskFile:
        return self._watch(super().create(path, size))

    def create_sparse(self, path: str, size: int) -> DiskFile:
        return self._watch(super().create_sparse(path, size))

    def open(self, path: str) -> DiskFile:
        return self._watch(super().open(path))

    def open_sparse(self, path: str) -> DiskFile:
        return self._watch(super().open_sparse(path))

    def _watch(self, file: DiskFile) -> DiskFile:
        memory = file.view.obj
        assert isinstance(memory, bytearray)
        self._handed_out[file.path] = memory
        return file

    def mapped(self) -> list[str]:
        """The files of which somebody holds a view."""
        gc.collect()
        return [path for path, memory in self._handed_out.items() if _is_viewed(memory)]


def _is_viewed(memory: bytearray) -> bool:
    """A buffer of which there is a view cannot change its length."""
    try:
        memory.append(0)
    except BufferError:
        return True
    memory.pop()
    return False
