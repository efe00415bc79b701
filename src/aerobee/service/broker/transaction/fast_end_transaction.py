"""The fast path of END_TRANSACTION: copies a half message from the log to its topic, without an
object per field.

    frame ─▶ which half? ─▶ its record, in place ─┬─ commit ─▶ draft ─▶ log ─▶ ended
                                                  └─ roll back ─────────────▶ ended

A request is taken if it is one-way, its half message is open, was written by this process, belongs
to the group that ends it, has neither a delay nor a delivery time, and the gate, if there is one,
has let its user send to the topic before. Every other request is left unchanged for the general
handler. Law: a transaction that is ended here is stored and ended as by the general handler.

Ended halves are gathered in `over`; the ledger takes them at the end of the round, when one wait
for the disk serves all of them.

Imports more than 15 modules because a fast path reads, decides and answers in one place.
"""

from typing import TYPE_CHECKING

from aerobee.errors import AerobeeError
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.message.record import Record
from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.send.end_transaction_header import EndTransactionReader
from aerobee.service.access.fast_gate import FastGate
from aerobee.service.broker.log_access.real_topic import NO_PLACE
from aerobee.service.broker.state.topic_entry import TopicEntry
from aerobee.service.broker.transaction.open_halves import Half, OpenHalves
from aerobee.storage.appender import Appender
from aerobee.storage.files.mapped_file import MappedFile
from aerobee.storage.read.hot_records import HotRecords

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import (
        bytes_address,
        bytes_at,
        copy_bytes,
        same_bytes,
    )
    from aerobee.protocol.send.send_field_names import memory_part
    from aerobee.protocol.text.json_bytes import parse_decimal

_HALF_TOPIC = b"RMQ_SYS_TRANS_HALF_TOPIC"


def is_compiled() -> bool:
    return cython.compiled


class FastEndTransaction:
    """Ends half messages. E1. `over` has the queue offsets of halves that were removed from
    `halves` and not yet passed to the ledger. `ended` counts halves, `stored` messages."""

    __slots__ = (
        "_appender",
        "_born_host",
        "_draft",
        "_entries",
        "_gate",
        "_group_size",
        "_group_start",
        "_halves",
        "_header",
        "_queue_id",
        "_records",
        "_topic",
        "_topic_size",
        "_topic_start",
        "ended",
        "over",
        "stored",
    )

    def __init__(
        self,
        appender: Appender,
        records: HotRecords,
        entries: dict[bytes, TopicEntry],
        halves: OpenHalves,
    ) -> None:
        self._appender = appender
        self._records = records
        self._entries = entries
        self._halves = halves
        self._header = EndTransactionReader()
        self._draft = MessageDraft()
        # Positions of PGROUP and REAL_TOPIC in the half's record, and its REAL_QID.
        self._group_start = 0
        self._group_size = 0
        self._topic_start = 0
        self._topic_size = 0
        self._queue_id = 0
        # Of the last half: halves of the same topic and sender share these objects.
        self._topic = b""
        self._born_host = b""
        self._gate: FastGate | None = None
        self.over: list[int] = []
        self.ended = 0
        self.stored = 0

    def guard(self, gate: FastGate) -> None:
        """From now on take requests of users whom the gate knows, and no others."""
        self._gate = gate

    def take(self, frames: FrameReader, wall_ms: int) -> bool:
        """Whether the current frame was an end for this path; it is handled then."""
        header = self._header
        if not header.read(frames):
            return False
        half = self._halves.find(header.queue_offset)
        if half is None or not self._records.find(header.log_offset):
            return False
        found = self._records.file
        assert found is not None
        file: MappedFile = found
        record = self._records.record
        if (
            record.queue_offset != header.queue_offset
            or record.topic_size != 24
            or not same_bytes(file.memory, record.topic_start, bytes_address(_HALF_TOPIC), 0, 24)
            or not self._take_properties(file.memory, record)
            or self._group_size != header.group_size
            or not same_bytes(
                file.memory, self._group_start, frames.memory, header.group_start, header.group_size
            )
        ):
            return False
        if not self._take_topic(file.memory):
            return False
        gate = self._gate
        if gate is not None and (not gate.admits(frames) or not gate.may_send(self._topic)):
            return False
        if header.outcome == 8 and not self._commit(file, record, wall_ms):
            return False
        self._end(half)
        if gate is not None:
            gate.took()
        return True

    def take_over(self) -> list[int]:
        """The offsets of halves that ended since the last call."""
        over = self.over
        self.over = []
        return over

    def _end(self, half: Half) -> None:
        self._halves.remove(half)
        self.ended += 1
        if half.earlier:
            self.over += half.earlier
        self.over.append(half.offset)

    def _take_topic(self, memory: memoryview) -> bool:
        """Note the topic of a half. False: only the general handler knows it."""
        if self._topic_size != len(self._topic) or not same_bytes(
            memory, self._topic_start, bytes_address(self._topic), 0, self._topic_size
        ):
            topic = bytes_at(memory, self._topic_start, self._topic_size)
            if topic in NO_PLACE:
                return False
            self._topic = topic
        return True

    def _commit(self, file: MappedFile, record: Record, wall_ms: int) -> bool:
        """Store the message of a half. False: only the general handler can, and nothing was
        stored."""
        memory = file.memory
        draft = self._draft
        if self._topic not in self._entries:
            return False
        born_size = 20 if record.sys_flag & 0x10 else 8
        if born_size != len(self._born_host) or not same_bytes(
            memory, record.position + 48, bytes_address(self._born_host), 0, born_size
        ):
            self._born_host = bytes_at(memory, record.position + 48, born_size)
        draft.topic = self._topic
        draft.queue_id = self._queue_id
        draft.flag = record.flag
        draft.sys_flag = record.sys_flag & ~0xC | 8
        draft.born_timestamp = record.born_timestamp
        draft.born_host = self._born_host
        draft.reconsume_times = record.reconsume_times
        draft.prepared_offset = record.log_offset
        draft.body_view = file.view
        draft.body = memory_part(memory, record.body_start, record.body_start + record.body_size)
        draft.body_size = record.body_size
        try:
            self._appender.append(draft, wall_ms)
        except AerobeeError:
            return False
        self.stored += 1
        return True

    def _take_properties(self, memory: memoryview, record: Record) -> bool:
        """Copy the properties of a half into the draft without REAL_TOPIC and REAL_QID, and note
        those and the group. False: one is missing or needs the general handler."""
        position = record.properties_start
        end = position + record.properties_size
        if record.has_crc(memory):
            end -= 20
        size = 0
        seen = 0
        while position < end:
            start = position
            while position < end and memory[position] > 2:
                position += 1
            value = position + 1
            if position == end or memory[position] != 1:
                return False
            kind = _kind_of(memory, start, position)
            position = value
            while position < end and memory[position] > 2:
                position += 1
            if position == end or memory[position] != 2:
                return False
            # The general path drops a property without a name or a value when it decodes them.
            if position == value or value == start + 1:
                return False
            if kind != 0:
                if seen & kind != 0 or not self._note(kind, memory, value, position):
                    return False
                seen |= kind
            position += 1
            if kind != 1 and kind != 2:
                copy_bytes(self._draft.properties, size, memory, start, position - start)
                size += position - start
        self._draft.properties_size = size
        return seen == 7

    def _note(self, kind: int, memory: memoryview, start: int, end: int) -> bool:
        if kind == 1:
            self._topic_start = start
            self._topic_size = end - start
        elif kind == 2:
            queue_id = parse_decimal(memory, start, end)
            if end - start > 9 or queue_id < 0:
                return False
            self._queue_id = queue_id
        elif kind == 4:
            self._group_start = start
            self._group_size = end - start
        else:
            return False
        return True


def _kind_of(memory: memoryview, start: int, end: int) -> int:
    """The kind of a half's property: 0 ordinary, 1 its topic, 2 its queue, 4 its group, 8 only for
    the general handler."""
    size = end - start
    byte = memory[start]
    if byte == 0x52:
        if size == 10 and same_bytes(memory, start, bytes_address(b"REAL_TOPIC"), 0, 10):
            return 1
        return 2 if size == 8 and same_bytes(memory, start, bytes_address(b"REAL_QID"), 0, 8) else 0
    if byte == 0x50:
        return 4 if size == 6 and same_bytes(memory, start, bytes_address(b"PGROUP"), 0, 6) else 0
    if byte == 0x44:
        return 8 if size == 5 and same_bytes(memory, start, bytes_address(b"DELAY"), 0, 5) else 0
    if byte == 0x54:
        return 8 if size >= 6 and same_bytes(memory, start, bytes_address(b"TIMER_"), 0, 6) else 0
    if byte == 0x43 and size > 15:
        # CHECK_IMMUNITY_TIME_IN_SECONDS, and whatever begins like it.
        return 8 if same_bytes(memory, start, bytes_address(b"CHECK_IMMUNITY_"), 0, 15) else 0
    return 0
