"""The real disk (Linux): files as shared mappings, made, synced, renamed and removed durably.

`mmap`, `msync`, `madvise` and `mincore` are called through ctypes, for three reasons:

- No file descriptor is kept. A store has thousands of consume queue files and `mmap.mmap` would
  hold a duplicate for each, out of the same limit (often 1024) that connections need.
- ctypes releases the GIL, `mmap.flush` of Python 3.11 does not: a sync would stop the event loop.
- `msync` goes through the mapping's own open file. A write-back error is reported once to each
  open file; a descriptor opened afresh for an `fdatasync` may be too late to hear of it. Both
  cost the same (p50 90 µs for 1 KiB on the build machine) and both end in the file system's fsync.

The mapping dies with the last slice of `view`, never before: `close` and `remove` only let go of
names and references. Nothing here ever truncates a file: touching a page past the end is SIGBUS.
Any thread may call; a `sync` or `warm` that is under way keeps its mapping alive by itself.
"""

import contextlib
import ctypes
import errno
import fcntl
import mmap
import os
import threading
import weakref

from aerobee.ports.disk import DiskFile, DiskSpace, FileLock

PAGE_BYTES = mmap.PAGESIZE

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mmap.restype = ctypes.c_void_p
_LIBC.mmap.argtypes = [
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int64,
]
_LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_LIBC.msync.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_LIBC.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_LIBC.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]

_LIBC.syncfs.argtypes = [ctypes.c_int]

_NEW_FILE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_MAP_FAILED = ctypes.c_void_p(-1).value
_MS_SYNC = 4
_MADV_POPULATE_WRITE = 23  # Linux 5.14; Python's mmap module does not know it
_WARM_STEP_BYTES = 4 << 20  # one call; small enough that a stop of the process is not held up

# fcntl locks belong to the process and vanish when *any* descriptor of the file is closed, so
# (device, inode) of what this process holds is kept here and looked at before the file is opened.
_held_locks: set[tuple[int, int]] = set()
_held_locks_guard = threading.Lock()


class MappedDiskFile:
    """One mapped file. I1: `_pages` is the only owner of the mapping; views refer to it."""

    __slots__ = ("_address", "_pages", "_path", "_size", "_view")

    def __init__(self, path: str, descriptor: int, size: int) -> None:
        address = _LIBC.mmap(
            None, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, descriptor, 0
        )
        if address is None or address == _MAP_FAILED:
            raise _last_error(f"cannot map {size} bytes", path)
        self._path = path
        self._size = size
        self._address: int = address
        self._pages: ctypes.Array[ctypes.c_ubyte] | None = (ctypes.c_ubyte * size).from_address(
            address
        )
        unmap = weakref.finalize(self._pages, _LIBC.munmap, address, size)
        unmap.atexit = False  # at exit views may still be in use; the kernel unmaps soon enough
        self._view: memoryview | None = memoryview(self._pages).cast("B")

    @property
    def path(self) -> str:
        return self._path

    @property
    def view(self) -> memoryview:
        if self._view is None:
            raise ValueError(f"{self._path} was closed")
        return self._view

    def write(self, position: int, data: memoryview) -> None:
        """By name, since no descriptor is kept: about 10 µs. What cannot be written to the disk
        later is told to the mapping's own open file, too: its next sync fails."""
        _check_range(position, position + len(data), self._size)
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            while data:
                written = os.pwrite(descriptor, data, position)
                data = data[written:]
                position += written
        finally:
            os.close(descriptor)

    def sync(self) -> None:
        pages = self._hold()
        result = _LIBC.msync(self._address, self._size, _MS_SYNC)
        del pages  # not to be kept mapped by the traceback of an error
        if result != 0:
            raise _last_error("cannot sync", self._path)

    def warm(self, start: int, end: int) -> None:
        """Fault the pages in for writing, so that the writer does not have to.

        Measured on ext4 (a VM, Linux 6.18), first write into each page of a reserved file:
        1.2 to 5.5 µs cold, 0.10 µs warmed; warming costs 1.1 to 1.4 µs a page on the calling
        thread, with the GIL released. It dirties the pages: once the kernel has written them back
        (or a sync has), the next write faults again, 1.9 µs; and the next sync has them all to
        write (of 1 KB: 4 ms, after warming 64 MiB 28 ms). So warm a little ahead of the writer,
        not a whole file. Where a page has no room on the disk this raises, instead of the
        SIGBUS that the write would be.
        """
        pages = self._hold()
        first, last = _page_range(start, end, self._size)
        result = 0
        while first < last and result == 0:
            step = min(_WARM_STEP_BYTES, last - first)
            result = _LIBC.madvise(self._address + first, step, _MADV_POPULATE_WRITE)
            if result != 0 and ctypes.get_errno() == errno.EINVAL:
                # An older kernel. Reading brings the page in; writing a byte back, even its own
                # value, could undo what the core writes there at the same moment.
                bytes(self.view[first : min(first + step, self._size) : PAGE_BYTES])
                result = 0
            first += step
        del pages
        if result != 0:
            raise _last_error("cannot make pages ready (disk full or failing)", self._path)

    def read_ahead(self, is_wanted: bool) -> None:
        """A device may be set to read 8 MiB ahead; the first touch of a sparse file of 6 MB then
        makes pages of all its holes: 1.5 ms and 6 MB, instead of 8 µs and 4 KiB."""
        pages = self._hold()
        advice = mmap.MADV_NORMAL if is_wanted else mmap.MADV_RANDOM
        _LIBC.madvise(self._address, self._size, advice)  # advice: may be refused
        del pages

    def reserve(self, start: int, end: int) -> None:
        """By name, since no descriptor is kept: about 10 µs."""
        _check_range(start, end, self._size)
        if start == end:
            return
        descriptor = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        try:
            _reserve(descriptor, start, end, self._path)
        finally:
            os.close(descriptor)

    def find_data(self, start: int) -> tuple[int, int]:
        """What is reserved and was never written counts as a hole, but not once it is in the page
        cache: the answer is right after a kill, too."""
        _check_range(start, self._size, self._size)
        if start == self._size:
            return start, start
        descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            begin = os.lseek(descriptor, start, os.SEEK_DATA)
            return begin, min(os.lseek(descriptor, begin, os.SEEK_HOLE), self._size)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise _explained(error, "cannot look for holes", self._path) from error
            return self._size, self._size
        finally:
            os.close(descriptor)

    def is_resident(self, start: int, end: int) -> bool:
        pages = self._hold()
        first, last = _page_range(start, end, self._size)
        if first == last:
            return True
        vector = ctypes.create_string_buffer((last - first) // PAGE_BYTES)
        result = _LIBC.mincore(self._address + first, last - first, vector)
        del pages
        if result != 0:
            raise _last_error("cannot ask which pages are in memory", self._path)
        return b"\0" not in vector.raw  # Linux sets bit 0 and no other

    def close(self) -> None:
        self._view = None
        self._pages = None

    def _hold(self) -> ctypes.Array[ctypes.c_ubyte]:
        """A reference for as long as the address is in use, whoever closes meanwhile."""
        pages = self._pages
        if pages is None:
            raise ValueError(f"{self._path} was closed")
        return pages


class HeldFileLock:
    """The lock lives as long as the descriptor is open. Nobody else in this process may open and
    close the same file meanwhile: that would drop the lock."""

    __slots__ = ("_descriptor", "_identity")

    def __init__(self, descriptor: int, identity: tuple[int, int]) -> None:
        self._descriptor = descriptor
        self._identity = identity

    def release(self) -> None:
        with _held_locks_guard:
            if self._descriptor >= 0:
                os.close(self._descriptor)
                self._descriptor = -1
                _held_locks.discard(self._identity)


class MappedDisk:
    """`ports.Disk` on the file system. It has no state of its own."""

    def create(self, path: str, size: int) -> DiskFile:
        """Missing parent folders are made durably: only the file's own name is left to sync."""
        try:
            descriptor = os.open(path, _NEW_FILE, 0o644)
        except FileNotFoundError:
            self.make_directory(os.path.dirname(path))
            descriptor = os.open(path, _NEW_FILE, 0o644)
        return _made(path, descriptor, size, is_sparse=False)

    def create_sparse(self, path: str, size: int) -> DiskFile:
        """A queue of a new topic makes two folders: synced here, they would cost 10 ms and more."""
        try:
            descriptor = os.open(path, _NEW_FILE, 0o644)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            descriptor = os.open(path, _NEW_FILE, 0o644)
        return _made(path, descriptor, size, is_sparse=True)

    def open(self, path: str) -> DiskFile:
        """A file with holes (RocketMQ makes them) gets its room now: a write into a hole of a full
        disk would be a SIGBUS."""
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            status = os.fstat(descriptor)
            if status.st_blocks * 512 < status.st_size:
                _reserve(descriptor, 0, status.st_size, path)
            return MappedDiskFile(path, descriptor, status.st_size)
        finally:
            os.close(descriptor)

    def open_sparse(self, path: str) -> DiskFile:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            file = MappedDiskFile(path, descriptor, os.fstat(descriptor).st_size)
            file.read_ahead(False)
            return file
        finally:
            os.close(descriptor)

    def size(self, path: str) -> int:
        return os.stat(path).st_size

    def exists(self, path: str) -> bool:
        """Only "no such file" is a no: any other failure is raised, never taken for absence."""
        try:
            os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def list_directory(self, path: str) -> list[str]:
        try:
            return sorted(os.listdir(path))
        except FileNotFoundError:
            return []

    def make_directory(self, path: str) -> None:
        if os.path.isdir(path):
            return
        parent = os.path.dirname(path.rstrip("/")) or "."
        self.make_directory(parent)
        try:
            os.mkdir(path)
        except FileExistsError:
            if not os.path.isdir(path):
                raise
        self.sync_directory(parent)

    def sync_directory(self, path: str) -> None:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        except OSError as error:
            raise _explained(error, "cannot sync folder", path) from error
        finally:
            os.close(descriptor)

    def sync_all(self, path: str) -> None:
        """Since Linux 5.8 `syncfs` tells of every write that failed and was not told of yet."""
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            if _LIBC.syncfs(descriptor) != 0:
                raise _last_error("cannot sync the file system", path)
        finally:
            os.close(descriptor)

    def read(self, path: str) -> bytes:
        with open(path, "rb") as file:
            return file.read()

    def replace(self, path: str, content: bytes) -> None:
        parent = os.path.dirname(path) or "."
        self.make_directory(parent)
        draft = f"{path}.tmp"
        try:
            with open(draft, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.rename(draft, path)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(draft)
            raise _explained(error, "cannot replace", path) from error
        self.sync_directory(parent)

    def rename(self, source: str, target: str) -> None:
        os.rename(source, target)

    def remove(self, path: str) -> None:
        os.unlink(path)

    def remove_directory(self, path: str) -> None:
        os.rmdir(path)

    def drop_cache(self, path: str) -> None:
        """Call it before the file is mapped: the kernel keeps pages that are mapped.

        What can still be written is written first, because dirty pages are not dropped. If that
        fails the bytes are not on the disk, and after the drop a read says so: no error here.
        """
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            with contextlib.suppress(OSError):
                os.fdatasync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)

    def space(self, path: str) -> DiskSpace:
        """As `df` and RocketMQ reckon: what is set aside for the system counts neither as free nor
        as used. Taken for used, it would have messages deleted from a disk that is mostly empty."""
        found = os.statvfs(path)
        available = found.f_blocks - found.f_bfree + found.f_bavail
        return DiskSpace(available * found.f_frsize, found.f_bavail * found.f_frsize)

    def lock(self, path: str) -> FileLock:
        """Byte 0 of the file, as Java's FileChannel.lock(0, 1): Apache's broker and ours exclude
        each other. The file then reads `lock`, as there."""
        self.make_directory(os.path.dirname(path) or ".")
        with _held_locks_guard:
            try:
                found = os.stat(path)
            except FileNotFoundError:
                pass
            else:
                if (found.st_dev, found.st_ino) in _held_locks:
                    raise BlockingIOError(errno.EAGAIN, "this process holds the lock", path)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 0, os.SEEK_SET)
                os.pwrite(descriptor, b"lock", 0)
            except OSError as error:
                os.close(descriptor)
                # EACCES or EAGAIN: POSIX leaves open which one a taken lock is.
                if error.errno in (errno.EACCES, errno.EAGAIN):
                    text = "another process holds the lock"
                    raise BlockingIOError(errno.EAGAIN, text, path) from error
                raise _explained(error, "cannot lock", path) from error
            found = os.fstat(descriptor)
            identity = (found.st_dev, found.st_ino)
            _held_locks.add(identity)
            return HeldFileLock(descriptor, identity)


def _made(path: str, descriptor: int, size: int, *, is_sparse: bool) -> MappedDiskFile:
    """A new file, mapped; its name goes again if that fails. The descriptor is closed."""
    try:
        if is_sparse:
            os.truncate(descriptor, size)
        else:
            _reserve(descriptor, 0, size, path)
        file = MappedDiskFile(path, descriptor, size)
        if is_sparse:
            file.read_ahead(False)
        return file
    except BaseException:
        os.unlink(path)
        raise
    finally:
        os.close(descriptor)


def _reserve(descriptor: int, start: int, end: int, path: str) -> None:
    try:
        os.posix_fallocate(descriptor, start, end - start)
    except OSError as error:
        raise _explained(error, f"cannot reserve {end - start} bytes", path) from error


def _check_range(start: int, end: int, size: int) -> None:
    if not 0 <= start <= end <= size:
        raise ValueError(f"[{start}, {end}) is not inside a file of {size} bytes")


def _page_range(start: int, end: int, size: int) -> tuple[int, int]:
    """[start, end) of a file, widened to whole pages. The last page may reach past the end."""
    _check_range(start, end, size)
    if start == end:
        return start, start
    return start - start % PAGE_BYTES, -(-end // PAGE_BYTES) * PAGE_BYTES


def _last_error(what: str, path: str) -> OSError:
    """The C library's last error on this thread. `OSError` picks the subclass by number."""
    code = ctypes.get_errno()
    return OSError(code, f"{what}: {os.strerror(code)}", path)


def _explained(error: OSError, what: str, path: str) -> OSError:
    """The same error with what was tried and on which file."""
    return OSError(error.errno, f"{what}: {error.strerror}", path)
