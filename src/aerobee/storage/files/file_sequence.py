"""Files of one size, named by their first offset in 20 digits, that together hold a range.

    00000000000000000000  00000000001073741824  00000000002147483648  ...

Invariants:
F1. Every file has exactly `file_size` bytes.
F2. Each file begins where the one before it ends: no hole, no overlap.
F3. The first may begin at any multiple of the size (older files were removed).

Commit log and consume queues are such sequences, the queues' sparse (see `mapped_file`). Called
from the core's thread only.
"""

from typing import TYPE_CHECKING

from aerobee.errors import CorruptFile
from aerobee.ports.disk import Disk
from aerobee.storage.files.mapped_file import MappedFile

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython

NAME_DIGITS = 20

_BLOCK_BYTES = 1 << 20


def is_compiled() -> bool:
    return cython.compiled


class FileSequence:
    """The mapped files of one directory, oldest first."""

    __slots__ = ("directory", "disk", "file_size", "files", "is_sparse", "names_changed")

    def __init__(self, disk: Disk, directory: str, file_size: int, is_sparse: bool = False) -> None:
        self.disk = disk
        self.directory = directory
        self.file_size = file_size
        # Whether room is reserved by whoever writes, not when a file is made or opened.
        self.is_sparse = is_sparse
        self.files: list[MappedFile] = []
        # Files came or went since whoever syncs the folder last looked.
        self.names_changed = False

    # Looking.

    def find(self, offset: int) -> MappedFile | None:
        """The file that holds `offset`, if there is one."""
        count = len(self.files)
        if count == 0:
            return None
        file = self.files[0]
        if offset < file.first_offset:
            return None
        index = (offset - file.first_offset) // self.file_size
        if index >= count:
            return None
        return self.files[index]

    def first_offset(self) -> int:
        """Where the oldest file begins; 0 if there is none."""
        if not self.files:
            return 0
        file = self.files[0]
        return file.first_offset

    def end_offset(self) -> int:
        """Where the newest file ends; 0 if there is none."""
        if not self.files:
            return 0
        file = self.files[-1]
        return file.first_offset + file.size

    def path_of(self, first_offset: int) -> str:
        return f"{self.directory}/{first_offset:0{NAME_DIGITS}d}"

    # Changing.

    def load(self) -> None:
        """Map every file of the directory, or say which one does not fit."""
        offsets = self._offsets()
        if offsets and self._is_unfinished(offsets[-1]):
            self.disk.remove(self.path_of(offsets.pop()))
        for offset in offsets:
            self._check(offset)
            self._map(offset)

    def load_what_fits(self) -> None:
        """Map the files up to the first that does not fit, and remove the rest.

        For derived files after a crash: what was made since they were last synced may have come
        back empty, short or not at all, and can be made again.
        """
        offsets = self._offsets()
        for index, offset in enumerate(offsets):
            try:
                self._check(offset)
            except CorruptFile:
                for unfit in reversed(offsets[index:]):
                    self.disk.remove(self.path_of(unfit))
                self.names_changed = True
                break
            self._map(offset)

    def load_derived(self, is_torn: bool) -> None:
        """Map the files of an index. `is_torn`: a crash may have left some that do not fit."""
        if is_torn:
            self.load_what_fits()
        else:
            self.load()

    def _offsets(self) -> list[int]:
        """What the names in the directory say, in order; other names are not ours to judge."""
        names = self.disk.list_directory(self.directory)
        return sorted(
            int(name)
            for name in names
            if len(name) == NAME_DIGITS and name.isascii() and name.isdigit()
        )

    def _map(self, offset: int) -> None:
        path = self.path_of(offset)
        disk_file = self.disk.open_sparse(path) if self.is_sparse else self.disk.open(path)
        self.files.append(MappedFile(disk_file, offset, self.is_sparse))

    def _is_unfinished(self, offset: int) -> bool:
        """Whether the making of a file was cut short: too few bytes, and nothing in them."""
        path = self.path_of(offset)
        size = self.disk.size(path)
        if size == 0 or size >= self.file_size:
            return size == 0
        view = self.disk.open_sparse(path).view
        for start in range(0, size, _BLOCK_BYTES):
            if bytes(view[start : start + _BLOCK_BYTES]).strip(b"\0"):
                return False
        return True

    def _check(self, offset: int) -> None:
        path = self.path_of(offset)
        size = self.disk.size(path)
        if size != self.file_size:
            raise CorruptFile(
                f"{size} bytes where every file has {self.file_size}",
                path=path,
                hint="open the store with the file sizes it was written with, "
                "or restore this file from a copy",
            )
        if offset % self.file_size != 0:
            raise CorruptFile(f"name is no multiple of {self.file_size}", path=path)
        if self.files and offset != self.end_offset():
            raise CorruptFile(
                "the file before it is missing",
                path=path,
                hint=f"restore {self.path_of(self.end_offset())} from a copy",
            )

    def create(self, first_offset: int) -> MappedFile:
        """Make the next file here and now. Not durable yet."""
        make = self.disk.create_sparse if self.is_sparse else self.disk.create
        file = MappedFile(
            make(self.path_of(first_offset), self.file_size), first_offset, self.is_sparse
        )
        self.files.append(file)
        self.names_changed = True
        return file

    def take_first(self) -> MappedFile:
        """Forget the oldest file. The caller removes its name, before that of any later one."""
        file: MappedFile = self.files.pop(0)
        return file

    def take_below(self, offset: int) -> list[MappedFile]:
        """Forget the files that end at or before `offset`, but never the last of all, whose name
        says how far the sequence has come. The caller removes their names, oldest first."""
        taken = []
        while len(self.files) > 1 and self.files[0].end_offset() <= offset:
            taken.append(self.take_first())
        return taken

    def zero_tail(self, start: int, end: int, is_torn: bool) -> bool:
        """Zero what stands from `start` on in the file that holds it; whether anything did.

        Bytes up to `end` were written. `is_torn`: a crash may have left anything behind it, so the
        rest of the file is looked through.
        """
        file = self.find(start)
        if file is None:
            return False
        position = start - file.first_offset
        if is_torn:
            return file.zero_from(position)
        size = min(end - file.first_offset, file.size) - position
        if size <= 0:
            return False
        file.view[position : position + size] = bytes(size)
        return True

    def remove_after(self, offset: int) -> None:
        """Remove the files that begin at or after `offset`, newest first."""
        while self.files and self.files[-1].first_offset >= offset:
            self.remove(self.files.pop())

    def remove(self, file: MappedFile) -> None:
        """Remove the name of a file that was taken out, here and now.

        It is let go of, not closed: a reader may have a slice of it, and a sync that is under way
        the whole.
        """
        self.disk.remove(file.disk_file.path)
        self.names_changed = True

    def let_go(self) -> None:
        """Forget the files; their names are somebody else's to remove."""
        self.files = []
        self.names_changed = False

    def close(self) -> None:
        for file in self.files:
            file.disk_file.close()
        self.files = []
