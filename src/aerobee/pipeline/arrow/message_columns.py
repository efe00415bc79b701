"""Records → columns, as Arrow lays them out: no object per message, every byte copied once.

    fixed      values, one after the other, in the machine's own order
    of a size  offsets, int32, one more than rows: where each value begins in the data; the data;
               where values may be missing, a bitmap of those that are there

`MessageColumns.take` reads records where they lie, in the body of a pull answer or in a commit log,
until a batch is full. At a record that needs more than copying (a compressed body, a batch inside
the record) it stops; the caller decodes that record and adds its messages as values (`add`).

M1. A batch has at most `rows_max` rows and, but for its last row, `bytes_max` bytes.
M2. Text columns hold UTF-8 and nothing else: bytes that are none become U+FFFD, as in Java.
M3. Properties come without the record's own checksum.
"""

from typing import TYPE_CHECKING, NamedTuple

from aerobee.errors import Misuse
from aerobee.protocol.message.record import Record

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.pipeline.arrow.native_order import is_ascii_at, put_bit, put_i32, put_i64
    from aerobee.protocol.message.record import ends_in_crc
    from aerobee.protocol.primitives.big_endian import (
        address,
        bytes_address,
        bytes_at,
        copy_bytes,
        same_bytes,
    )
    from aerobee.protocol.primitives.byte_search import find_byte

# Bits of what is wanted: a column that nobody reads is not built.
KEY = 0x1
VALUE = 0x2
TOPIC = 0x4
QUEUE_ID = 0x8
OFFSET = 0x10
TIMESTAMP = 0x20
BORN_TIMESTAMP = 0x40
TAGS = 0x80
MESSAGE_ID = 0x100
RECONSUME_TIMES = 0x200
PROPERTIES = 0x400
LOG_OFFSET = 0x800
ALL = 0xFFF

# What `take` came to.
FULL = 0  # of rows or of bytes: finish, and go on at `position`
ENDED = 1  # of the bytes, or of the offsets that are wanted
SPECIAL = 2  # the record at `position` is for the caller, who skips `record_size`
WRONG = 3  # no sound record at `position`; `finding` says what `Record.read` found

# C twins of the numbers the hot code compares with.
_KEY = KEY
_VALUE = VALUE
_TOPIC = TOPIC
_QUEUE_ID = QUEUE_ID
_OFFSET = OFFSET
_TIMESTAMP = TIMESTAMP
_BORN_TIMESTAMP = BORN_TIMESTAMP
_TAGS = TAGS
_MESSAGE_ID = MESSAGE_ID
_RECONSUME_TIMES = RECONSUME_TIMES
_PROPERTIES = PROPERTIES
_LOG_OFFSET = LOG_OFFSET
_FULL = FULL
_ENDED = ENDED
_SPECIAL = SPECIAL
_WRONG = WRONG
_NEEDS_PROPERTIES = KEY | TAGS | MESSAGE_ID
_SPECIAL_FLAGS = 0xC1  # compressed, or a batch inside
_CRC_BYTES = 20
_START_BYTES = 64 * 1024
_DATA_BYTES_MAX = 2**31 - 1  # what an int32 offset can reach

_KEYS_NAME_VIEW = memoryview(b"KEYS")
_TAGS_NAME_VIEW = memoryview(b"TAGS")
_UNIQUE_NAME_VIEW = memoryview(b"UNIQ_KEY")
_KEYS_NAME = address(_KEYS_NAME_VIEW)
_TAGS_NAME = address(_TAGS_NAME_VIEW)
_UNIQUE_NAME = address(_UNIQUE_NAME_VIEW)
_HEX_VIEW = memoryview(b"0123456789ABCDEF")
_HEX = address(_HEX_VIEW)


def is_compiled() -> bool:
    return cython.compiled


class Row(NamedTuple):
    """One message as values: for records that cannot be copied as they are."""

    key: bytes | None
    value: bytes
    topic: bytes
    queue_id: int
    offset: int
    timestamp_ms: int
    born_timestamp_ms: int
    tags: bytes | None
    message_id: bytes
    reconsume_times: int
    properties: bytes
    log_offset: int


class SizedColumn:
    """Values of different sizes, some of which may be missing."""

    __slots__ = (
        "_capacity",
        "_data",
        "_data_view",
        "_offsets",
        "_offsets_view",
        "_rows_max",
        "_validity",
        "_validity_view",
        "nulls",
        "rows",
        "size",
    )

    def __init__(self, rows_max: int) -> None:
        self._rows_max = rows_max
        self._capacity = _START_BYTES
        self._begin()

    def _begin(self) -> None:
        self._data_view = memoryview(bytearray(self._capacity))
        self._data = address(self._data_view)
        self._offsets_view = memoryview(bytearray(4 * (self._rows_max + 1)))
        self._offsets = address(self._offsets_view)
        self._validity_view = memoryview(bytearray((self._rows_max + 7) // 8))
        self._validity = address(self._validity_view)
        self.size = 0
        self.rows = 0
        self.nulls = 0

    def make_room(self, size: int) -> None:
        """Make sure that `size` more bytes fit at the end of the data."""
        needed = self.size + size
        if needed > _DATA_BYTES_MAX:
            raise Misuse(f"{needed} bytes of one column in one batch", hint="take smaller batches")
        if needed > self._capacity:
            capacity = min(max(needed, 2 * self._capacity), _DATA_BYTES_MAX)
            view = memoryview(bytearray(capacity))
            copy_bytes(address(view), 0, self._data, 0, self.size)
            self._data_view = view
            self._data = address(view)
            self._capacity = capacity

    def add(self, source: memoryview, start: int, size: int) -> None:
        """Append a copy of one value."""
        if size > self._capacity - self.size:
            self.make_room(size)
        copy_bytes(self._data, self.size, source, start, size)
        self.size += size
        self._end_row()

    def add_text(self, source: memoryview, start: int, size: int) -> None:
        """Append one value that must be UTF-8."""
        if is_ascii_at(source, start, size):
            self.add(source, start, size)
        else:
            self.add_bytes(bytes_at(source, start, size).decode("utf-8", "replace").encode())

    def add_bytes(self, value: bytes) -> None:
        self.add(bytes_address(value), 0, len(value))

    def add_null(self) -> None:
        self.nulls += 1
        self.rows += 1
        put_i32(self._offsets, 4 * self.rows, self.size)

    def _end_row(self) -> None:
        put_bit(self._validity, self.rows)
        self.rows += 1
        put_i32(self._offsets, 4 * self.rows, self.size)

    def add_id(self, source: memoryview, host: int, host_size: int, log_offset: int) -> None:
        """Append the broker's id of a record, made from its store host: 32 or 56 hexadecimal
        digits."""
        self.make_room(2 * (host_size + 8))
        at = self.size
        for index in range(host_size):
            value = source[host + index]
            self._data[at] = _HEX[value >> 4]
            self._data[at + 1] = _HEX[value & 15]
            at += 2
        for shift in range(60, -4, -4):
            self._data[at] = _HEX[(log_offset >> shift) & 15]
            at += 1
        self.size = at
        self._end_row()

    def finish(self) -> tuple[memoryview | None, memoryview, memoryview]:
        """Return bitmap (None: nothing is missing), offsets and data, and start a new column."""
        found = (
            self._validity_view if self.nulls else None,
            self._offsets_view[: 4 * (self.rows + 1)],
            self._data_view[: self.size],
        )
        self._begin()
        return found


class FixedColumn:
    """Numbers of one width, 4 or 8 bytes."""

    __slots__ = ("_memory", "_rows_max", "_view", "_width", "rows")

    def __init__(self, rows_max: int, width: int) -> None:
        self._rows_max = rows_max
        self._width = width
        self._begin()

    def _begin(self) -> None:
        self._view = memoryview(bytearray(self._width * self._rows_max))
        self._memory = address(self._view)
        self.rows = 0

    def add(self, value: int) -> None:
        if self._width == 4:
            put_i32(self._memory, 4 * self.rows, value)
        else:
            put_i64(self._memory, 8 * self.rows, value)
        self.rows += 1

    def finish(self) -> memoryview:
        found = self._view[: self._width * self.rows]
        self._begin()
        return found


class MessageColumns:
    """Columns that are filled, finished and filled again, one batch after the other."""

    __slots__ = (
        "_bytes",
        "_bytes_max",
        "_record",
        "_rows_max",
        "_wanted",
        "born_timestamp",
        "finding",
        "key",
        "log_offset",
        "message_id",
        "next_offset",
        "offset",
        "position",
        "properties",
        "queue_id",
        "reconsume_times",
        "record_size",
        "rows",
        "tags",
        "timestamp",
        "topic",
        "value",
    )

    def __init__(self, wanted: int, rows_max: int, bytes_max: int) -> None:
        if rows_max < 1 or bytes_max < 1:
            raise Misuse("a batch has room for one row at least")
        self._wanted = wanted
        self._rows_max = rows_max
        self._bytes_max = bytes_max
        self._record = Record()
        self._bytes = 0
        self.rows = 0
        self.position = 0
        self.record_size = 0
        self.finding = 0
        self.next_offset = 0
        self.key = SizedColumn(rows_max)
        self.value = SizedColumn(rows_max)
        self.topic = SizedColumn(rows_max)
        self.queue_id = FixedColumn(rows_max, 4)
        self.offset = FixedColumn(rows_max, 8)
        self.timestamp = FixedColumn(rows_max, 8)
        self.born_timestamp = FixedColumn(rows_max, 8)
        self.tags = SizedColumn(rows_max)
        self.message_id = SizedColumn(rows_max)
        self.reconsume_times = FixedColumn(rows_max, 4)
        self.properties = SizedColumn(rows_max)
        self.log_offset = FixedColumn(rows_max, 8)

    def take(self, view: memoryview, position: int, end: int, offset_end: int) -> int:
        """Append the records at [position, end) of a view, up to `offset_end` of their queue.
        Afterwards `position` is the end of the last record taken and `next_offset` the queue offset
        after it."""
        if not 0 <= position <= end <= len(view):
            raise Misuse(f"[{position}, {end}) is not within {len(view)} bytes")
        memory = address(view)
        record = self._record
        while True:
            self.position = position
            if position >= end:
                return _ENDED
            if self.rows >= self._rows_max or self._bytes >= self._bytes_max:
                return _FULL
            self.finding = record.read(memory, position, end)
            if self.finding != 0 or not record.is_sound(memory, False):
                return _WRONG
            if record.queue_offset >= offset_end:
                return _ENDED
            self.record_size = record.size
            if record.sys_flag & _SPECIAL_FLAGS:
                return _SPECIAL
            self.add_record(memory, record)
            self.next_offset = record.queue_offset + 1
            position += record.size

    def add_record(self, memory: memoryview, record: Record) -> None:
        """Append one record that was read and checked. The caller checks `is_full` first."""
        wanted = self._wanted
        if wanted & _VALUE:
            self.value.add(memory, record.body_start, record.body_size)
        if wanted & _TOPIC:
            self.topic.add_text(memory, record.topic_start, record.topic_size)
        if wanted & _QUEUE_ID:
            self.queue_id.add(record.queue_id)
        if wanted & _OFFSET:
            self.offset.add(record.queue_offset)
        if wanted & _TIMESTAMP:
            self.timestamp.add(record.store_timestamp * 1000)
        if wanted & _BORN_TIMESTAMP:
            self.born_timestamp.add(record.born_timestamp * 1000)
        if wanted & _RECONSUME_TIMES:
            self.reconsume_times.add(record.reconsume_times)
        if wanted & _LOG_OFFSET:
            self.log_offset.add(record.log_offset)
        size = record.properties_size
        if ends_in_crc(memory, record.properties_start, size):
            size -= _CRC_BYTES
        if wanted & _PROPERTIES:
            self.properties.add_text(memory, record.properties_start, size)
        if wanted & _NEEDS_PROPERTIES:
            self._add_properties(memory, record, size)
        self.rows += 1
        self._bytes += record.size

    def _add_properties(self, memory: memoryview, record: Record, size: int) -> None:
        """Fill the columns that are made of properties. Of two equal names the later one counts."""
        start = record.properties_start
        end = start + size
        key_at = tags_at = id_at = -1
        key_size = tags_size = id_size = 0
        while start < end:
            name_end = find_byte(memory, 1, start, end)
            value_end = find_byte(memory, 2, start, end)
            name_size = name_end - start
            value_at = name_end + 1
            if value_at < value_end:
                if name_size == 4 and same_bytes(memory, start, _KEYS_NAME, 0, 4):
                    key_at, key_size = value_at, value_end - value_at
                elif name_size == 4 and same_bytes(memory, start, _TAGS_NAME, 0, 4):
                    tags_at, tags_size = value_at, value_end - value_at
                elif name_size == 8 and same_bytes(memory, start, _UNIQUE_NAME, 0, 8):
                    id_at, id_size = value_at, value_end - value_at
            start = value_end + 1
        wanted = self._wanted
        if wanted & _KEY:
            if key_at >= 0:
                self.key.add(memory, key_at, key_size)
            else:
                self.key.add_null()
        if wanted & _TAGS:
            if tags_at >= 0:
                self.tags.add_text(memory, tags_at, tags_size)
            else:
                self.tags.add_null()
        if wanted & _MESSAGE_ID:
            if id_at >= 0:
                self.message_id.add_text(memory, id_at, id_size)
            else:
                host = record.position + 56 + (20 if record.sys_flag & 0x10 else 8)
                host_size = 20 if record.sys_flag & 0x20 else 8
                self.message_id.add_id(memory, host, host_size, record.log_offset)

    def add(self, row: Row) -> None:
        """Append one message given as values. The caller checks `is_full` first."""
        wanted = self._wanted
        if wanted & _KEY:
            _add_optional(self.key, row.key)
        if wanted & _VALUE:
            self.value.add_bytes(row.value)
        if wanted & _TOPIC:
            self.topic.add_bytes(row.topic)
        if wanted & _QUEUE_ID:
            self.queue_id.add(row.queue_id)
        if wanted & _OFFSET:
            self.offset.add(row.offset)
        if wanted & _TIMESTAMP:
            self.timestamp.add(row.timestamp_ms * 1000)
        if wanted & _BORN_TIMESTAMP:
            self.born_timestamp.add(row.born_timestamp_ms * 1000)
        if wanted & _TAGS:
            _add_optional(self.tags, row.tags)
        if wanted & _MESSAGE_ID:
            self.message_id.add_bytes(row.message_id)
        if wanted & _RECONSUME_TIMES:
            self.reconsume_times.add(row.reconsume_times)
        if wanted & _PROPERTIES:
            self.properties.add_bytes(row.properties)
        if wanted & _LOG_OFFSET:
            self.log_offset.add(row.log_offset)
        self.rows += 1
        self._bytes += len(row.value) + len(row.properties)
        self.next_offset = row.offset + 1

    def is_full(self) -> bool:
        return self.rows >= self._rows_max or self._bytes >= self._bytes_max

    def begin_again(self) -> None:
        """Start the next batch, after the columns were finished one by one."""
        self.rows = 0
        self._bytes = 0


def _add_optional(column: SizedColumn, value: bytes | None) -> None:
    if value is None:
        column.add_null()
    else:
        column.add_bytes(value)
