"""The files of a commit log: lists them, and reads a piece of one into memory.

A file is named by the log offset of its first byte, 20 digits. Files are read with calls, not
mapped: if a mapped file is truncated, an access kills the process.
"""

import contextlib
import errno
import os
import re
from typing import NamedTuple

from aerobee.errors import AerobeeError, Misuse

HEAD_BYTES = 36
"""Of a record, up to and with its log offset."""
_NAME = re.compile(r"\d{20}")
_FOLDER = "commitlog"
_BLOCK_BYTES = 1 << 20
_ZEROS = bytes(_BLOCK_BYTES)


class DamagedLog(AerobeeError):
    """A part of a log cannot be read, and the options do not allow to skip it."""


class Reach(NamedTuple):
    """The sizes of the pieces that are read at a time."""

    window_bytes: int = 4 << 20
    record_bytes: int = (4 << 20) + (128 << 10)
    """Of a usual record at most: a body of 4 MiB, which is what brokers take unless told
    otherwise, and what is around it. Larger ones are read as well."""


USUAL_REACH = Reach()


class LogFile(NamedTuple):
    """L1. limit <= size: nothing is read from `limit` on."""

    path: str
    base: int
    """Log offset of its first byte."""
    size: int
    limit: int


def folder_of(path: str) -> str:
    """Return the folder of the log, given that or its store's."""
    inside = os.path.join(path, _FOLDER)
    return inside if os.path.isdir(inside) else path


def files_of(path: str) -> list[LogFile]:
    """Return the files below a store's folder, or in the folder of its log, in order. Misuse:
    none."""
    folder = folder_of(path)
    try:
        names = sorted(name for name in os.listdir(folder) if _NAME.fullmatch(name))
    except OSError as error:
        raise Misuse(
            f"{folder} cannot be read: {error.strerror}",
            hint="path is a store's folder, on a disk that every executor sees",
        ) from None
    if not names:
        raise Misuse(
            f"there is no commit log in {folder}",
            hint=f"path is a store's folder, with {_FOLDER}/00000000000000000000 and so on in it",
        )
    found = []
    for name in names:
        file = os.path.join(folder, name)
        with contextlib.suppress(FileNotFoundError):  # removed by retention just now
            size = os.stat(file).st_size
            found.append(LogFile(file, int(name), size, size))
    return found


class Window:
    """A piece of a file in memory, which moves to where more is needed."""

    def __init__(self, file: LogFile, reach: Reach = USUAL_REACH) -> None:
        self.file = file
        self.reach = reach
        try:
            self._descriptor = os.open(file.path, os.O_RDONLY)
        except FileNotFoundError:
            raise DamagedLog(
                f"{file.path} is gone: retention has removed it since the read was planned",
                hint="read again, from a later place on",
            ) from None
        self._buffer = memoryview(bytearray(reach.window_bytes))
        self.view = self._buffer[:0]
        self.start = 0
        """Where in the file the view begins."""

    @property
    def end(self) -> int:
        return self.start + len(self.view)

    @property
    def base(self) -> int:
        """The log offset at which the view begins."""
        return self.file.base + self.start

    def cover(self, position: int, size: int = HEAD_BYTES) -> int:
        """Load `size` bytes from a position of the file on into the view, or as many as there are;
        returns that position in the view."""
        if position < self.start or min(position + size, self.file.limit) > self.end:
            if size > len(self._buffer):
                self._buffer = memoryview(bytearray(size))
            wanted = max(0, min(len(self._buffer), self.file.limit - position))
            got = 0
            while got < wanted:
                count = os.preadv(self._descriptor, [self._buffer[got:wanted]], position + got)
                if not count:
                    break
                got += count
            self.view = self._buffer[:got]
            self.start = position
        return position - self.start

    def used_bytes(self) -> int:
        """Return the size of the file up to and with its last byte that is not zero."""
        end = self._stored_end()
        while end > 0:
            start = max(0, end - _BLOCK_BYTES)
            block = os.pread(self._descriptor, end - start, start)
            if _is_used(block):
                return start + len(block.rstrip(b"\0"))
            end = start
        return 0

    def _stored_end(self) -> int:
        """Return a position after which there are only zeros. A file is allocated ahead, and most
        of the last one was never written: the file system knows that, so it need not be read."""
        end = 0
        try:
            while end < self.file.size:
                start = os.lseek(self._descriptor, end, os.SEEK_DATA)
                end = os.lseek(self._descriptor, start, os.SEEK_HOLE)
        except OSError as error:
            if error.errno != errno.ENXIO:  # that one says: no more
                return self.file.size
        # Disks have been known to forget what was not synced. A log has no holes, so if it went on
        # behind this place, it would right behind it.
        beyond = os.pread(self._descriptor, _BLOCK_BYTES, end)
        return self.file.size if _is_used(beyond) else min(end, self.file.size)

    def let_go(self, position: int) -> None:
        """Drop the file from the page cache, from a position on. After a read, parts that were
        never written look written (SEEK_DATA), and the next `used_bytes` would read all of them."""
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self._descriptor, position, 0, os.POSIX_FADV_DONTNEED)

    def close(self) -> None:
        os.close(self._descriptor)


def _is_used(block: bytes) -> bool:
    """Whether a block has a byte that is not zero."""
    return block != _ZEROS[: len(block)]
