"""Rows of Arrow columns → the entries of batch bodies, by queue: no object per row.

    columns ─▶ row ─▶ its lane ─▶ total | 0 | 0 | flag | body size, body | properties size, text
                                  text = properties · KEYS · TAGS · __SHARDINGKEY · __DEDUP

A lane holds a queue's next request. `RowEncoder.take` encodes the rows of a record batch until they
end, a lane is full, or the caller has to handle a row.

R1. The lane of a row depends on the rows before it in the same task and on the plan, never on how
    rows are cut into batches or requests: another attempt writes the same.
R2. A body has at most `bytes_max` bytes unless it is one row, and at most `rows_max` rows.
R3. Of properties in the source's form, only the application's own are sent; a column takes
    precedence over a property of the same meaning. The mark comes last: whole in the first row of a
    request; in the others only the distance from the first.
"""

from typing import TYPE_CHECKING

from aerobee.errors import Misuse
from aerobee.model.properties import (
    CHECK_IMMUNITY_SECONDS,
    INNER_BASE,
    INNER_COUNT,
    INNER_MULTI_DISPATCH,
    KEYS,
    PRODUCER_MARK,
    RESERVED_NAMES,
    SHARDING_KEY,
    START_DELIVER_TIME,
    TAGS,
    TRANSACTION_ID,
)
from aerobee.pipeline.sink.column_readers import MISSING, NumberColumn, TextColumn
from aerobee.protocol.message.producer_mark import encode_follower

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.pipeline.arrow.native_order import is_ascii_at
    from aerobee.protocol.primitives.big_endian import (
        address,
        bytes_address,
        bytes_at,
        copy_bytes,
        same_bytes,
        store_i16,
        store_i32,
        zero_bytes,
    )
    from aerobee.protocol.primitives.byte_search import find_byte
    from aerobee.protocol.primitives.digits import put_decimal
    from aerobee.protocol.primitives.java_hash import signed32, text_hash

# What `take` came to.
ENDED = 0
FULL = 1  # send the body of lane `lane`, and go on at `position`
SPECIAL = 2  # the row at `position` waits for a time: it is the caller's
WRONG = 3  # the row at `position` cannot be sent; `fault` says why

FAULTS = (
    "",
    "has no value: null and empty cannot be sent",
    "names a queue that the topic does not have",
    "has a key, tag or ordering key with one of the bytes 1 and 2, or a tag with '|'",
    "has a key that is no UTF-8 text",
    "has more than 32,767 bytes of properties",
    "is no sound Arrow: an offset points outside of its column",
)

# C twins of the numbers the hot code compares with.
_ENDED = ENDED
_FULL = FULL
_SPECIAL = SPECIAL
_WRONG = WRONG
_NO_VALUE = 1
_NO_QUEUE = 2
_SEPARATOR = 3
_NO_TEXT = 4
_TOO_LONG = 5
_UNSOUND = 6
_MISSING = MISSING
_ENTRY_BYTES = 22
_PROPERTIES_MAX = 32767
_NAMES_BYTES = 64  # more than the names of three properties and their separators
_MARK_BYTES_MAX = 256
_PIPE = 0x7C

_FOLLOWER_HEAD = f"{PRODUCER_MARK}\x01{encode_follower(0)[:-1]}".encode()
_FOLLOWER_HEAD_SIZE = len(_FOLLOWER_HEAD)

_DROPPED = frozenset(
    {
        *RESERVED_NAMES,
        SHARDING_KEY,
        START_DELIVER_TIME,
        TRANSACTION_ID,
        INNER_MULTI_DISPATCH,
        INNER_COUNT,
        INNER_BASE,
        CHECK_IMMUNITY_SECONDS,
    }
)


def is_compiled() -> bool:
    return cython.compiled


def dropped_names(kept: frozenset[str]) -> list[bytes]:
    """Return the names of properties that are not sent, except these; joined, by their size."""
    names = sorted(name.encode() for name in _DROPPED - kept)
    sizes = range(max(map(len, names)) + 1)
    return [b"".join(name for name in names if len(name) == size) for size in sizes]


class QueueLane:
    """The next request to one queue."""

    __slots__ = (
        "_capacity",
        "_head",
        "_tail",
        "_view",
        "count",
        "memory",
        "sequence",
        "size",
    )

    def __init__(self, head: bytes, sequence: int, tail: bytes) -> None:
        """A mark is head, sequence and tail; no head: rows get no mark."""
        if len(head) + len(tail) > _MARK_BYTES_MAX - 20:
            raise Misuse("a mark that is too long")
        self._head = head
        self._tail = tail
        self._capacity = 0
        self._view = memoryview(bytearray(0))
        self.memory = address(self._view)
        self.sequence = sequence
        self.size = 0
        self.count = 0

    def make_room(self, size: int) -> None:
        needed = self.size + size
        if needed <= self._capacity:
            return
        capacity = max(needed, 2 * self._capacity, 4096)
        view = memoryview(bytearray(capacity))
        copy_bytes(address(view), 0, self.memory, 0, self.size)
        self._view = view
        self.memory = address(view)
        self._capacity = capacity

    def body(self) -> bytes:
        """Return the body of the request, and start the next one."""
        body = bytes_at(self.memory, 0, self.size)
        self.size = 0
        self.count = 0
        return body

    def put_property(self, at: int, name: bytes, source: memoryview, start: int, size: int) -> int:
        """Write one property; returns the position after it."""
        name_size = len(name)
        copy_bytes(self.memory, at, bytes_address(name), 0, name_size)
        at += name_size
        copy_bytes(self.memory, at, source, start, size)
        at += size
        self.memory[at] = 2
        return at + 1

    def put_mark(self, at: int) -> int:
        head_size, tail_size = len(self._head), len(self._tail)
        if head_size == 0:
            return at
        if self.count > 0:
            copy_bytes(self.memory, at, bytes_address(_FOLLOWER_HEAD), 0, _FOLLOWER_HEAD_SIZE)
            at = put_decimal(self.memory, at + _FOLLOWER_HEAD_SIZE, self.count)
            self.memory[at] = 2
            return at + 1
        copy_bytes(self.memory, at, bytes_address(self._head), 0, head_size)
        at = put_decimal(self.memory, at + head_size, self.sequence)
        copy_bytes(self.memory, at, bytes_address(self._tail), 0, tail_size)
        return at + tail_size


_KEYS_HEAD = f"{KEYS}\x01".encode()
_TAGS_HEAD = f"{TAGS}\x01".encode()
_ORDER_HEAD = f"{SHARDING_KEY}\x01".encode()


def _size_at(column: TextColumn | None, row: int) -> int:
    """Return the size of a value, 0 where there is none; negative: it is broken."""
    if column is None:
        return 0
    size = column.find(row)
    return 0 if size == _MISSING else size


class RowEncoder:
    """Encodes the rows of one task for one topic. A column that rows lack is None."""

    __slots__ = (
        "_bytes_max",
        "_dropped",
        "_rows_max",
        "_stripe_rows",
        "_stripe_start",
        "_unkeyed",
        "fault",
        "key",
        "lane",
        "lanes",
        "ordering_key",
        "position",
        "properties",
        "queue",
        "rows",
        "tags",
        "times",
        "value",
    )

    def __init__(
        self,
        lanes: list[QueueLane],
        bytes_max: int,
        rows_max: int,
        stripe_rows: int,
        stripe_start: int,
        has: frozenset[str],
    ) -> None:
        """Rows without a key go to the lanes in turn, `stripe_rows` to each; `has` are the names of
        properties that columns replace."""
        if not lanes or min(bytes_max, rows_max) < 1 or stripe_rows < 1 or stripe_start < 0:
            raise Misuse("an encoder of rows has lanes, and rows have room")
        self.lanes = lanes
        self._bytes_max = bytes_max
        self._rows_max = rows_max
        self._stripe_rows = stripe_rows
        self._stripe_start = stripe_start
        self._dropped = dropped_names(frozenset({KEYS, TAGS, SHARDING_KEY}) - has)
        self._unkeyed = 0
        self.rows = 0
        self.position = 0
        self.lane = 0
        self.fault = 0
        self.value: TextColumn | None = None
        self.key: TextColumn | None = None
        self.tags: TextColumn | None = None
        self.ordering_key: TextColumn | None = None
        self.properties: TextColumn | None = None
        self.queue: NumberColumn | None = None
        self.times: NumberColumn | None = None
        """Where it is not null and not 0, the row waits for a time."""

    def begin(self, value: TextColumn) -> None:
        """Start a record batch with its column of values; the other columns are set by the
        caller."""
        rows = value.rows
        for column in (self.key, self.tags, self.ordering_key, self.properties):
            if column is not None and column.rows != rows:
                raise Misuse("columns of different lengths")
        for numbers in (self.queue, self.times):
            if numbers is not None and numbers.rows != rows:
                raise Misuse("columns of different lengths")
        self.value = value
        self.rows = rows
        self.position = 0

    def take(self) -> int:
        """Encode rows until the caller has to act: ENDED, FULL, SPECIAL or WRONG."""
        times = self.times
        while self.position < self.rows:
            row = self.position
            index = self._choose(row)
            if index < 0:
                return _WRONG
            self.lane = index
            if times is not None and times.is_there(row) and times.value(row) != 0:
                return _SPECIAL
            came_to = self._encode(self.lanes[index], row)
            if came_to != _ENDED:
                return came_to
            self._count(row)
            self.position = row + 1
        return _ENDED

    def skip(self) -> None:
        """Go on after the row at `position`, which the caller has handled."""
        self._count(self.position)
        self.position += 1

    def _count(self, row: int) -> None:
        if not self._is_keyed(row):
            self._unkeyed += 1

    def _is_keyed(self, row: int) -> bool:
        if self.queue is not None and self.queue.is_there(row):
            return True
        return self.ordering_key is not None and self.ordering_key.find(row) > 0

    def _choose(self, row: int) -> int:
        """Return the lane of a row; -1: the row names no existing queue."""
        count = len(self.lanes)
        queue = self.queue
        if queue is not None and queue.is_there(row):
            chosen = queue.value(row)
            if 0 <= chosen < count:
                return chosen
            self.fault = _NO_QUEUE
            return -1
        keys = self.ordering_key
        if keys is not None and keys.find(row) > 0:
            code = signed32(text_hash(keys.data, keys.start, keys.size, 0))
            # As clients choose: Java's hash, without its sign.
            return (code if code >= 0 else -code) % count
        return (self._stripe_start + self._unkeyed // self._stripe_rows) % count

    def _encode(self, lane: QueueLane, row: int) -> int:
        """Append a row's entry to a lane. ENDED: it was appended."""
        value = self.value
        room = self._room_for(row)
        if value is None or room < 0:
            return _WRONG
        if lane.count > 0 and (lane.size + room > self._bytes_max or lane.count >= self._rows_max):
            return _FULL
        lane.make_room(room)
        memory = lane.memory
        start = lane.size
        text_at = start + _ENTRY_BYTES + value.size
        copy_bytes(memory, start + 20, value.data, value.start, value.size)
        at = self._put_texts(lane, text_at, row)
        if at < 0:
            return _WRONG
        at = lane.put_mark(at)
        if at - text_at > _PROPERTIES_MAX:
            self.fault = _TOO_LONG
            return _WRONG
        store_i32(memory, start, at - start)
        zero_bytes(memory, start + 4, 12)
        store_i32(memory, start + 16, value.size)
        store_i16(memory, text_at - 2, at - text_at)
        lane.size = at
        lane.count += 1
        lane.sequence += 1
        return _ENDED

    def _room_for(self, row: int) -> int:
        """Return an upper bound of an entry's size; -1: the entry is not valid."""
        value = _size_at(self.value, row)
        if value == 0:
            self.fault = _NO_VALUE
            return -1
        properties = _size_at(self.properties, row)
        key = _size_at(self.key, row)
        tags = _size_at(self.tags, row)
        keys = _size_at(self.ordering_key, row)
        if value < 0 or properties < 0 or key < 0 or tags < 0 or keys < 0:
            self.fault = _UNSOUND
            return -1
        texts = properties + key + tags + keys
        return _ENTRY_BYTES + value + texts + _NAMES_BYTES + _MARK_BYTES_MAX

    def _put_texts(self, lane: QueueLane, at: int, row: int) -> int:
        """Write the properties of a row; returns the position after them, or -1."""
        properties = self.properties
        if properties is not None and properties.find(row) > 0:
            at = self._put_own(lane, at, properties)
        key = self.key
        if key is not None and key.find(row) > 0:
            if not self._is_clean(key, False):
                return -1
            at = lane.put_property(at, _KEYS_HEAD, key.data, key.start, key.size)
        tags = self.tags
        if tags is not None and tags.find(row) > 0:
            if not self._is_clean(tags, True):
                return -1
            at = lane.put_property(at, _TAGS_HEAD, tags.data, tags.start, tags.size)
        keys = self.ordering_key
        if keys is not None and keys.find(row) > 0:
            if not self._is_clean(keys, False):
                return -1
            at = lane.put_property(at, _ORDER_HEAD, keys.data, keys.start, keys.size)
        return at

    def _is_clean(self, column: TextColumn, is_tag: bool) -> bool:
        """Whether a value can be a property."""
        memory, start, end = column.data, column.start, column.start + column.size
        if find_byte(memory, 1, start, end) != end or find_byte(memory, 2, start, end) != end:
            self.fault = _SEPARATOR
            return False
        if is_tag and find_byte(memory, _PIPE, start, end) != end:
            self.fault = _SEPARATOR
            return False
        if is_ascii_at(memory, start, column.size):
            return True
        text = bytes_at(memory, start, column.size)
        if text.decode("utf-8", "replace").encode() != text:
            self.fault = _NO_TEXT
            return False
        return True

    def _put_own(self, lane: QueueLane, at: int, column: TextColumn) -> int:
        """Write the application's own properties of a text; returns the position after them."""
        memory = column.data
        start, end = column.start, column.start + column.size
        while start < end:
            value_end = find_byte(memory, 2, start, end)
            name_end = find_byte(memory, 1, start, value_end)
            name_size = name_end - start
            is_whole = name_size > 0 and name_end + 1 < value_end
            if is_whole and not self._is_dropped(memory, start, name_size):
                size = value_end - start
                copy_bytes(lane.memory, at, memory, start, size)
                at += size
                lane.memory[at] = 2
                at += 1
            start = value_end + 1
        return at

    def _is_dropped(self, memory: memoryview, start: int, size: int) -> bool:
        if size >= len(self._dropped):
            return False
        names: bytes = self._dropped[size]
        for at in range(0, len(names), size):
            if same_bytes(memory, start, bytes_address(names), at, size):
                return True
        return False
