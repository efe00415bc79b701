"""Large appends: bytes that go into a log file by a call of the file system, not by its mapping.

    records ─▶ a piece of memory that is used again and again ─▶ `DiskFile.write` ─▶ the next piece

A page that is new costs several times as much through a mapping: it is cleared first, each sync
takes its write access away, and every core is told. A call fills many at once. It costs some µs by
itself, so small appends stay with the mapping (docs/decisions/0019-large-appends.md).

W1. Between `begin` and `end` the file is behind; nobody may look. Afterwards mapping and file are
    one again: the page cache is both.
W2. What the call refuses (a process without a free handle) goes through the mapping.

Called from the core's thread only.
"""

from typing import TYPE_CHECKING

from aerobee.storage.files.mapped_file import MappedFile

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import address, copy_bytes

LARGE_BYTES = 64 << 10
"""An append of so much is large."""
PIECE_BYTES = 256 << 10  # stays in the core's own cache


def is_compiled() -> bool:
    return cython.compiled


class WriteThrough:
    __slots__ = ("_file", "_filled", "_position", "_room", "_view", "memory")

    def __init__(self) -> None:
        self._room = 0
        self._view = memoryview(b"")
        self.memory = address(self._view)
        self._filled = 0
        self._position = 0

    def begin(self, file: MappedFile, position: int) -> None:
        """What comes next goes to this position of this file."""
        self._file = file
        self._position = position

    def place(self, size: int) -> int:
        """Where in `memory` the next `size` bytes are to be put."""
        if self._filled + size > self._room:
            self._write()
            if size > self._room:
                self._room = max(size, PIECE_BYTES)
                self._view = memoryview(bytearray(self._room))
                self.memory = address(self._view)
        at = self._filled
        self._filled += size
        return at

    def end(self) -> None:
        """All of it was put: have it in the file."""
        self._write()
        if self._room > PIECE_BYTES:
            # Made for a single record of megabytes.
            self._room = 0
            self._view = memoryview(b"")
            self.memory = address(self._view)

    def pass_on(self, file: MappedFile, position: int, data: memoryview) -> None:
        """Write bytes that lie together already to this position of this file."""
        try:
            file.disk_file.write(position, data)
        except OSError:
            copy_bytes(file.memory, position, address(data), 0, len(data))

    def _write(self) -> None:
        if self._filled > 0:
            self.pass_on(self._file, self._position, self._view[: self._filled])
            self._position += self._filled
            self._filled = 0
