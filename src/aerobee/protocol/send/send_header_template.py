"""A template of send headers: the last header, with which the next one is compared.

The headers that a producer sends differ in four places: queue id, born timestamp, properties and
opaque; signed ones in their signature, too. `SendHeaderTemplate` keeps the bytes of a header that
was scanned and the positions of those places; the next header is compared run by run and only the
four are read. Equal bytes mean the
same, so a match is exactly as strict as the scan was.

    {"code":310,"extFields":{"a":"G",..."e":"3","f":"0","g":"1794732382394",..."version":513}
    |----------------- run ------------------| |- run -----|             |--- run -----------|
"""

from typing import TYPE_CHECKING

from aerobee.protocol.message.message_draft import MessageDraft

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import address, copy_bytes, same_bytes
    from aerobee.protocol.text.json_bytes import (
        NO_NUMBER,
        copy_plain,
        escaped_unit,
        is_bare_integer,
        is_utf8,
        number_end,
        parse_decimal,
        plain_end,
        put_character,
    )

TEMPLATE_BYTES_MAX = 2048


def is_compiled() -> bool:
    return cython.compiled


def scan_properties(memory: memoryview, position: int, end: int, draft: MessageDraft) -> int:
    """Copy a JSON string into the draft without its escapes; where its closing quote is, or -1."""
    size = 0
    is_ascii = True
    while True:
        stop = copy_plain(draft.properties, size, 32768, memory, position, end)
        size += stop - position
        position = stop
        # Three bytes are left in the draft for a character that is escaped.
        if position == end or size > 32764:
            return -1
        byte = memory[position]
        if byte == 0x22:
            break
        if byte == 0x5C:
            unit = escaped_unit(memory, position) if end - position >= 6 else -1
            if unit < 0:
                return -1
            position += 6 if memory[position + 1] == 0x75 else 2
            size = put_character(draft.properties, size, unit)
        elif byte >= 0x80:
            is_ascii = False
            draft.properties[size] = byte
            size += 1
            position += 1
        else:
            return -1
    # An escape gives whole characters, so it cannot mend a broken one beside it.
    if not is_ascii and not is_utf8(draft.properties, 0, size):
        return -1
    draft.properties_size = size
    return position


class SendHeaderTemplate:
    """One header and the places in it that differ from send to send.

    T1. Places are in order and do not overlap; before each lies at least one byte that is equal.
    T2. A size of 0 means that there is no template.
    T3. Kinds of places: 0 opaque, 1 queue id, 2 born timestamp, 3 properties, 4 a string that means
    nothing to a send.
    """

    __slots__ = (
        "_bytes",
        "_count",
        "_ends",
        "_flag",
        "_is_batch",
        "_kinds",
        "_reconsume_times",
        "_room",
        "_size",
        "_starts",
        "_sys_flag",
        "_topic",
        "opaque",
    )

    def __init__(self) -> None:
        self.opaque = 0
        self._size = 0
        self._room = TEMPLATE_BYTES_MAX
        self._bytes = memoryview(bytearray(TEMPLATE_BYTES_MAX))
        self._count = 0
        # What the header learned said where headers do not differ.
        self._topic = b""
        self._sys_flag = 0
        self._flag = 0
        self._reconsume_times = 0
        self._is_batch = False
        if not cython.compiled:
            self._kinds = [0] * 6
            self._starts = [0] * 6
            self._ends = [0] * 6

    def forget(self) -> None:
        self._size = 0
        self._count = 0

    def mark(self, kind: int, start: int, end: int) -> None:
        """While a header is scanned: a place that may differ, counted from the header's start."""
        self._kinds[self._count] = kind
        self._starts[self._count] = start
        self._ends[self._count] = end
        self._count += 1

    def learn(self, memory: memoryview, start: int, end: int, draft: MessageDraft) -> None:
        """The header at [start, end) filled the draft, and its places are marked."""
        if end - start > self._room:
            return
        copy_bytes(address(self._bytes), 0, memory, start, end - start)
        self._size = end - start
        self._topic = draft.topic
        self._sys_flag = draft.sys_flag
        self._flag = draft.flag
        self._reconsume_times = draft.reconsume_times
        self._is_batch = draft.is_batch

    def match(self, memory: memoryview, start: int, end: int, draft: MessageDraft) -> bool:
        """Read a header that is like the one learned. False: it is not; the draft is a mixture."""
        if self._size == 0:
            return False
        known = address(self._bytes)
        position = start
        run_start = 0
        draft.properties_size = 0
        for index in range(self._count):
            run_size = self._starts[index] - run_start
            if end - position < run_size or not same_bytes(
                memory, position, known, run_start, run_size
            ):
                return False
            position = self._read_place(self._kinds[index], memory, position + run_size, end, draft)
            if position < 0:
                return False
            run_start = self._ends[index]
        run_size = self._size - run_start
        if end - position != run_size or not same_bytes(
            memory, position, known, run_start, run_size
        ):
            return False
        draft.topic = self._topic
        draft.sys_flag = self._sys_flag
        draft.flag = self._flag
        draft.reconsume_times = self._reconsume_times
        draft.is_batch = self._is_batch
        return True

    def _read_place(
        self, kind: int, memory: memoryview, position: int, end: int, draft: MessageDraft
    ) -> int:
        """The value at a place; the position after it, or -1."""
        if kind == 3:
            return scan_properties(memory, position, end, draft)
        if kind == 4:
            return plain_end(memory, position, end)
        stop = number_end(memory, position, end)
        number = parse_decimal(memory, position, stop)
        if number == NO_NUMBER:
            return -1
        if memory[position - 1] != 0x22 and not is_bare_integer(memory, position, stop):
            return -1
        if kind == 2:
            draft.born_timestamp = number
            return stop
        if not -0x7FFFFFFF - 1 <= number <= 0x7FFFFFFF:
            return -1
        if kind == 1:
            draft.queue_id = number
        else:
            self.opaque = number
        return stop
