"""DeliveredRecord: a record of the log → the message that a ReceiveMessage call answers, in place.

The path of every message that a consumer of gRPC gets, so the message is written from the record's
bytes, without an object per property. It takes plain records: uncompressed, sent as normal
messages, IPv4, with properties that the protocol hides or shows as they are. For anything else (a
batch, a retry with its receipt, a time, a group, a priority) `read` returns False, and the answer
is decoded (`protocol.message.stored_message`) and mapped (`message_mapping`) as a whole. Law: when
`read` returns True, `message` is what these give.
"""

import hashlib
from typing import TYPE_CHECKING

from aerobee.protocol.message.record import Record
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.grpc.field_scan import put_number
    from aerobee.protocol.primitives.big_endian import (
        address,
        bytes_address,
        bytes_at,
        copy_bytes,
        load_i32,
        same_bytes,
    )
    from aerobee.protocol.primitives.digits import put_decimal
    from aerobee.protocol.text.json_bytes import is_utf8

_FRONT_BYTES = 16  # room for the numbers before a message
_HOSTS_AT = 48
_MS_MAX = 1 << 50
_HEAD_BYTES_MAX = 512


def is_compiled() -> bool:
    return cython.compiled


class DeliveredRecord:
    """One object is reused for every record. After `read` was True the rest is about that one."""

    __slots__ = (
        "_handle",
        "_handle_size",
        "_handle_view",
        "_host_size",
        "_host_start",
        "_id_size",
        "_id_start",
        "_keys_size",
        "_keys_start",
        "_memory",
        "_output",
        "_record",
        "_system",
        "_tag_size",
        "_tag_start",
        "_view",
    )

    def __init__(self) -> None:
        self._record = Record()
        self._view = memoryview(b"")
        self._memory = address(self._view)
        self._output = ReplyBuffer()
        self._system = ReplyBuffer()
        self._handle_view = memoryview(bytearray(_HEAD_BYTES_MAX + 64))
        self._handle = address(self._handle_view)
        self._handle_size = 0
        self._id_start = self._id_size = 0
        self._host_start = self._host_size = 0
        self._keys_start = self._keys_size = 0
        self._tag_start = self._tag_size = 0

    def read(self, view: memoryview, position: int, head: bytes, queue_id: int) -> bool:
        """Read the record at a position of a view that is nothing but records. `head` is the
        receipt of messages of this queue, up to the offset. False: it is none for this path."""
        self._view = view
        self._memory = address(view)
        record = self._record
        memory = self._memory
        if record.read(memory, position, len(view)) != 0 or not record.is_sound(memory, False):
            return False
        if record.sys_flag != 0 or record.queue_id != queue_id or len(head) > _HEAD_BYTES_MAX:
            return False
        if not 0 <= record.born_timestamp < _MS_MAX or not 0 <= record.store_timestamp < _MS_MAX:
            return False
        if record.queue_offset < 0 or record.reconsume_times < 0 or queue_id < 0:
            return False
        start = record.properties_start
        if not is_utf8(memory, start, start + record.properties_size):
            return False
        self._output.position = _FRONT_BYTES
        if not self._read_properties(start, start + record.properties_size):
            return False
        size = len(head)
        copy_bytes(self._handle, 0, bytes_address(head), 0, size)
        size = put_decimal(self._handle, size, record.queue_offset)
        self._handle[size] = 0x20
        self._handle_size = put_decimal(self._handle, size + 1, record.log_offset)
        return True

    def end(self) -> int:
        """The position after the record."""
        return self._record.position + self._record.size

    def queue_offset(self) -> int:
        return self._record.queue_offset

    def tag(self) -> str:
        return bytes_at(self._memory, self._tag_start, self._tag_size).decode()

    def message_id(self) -> str:
        return bytes_at(self._memory, self._id_start, self._id_size).decode()

    def handle(self) -> str:
        return bytes_at(self._handle, 0, self._handle_size).decode()

    def _read_properties(self, position: int, end: int) -> bool:
        """Note the properties that are fields of their own, and write those of the application."""
        memory = self._memory
        self._id_size = self._tag_size = self._keys_size = self._host_size = 0
        while position < end:
            start = position
            while position < end and memory[position] > 2:
                position += 1
            if position == end or memory[position] != 1 or position - start == 0:
                return False
            size = position - start
            value = position + 1
            position = value
            while position < end and memory[position] > 2:
                position += 1
            if (position < end and memory[position] != 2) or position == value:
                return False
            if not self._take_property(start, size, value, position - value):
                return False
            position += 1
        return self._id_size > 0

    def _take_property(self, start: int, size: int, value: int, value_size: int) -> bool:
        memory = self._memory
        first = memory[start]
        if 0x61 <= first <= 0x7A:
            self._put_pair(start, size, value, value_size)
            return True
        if size == 8 and same_bytes(memory, start, bytes_address(b"UNIQ_KEY"), 0, 8):
            self._id_start, self._id_size = value, value_size
            return True
        if size == 4 and same_bytes(memory, start, bytes_address(b"TAGS"), 0, 4):
            self._tag_start, self._tag_size = value, value_size
            return True
        if size == 4 and same_bytes(memory, start, bytes_address(b"KEYS"), 0, 4):
            self._keys_start, self._keys_size = value, value_size
            return True
        if size == 10 and same_bytes(memory, start, bytes_address(b"__BORNHOST"), 0, 10):
            self._host_start, self._host_size = value, value_size
            return True
        # Those that brokers and clients add to every message, and that are shown to nobody.
        return (
            (size == 6 and same_bytes(memory, start, bytes_address(b"PGROUP"), 0, 6))
            or (size == 8 and same_bytes(memory, start, bytes_address(b"__CRC32#"), 0, 8))
            or (size == 14 and same_bytes(memory, start, bytes_address(b"BORN_TIMESTAMP"), 0, 14))
            or (size == 10 and same_bytes(memory, start, bytes_address(b"MSG_REGION"), 0, 10))
            or (size == 8 and same_bytes(memory, start, bytes_address(b"TRACE_ON"), 0, 8))
            or (size == 7 and same_bytes(memory, start, bytes_address(b"CLUSTER"), 0, 7))
            or (size == 4 and same_bytes(memory, start, bytes_address(b"WAIT"), 0, 4))
        )

    def _put_pair(self, start: int, size: int, value: int, value_size: int) -> None:
        """A property of the application, as an entry of a map."""
        output = self._output
        output.make_room(size + value_size + 40)
        memory = output.memory
        at = output.position
        memory[at] = 0x12
        inner = 2 + _number_bytes(size) + size + _number_bytes(value_size) + value_size
        at = put_number(memory, at + 1, inner)
        at = _put_sized(memory, at, 0x0A, self._memory, start, size)
        output.position = _put_sized(memory, at, 0x12, self._memory, value, value_size)

    def message(self, topic: bytes) -> bytes:
        """The response. `topic` is the field of the message's topic, as it is written."""
        record = self._record
        self._write_system()
        system = self._system
        output = self._output
        size = len(topic)
        output.make_room(size + system.position + record.body_size + 40)
        memory = output.memory
        at = output.position
        memory[at] = 0x1A
        at = put_number(memory, at + 1, system.position)
        copy_bytes(memory, at, system.memory, 0, system.position)
        at += system.position
        if record.body_size:
            body = record.body_start
            at = _put_sized(memory, at, 0x22, self._memory, body, record.body_size)
        # What goes before it: the topic, then the size of all that is the message.
        inner = at - _FRONT_BYTES + size
        front = bytes_at(memory, _FRONT_BYTES, at - _FRONT_BYTES)
        memory[0] = 0x12
        start = put_number(memory, 1, inner)
        return bytes_at(memory, 0, start) + topic + front

    def _write_system(self) -> None:
        record = self._record
        system = self._system
        system.position = 0
        # A key of one byte takes three; names, numbers and the handle are less than the rest.
        texts = self._tag_size + 3 * self._keys_size + self._id_size + self._host_size
        system.make_room(texts + _HEAD_BYTES_MAX + 512)
        memory = system.memory
        at = 0
        if self._tag_size:
            at = _put_sized(memory, at, 0x0A, self._memory, self._tag_start, self._tag_size)
        if self._keys_size:
            at = self._put_keys(memory, at)
        at = _put_sized(memory, at, 0x1A, self._memory, self._id_start, self._id_size)
        body = self._view[record.body_start : record.body_start + record.body_size]
        digest = hashlib.md5(body, usedforsecurity=False).hexdigest().upper().encode()
        copy_bytes(memory, at, bytes_address(b"\x22\x24\x08\x02\x12\x20"), 0, 6)
        copy_bytes(memory, at + 6, bytes_address(digest), 0, 32)
        # As it is, and normal.
        copy_bytes(memory, at + 38, bytes_address(b"\x28\x01\x30\x01"), 0, 4)
        at = _put_time(memory, at + 42, 0x3A, record.born_timestamp)
        if self._host_size:
            at = _put_sized(memory, at, 0x42, self._memory, self._host_start, self._host_size)
        else:
            at = _put_host(memory, at, 0x42, self._memory, record.position + _HOSTS_AT)
        at = _put_time(memory, at, 0x4A, record.store_timestamp)
        at = _put_host(memory, at, 0x52, self._memory, record.position + _HOSTS_AT + 16)
        at = _put_sized(memory, at, 0x62, self._handle, 0, self._handle_size)
        if record.queue_id:
            memory[at] = 0x68
            at = put_number(memory, at + 1, record.queue_id)
        memory[at] = 0x70
        at = put_number(memory, at + 1, record.queue_offset)
        memory[at] = 0x80
        memory[at + 1] = 0x01
        system.position = put_number(memory, at + 2, 1 + record.reconsume_times)

    def _put_keys(self, memory: memoryview, at: int) -> int:
        """Each of the keys, which blanks separate."""
        source = self._memory
        position = self._keys_start
        end = position + self._keys_size
        while position < end:
            start = position
            while position < end and source[position] != 0x20:
                position += 1
            if position > start:
                at = _put_sized(memory, at, 0x12, source, start, position - start)
            position += 1
        return at


def _number_bytes(value: int) -> int:
    size = 1
    while value >= 0x80:
        value >>= 7
        size += 1
    return size


def _put_sized(
    memory: memoryview, at: int, tag: int, source: memoryview, start: int, size: int
) -> int:
    memory[at] = tag
    at = put_number(memory, at + 1, size)
    copy_bytes(memory, at, source, start, size)
    return at + size


def _put_time(memory: memoryview, at: int, tag: int, ms: int) -> int:
    """A timestamp; ms from 0 on."""
    seconds = ms // 1_000
    nanos = (ms - 1_000 * seconds) * 1_000_000
    memory[at] = tag
    start = at + 2
    at = start
    if seconds:
        memory[at] = 0x08
        at = put_number(memory, at + 1, seconds)
    if nanos:
        memory[at] = 0x10
        at = put_number(memory, at + 1, nanos)
    memory[start - 1] = at - start
    return at


def _put_host(memory: memoryview, at: int, tag: int, source: memoryview, start: int) -> int:
    """An IPv4 address and its port, as a text."""
    memory[at] = tag
    text = at + 2
    at = text
    for index in range(4):
        at = put_decimal(memory, at, source[start + index])
        memory[at] = 0x2E
        at += 1
    memory[at - 1] = 0x3A
    at = put_decimal(memory, at, load_i32(source, start + 4))
    memory[text - 1] = at - text
    return at
