"""The fast path of sends: reads header, checks, stores and answers without an object per message.

    frame ─▶ draft ─▶ is anything special? ─▶ log ─▶ answer
                        ├─ a delay, a delivery time, a half message: `send_diversion` rewrites it
                        ├─ a priority: it is the number of the queue
                        └─ else: False, and the general handler gets the frame unchanged

A send is taken if its topic exists and needs no special treatment, its queue exists, none of its
properties is reserved for the broker, the sender gave it an id, and the gate, if there is one, has
let its user send to the topic before. A send that would be refused
(disk full, too large) is left to the general handler, too, which says why. Law: a frame that is
taken here is stored and answered as the general handler would.

END_TRANSACTION requests arrive between sends, so they are passed on to `FastEndTransaction` here.
"""

from typing import TYPE_CHECKING

from aerobee.errors import AerobeeError
from aerobee.ports.clock import Now
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer
from aerobee.protocol.send.send_answer_writer import SendAnswerWriter
from aerobee.protocol.send.send_header import SendHeader
from aerobee.service.access.fast_gate import FastGate
from aerobee.service.broker.send.send_diversion import SendDiversion
from aerobee.service.broker.state.topic_entry import TopicEntry
from aerobee.service.broker.transaction.fast_end_transaction import FastEndTransaction
from aerobee.storage.appender import Appender

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import bytes_address, copy_bytes, same_bytes
    from aerobee.protocol.text.json_bytes import parse_decimal


_BROKER_BYTES_MAX = 255


def is_compiled() -> bool:
    return cython.compiled


class FastSend:
    """Stores and answers sends that need no special treatment. `taken` counts messages, `answered`
    requests that got an answer (oneway sends get none)."""

    __slots__ = (
        "_answer",
        "_appender",
        "_body_bytes_max",
        "_broker",
        "_diversion",
        "_draft",
        "_ends",
        "_entries",
        "_gate",
        "_header",
        "_id_size",
        "_id_start",
        "_kind",
        "_suffix",
        "_value_end",
        "_value_start",
        "answered",
        "taken",
    )

    def __init__(
        self,
        appender: Appender,
        entries: dict[bytes, TopicEntry],
        answer: SendAnswerWriter,
        suffix: bytes,
        body_bytes_max: int,
    ) -> None:
        """`suffix` is the properties text that every message gets from the broker."""
        self._appender = appender
        self._entries = entries
        self._answer = answer
        self._suffix = suffix
        self._body_bytes_max = body_bytes_max
        self._header = SendHeader()
        self._draft = MessageDraft()
        # Position of the sender's id in the properties.
        self._id_start = 0
        self._id_size = 0
        # The property that diverts it (see `send_diversion`; 0: none), and its value's position.
        self._kind = 0
        self._value_start = 0
        self._value_end = 0
        self._diversion: SendDiversion | None = None
        self._ends: FastEndTransaction | None = None
        self._broker = b""
        self._gate: FastGate | None = None
        self.answered = 0
        self.taken = 0

    def guard(self, gate: FastGate) -> None:
        """From now on take requests of users whom the gate knows, and no others."""
        self._gate = gate
        if self._ends is not None:
            self._ends.guard(gate)

    def divert(
        self, diversion: SendDiversion, ends: FastEndTransaction | None, broker: str
    ) -> None:
        """From now on take delayed, timed and half messages and END_TRANSACTION, too. `broker` is
        the broker name for the recall handles of timed messages."""
        self._diversion = diversion
        self._ends = ends
        is_plain = 0 < len(broker.encode()) <= _BROKER_BYTES_MAX and " " not in broker
        self._broker = broker.encode() if is_plain else b""

    def take_all(
        self, frames: FrameReader, output: ReplyBuffer, born_host: bytes, now: Now
    ) -> bool:
        """Take the current frame and those after it. True: the current one is not taken and still
        to be handled; False: there is no further frame."""
        self._draft.born_host = born_host
        wall_ms = now.wall_ms
        if self._diversion is not None:
            self._diversion.begin()
        while True:
            if not self._take(frames, output, wall_ms, now) and (
                self._ends is None or not self._ends.take(frames, wall_ms)
            ):
                return True
            if not frames.advance():
                return False

    def _take(self, frames: FrameReader, output: ReplyBuffer, wall_ms: int, now: Now) -> bool:
        header = self._header
        draft = self._draft
        if not header.read(frames, draft):
            return False
        found = self._entries.get(draft.topic)
        if found is None:
            return False
        entry: TopicEntry = found
        # Allowed system flags: compressed body and its compression type, half message.
        if (
            entry.kinds == 0
            or draft.sys_flag & ~0x705 != 0
            or draft.reconsume_times != 0
            or header.flag & ~2 != 0
            or draft.queue_id >= entry.queues_end
            or draft.body_size > self._body_bytes_max
        ):
            return False
        gate = self._gate
        if gate is not None and (not gate.admits(frames) or not gate.may_send(draft.topic)):
            return False
        if not self._scan_properties(draft):
            return False
        if entry.kinds >> self._kind & 1 == 0 or (draft.sys_flag & 4 != 0 and self._kind != 3):
            return False
        if not self._prepare(draft, entry):
            return False
        if self._kind == 7 and not self._rank(draft, entry.write_queues):
            return False
        queue_id = draft.queue_id
        if self._kind != 0 and self._kind != 7 and not self._divert(draft, now):
            return False
        try:
            log_offset = self._appender.append(draft, wall_ms)
        except AerobeeError:
            return False  # nothing was stored
        self.taken += self._appender.count
        if gate is not None:
            gate.took()
        if self._kind == 3:
            self._note_half()
        if header.flag & 2 == 0:
            self.answered += 1
            if 3 < self._kind < 7:
                self._begin_handle(entry.name)
            self._write_answer(frames.serialize_type == 1, output, log_offset, queue_id)
        return True

    def _prepare(self, draft: MessageDraft, entry: TopicEntry) -> bool:
        """Add what the broker says of every message, and choose its queue if it names none."""
        if not draft.is_batch and not self._add_suffix(draft):
            return False
        if draft.queue_id < 0:
            draft.queue_id = entry.next_queue()
        return True

    def store_normal(self, draft: MessageDraft, wall_ms: int) -> int:
        """Store a message that was read by another protocol, is normal and fits its topic's type.
        Its queue offset; -1: it is for the general path, and nothing was stored."""
        found = self._entries.get(draft.topic)
        if found is None:
            return -1
        entry: TopicEntry = found
        if not entry.takes_normal or draft.body_size > self._body_bytes_max:
            return -1
        if not self._scan_properties(draft) or self._kind != 0 or not self._prepare(draft, entry):
            return -1
        try:
            self._appender.append(draft, wall_ms)
        except AerobeeError:
            return -1  # nothing was stored
        self.taken += 1
        self.answered += 1
        return self._appender.queue_offset

    def _rank(self, draft: MessageDraft, write_queues: int) -> bool:
        """Choose the queue of the message's priority; the last one for priorities beyond it."""
        start = self._value_start
        size = self._value_end - start
        priority = parse_decimal(draft.properties, start, self._value_end)
        if size > 9 or priority < 0 or draft.is_batch or _has_sharding_key(draft):
            return False
        draft.queue_id = priority if priority < write_queues else write_queues - 1
        return True

    def _divert(self, draft: MessageDraft, now: Now) -> bool:
        diversion = self._diversion
        if diversion is None or draft.is_batch:
            return False
        return diversion.divert(
            draft,
            self._kind,
            self._value_start,
            self._value_end,
            self._id_start,
            self._id_start + self._id_size,
            now,
        )

    def _note_half(self) -> None:
        diversion = self._diversion
        assert diversion is not None
        diversion.opened(self._appender.queue_offset)

    def _begin_handle(self, topic: bytes) -> None:
        """Put a recall handle into the answer; none if the message id has a space in it."""
        diversion = self._diversion
        assert diversion is not None
        memory = self._draft.properties
        for index in range(self._id_start, self._id_start + self._id_size):
            if memory[index] == 0x20:
                return
        if self._broker:
            self._answer.begin_handle(
                self._broker, topic, diversion.out_ms + 1, memory, self._id_start, self._id_size
            )

    def _write_answer(
        self, is_binary: bool, output: ReplyBuffer, log_offset: int, queue_id: int
    ) -> None:
        answer = self._answer
        count = self._appender.count
        answer.begin(output, is_binary, count, self._id_size)
        if count == 1:
            answer.add_id(log_offset)
        else:
            for offset in self._appender.record_offsets(log_offset):
                answer.add_id(offset)
        answer.end(
            self._header.opaque,
            queue_id,
            self._appender.queue_offset,
            self._draft.properties,
            self._id_start,
            self._id_size,
        )

    def _scan_properties(self, draft: MessageDraft) -> bool:
        """Find the message id and the property that diverts the message; False if a property needs
        the general path."""
        memory = draft.properties
        end = draft.properties_size
        position = 0
        self._id_size = 0
        self._kind = 0
        while position < end:
            start = position
            while position < end and memory[position] > 2:
                position += 1
            if position == end or memory[position] != 1:
                return False
            kind = _kind_of(memory, start, position)
            if kind == 1 or (kind != 0 and self._kind != 0):
                return False
            size = position - start
            position += 1
            value = position
            while position < end and memory[position] > 2:
                position += 1
            if position < end and memory[position] != 2:
                return False
            if kind != 0:
                self._kind = kind
                self._value_start = value
                self._value_end = position
            elif size == 8 and same_bytes(memory, start, bytes_address(b"UNIQ_KEY"), 0, 8):
                self._id_start = value
                self._id_size = position - value
            position += 1
        return self._is_plain_id(memory)

    def _is_plain_id(self, memory: memoryview) -> bool:
        """Whether there is an id, and it needs no escape in JSON."""
        if self._id_size == 0 or self._id_size > 256:
            return False
        for index in range(self._id_start, self._id_start + self._id_size):
            byte = memory[index]
            if byte < 0x20 or byte > 0x7E or byte == 0x22 or byte == 0x5C:
                return False
        return True

    def _add_suffix(self, draft: MessageDraft) -> bool:
        size = draft.properties_size
        suffix_size = len(self._suffix)
        if size + suffix_size + 1 > 32767:
            return False
        if draft.properties[size - 1] != 2:
            draft.properties[size] = 2
            size += 1
        copy_bytes(draft.properties, size, bytes_address(self._suffix), 0, suffix_size)
        draft.properties_size = size + suffix_size
        return True


def _kind_of(memory: memoryview, start: int, end: int) -> int:
    """The kind of a property by its name: 0 ordinary; 1 only for the general handler, because the
    broker acts upon it, sets it itself or does not store it; 2 to 6 see `send_diversion`; 7 the
    priority."""
    byte = memory[start]
    size = end - start
    if byte == 0x44:
        return 2 if size == 5 and same_bytes(memory, start, bytes_address(b"DELAY"), 0, 5) else 0
    if byte == 0x54:
        return _kind_of_t(memory, start, size)
    if byte == 0x50:
        return size >= 6 and same_bytes(memory, start, bytes_address(b"POP_CK"), 0, 6)
    if byte == 0x49:
        return size >= 6 and same_bytes(memory, start, bytes_address(b"INNER_"), 0, 6)
    if byte == 0x4D:
        return size == 10 and same_bytes(memory, start, bytes_address(b"MSG_REGION"), 0, 10)
    if byte == 0x43:
        return size == 7 and same_bytes(memory, start, bytes_address(b"CLUSTER"), 0, 7)
    if byte == 0x5F:
        if size == 18 and same_bytes(memory, start, bytes_address(b"_SYS_MSG_PRIORITY_"), 0, 18):
            return 7
        return size >= 6 and (
            same_bytes(memory, start, bytes_address(b"__CRC3"), 0, 6)
            or same_bytes(memory, start, bytes_address(b"__RMQ."), 0, 6)
        )
    return 0


def _kind_of_t(memory: memoryview, start: int, size: int) -> int:
    """`_kind_of` for names that begin with T."""
    if size == 8:
        if same_bytes(memory, start, bytes_address(b"TRAN_MSG"), 0, 8):
            return 3
        if same_bytes(memory, start, bytes_address(b"TRACE_ON"), 0, 8):
            return 1
    if size < 6 or not same_bytes(memory, start, bytes_address(b"TIMER_"), 0, 6):
        return 0
    if size == 15 and same_bytes(memory, start, bytes_address(b"TIMER_DELAY_SEC"), 0, 15):
        return 4
    if size == 14 and same_bytes(memory, start, bytes_address(b"TIMER_DELAY_MS"), 0, 14):
        return 5
    if size == 16 and same_bytes(memory, start, bytes_address(b"TIMER_DELIVER_MS"), 0, 16):
        return 6
    return 1


def _has_sharding_key(draft: MessageDraft) -> bool:
    """Whether it is to keep its order, and so has no priority. Its pairs are complete."""
    memory = draft.properties
    end = draft.properties_size
    position = 0
    while position < end:
        start = position
        while memory[position] != 1:
            position += 1
        size = position - start
        if size == 13 and same_bytes(memory, start, bytes_address(b"__SHARDINGKEY"), 0, 13):
            return True
        while position < end and memory[position] != 2:
            position += 1
        position += 1
    return False
