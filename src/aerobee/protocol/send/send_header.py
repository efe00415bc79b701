"""The header of a send, read straight into a `MessageDraft` without an object per field.

Serves SEND_MESSAGE (long field names), SEND_MESSAGE_V2 and SEND_BATCH_MESSAGE (one letter each),
JSON and binary: the path that every message takes, so it is a scan over memory. `send_field_names`
lists the fields.

The scan reads the forms that clients write and no others. For anything unusual (spaces, escapes
outside the properties, unknown top-level keys, a field missing, a number that is none) `read`
returns False, and the caller decodes the header by the general codec, which decides what is an
error, and hands it to `take`. Law: when `read` returns True, the general codec accepts the header
and `take` gives the same values.
"""

from typing import TYPE_CHECKING

from aerobee.errors import ProtocolError, RemoteProtocolError
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.remoting.command_header import BINARY_TYPE, RESPONSE_FLAG, CommandHeader
from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.remoting.header_binary import decode_binary_header
from aerobee.protocol.remoting.header_json import decode_json_header
from aerobee.protocol.send.send_fields import SEND_BATCH_MESSAGE, SEND_CODES, SendFields
from aerobee.protocol.send.send_header_template import SendHeaderTemplate

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import (
        bytes_address,
        bytes_at,
        copy_bytes,
        load_i16,
        load_i32,
        same_bytes,
    )
    from aerobee.protocol.send.send_field_names import long_name, memory_part, short_name, top_name
    from aerobee.protocol.send.send_header_template import scan_properties
    from aerobee.protocol.text.json_bytes import (
        NO_NUMBER,
        bare_int32,
        is_bare_integer,
        is_utf8,
        name_end,
        number_end,
        parse_decimal,
        plain_end,
    )


def is_compiled() -> bool:
    return cython.compiled


class SendHeader:
    """Fields of a send besides its message. One object is reused for every frame.

    After False the draft and this object hold a mix of two headers: `take` sets everything anew.
    """

    __slots__ = (
        "_other_sizes",
        "_other_starts",
        "_others",
        "_seen",
        "_start",
        "_template",
        "_topic",
        "code",
        "default_topic_queue_nums",
        "flag",
        "is_unit_mode",
        "max_reconsume_times",
        "opaque",
        "version",
    )

    def __init__(self) -> None:
        self.code = 0
        self.flag = 0
        self.opaque = 0
        self.version = 0
        self.default_topic_queue_nums = 0
        self.max_reconsume_times = -1  # -1: not said
        self.is_unit_mode = False
        # The topic last seen: a stream of one topic makes no object.
        self._topic = b""
        self._start = 0
        self._template = SendHeaderTemplate()
        # One bit for each letter, and from bit 16 on for each top-level name.
        self._seen = 0
        # Where the names lie that mean nothing here, to find one that comes twice.
        self._others = 0
        if not cython.compiled:
            self._other_starts = [0] * 8
            self._other_sizes = [0] * 8

    def read(self, frames: FrameReader, draft: MessageDraft) -> bool:
        """Fill the draft from the current frame. False: decode it by the general codec."""
        if cython.compiled:
            return self.scan(frames, draft)
        return self._decode(frames, draft)

    def take(self, header: CommandHeader, frames: FrameReader, draft: MessageDraft) -> None:
        """Fill the draft from a header that was decoded. An error names the field at fault."""
        if header.excess:
            raise RemoteProtocolError(f"a send whose header is too large: {header.excess}")
        fields = SendFields(header)
        self._template.forget()
        self.code = header.code
        self.flag = header.flag
        self.opaque = header.opaque
        self.version = header.version
        self.default_topic_queue_nums = fields.optional_int32("d", 0)
        self.max_reconsume_times = fields.optional_int32("l", -1)
        self.is_unit_mode = fields.is_true("k")
        draft.topic = fields.text("b")
        draft.queue_id = fields.int32("e")
        draft.sys_flag = fields.int32("f")
        draft.born_timestamp = fields.int64("g")
        draft.flag = fields.int32("h")
        draft.reconsume_times = fields.optional_int32("j", 0)
        draft.prepared_offset = 0
        draft.is_batch = header.code == SEND_BATCH_MESSAGE or fields.is_true("m")
        draft.set_properties(fields.properties())
        self._take_body(frames, draft)

    def _take_body(self, frames: FrameReader, draft: MessageDraft) -> None:
        draft.body_view = frames.view
        draft.body = memory_part(frames.memory, frames.header_end, frames.body_end)
        draft.body_size = frames.body_end - frames.header_end

    def _decode(self, frames: FrameReader, draft: MessageDraft) -> bool:
        """`read` by way of the general codec: faster than the scan in the interpreter."""
        header = CommandHeader()
        try:
            if frames.serialize_type == BINARY_TYPE:
                decode_binary_header(frames.view, frames.header_start, frames.header_end, header)
            else:
                decode_json_header(frames.view, frames.header_start, frames.header_end, header)
            if header.flag & RESPONSE_FLAG or header.code not in SEND_CODES:
                return False
            self.take(header, frames, draft)
        except ProtocolError:
            return False
        return True

    # The scan.

    def scan(self, frames: FrameReader, draft: MessageDraft) -> bool:
        """`read` by scanning the bytes."""
        memory = frames.memory
        start = frames.header_start
        end = frames.header_end
        if frames.serialize_type == 0 and _is_of_other_code(memory, start, end):
            return False  # before anything is forgotten: pulls come between sends
        if frames.serialize_type == 0 and self._template.match(memory, start, end, draft):
            self.opaque = self._template.opaque
        else:
            self._forget(draft)
            if not self._scan_anew(memory, start, end, frames.serialize_type, draft):
                return False
            if frames.serialize_type == 0:
                self._template.learn(memory, start, end, draft)
        draft.prepared_offset = 0
        self._take_body(frames, draft)
        return True

    def _forget(self, draft: MessageDraft) -> None:
        """Reset to a header without fields; no template matches it."""
        self.code = 0
        self.flag = 0
        self.version = 0
        self.opaque = 0
        self.default_topic_queue_nums = 0
        self.max_reconsume_times = -1
        self.is_unit_mode = False
        draft.reconsume_times = 0
        draft.is_batch = False
        draft.properties_size = 0
        self._seen = 0
        self._others = 0
        self._template.forget()

    def _scan_anew(
        self, memory: memoryview, start: int, end: int, serialize_type: int, draft: MessageDraft
    ) -> bool:
        if serialize_type == 1:
            if not self._scan_binary(memory, start, end, draft):
                return False
        elif not self._scan_json(memory, start, end, draft):
            return False
        if self.code == 320:
            draft.is_batch = True
        # 0xF2: topic, queue id, system flag, born timestamp and flag must have been there.
        return self._seen & 0xF2 == 0xF2 and self.flag & 1 == 0

    def _scan_json(self, memory: memoryview, position: int, end: int, draft: MessageDraft) -> bool:
        self._start = position
        if end - position < 2 or memory[position] != 0x7B:
            return False
        position += 1
        while True:
            stop = name_end(memory, position, end)
            if stop < 0:
                return False
            name = top_name(memory, position + 1, stop - position - 1)
            bit = 0x10000 << name
            if name == 0 or self._seen & bit != 0:
                return False
            self._seen |= bit
            position = self._scan_top(name, memory, stop + 2, end, draft)
            if position < 0:
                return False
            byte = memory[position]
            position += 1
            if byte == 0x7D:
                break
            if byte != 0x2C:
                return False
        while position < end:
            byte = memory[position]
            if byte != 0x20 and byte != 0x0A and byte != 0x0D and byte != 0x09:
                return False
            position += 1
        return True

    # The steps below return the position after what they read, which is before `end`, or -1.

    def _scan_top(
        self, name: int, memory: memoryview, position: int, end: int, draft: MessageDraft
    ) -> int:
        """The value of a top-level name."""
        if name == 8:
            return self._scan_ext(memory, position, end, draft)
        if name > 4:
            if memory[position] != 0x22:
                return -1
            return self._scan_value(0, memory, position, end, draft)
        stop = number_end(memory, position, end)
        number = bare_int32(memory, position, stop)
        if stop == end or number == NO_NUMBER:
            return -1
        if name == 1:
            if number != 310 and number != 10 and number != 320:
                return -1
            self.code = number
        elif name == 2:
            self.flag = number
        elif name == 3:
            self.opaque = number
            self._template.mark(0, position - self._start, stop - self._start)
        else:
            self.version = number
        return stop

    def _scan_ext(self, memory: memoryview, position: int, end: int, draft: MessageDraft) -> int:
        """The fields, which need the code to be understood."""
        if self.code == 0 or memory[position] != 0x7B:
            return -1
        position += 1
        while True:
            stop = name_end(memory, position, end)
            if stop < 0:
                return -1
            name = self._field_name(memory, position + 1, stop - position - 1)
            if name < 0:
                return -1
            start = position + 1
            position = self._scan_value(name, memory, stop + 2, end, draft)
            if position < 0:
                return -1
            if name == 0 and memory[stop + 2] == 0x22 and _differs(memory, start, stop - start):
                self._template.mark(4, stop + 3 - self._start, position - 1 - self._start)
            byte = memory[position]
            position += 1
            if byte == 0x7D:
                return position if position < end else -1
            if byte != 0x2C:
                return -1

    def _scan_value(
        self, name: int, memory: memoryview, position: int, end: int, draft: MessageDraft
    ) -> int:
        """The value of a field: text without escapes, an integer, true or false."""
        byte = memory[position]
        if byte == 0x22:
            position += 1
            if name == 0x69:
                stop = self._scan_properties(memory, position, end, draft)
            else:
                stop = self._text_end(memory, position, end)
                if stop >= 0 and not self._take_field(name, memory, position, stop, draft):
                    return -1
            return stop + 1 if 0 <= stop < end - 1 else -1
        if byte == 0x74 or byte == 0x66:
            stop = position + (4 if byte == 0x74 else 5)
            if stop >= end or not _is_word(memory, position):
                return -1
        else:
            stop = number_end(memory, position, end)
            if (
                stop == end
                or parse_decimal(memory, position, stop) == NO_NUMBER
                or not is_bare_integer(memory, position, stop)
            ):
                return -1
        return stop if self._take_field(name, memory, position, stop, draft) else -1

    def _text_end(self, memory: memoryview, start: int, end: int) -> int:
        """The closing quote of a string without escapes, or -1."""
        position = plain_end(memory, start, end)
        if position < end and memory[position] >= 0x80:
            while position < end and memory[position] >= 0x80:
                position = plain_end(memory, position + 1, end)
            if not is_utf8(memory, start, position):
                return -1
        return position if position < end and memory[position] == 0x22 else -1

    def _scan_properties(
        self, memory: memoryview, position: int, end: int, draft: MessageDraft
    ) -> int:
        """The closing quote of the properties, which are then in the draft, or -1."""
        if self._seen & 0x100 != 0:
            return -1
        self._seen |= 0x100
        stop = scan_properties(memory, position, end, draft)
        self._template.mark(3, position - self._start, stop - self._start)
        return stop

    def _scan_binary(
        self, memory: memoryview, position: int, end: int, draft: MessageDraft
    ) -> bool:
        if end - position < 21:
            return False
        self.code = load_i16(memory, position)
        if self.code != 310 and self.code != 10 and self.code != 320:
            return False
        self.version = load_i16(memory, position + 3)
        self.opaque = load_i32(memory, position + 5)
        self.flag = load_i32(memory, position + 9)
        # A request with a remark is unusual.
        if load_i32(memory, position + 13) != 0 or load_i32(memory, position + 17) != (
            end - position - 21
        ):
            return False
        position += 21
        while position < end:
            if end - position < 6:
                return False
            start = position + 2
            size = load_i16(memory, position)
            if size < 0 or end - start - 4 < size:
                return False
            name = self._field_name(memory, start, size)
            if name < 0 or (name == 0 and plain_end(memory, start, start + size) != start + size):
                return False
            start += size + 4
            size = load_i32(memory, start - 4)
            if size < 0 or end - start < size:
                return False
            # Digits are UTF-8: the letters d to h, j and l are numbers.
            is_number = name != 0 and 0xAF8 >> (name - 0x61) & 1 != 0
            if not is_number and not is_utf8(memory, start, start + size):
                return False
            if not self._take_field(name, memory, start, start + size, draft):
                return False
            position = start + size
        return True

    # Fields.

    def _field_name(self, memory: memoryview, start: int, size: int) -> int:
        """The letter of a field, 0 for one that means nothing here, -1 if that came before."""
        name = (
            long_name(memory, start, size) if self.code == 10 else short_name(memory, start, size)
        )
        if name != 0:
            return name
        count = self._others
        if count == 8 or size > 128:
            return -1
        for index in range(count):
            if self._other_sizes[index] == size and same_bytes(
                memory, self._other_starts[index], memory, start, size
            ):
                return -1
        self._other_starts[count] = start
        self._other_sizes[count] = size
        self._others = count + 1
        return 0

    def _take_field(
        self, name: int, memory: memoryview, start: int, stop: int, draft: MessageDraft
    ) -> bool:
        """The text at [start, stop) into the field `name`. False: not what belongs there."""
        if name == 0:
            return stop - start <= 32768
        bit = 1 << (name - 0x61)
        if self._seen & bit != 0:
            return False
        self._seen |= bit
        if name == 0x61 or name == 0x63 or name == 0x6E:  # group, default topic, broker name
            return stop - start <= 32768
        if name == 0x62:
            return self._take_topic(memory, start, stop, draft)
        if name == 0x69:
            if stop - start > 32767:
                return False
            copy_bytes(draft.properties, 0, memory, start, stop - start)
            draft.properties_size = stop - start
            return True
        if name == 0x6B:
            self.is_unit_mode = _is_true(memory, start, stop)
            return stop - start <= 32768
        if name == 0x6D:
            draft.is_batch = _is_true(memory, start, stop)
            return stop - start <= 32768
        number = parse_decimal(memory, start, stop)
        if name == 0x67:
            draft.born_timestamp = number
            self._template.mark(2, start - self._start, stop - self._start)
            return number != NO_NUMBER
        if not -0x7FFFFFFF - 1 <= number <= 0x7FFFFFFF:
            return False
        if name == 0x64:
            self.default_topic_queue_nums = number
        elif name == 0x65:
            draft.queue_id = number
            self._template.mark(1, start - self._start, stop - self._start)
        elif name == 0x66:
            draft.sys_flag = number
        elif name == 0x68:
            draft.flag = number
        elif name == 0x6A:
            draft.reconsume_times = number
        else:
            self.max_reconsume_times = number
        return True

    def _take_topic(self, memory: memoryview, start: int, stop: int, draft: MessageDraft) -> bool:
        size = stop - start
        if size == 0 or size > 255:
            return False
        if size != len(self._topic) or not same_bytes(
            memory, start, bytes_address(self._topic), 0, size
        ):
            self._topic = bytes_at(memory, start, size)
        draft.topic = self._topic
        return True


def _is_of_other_code(memory: memoryview, start: int, end: int) -> bool:
    """Whether a header begins with a code that is no send's."""
    if end - start < 12 or not same_bytes(memory, start, bytes_address(b'{"code":'), 0, 8):
        return False
    code = parse_decimal(memory, start + 8, number_end(memory, start + 8, end))
    return code != NO_NUMBER and code != 310 and code != 10 and code != 320


def _differs(memory: memoryview, start: int, size: int) -> bool:
    """Whether this is the name of a field that differs in each signed request."""
    if size == 9:
        return same_bytes(memory, start, bytes_address(b"Signature"), 0, 9)
    return size == 12 and same_bytes(memory, start, bytes_address(b"RequestStamp"), 0, 12)


def _is_word(memory: memoryview, position: int) -> bool:
    """Whether true or false stands here, by its first byte and the rest."""
    if memory[position] == 0x74:
        return load_i32(memory, position) == 0x74727565
    return load_i32(memory, position + 1) == 0x616C7365


def _is_true(memory: memoryview, start: int, stop: int) -> bool:
    """Java says true; C++ up to 2.2.0 says 1."""
    if stop - start == 4:
        # Case is one bit of a letter.
        return load_i32(memory, start) | 0x20202020 == 0x74727565
    return stop - start == 1 and memory[start] == 0x31
