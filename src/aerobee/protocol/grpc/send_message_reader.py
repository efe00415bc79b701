"""SendMessageReader: the request of a SendMessage call straight into a `MessageDraft`, and its
answer.

The path that every message of gRPC takes, so it makes no object per field. It takes one normal
message in the form that clients write; for anything else (several messages, a type or a time, a
packed body, a digest, text that is not printable ASCII, a field that comes twice or is not known)
`read` returns False, and the request is decoded (`calls`) and checked as a whole. Law: when `read`
returns True, the checks of the protocol let the message pass, and the draft has what
`message_mapping` gives it.

A property of an application begins with a small letter here: no name that has a meaning does.
"""

from typing import TYPE_CHECKING

from aerobee.protocol.grpc.field_scan import FieldScan
from aerobee.protocol.message.message_draft import MessageDraft

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.grpc.field_scan import is_printable, put_number
    from aerobee.protocol.primitives.big_endian import (
        address,
        bytes_address,
        bytes_at,
        copy_bytes,
        same_bytes,
    )
    from aerobee.protocol.primitives.digits import put_decimal
    from aerobee.protocol.send.send_field_names import memory_part

_ID_BYTES_MAX = 255
_TEXT_BYTES_MAX = 8_192
"""Of everything but body and names: less than a record has room for, and than the protocol
allows."""
_PAIRS_MAX = 16
_SECONDS_MAX = 1 << 40
_NANOS_MAX = 999_999_999
_OK = b"\x0a\x08\x08\xa0\x9c\x01\x12\x02OK"  # the status of an answer: 20000, "OK"
_OK_BYTES = len(_OK)
_ANSWER_BYTES_MAX = 1_024


def is_compiled() -> bool:
    return cython.compiled


class SendMessageReader:
    """One object is reused for every request; `answer` is about the last one that was read."""

    __slots__ = (
        "_answer_view",
        "_born_ms",
        "_host_size",
        "_host_start",
        "_id_size",
        "_id_start",
        "_key_sizes",
        "_key_starts",
        "_keys",
        "_memory",
        "_message",
        "_name_sizes",
        "_name_starts",
        "_pairs",
        "_part",
        "_scan",
        "_seen",
        "_system",
        "_tag_size",
        "_tag_start",
        "_text_bytes",
        "_topic",
        "_value_sizes",
        "_value_starts",
        "_view",
        "answer_memory",
        "answer_start",
    )

    def __init__(self) -> None:
        self._scan = FieldScan()
        self._system = FieldScan()
        self._part = FieldScan()
        self._message = b""
        self._view = memoryview(self._message)
        self._memory = bytes_address(self._message)
        # One bit for each field that must not come twice.
        self._seen = 0
        self._id_start = self._id_size = 0
        self._host_start = self._host_size = 0
        self._tag_start = self._tag_size = 0
        self._born_ms = 0
        self._text_bytes = 0
        # Where properties of the application and keys lie.
        self._pairs = 0
        self._keys = 0
        if not cython.compiled:
            self._name_starts = [0] * _PAIRS_MAX
            self._name_sizes = [0] * _PAIRS_MAX
            self._value_starts = [0] * _PAIRS_MAX
            self._value_sizes = [0] * _PAIRS_MAX
            self._key_starts = [0] * _PAIRS_MAX
            self._key_sizes = [0] * _PAIRS_MAX
        # The topic last seen: a stream of one topic makes no object.
        self._topic = b""
        self._answer_view = memoryview(bytearray(_ANSWER_BYTES_MAX))
        # The answer that was written last, from `answer_start` on.
        self.answer_memory = address(self._answer_view)
        self.answer_start = 0

    def read(self, message: bytes, draft: MessageDraft) -> bool:
        """Fill the draft, but for its born host. False: decode the request as a whole."""
        return self.read_at(message, 0, len(message), draft)

    def read_at(self, data: bytes, start: int, end: int, draft: MessageDraft) -> bool:
        """The same of a request that is a part of some bytes."""
        if self._message is not data:
            self._message = data
            self._view = memoryview(data)
        self._memory = bytes_address(data)
        self._seen = 0
        self._pairs = self._keys = self._text_bytes = 0
        self._tag_size = 0
        scan = self._scan
        scan.begin(self._memory, start, end)
        if not scan.advance() or scan.tag != 0x0A or scan.stop != end:
            return False  # nothing, or more than one message
        scan.begin(self._memory, scan.start, end)
        while scan.advance():
            if not self._take_field(scan.tag, scan.start, scan.stop, draft):
                return False
        # Topic, body, id, born time and born host must have been there.
        if not scan.is_whole or self._seen & 0x1F != 0x1F:
            return False
        self._fill(draft)
        return True

    def _take_field(self, tag: int, start: int, stop: int, draft: MessageDraft) -> bool:
        """A field of the message."""
        if tag == 0x0A:
            return self._is_first(0x01) and self._take_topic(start, stop)
        if tag == 0x12:
            return self._take_pair(start, stop)
        if tag == 0x1A:
            return self._is_first(0x20) and self._take_system(start, stop)
        if tag != 0x22 or not self._is_first(0x02) or stop == start:
            return False
        draft.body = memory_part(self._memory, start, stop)
        draft.body_size = stop - start
        return True

    def _is_first(self, bit: int) -> bool:
        """Note a field; False: it has come before."""
        is_first = self._seen & bit == 0
        self._seen |= bit
        return is_first

    def _take_topic(self, start: int, stop: int) -> bool:
        part = self._part
        part.begin(self._memory, start, stop)
        while part.advance():
            if part.tag == 0x12:
                if not self._is_first(0x40):
                    return False
                size = part.stop - part.start
                topic = bytes_address(self._topic)
                if size != len(self._topic) or not same_bytes(
                    self._memory, part.start, topic, 0, size
                ):
                    if not is_printable(self._memory, part.start, part.stop, 0x21):
                        return False
                    self._topic = bytes_at(self._memory, part.start, size)
            elif (
                part.tag != 0x0A
                or not self._is_first(0x80)
                or not is_printable(self._memory, part.start, part.stop, 0x20)
            ):
                return False
        return part.is_whole and self._seen & 0x40 != 0

    def _take_pair(self, start: int, stop: int) -> bool:
        """A property of the application."""
        memory = self._memory
        part = self._part
        part.begin(memory, start, stop)
        if not part.advance() or part.tag != 0x0A or self._pairs == _PAIRS_MAX:
            return False
        name, name_size = part.start, part.stop - part.start
        if name_size == 0 or memory[name] < 0x61 or memory[name] > 0x7A:
            return False
        if not is_printable(memory, name, part.stop, 0x20):
            return False
        if not part.advance() or part.tag != 0x12 or part.stop != stop or part.start == stop:
            return False
        if not is_printable(memory, part.start, stop, 0x20):
            return False
        for index in range(self._pairs):
            if self._name_sizes[index] == name_size and same_bytes(
                memory, self._name_starts[index], memory, name, name_size
            ):
                return False
        self._name_starts[self._pairs] = name
        self._name_sizes[self._pairs] = name_size
        self._value_starts[self._pairs] = part.start
        self._value_sizes[self._pairs] = stop - part.start
        self._pairs += 1
        return self._has_room(name_size + stop - part.start)

    def _has_room(self, size: int) -> bool:
        """Count text of properties; False: it is more than is taken here."""
        self._text_bytes += size
        return self._text_bytes <= _TEXT_BYTES_MAX

    def _take_system(self, start: int, stop: int) -> bool:
        system = self._system
        system.begin(self._memory, start, stop)
        while system.advance():
            if not self._take_system_field(system.tag, system.value, system.start, system.stop):
                return False
        return system.is_whole

    def _take_system_field(self, tag: int, value: int, start: int, stop: int) -> bool:
        size = stop - start
        if tag == 0x1A:  # message id
            self._id_start, self._id_size = start, size
            return (
                self._is_first(0x04)
                and 0 < size <= _ID_BYTES_MAX
                and is_printable(self._memory, start, stop, 0x21)
            )
        if tag == 0x28:  # body encoding: none, or as it is
            return self._is_first(0x100) and value <= 1
        if tag == 0x30:  # type: none, or normal
            return self._is_first(0x200) and value <= 1
        if tag == 0x3A:
            return self._is_first(0x08) and self._take_born(start, stop)
        if tag == 0x42:  # born host
            self._host_start, self._host_size = start, size
            return (
                self._is_first(0x10)
                and size > 0
                and self._has_room(size)
                and is_printable(self._memory, start, stop, 0x21)
            )
        if tag == 0x68:  # queue id, which means nothing
            return self._is_first(0x400)
        if tag == 0x0A:  # tag
            self._tag_start, self._tag_size = start, size
            return self._is_first(0x800) and self._has_room(size) and self._is_tag(start, stop)
        return tag == 0x12 and self._take_key(start, stop)

    def _take_key(self, start: int, stop: int) -> bool:
        if self._keys == _PAIRS_MAX or start == stop:
            return False
        self._key_starts[self._keys] = start
        self._key_sizes[self._keys] = stop - start
        self._keys += 1
        return self._has_room(stop - start) and is_printable(self._memory, start, stop, 0x21)

    def _is_tag(self, start: int, stop: int) -> bool:
        for index in range(start, stop):
            if self._memory[index] == 0x7C:
                return False
        return is_printable(self._memory, start, stop, 0x21)

    def _take_born(self, start: int, stop: int) -> bool:
        part = self._part
        part.begin(self._memory, start, stop)
        seconds = nanos = 0
        while part.advance():
            if part.tag == 0x08 and seconds == 0 and part.value <= _SECONDS_MAX:
                seconds = part.value
            elif part.tag == 0x10 and nanos == 0 and part.value <= _NANOS_MAX:
                nanos = part.value
            else:
                return False
        self._born_ms = seconds * 1_000 + nanos // 1_000_000
        return part.is_whole

    def _fill(self, draft: MessageDraft) -> None:
        draft.topic = self._topic
        draft.queue_id = -1
        draft.flag = 0
        draft.sys_flag = 0
        draft.born_timestamp = self._born_ms
        draft.reconsume_times = 0
        draft.prepared_offset = 0
        draft.is_batch = False
        draft.body_view = self._view
        self._fill_properties(draft)

    def _fill_properties(self, draft: MessageDraft) -> None:
        """The properties in the order of `stored_properties`."""
        text = draft.properties
        at = 0
        for index in range(self._pairs):
            size = self._name_sizes[index]
            copy_bytes(text, at, self._memory, self._name_starts[index], size)
            text[at + size] = 1
            at += size + 1
            size = self._value_sizes[index]
            copy_bytes(text, at, self._memory, self._value_starts[index], size)
            text[at + size] = 2
            at += size + 1
        at = _put(text, at, b"UNIQ_KEY\x01", self._memory, self._id_start, self._id_size)
        at = _put(text, at, b"PGROUP\x01", bytes_address(self._topic), 0, len(self._topic))
        at = _put(text, at, b"__BORNHOST\x01", self._memory, self._host_start, self._host_size)
        at = _put(text, at, b"BORN_TIMESTAMP\x01", self._memory, 0, 0)
        at = put_decimal(text, at - 1, self._born_ms) + 1
        text[at - 1] = 2
        if self._tag_size:
            at = _put(text, at, b"TAGS\x01", self._memory, self._tag_start, self._tag_size)
        if self._keys:
            at = self._put_keys(text, at)
        draft.properties_size = at

    def _put_keys(self, text: memoryview, at: int) -> int:
        copy_bytes(text, at, bytes_address(b"KEYS\x01"), 0, 5)
        at += 5
        for index in range(self._keys):
            size = self._key_sizes[index]
            copy_bytes(text, at, self._memory, self._key_starts[index], size)
            text[at + size] = 0x20
            at += size + 1
        text[at - 1] = 2
        return at

    def answer(self, queue_offset: int) -> bytes:
        """The response to the request that was read last: stored, at this offset."""
        size = self.write_answer(queue_offset)
        return bytes_at(self.answer_memory, self.answer_start, size)

    def write_answer(self, queue_offset: int) -> int:
        """Write that response to `answer_memory`; its size."""
        memory = self.answer_memory
        # An entry: its status, the id as message and as transaction, the offset.
        start = _OK_BYTES + 3
        copy_bytes(memory, start, bytes_address(_OK), 0, _OK_BYTES)
        at = self._put_id(0x12, start + _OK_BYTES)
        at = self._put_id(0x1A, at)
        if queue_offset:
            memory[at] = 0x20
            at = put_number(memory, at + 1, queue_offset)
        # The size of the entry has one byte or two; the status of all goes before it.
        size = at - start
        first = start - 2 if size < 0x80 else start - 3
        memory[first] = 0x12
        put_number(memory, first + 1, size)
        first -= _OK_BYTES
        copy_bytes(memory, first, bytes_address(_OK), 0, _OK_BYTES)
        self.answer_start = first
        return at - first

    def _put_id(self, tag: int, at: int) -> int:
        memory = self.answer_memory
        memory[at] = tag
        at = put_number(memory, at + 1, self._id_size)
        copy_bytes(memory, at, self._memory, self._id_start, self._id_size)
        return at + self._id_size


def _put(text: memoryview, at: int, name: bytes, memory: memoryview, start: int, size: int) -> int:
    """Write a property whose name ends in its separator; the position after it."""
    copy_bytes(text, at, bytes_address(name), 0, len(name))
    at += len(name)
    copy_bytes(text, at, memory, start, size)
    text[at + size] = 2
    return at + size + 1
