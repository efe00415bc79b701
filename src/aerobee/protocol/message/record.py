"""A message as the commit log holds it: the layout, a reader and a writer.

All numbers big-endian. B and S are the sizes of the born and the store host: 8 (IPv4) or 20 (IPv6),
an address and its port as int32; bits 0x10 and 0x20 of the system flag say which.

      0  total size       4      40    born timestamp           8
      4  magic            4      48    born host                B
      8  body CRC-32      4      48+B  store timestamp          8
     12  queue id         4      56+B  store host               S
     16  user flag        4      56+B+S  reconsume times        4
     20  queue offset     8      60+B+S  prepared transaction   8
     28  log offset       8      68+B+S  body size, body        4 + n
     36  system flag      4      then  topic size, topic        1 + n  (version 2: 2 + n)
                                 then  properties size, text    2 + n

The magic tells version 1 from version 2 (topics over 127 bytes) and from the filler, the 8 bytes
[bytes left in the file][magic] that end a file. The body CRC has its highest bit cleared.

With the record CRC, the properties end in 20 bytes that RocketMQ made for it: `__CRC32#`, 0x01,
ten decimal digits with the LEAST significant first, 0x02; the number is the CRC-32, highest bit
cleared, of the record without those 20 bytes. Losing one bit of the sum costs nothing against
single flips: x^k mod P is never the lone term that is cleared for any k a record can reach.

Agrees with Apache's MessageExtEncoder, CommitLog and MessageDecoder.
"""

from typing import TYPE_CHECKING

from aerobee.errors import Misuse
from aerobee.protocol.message.message_draft import MessageDraft

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import (
        address,
        bytes_address,
        copy_bytes,
        load_i16,
        load_i32,
        load_i64,
        same_bytes,
        store_i16,
        store_i32,
        store_i64,
    )
    from aerobee.protocol.primitives.crc32 import crc32

MAGIC_V1 = -626843481  # 0xDAA320A7
MAGIC_V2 = -626843477  # 0xDAA320AB
MAGIC_FILLER = -875286124  # 0xCBD43194
FILLER_BYTES = 8
RECORD_BYTES_MIN = 91  # both hosts IPv4, version 1, no body, no topic, no properties
CRC_PROPERTY_BYTES = 20
PROPERTIES_BYTES_MAX = 32767  # the properties size is a signed int16
TOPIC_BYTES_V1_MAX = 127  # the topic size of version 1 is a signed int8
TOPIC_BYTES_MAX = 255

# What Record.read found.
WHOLE = 0
FILLER = 1
TORN = 2  # the bytes end, or the size says so, before the record does
UNKNOWN_MAGIC = 3
SIZES_DISAGREE = 4

# Which checksum vouches for a record.
NO_CRC = 0
BODY_CRC = 1
RECORD_CRC = 2

# C twins of the numbers the hot code compares with.
_MAGIC_V1 = MAGIC_V1
_MAGIC_V2 = MAGIC_V2
_MAGIC_FILLER = MAGIC_FILLER
_RECORD_BYTES_MIN = RECORD_BYTES_MIN
_CRC_PROPERTY_BYTES = CRC_PROPERTY_BYTES
_PROPERTIES_BYTES_MAX = PROPERTIES_BYTES_MAX
_TOPIC_BYTES_V1_MAX = TOPIC_BYTES_V1_MAX
_TOPIC_BYTES_MAX = TOPIC_BYTES_MAX
_WHOLE = WHOLE
_FILLER = FILLER
_TORN = TORN
_UNKNOWN_MAGIC = UNKNOWN_MAGIC
_SIZES_DISAGREE = SIZES_DISAGREE
_NO_CRC = NO_CRC
_BODY_CRC = BODY_CRC
_RECORD_CRC = RECORD_CRC

_CRC_NAME_VIEW = memoryview(b"__CRC32#\x01")
_CRC_NAME = address(_CRC_NAME_VIEW)
_HEAD_BYTES_MAX = 112  # up to and including the body size, both hosts IPv6

FINDINGS = {
    WHOLE: "a whole record",
    FILLER: "the end of the file",
    TORN: "a torn record",
    UNKNOWN_MAGIC: "no record",
    SIZES_DISAGREE: "a record whose parts do not add up to its size",
}


def is_compiled() -> bool:
    return cython.compiled


class Record:
    """Positions of the parts of one record: filled by `read`, reused for the next one.

    Positions are in the memory that was read. Fields mean something only after WHOLE (after FILLER
    only `size`: the bytes left in the file).
    """

    __slots__ = (
        "body_crc",
        "body_size",
        "body_start",
        "born_timestamp",
        "flag",
        "log_offset",
        "position",
        "prepared_offset",
        "properties_size",
        "properties_start",
        "queue_id",
        "queue_offset",
        "reconsume_times",
        "size",
        "store_timestamp",
        "sys_flag",
        "topic_size",
        "topic_start",
    )

    def __init__(self) -> None:
        self.position = 0
        self.size = 0
        self.body_crc = 0
        self.queue_id = 0
        self.flag = 0
        self.queue_offset = 0
        self.log_offset = 0
        self.sys_flag = 0
        self.born_timestamp = 0
        self.store_timestamp = 0
        self.reconsume_times = 0
        self.prepared_offset = 0
        self.body_start = 0
        self.body_size = 0
        self.topic_start = 0
        self.topic_size = 0
        self.properties_start = 0
        self.properties_size = 0

    def read(self, memory: memoryview, position: int, end: int) -> int:
        """Find the parts of the record at `position` in a memory that ends at `end`."""
        if end - position < 8:
            return _TORN
        size = load_i32(memory, position)
        magic = load_i32(memory, position + 4)
        self.position = position
        self.size = size
        if magic == _MAGIC_FILLER:
            return _FILLER
        if magic != _MAGIC_V1 and magic != _MAGIC_V2:
            return _UNKNOWN_MAGIC
        if size < _RECORD_BYTES_MIN or size > end - position:
            return _TORN
        record_end = position + size
        sys_flag = load_i32(memory, position + 36)
        at = position + 48 + (20 if sys_flag & 0x10 else 8)
        after_hosts = at + 8 + (20 if sys_flag & 0x20 else 8)
        body_start = after_hosts + 16
        if body_start + 3 > record_end:
            return _SIZES_DISAGREE
        body_size = load_i32(memory, after_hosts + 12)
        # Compared by subtraction: body_start + body_size could pass the largest number.
        if body_size < 0 or body_size > record_end - body_start - 3:
            return _SIZES_DISAGREE
        topic_at = body_start + body_size
        if magic == _MAGIC_V1:
            topic_size = memory[topic_at]
            topic_start = topic_at + 1
            if topic_size > _TOPIC_BYTES_V1_MAX:
                return _SIZES_DISAGREE
        else:
            if record_end - topic_at < 4:
                return _SIZES_DISAGREE
            topic_size = load_i16(memory, topic_at)
            topic_start = topic_at + 2
        if topic_size < 0 or topic_size > record_end - topic_start - 2:
            return _SIZES_DISAGREE
        properties_start = topic_start + topic_size + 2
        properties_size = load_i16(memory, properties_start - 2)
        if properties_size != record_end - properties_start:
            return _SIZES_DISAGREE
        self.body_crc = load_i32(memory, position + 8)
        self.queue_id = load_i32(memory, position + 12)
        self.flag = load_i32(memory, position + 16)
        self.queue_offset = load_i64(memory, position + 20)
        self.log_offset = load_i64(memory, position + 28)
        self.sys_flag = sys_flag
        self.born_timestamp = load_i64(memory, position + 40)
        self.store_timestamp = load_i64(memory, at)
        self.reconsume_times = load_i32(memory, after_hosts)
        self.prepared_offset = load_i64(memory, after_hosts + 4)
        self.body_start = body_start
        self.body_size = body_size
        self.topic_start = topic_start
        self.topic_size = topic_size
        self.properties_start = properties_start
        self.properties_size = properties_size
        return _WHOLE

    def has_crc(self, memory: memoryview) -> bool:
        """Whether the record just read ends in a record CRC."""
        return ends_in_crc(memory, self.properties_start, self.properties_size)

    def is_sound(self, memory: memoryview, needs_crc: bool) -> bool:
        """Whether the checksums of the record just read hold.

        Without a record CRC the body's must do, unless the caller knows that one was written.
        """
        vouched = self.vouched_by(memory)
        return vouched == _RECORD_CRC or (vouched == _BODY_CRC and not needs_crc)

    def vouched_by(self, memory: memoryview) -> int:
        """Which checksum of the record just read holds: RECORD_CRC; BODY_CRC, of a record without
        the other; or NO_CRC, because the one that counts does not hold."""
        if not self.has_crc(memory):
            if (
                self.body_size == 0
                or checksum(memory, self.body_start, self.body_size) == self.body_crc
            ):
                return _BODY_CRC
            return _NO_CRC
        covered = self.size - _CRC_PROPERTY_BYTES
        value = checksum(memory, self.position, covered)
        digit = self.position + covered + 9
        for _ in range(10):
            if memory[digit] != 48 + value % 10:
                return _NO_CRC
            value //= 10
            digit += 1
        return _RECORD_CRC

    def read_from(self, view: memoryview, position: int) -> int:
        """`read` for callers without a memory: any view, any position."""
        if not 0 <= position <= len(view):
            return TORN
        return self.read(address(view), position, len(view))

    def is_sound_in(self, view: memoryview, needs_crc: bool) -> bool:
        """`is_sound` for callers without a memory: the view that `read_from` was given."""
        if self.position + self.size > len(view):
            return False
        return self.is_sound(address(view), needs_crc)


class RecordWriter:
    """Writes records of one draft: `begin` lays out what they share, `write` adds one.

    The shared head (up to the body size) is built once and copied, because most of it is the same
    for every message of a batch.
    """

    __slots__ = (
        "_head",
        "_head_size",
        "_head_view",
        "_store_host",
        "_topic",
        "_topic_bytes",
        "_topic_size",
        "_topic_size_bytes",
        "_with_crc",
    )

    def __init__(self, store_host: bytes, with_crc: bool) -> None:
        if len(store_host) not in (8, 20):
            raise Misuse(f"a store host of {len(store_host)} bytes, not 8 or 20")
        self._store_host = store_host
        self._with_crc = with_crc
        self._head_view = memoryview(bytearray(_HEAD_BYTES_MAX))
        self._head = address(self._head_view)
        self._head_size = 0
        self._topic_bytes = b""
        self._topic = bytes_address(self._topic_bytes)
        self._topic_size = 0
        self._topic_size_bytes = 1

    def begin(self, draft: MessageDraft, store_timestamp: int) -> None:
        """Lay out the head shared by the records of this draft."""
        self._topic_bytes = draft.topic
        self._topic = bytes_address(self._topic_bytes)
        self._topic_size = len(self._topic_bytes)
        self._topic_size_bytes = 2 if self._topic_size > _TOPIC_BYTES_V1_MAX else 1
        born_size = len(draft.born_host)
        # The head has room for these and no more: C would write on behind it.
        if born_size != 8 and born_size != 20:
            raise Misuse(f"a born host of {born_size} bytes; 8 or 20 are an address and a port")
        if self._topic_size > _TOPIC_BYTES_MAX:
            raise Misuse(f"a topic of {self._topic_size} bytes; at most {TOPIC_BYTES_MAX} may be")
        store_size = len(self._store_host)
        sys_flag = draft.sys_flag & ~0x30
        if born_size == 20:
            sys_flag |= 0x10
        if store_size == 20:
            sys_flag |= 0x20
        head = self._head
        store_i32(head, 4, _MAGIC_V1 if self._topic_size_bytes == 1 else _MAGIC_V2)
        store_i32(head, 12, draft.queue_id)
        store_i32(head, 36, sys_flag)
        store_i64(head, 40, draft.born_timestamp)
        copy_bytes(head, 48, bytes_address(draft.born_host), 0, born_size)
        at = 48 + born_size
        store_i64(head, at, store_timestamp)
        copy_bytes(head, at + 8, bytes_address(self._store_host), 0, store_size)
        at += 8 + store_size
        store_i32(head, at, draft.reconsume_times)
        store_i64(head, at + 4, draft.prepared_offset)
        self._head_size = at + 16

    def size_of(
        self, body_size: int, properties: memoryview, properties_start: int, properties_size: int
    ) -> int:
        """Bytes of the record that `write` would make. Properties that cannot be stored: -1, they
        are too long; -2, they end in a record CRC of the client's own making, which readers would
        believe."""
        text_size = properties_size
        if not self._with_crc:
            if ends_in_crc(properties, properties_start, properties_size):
                return -2
        else:
            text_size += _CRC_PROPERTY_BYTES
            if properties_size > 0 and properties[properties_start + properties_size - 1] != 2:
                text_size += 1
        if text_size > _PROPERTIES_BYTES_MAX:
            return -1
        return (
            self._head_size + body_size + self._topic_size_bytes + self._topic_size + 2 + text_size
        )

    def write(
        self,
        memory: memoryview,
        position: int,
        size: int,
        flag: int,
        queue_offset: int,
        log_offset: int,
        body: memoryview,
        body_start: int,
        body_size: int,
        properties: memoryview,
        properties_start: int,
        properties_size: int,
    ) -> None:
        """Write the record of `size_of` bytes at `position`: the caller saw that it fits."""
        at = position + self._head_size
        copy_bytes(memory, position, self._head, 0, self._head_size)
        store_i32(memory, position, size)
        store_i32(memory, position + 8, checksum(body, body_start, body_size))
        store_i32(memory, position + 16, flag)
        store_i64(memory, position + 20, queue_offset)
        store_i64(memory, position + 28, log_offset)
        store_i32(memory, at - 4, body_size)
        copy_bytes(memory, at, body, body_start, body_size)
        at += body_size
        if self._topic_size_bytes == 1:
            memory[at] = self._topic_size
        else:
            store_i16(memory, at, self._topic_size)
        at += self._topic_size_bytes
        copy_bytes(memory, at, self._topic, 0, self._topic_size)
        at += self._topic_size
        store_i16(memory, at, position + size - at - 2)
        at += 2
        copy_bytes(memory, at, properties, properties_start, properties_size)
        if self._with_crc:
            at += properties_size
            if properties_size > 0 and memory[at - 1] != 2:
                memory[at] = 2
                at += 1
            self._write_crc(memory, position, at)

    def _write_crc(self, memory: memoryview, position: int, at: int) -> None:
        """End the record that began at `position` with the CRC of all before `at`."""
        value = checksum(memory, position, at - position)
        copy_bytes(memory, at, _CRC_NAME, 0, 9)
        at += 9
        for _ in range(10):
            memory[at] = 48 + value % 10
            value //= 10
            at += 1
        memory[at] = 2

    def encode(
        self, draft: MessageDraft, queue_offset: int, log_offset: int, store_timestamp: int
    ) -> bytes:
        """The record of a draft as an object, for callers who have no log to write it to."""
        self.begin(draft, store_timestamp)
        size = self.size_of(draft.body_size, draft.properties, 0, draft.properties_size)
        if size < 0:
            raise Misuse(
                f"{draft.properties_size} bytes of properties are too many, or end in a record CRC"
            )
        view = memoryview(bytearray(size))
        self.write(
            address(view),
            0,
            size,
            draft.flag,
            queue_offset,
            log_offset,
            draft.body,
            0,
            draft.body_size,
            draft.properties,
            0,
            draft.properties_size,
        )
        return bytes(view)


def ends_in_crc(memory: memoryview, start: int, size: int) -> bool:
    """Whether a properties text ends in a record CRC, a property of its own."""
    tail = start + size - _CRC_PROPERTY_BYTES
    return (
        size >= _CRC_PROPERTY_BYTES
        and (tail == start or memory[tail - 1] == 2)
        and same_bytes(memory, tail, _CRC_NAME, 0, 9)
        and memory[tail + 19] == 2
    )


def checksum(memory: memoryview, position: int, size: int) -> int:
    """CRC-32 with its highest bit cleared: Java keeps it in a signed int."""
    return crc32(memory, position, size, 0) & 0x7FFFFFFF


def write_filler(memory: memoryview, position: int, bytes_left: int) -> None:
    """End a file: the next record is at the start of the next one."""
    store_i32(memory, position, bytes_left)
    store_i32(memory, position + 4, _MAGIC_FILLER)
