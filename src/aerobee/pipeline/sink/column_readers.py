"""Readers of Arrow columns in place: a row's value is a range of a buffer, not a copy.

Buffers are not trusted: every offset is checked against its data when it is read.
"""

from typing import TYPE_CHECKING

from aerobee.errors import Misuse

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.pipeline.arrow.native_order import get_bit, get_i32, get_i64
    from aerobee.protocol.primitives.big_endian import address

# What `TextColumn.find` says of a null, and of offsets that cannot be.
MISSING = -1
BROKEN = -2
_MISSING = MISSING  # the C twins
_BROKEN = BROKEN


def is_compiled() -> bool:
    return cython.compiled


class TextColumn:
    """Text or bytes in Arrow's layout: offsets, data, and a bitmap of values that are not null."""

    __slots__ = (
        "_data_size",
        "_data_view",
        "_first",
        "_offsets",
        "_offsets_view",
        "_validity",
        "_validity_view",
        "data",
        "rows",
        "size",
        "start",
    )

    def __init__(
        self,
        validity: memoryview | None,
        offsets: memoryview,
        data: memoryview,
        first: int,
        rows: int,
    ) -> None:
        """`first` is the row of the buffers at which the column begins."""
        if first < 0 or rows < 0 or len(offsets) < 4 * (first + rows + 1):
            raise Misuse("a column whose offsets are too short")
        if validity is not None and 8 * len(validity) < first + rows:
            raise Misuse("a column whose bitmap is too short")
        self._validity_view = validity
        self._validity = address(offsets if validity is None else validity)
        self._offsets_view = offsets
        self._offsets = address(offsets)
        self._data_view = data
        self.data = address(data)
        self._data_size = len(data)
        self._first = first
        self.rows = rows
        self.start = 0
        self.size = 0

    def find(self, row: int) -> int:
        """Set `start` and `size` to the range of a value; returns its size, or _MISSING, or
        _BROKEN."""
        index = self._first + row
        if self._validity_view is not None and not get_bit(self._validity, index):
            self.size = 0
            return _MISSING
        start = get_i32(self._offsets, 4 * index)
        end = get_i32(self._offsets, 4 * index + 4)
        if start < 0 or end < start or end > self._data_size:
            return _BROKEN
        self.start = start
        self.size = end - start
        return self.size


class NumberColumn:
    """Whole numbers of 4 or 8 bytes in Arrow's layout."""

    __slots__ = (
        "_first",
        "_validity",
        "_validity_view",
        "_values",
        "_values_view",
        "_width",
        "rows",
    )

    def __init__(
        self, validity: memoryview | None, values: memoryview, width: int, first: int, rows: int
    ) -> None:
        if first < 0 or rows < 0 or width not in (4, 8) or len(values) < width * (first + rows):
            raise Misuse("a column of numbers that is too short")
        if validity is not None and 8 * len(validity) < first + rows:
            raise Misuse("a column whose bitmap is too short")
        self._validity_view = validity
        self._validity = address(values if validity is None else validity)
        self._values_view = values
        self._values = address(values)
        self._width = width
        self._first = first
        self.rows = rows

    def is_there(self, row: int) -> bool:
        return self._validity_view is None or get_bit(self._validity, self._first + row)

    def value(self, row: int) -> int:
        index = self._first + row
        if self._width == 4:
            return get_i32(self._values, 4 * index)
        return get_i64(self._values, 8 * index)
