"""The disk, as the storage engine sees it.

Paths are plain strings with forward slashes. Every method may raise OSError; the store decides
what that means. Nothing here is durable until it is synced: a file's bytes by `DiskFile.sync`, its
name by `Disk.sync_directory` of the folder that holds it.

Room comes first: a write through a mapping that finds the disk full kills the process. A file is
made and opened with room for all of it, or sparse: then whoever writes has it reserved before.

`DiskFile.sync`, `warm` and `Disk.create`, `remove`, `sync_directory`, `sync_all`, `replace` may
block and may be called from a disk thread (`ports.disk_worker`); they touch nothing of the core's.
"""

from typing import NamedTuple, Protocol


class DiskSpace(NamedTuple):
    """What ordinary users may take of a disk: all of it, and what is left."""

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
        """Put bytes where room is reserved, as through `view`; cheaper where pages are new and
        there are many. After an OSError some of them may be there."""

    def sync(self) -> None:
        """Return once every byte written so far is on the disk."""

    def warm(self, start: int, end: int) -> None:
        """Make the pages of [start, end) cheap to write. Bytes stay as they are."""

    def read_ahead(self, is_wanted: bool) -> None:
        """Whether a page that is read brings in those behind it. It does, unless told."""

    def reserve(self, start: int, end: int) -> None:
        """Have room on the disk for [start, end), so that writing there cannot fail for lack of
        space. Bytes stay as they are. The file must still have its name."""

    def find_data(self, start: int) -> tuple[int, int]:
        """The next range [begin, end) from `start` on where something other than zeros may stand,
        without reading the rest; (size, size) if there is none."""

    def is_resident(self, start: int, end: int) -> bool:
        """Whether [start, end) can be read without waiting for the disk."""

    def close(self) -> None:
        """Give up the handle. Views stay valid; `sync` may not be called any more."""


class FileLock(Protocol):
    def release(self) -> None: ...


class Disk(Protocol):
    def create(self, path: str, size: int) -> DiskFile:
        """A new file of `size` zero bytes whose room is reserved: writing it cannot fail for
        lack of space. Makes missing parent folders. Not durable yet. Refuses an existing path."""

    def create_sparse(self, path: str, size: int) -> DiskFile:
        """The same without room: `DiskFile.reserve` it before writing. Nor are the folders that
        it makes durable: sync those in which there is something new, up to one that was there."""

    def open(self, path: str) -> DiskFile:
        """An existing file, with room for all of it from now on."""

    def open_sparse(self, path: str) -> DiskFile:
        """An existing file as it is: `DiskFile.reserve` room before writing."""

    def size(self, path: str) -> int: ...

    def exists(self, path: str) -> bool: ...

    def list_directory(self, path: str) -> list[str]:
        """Names in a folder, sorted; empty if there is no such folder."""

    def make_directory(self, path: str) -> None:
        """Make a folder and its parents, durably; fine if it is there."""

    def sync_directory(self, path: str) -> None:
        """Return once the names in this folder are on the disk."""

    def sync_all(self, path: str) -> None:
        """Return once all bytes and names of the file system that holds `path` are on the disk:
        for when there are so many to sync that one by one would take longer."""

    def read(self, path: str) -> bytes: ...

    def replace(self, path: str, content: bytes) -> None:
        """The whole file becomes `content`, durably and at once: a crash leaves old or new."""

    def rename(self, source: str, target: str) -> None:
        """Not durable until the folders are synced."""

    def remove(self, path: str) -> None:
        """Remove a file's name. Not durable until the folder is synced."""

    def remove_directory(self, path: str) -> None:
        """Remove an empty folder."""

    def drop_cache(self, path: str) -> None:
        """Forget cached pages that are not known to be on the disk, so that reads tell the truth
        (after a failed sync the cache shows bytes that the disk never got)."""

    def space(self, path: str) -> DiskSpace: ...

    def lock(self, path: str) -> FileLock:
        """Take this file's exclusive lock, creating it if need be; BlockingIOError if taken."""
