"""Disk and DiskFile: the disk, as the storage engine uses it.

Paths are plain strings with forward slashes. Every method may raise OSError; the store decides
what that means. Nothing is durable until it is synced: a file's bytes by `DiskFile.sync`, its name
by `Disk.sync_directory` of its folder.

Space is reserved first: a write through a mapping to a full disk kills the process. A file is
created and opened with space for all of it, or sparse: then the writer reserves space before each
write.

`DiskFile.sync`, `warm` and `Disk.create`, `remove`, `sync_directory`, `sync_all`, `replace` may
block and may be called from a disk thread (`ports.disk_worker`); they touch no state of the core.
"""

from typing import NamedTuple, Protocol


class DiskSpace(NamedTuple):
    """The size of a disk for ordinary users, and the part that is free."""

    total_bytes: int
    free_bytes: int


class DiskFile(Protocol):
    """One file of fixed size, mapped for reading and writing.

    The mapping lives as long as `view` or any slice of it is referenced, whatever happens to the
    name or to this object: a reader's slice is never unmapped under it.
    """

    @property
    def path(self) -> str: ...

    @property
    def view(self) -> memoryview: ...

    def write(self, position: int, data: memoryview) -> None:
        """Write bytes where space is reserved, as through `view`; cheaper for many bytes on new
        pages. After an OSError some of them may be written."""

    def sync(self) -> None:
        """Return once every byte written so far is on the disk."""

    def warm(self, start: int, end: int) -> None:
        """Make the pages of [start, end) cheap to write. Bytes stay as they are."""

    def read_ahead(self, is_wanted: bool) -> None:
        """Set whether reading a page brings in those behind it. The default is True."""

    def reserve(self, start: int, end: int) -> None:
        """Reserve disk space for [start, end), so that writing there cannot fail for lack of it.
        Bytes stay as they are. The file must still have its name."""

    def find_data(self, start: int) -> tuple[int, int]:
        """The next range [begin, end) from `start` on that may have bytes other than zero, without
        reading the rest; (size, size) if there is none."""

    def is_resident(self, start: int, end: int) -> bool:
        """Whether [start, end) can be read without waiting for the disk."""

    def close(self) -> None:
        """Close the handle. Views stay valid; `sync` may not be called any more."""


class FileLock(Protocol):
    def release(self) -> None: ...


class Disk(Protocol):
    def create(self, path: str, size: int) -> DiskFile:
        """A new file of `size` zero bytes with reserved space: writing it cannot fail for lack of
        it. Makes missing parent folders. Not durable yet. Refuses an existing path."""

    def create_sparse(self, path: str, size: int) -> DiskFile:
        """The same without reserved space: `DiskFile.reserve` it before writing. The folders that
        it makes are not durable either: sync each folder with a new name, up to one that existed.
        """

    def open(self, path: str) -> DiskFile:
        """An existing file, with space reserved for all of it."""

    def open_sparse(self, path: str) -> DiskFile:
        """An existing file as it is: `DiskFile.reserve` space before writing."""

    def size(self, path: str) -> int: ...

    def exists(self, path: str) -> bool: ...

    def list_directory(self, path: str) -> list[str]:
        """Names in a folder, sorted; empty if there is no such folder."""

    def make_directory(self, path: str) -> None:
        """Make a folder and its parents, durably; no error if it exists."""

    def sync_directory(self, path: str) -> None:
        """Return once the names in this folder are on the disk."""

    def sync_all(self, path: str) -> None:
        """Return once all bytes and names of the file system that holds `path` are on the disk: for
        so many files that syncing each would take longer."""

    def read(self, path: str) -> bytes: ...

    def replace(self, path: str, content: bytes) -> None:
        """Replace the content of a file, durably and atomically: a crash leaves the old or the
        new."""

    def rename(self, source: str, target: str) -> None:
        """Not durable until the folders are synced."""

    def remove(self, path: str) -> None:
        """Remove a file's name. Not durable until the folder is synced."""

    def remove_directory(self, path: str) -> None:
        """Remove an empty folder."""

    def drop_cache(self, path: str) -> None:
        """Drop cached pages that are not known to be on the disk, so that reads show the disk's
        content (after a failed sync the cache has bytes that the disk never got)."""

    def space(self, path: str) -> DiskSpace: ...

    def lock(self, path: str) -> FileLock:
        """Take this file's exclusive lock, creating it if need be; BlockingIOError: it is taken."""
