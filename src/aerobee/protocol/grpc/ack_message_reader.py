"""AckMessageReader: the request of an AckMessage call of one entry, read in place, and its answer.

Official clients acknowledge message by message, so this comes as often as messages do. It takes the
receipt of a message that was popped from its topic itself, in the form that this service hands out;
for anything else (several entries, a receipt of a retry, text that is not printable ASCII) `read`
returns False, and the request is decoded (`calls`) as a whole. Law: when `read` returns True, the
general reader finds the same names and numbers (`protocol.consume.pop_receipt`).
"""

from typing import TYPE_CHECKING

from aerobee.protocol.grpc.field_scan import FieldScan

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

_TEXT_BYTES_MAX = 512
_DIGITS_MAX = 18  # a number of so many digits fits into 63 bits
_INT32_MAX = 0x7FFFFFFF
_OK = b"\x0a\x08\x08\xa0\x9c\x01\x12\x02OK"  # the status of an answer: 20000, "OK"
_OK_BYTES = len(_OK)
_ANSWER_BYTES_MAX = 2_048


def is_compiled() -> bool:
    return cython.compiled


class AckMessageReader:
    """One object is reused for every request. After True: the names, and the numbers of the
    receipt."""

    __slots__ = (
        "_answer_view",
        "_entry",
        "_handle_size",
        "_handle_start",
        "_id_size",
        "_id_start",
        "_memory",
        "_message",
        "_position",
        "_scan",
        "answer_memory",
        "answer_start",
        "broker_name",
        "group",
        "invisible_ms",
        "pop_time",
        "queue_id",
        "queue_offset",
        "revive_queue",
        "start_offset",
        "topic",
    )

    def __init__(self) -> None:
        self._scan = FieldScan()
        self._entry = FieldScan()
        self._message = b""
        self._memory = bytes_address(self._message)
        self._position = 0
        self._id_start = self._id_size = 0
        self._handle_start = self._handle_size = 0
        self._answer_view = memoryview(bytearray(_ANSWER_BYTES_MAX))
        # The answer that was written last, from `answer_start` on.
        self.answer_memory = address(self._answer_view)
        self.answer_start = 0
        # Names last seen: a stream of acknowledgements makes no object.
        self.group = b""
        self.topic = b""
        self.broker_name = b""
        self.start_offset = 0
        self.pop_time = 0
        self.invisible_ms = 0
        self.revive_queue = 0
        self.queue_id = 0
        self.queue_offset = 0

    def read(self, message: bytes) -> bool:
        """False: decode the request as a whole."""
        return self.read_at(message, 0, len(message))

    def read_at(self, data: bytes, start: int, end: int) -> bool:
        """The same of a request that is a part of some bytes."""
        self._message = data
        self._memory = bytes_address(data)
        self._id_size = self._handle_size = 0
        scan = self._scan
        scan.begin(self._memory, start, end)
        if not scan.advance() or scan.tag != 0x0A or not self._find_name(scan.start, scan.stop):
            return False
        self.group = self._named(self.group)
        if not scan.advance() or scan.tag != 0x12 or not self._find_name(scan.start, scan.stop):
            return False
        self.topic = self._named(self.topic)
        if not scan.advance() or scan.tag != 0x1A or scan.stop != end:
            return False
        return self._read_entry(scan.start, scan.stop) and self._read_handle()

    def message_id(self) -> str:
        return bytes_at(self._memory, self._id_start, self._id_size).decode()

    def _find_name(self, start: int, stop: int) -> bool:
        """The name of a resource, which has nothing else; its namespace means nothing."""
        entry = self._entry
        entry.begin(self._memory, start, stop)
        if not entry.advance():
            return False
        if entry.tag == 0x0A and (
            not is_printable(self._memory, entry.start, entry.stop, 0x20) or not entry.advance()
        ):
            return False
        return (
            entry.tag == 0x12
            and entry.stop == stop
            and stop - entry.start <= _TEXT_BYTES_MAX
            and is_printable(self._memory, entry.start, stop, 0x21)
        )

    def _named(self, before: bytes) -> bytes:
        entry = self._entry
        return self._text(entry.start, entry.stop - entry.start, before)

    def _text(self, start: int, size: int, before: bytes) -> bytes:
        if size == len(before) and same_bytes(self._memory, start, bytes_address(before), 0, size):
            return before
        return bytes_at(self._memory, start, size)

    def _read_entry(self, start: int, stop: int) -> bool:
        entry = self._entry
        entry.begin(self._memory, start, stop)
        if not entry.advance() or entry.tag != 0x0A:
            return False
        self._id_start, self._id_size = entry.start, entry.stop - entry.start
        if not entry.advance() or entry.tag != 0x12 or entry.stop != stop:
            return False
        self._handle_start, self._handle_size = entry.start, stop - entry.start
        return (
            0 < self._id_size <= _TEXT_BYTES_MAX
            and 0 < self._handle_size <= _TEXT_BYTES_MAX
            and is_printable(self._memory, self._id_start, self._id_start + self._id_size, 0x20)
            and is_printable(self._memory, self._handle_start, stop, 0x20)
        )

    def _read_handle(self) -> bool:
        """Start, pop time, time hidden, revive queue, origin, broker, queue, offset, and the log
        offset."""
        memory = self._memory
        end = self._handle_start + self._handle_size
        self._position = self._handle_start
        self.start_offset = self._number(end)
        self.pop_time = self._number(end)
        self.invisible_ms = self._number(end)
        self.revive_queue = self._number(end)
        if self._position < 0 or end - self._position < 3:
            return False
        if memory[self._position] != 0x30 or memory[self._position + 1] != 0x20:
            return False  # of a retry
        start = self._position + 2
        at = start
        while at < end and memory[at] != 0x20:
            at += 1
        self.broker_name = self._text(start, at - start, self.broker_name)
        self._position = at + 1
        self.queue_id = self._number(end)
        self.queue_offset = self._number(end)
        self._number(end)
        return (
            self._position == end + 1
            and self.revive_queue <= _INT32_MAX
            and self.queue_id <= _INT32_MAX
        )

    def _number(self, end: int) -> int:
        """The number at the position, which moves behind the blank after it; the position is -1
        when there is none."""
        at = self._position
        value = 0
        if at < 0:
            return 0
        while at < end and 0x30 <= self._memory[at] <= 0x39:
            value = 10 * value + self._memory[at] - 0x30
            at += 1
            if at - self._position > _DIGITS_MAX:
                break
        is_number = 0 < at - self._position <= _DIGITS_MAX
        if not is_number or (at < end and self._memory[at] != 0x20):
            self._position = -1
            return 0
        self._position = at + 1
        return value

    def answer(self) -> bytes:
        """The response to the request that was read last: acknowledged."""
        size = self.write_answer()
        return bytes_at(self.answer_memory, self.answer_start, size)

    def write_answer(self) -> int:
        """Write that response to `answer_memory`; its size."""
        memory = self.answer_memory
        # An entry: message id, handle, status. Its size has one byte or two.
        start = _OK_BYTES + 3
        at = self._put(0x0A, start, self._id_start, self._id_size)
        at = self._put(0x12, at, self._handle_start, self._handle_size)
        copy_bytes(memory, at, bytes_address(_OK), 0, _OK_BYTES)
        memory[at] = 0x1A
        at += _OK_BYTES
        size = at - start
        first = start - 2 if size < 0x80 else start - 3
        memory[first] = 0x12
        put_number(memory, first + 1, size)
        first -= _OK_BYTES
        copy_bytes(memory, first, bytes_address(_OK), 0, _OK_BYTES)
        self.answer_start = first
        return at - first

    def _put(self, tag: int, at: int, start: int, size: int) -> int:
        memory = self.answer_memory
        memory[at] = tag
        at = put_number(memory, at + 1, size)
        copy_bytes(memory, at, self._memory, start, size)
        return at + size
