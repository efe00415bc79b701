"""A disk in memory that can lose power: `ports.Disk` for crash and fault tests.

The store writes through views and raw pointers, so nothing intercepts a write: `observe` compares
every file with how it last looked (`sector_file`). It is called by itself before every sync and
every change of a name; call it after each step of a story to tell its writes apart.

    kill()            the process dies: all that was in memory is still there, unsynced as before
    power_cut()       the machine dies: only what was synced is left, or what a choice lets through
    crash_states()    the disks that a power cut now could leave (`crash_choice` says which)
    torn_states()     the last write of each file cut short at every byte

Each gives new disks, independent of this one, without locks and without faults; `origin` says
what survived. `faults` makes calls fail and logs them (`faults`).

Removing a file leaves its bytes to whoever holds a view of them.
"""

import contextlib
import errno
import random
from collections.abc import Iterator

from aerobee.ports.disk import DiskFile, DiskSpace, FileLock
from aerobee.sim.crash_choice import CrashChoice, crash_choices, effective_writes
from aerobee.sim.faults import SimFaults
from aerobee.sim.names import NameSpace, folder_of
from aerobee.sim.sector_file import SECTOR_BYTES, SectorFile

_NOTHING_SURVIVES = CrashChoice("nothing unsynced", frozenset(), frozenset())


class SimDiskFile:
    """A handle. Its view is the file's cache itself."""

    __slots__ = ("_disk", "_file", "_path", "_view")

    def __init__(self, disk: "SimDisk", path: str, file: SectorFile) -> None:
        if file.size == 0:
            raise OSError(errno.EINVAL, "cannot map 0 bytes: Invalid argument", path)
        self._disk = disk
        self._path = path
        self._file = file
        self._view: memoryview | None = memoryview(file.map())

    @property
    def path(self) -> str:
        return self._path

    @property
    def view(self) -> memoryview:
        if self._view is None:
            raise ValueError(f"{self._path} was closed")
        return self._view

    def write(self, position: int, data: memoryview) -> None:
        end = position + len(data)
        self._check_range(position, end)
        self._disk._write(self._file, position, data, self._path)

    def sync(self) -> None:
        self._check_open()
        self._disk._sync(self._file, "sync", self._path)

    def warm(self, start: int, end: int) -> None:
        self._check_range(start, end)
        self._disk.faults.enter("warm", self._path)

    def read_ahead(self, is_wanted: bool) -> None:
        self._check_open()
        self._disk.faults.enter("read_ahead", self._path)

    def reserve(self, start: int, end: int) -> None:
        self._check_range(start, end)
        self._disk._reserve(self._file, start, end, self._path)

    def find_data(self, start: int) -> tuple[int, int]:
        """The sector of the next byte that is not zero."""
        self._check_range(start, self._file.size)
        self._disk.faults.enter("find_data", self._path)
        view = self.view
        for begin in range(start - start % SECTOR_BYTES, self._file.size, SECTOR_BYTES):
            end = min(begin + SECTOR_BYTES, self._file.size)
            if any(view[max(begin, start) : end]):
                return max(begin, start), end
        return self._file.size, self._file.size

    def is_resident(self, start: int, end: int) -> bool:
        self._check_range(start, end)
        self._disk.faults.enter("is_resident", self._path)
        return start == end or not self._disk.faults.is_cold(self._path)

    def close(self) -> None:
        self._view = None

    def _check_open(self) -> None:
        if self._view is None:
            raise ValueError(f"{self._path} was closed")

    def _check_range(self, start: int, end: int) -> None:
        self._check_open()
        if not 0 <= start <= end <= self._file.size:
            raise ValueError(f"[{start}, {end}) is not inside a file of {self._file.size} bytes")


class SimFileLock:
    __slots__ = ("_locks", "_path")

    def __init__(self, locks: "dict[str, SimFileLock]", path: str) -> None:
        self._locks = locks
        self._path = path

    def release(self) -> None:
        if self._locks.get(self._path) is self:
            del self._locks[self._path]


class SimDisk:
    """I1: `_moment` is above every moment in use, so events of files and names have one order."""

    def __init__(self, *, capacity_bytes: int = 1 << 40, origin: str = "new") -> None:
        self.capacity_bytes = capacity_bytes
        self.origin = origin
        self.faults = SimFaults()
        self._names = NameSpace()
        self._locks: dict[str, SimFileLock] = {}
        self._moment = 0

    # The port.

    def create(self, path: str, size: int) -> DiskFile:
        self._enter("create", path)
        self._require_absent(path)
        self._require_room(path, size)
        self._names.make_folder(folder_of(path))
        return self._create(path, size, is_sparse=False)

    def create_sparse(self, path: str, size: int) -> DiskFile:
        self._enter("create_sparse", path)
        self._require_absent(path)
        self._moment = self._names.make_folder_unsynced(folder_of(path), self._moment)
        return self._create(path, size, is_sparse=True)

    def _create(self, path: str, size: int, *, is_sparse: bool) -> DiskFile:
        if size <= 0:
            raise OSError(errno.EINVAL, f"cannot reserve {size} bytes", path)
        return SimDiskFile(self, path, self._link_new(path, size, is_sparse=is_sparse))

    def open(self, path: str) -> DiskFile:
        self.faults.enter("open", path)
        file = self._names.find(path)
        self._fill_holes(file, 0, file.size, path)
        return SimDiskFile(self, path, file)

    def open_sparse(self, path: str) -> DiskFile:
        self.faults.enter("open_sparse", path)
        return SimDiskFile(self, path, self._names.find(path))

    def size(self, path: str) -> int:
        self.faults.enter("size", path)
        return self._names.find(path).size

    def exists(self, path: str) -> bool:
        self.faults.enter("exists", path)
        return path in self._names.names or self._names.is_folder(path)

    def list_directory(self, path: str) -> list[str]:
        self.faults.enter("list_directory", path)
        if path in self._names.names:
            raise NotADirectoryError(errno.ENOTDIR, "not a folder", path)
        return self._names.children(path)

    def make_directory(self, path: str) -> None:
        self._enter("make_directory", path)
        self._names.make_folder(path)

    def sync_directory(self, path: str) -> None:
        self._enter("sync_directory", path)
        self._sync_folder(path)

    def sync_all(self, path: str) -> None:
        self._enter("sync_all", path)
        for file in self._names.files():
            self._sync(file, "sync_all.file", path)
        self._names.sync_all()

    def read(self, path: str) -> bytes:
        self.faults.enter("read", path)
        return self._names.find(path).content()

    def replace(self, path: str, content: bytes) -> None:
        """Four calls in the log, since each of its steps can fail or be the last."""
        self._enter("replace.write", path)
        if self._names.is_folder(path):
            raise IsADirectoryError(errno.EISDIR, "is a folder", path)
        folder = folder_of(path)
        draft = f"{path}.tmp"
        self._require_room(path, len(content))
        self._names.make_folder(folder)
        if draft in self._names.names:
            self._names.unlink(draft, self._tick())
        file = self._link_new(draft, len(content))
        file.map()[:] = content
        try:
            self._sync(file, "replace.sync", path)
            self._enter("replace.rename", path)
            self._names.rename(draft, path, self._tick(2))
        except OSError:
            with contextlib.suppress(FileNotFoundError):
                self._names.unlink(draft, self._tick())
            raise
        self._enter("replace.sync_directory", path)
        self._sync_folder(folder)

    def rename(self, source: str, target: str) -> None:
        self._enter("rename", source)
        self._names.rename(source, target, self._tick(2))

    def remove(self, path: str) -> None:
        self._enter("remove", path)
        self._names.unlink(path, self._tick())

    def remove_directory(self, path: str) -> None:
        self._enter("remove_directory", path)
        self._names.remove_folder(path, self._tick())

    def drop_cache(self, path: str) -> None:
        self._enter("drop_cache", path)
        self._names.find(path).drop_cache()

    def space(self, path: str) -> DiskSpace:
        self.faults.enter("space", path)
        if not self._names.is_folder(path):
            self._names.find(path)
        return DiskSpace(self.capacity_bytes, self.capacity_bytes - self.used_bytes())

    def lock(self, path: str) -> FileLock:
        self._enter("lock", path)
        if path in self._locks:
            raise BlockingIOError(errno.EAGAIN, "this process holds the lock", path)
        if path not in self._names.names:
            self._names.make_folder(folder_of(path))
            self._link_new(path, len(b"lock")).map()[:] = b"lock"
        lock = SimFileLock(self._locks, path)
        self._locks[path] = lock
        return lock

    # Looking and crashing.

    def files(self) -> dict[str, bytes]:
        """What a program would read in every file now, by path. Counts as no call."""
        return {path: file.content() for path, file in self._names.names.items()}

    def used_bytes(self) -> int:
        """How much of it is taken. Counts as no call."""
        return sum(file.room_bytes() for file in self._names.names.values())

    def observe(self) -> None:
        """Find the writes since the last look, file by file in order of their names' age."""
        if self.faults.is_off:
            return  # whatever an exception handler did after the cut never happened
        for file in self._names.files():
            if file.cache != file.seen:
                self._moment = file.observe(self._moment)

    def kill(self) -> "SimDisk":
        self.observe()
        twins: dict[int, SectorFile] = {}

        def twin_of(file: SectorFile) -> SectorFile:
            if id(file) not in twins:
                twins[id(file)] = file.copy()
            return twins[id(file)]

        survivor = SimDisk(capacity_bytes=self.capacity_bytes, origin="killed")
        survivor._names = self._names.copy(twin_of)
        survivor._moment = self._moment
        return survivor

    def power_cut(self, choice: CrashChoice = _NOTHING_SURVIVES) -> "SimDisk":
        self.observe()
        names, folders = self._names.after_cut(choice.names)
        images: dict[int, SectorFile] = {}
        for file in names.values():
            if id(file) not in images:
                short = file.size // 2 // SECTOR_BYTES * SECTOR_BYTES if choice.is_short else 0
                image = file.image_after(effective_writes(file, choice.writes), short)
                images[id(file)] = SectorFile(len(image), image, [])
                if file.is_sparse:
                    images[id(file)].make_sparse()
        return self._survivor(choice.label, names, folders, images)

    def unsynced(self) -> tuple[list[int], list[int]]:
        """Moments of the sector writes and of the name changes that a power cut now may take, for
        a `CrashChoice` of one's own."""
        self.observe()
        writes = sorted(write.moment for file in self._names.files() for write in file.writes)
        return writes, [change.moment for change in self._names.pending()]

    def crash_states(
        self, random_count: int = 32, seed: int = 0, share: float = 1.0
    ) -> "Iterator[SimDisk]":
        """One at a time, so that a test may stop at the first that breaks it. With a `share` below
        1 only so much of them, drawn by the seed; not drawn costs next to nothing."""
        self.observe()
        files = self._names.files()
        writes = sorted(write for file in files for write in file.writes)
        folders = self._names.pending_by_folder()
        tried: set[tuple[object, ...]] = set()
        generator = random.Random(seed)
        for choice in crash_choices(writes, folders, random_count, seed):
            if share < 1.0 and generator.random() >= share:
                continue
            key = self._outcome(choice)
            if key not in tried:
                tried.add(key)
                yield self.power_cut(choice)

    def torn_states(self, path: str = "") -> "Iterator[SimDisk]":
        """Of each file (or of one) that was written since its last sync: all of its last write up
        to a byte, nothing of it from there on; everything else survives."""
        self.observe()
        everything = CrashChoice(
            "all",
            frozenset(write.moment for file in self._names.files() for write in file.writes),
            frozenset(change.moment for change in self._names.pending()),
        )
        for name, file in list(self._names.names.items()):
            change = file.last_change
            if change is None or path not in ("", name):
                continue
            for count in range(1, len(change.after)):
                if change.after[count - 1] == change.before[count - 1]:
                    continue  # the same bytes as the tear before
                torn = self.power_cut(everything)
                torn.origin = f"last write of {name} torn at byte {change.start + count}"
                file_torn = torn._names.names[name]
                whole = file_torn.disk
                file_torn.disk = b"".join(
                    (
                        whole[: change.start],
                        change.after[:count],
                        change.before[count:],
                        whole[change.start + len(change.before) :],
                    )
                )
                if file_torn.disk != whole:
                    yield torn

    # Inside.

    def _enter(self, name: str, path: str) -> None:
        """For calls that order what came before them."""
        self.observe()
        self.faults.enter(name, path)

    def _tick(self, count: int = 1) -> int:
        self._moment += count
        return self._moment - count

    def _link_new(self, path: str, size: int, *, is_sparse: bool = False) -> SectorFile:
        file = SectorFile.create(size, self._tick(), is_sparse=is_sparse)
        self._names.link(path, file, self._tick())
        return file

    def _sync(self, file: SectorFile, name: str, path: str) -> None:
        self.observe()
        try:
            self.faults.enter(name, path, is_sync=True)
        except OSError:
            file.lose_writes()
            raise
        file.sync()

    def _sync_folder(self, path: str) -> None:
        if not self._names.is_folder(path):
            raise FileNotFoundError(errno.ENOENT, "no such folder", path)
        self._names.sync_folder(path)

    def _require_absent(self, path: str) -> None:
        if path in self._names.names or self._names.is_folder(path):
            raise FileExistsError(errno.EEXIST, "exists", path)

    def _require_room(self, path: str, size: int) -> None:
        if self.used_bytes() + size > self.capacity_bytes:
            raise OSError(errno.ENOSPC, f"cannot reserve {size} bytes: disk full", path)

    def _write(self, file: SectorFile, position: int, data: memoryview, path: str) -> None:
        self._enter("write", path)
        self._names.find(path)
        file.map()[position : position + len(data)] = data

    def _reserve(self, file: SectorFile, start: int, end: int, path: str) -> None:
        self._enter("reserve", path)
        self._names.find(path)
        self._fill_holes(file, start, end, path)

    def _fill_holes(self, file: SectorFile, start: int, end: int, path: str) -> None:
        holes = file.holes_in(start, end)
        if holes:
            self._require_room(path, file.bytes_of(holes))
            file.holes -= holes

    def _outcome(self, choice: CrashChoice) -> tuple[object, ...]:
        """What tells the disk of one choice from that of another."""
        names, folders = self._names.after_cut(choice.names)
        moments: set[int] = set()
        has_short = False
        for file in names.values():
            shown = effective_writes(file, choice.writes)
            moments.update(write.moment for write in shown)
            has_short = has_short or (choice.is_short and not shown and file.has_new_length())
        links = frozenset((path, id(file)) for path, file in names.items())
        return links, frozenset(folders), frozenset(moments), has_short

    def _survivor(
        self,
        label: str,
        names: dict[str, SectorFile],
        folders: set[str],
        images: dict[int, SectorFile],
    ) -> "SimDisk":
        survivor = SimDisk(capacity_bytes=self.capacity_bytes, origin=label)
        survivor._names = NameSpace(
            {path: images[id(file)] for path, file in names.items()}, folders
        )
        return survivor
