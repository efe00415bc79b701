"""The short way of a send: header, checks, record and answer, without an object per message.

    frame ─▶ draft ─▶ is anything special? ─▶ log ─▶ answer
                        └─ yes: False, and the general handler has the frame as it came

Plain is: a topic that exists and wants nothing special, a queue that exists, no delay, no
transaction, no property that the broker keeps to itself, an id from the sender. What is refused
(disk full, too large) is refused by the general handler, too, which says why. Law: a frame that is
taken here is stored and answered as the general handler would.
"""

from typing import TYPE_CHECKING

from aerobee.errors import AerobeeError
from aerobee.protocol.frame import FrameReader
from aerobee.protocol.message_draft import MessageDraft
from aerobee.protocol.reply_buffer import ReplyBuffer
from aerobee.protocol.send_answer import SendAnswer
from aerobee.protocol.send_header import SendHeader
from aerobee.service.broker.topic_entry import TopicEntry
from aerobee.storage.appender import Appender

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.big_endian import bytes_address, copy_bytes, same_bytes


def is_compiled() -> bool:
    return cython.compiled


class PlainSend:
    """Takes what is plain. `taken` counts messages, `answered` the requests that were answered."""

    __slots__ = (
        "_answer",
        "_appender",
        "_draft",
        "_entries",
        "_header",
        "_id_size",
        "_id_start",
        "_suffix",
        "answered",
        "taken",
    )

    def __init__(
        self,
        appender: Appender,
        entries: dict[bytes, TopicEntry],
        answer: SendAnswer,
        suffix: bytes,
    ) -> None:
        """`suffix` is the properties text that every message gets from the broker."""
        self._appender = appender
        self._entries = entries
        self._answer = answer
        self._suffix = suffix
        self._header = SendHeader()
        self._draft = MessageDraft()
        # Where the sender's id lies in the properties.
        self._id_start = 0
        self._id_size = 0
        self.answered = 0
        self.taken = 0

    def take_all(
        self, frames: FrameReader, output: ReplyBuffer, born_host: bytes, wall_ms: int
    ) -> bool:
        """Take the current frame and those after it. True: the current one is not plain and still
        to be handled; False: there is no further frame."""
        self._draft.born_host = born_host
        while True:
            if not self._take(frames, output, wall_ms):
                return True
            if not frames.advance():
                return False

    def _take(self, frames: FrameReader, output: ReplyBuffer, wall_ms: int) -> bool:
        header = self._header
        draft = self._draft
        if not header.read(frames, draft):
            return False
        found = self._entries.get(draft.topic)
        if found is None:
            return False
        entry: TopicEntry = found
        # Of the flags only those that say how the body is compressed.
        if (
            not entry.is_plain
            or draft.sys_flag & ~0x701 != 0
            or draft.reconsume_times != 0
            or header.flag & ~2 != 0
            or draft.queue_id >= entry.queues_end
        ):
            return False
        if not self._scan_properties(draft):
            return False
        if not draft.is_batch and not self._add_suffix(draft):
            return False
        if draft.queue_id < 0:
            draft.queue_id = entry.next_queue()
        try:
            log_offset = self._appender.append(draft, wall_ms)
        except AerobeeError:
            return False  # nothing was stored
        self.taken += self._appender.count
        if header.flag & 2 == 0:
            self.answered += 1
            self._write_answer(frames.serialize_type == 1, output, log_offset)
        return True

    def _write_answer(self, is_binary: bool, output: ReplyBuffer, log_offset: int) -> None:
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
            self._draft.queue_id,
            self._appender.queue_offset,
            self._draft.properties,
            self._id_start,
            self._id_size,
        )

    def _scan_properties(self, draft: MessageDraft) -> bool:
        """Look at every name: whether all are plain, and where the sender's id is."""
        memory = draft.properties
        end = draft.properties_size
        position = 0
        self._id_size = 0
        while position < end:
            start = position
            while position < end and memory[position] > 2:
                position += 1
            if position == end or memory[position] != 1 or _is_special(memory, start, position):
                return False
            size = position - start
            position += 1
            value = position
            while position < end and memory[position] > 2:
                position += 1
            if position < end and memory[position] != 2:
                return False
            if size == 8 and same_bytes(memory, start, bytes_address(b"UNIQ_KEY"), 0, 8):
                self._id_start = value
                self._id_size = position - value
            position += 1
        return self._is_plain_id(memory)

    def _is_plain_id(self, memory: memoryview) -> bool:
        """Whether there is an id, and JSON can say it as it is."""
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


def _is_special(memory: memoryview, start: int, end: int) -> bool:
    """Whether a property is one that the broker acts upon, sets itself or keeps to itself."""
    byte = memory[start]
    size = end - start
    if byte == 0x44:
        return size == 5 and same_bytes(memory, start, bytes_address(b"DELAY"), 0, 5)
    if byte == 0x54:
        return size >= 6 and (
            same_bytes(memory, start, bytes_address(b"TIMER_"), 0, 6)
            or (size == 8 and same_bytes(memory, start, bytes_address(b"TRAN_MSG"), 0, 8))
            or (size == 8 and same_bytes(memory, start, bytes_address(b"TRACE_ON"), 0, 8))
        )
    if byte == 0x50:
        return size >= 6 and same_bytes(memory, start, bytes_address(b"POP_CK"), 0, 6)
    if byte == 0x49:
        return size >= 6 and same_bytes(memory, start, bytes_address(b"INNER_"), 0, 6)
    if byte == 0x4D:
        return size == 10 and same_bytes(memory, start, bytes_address(b"MSG_REGION"), 0, 10)
    if byte == 0x43:
        return size == 7 and same_bytes(memory, start, bytes_address(b"CLUSTER"), 0, 7)
    if byte == 0x5F:
        return size >= 6 and (
            same_bytes(memory, start, bytes_address(b"__CRC3"), 0, 6)
            or same_bytes(memory, start, bytes_address(b"__RMQ."), 0, 6)
        )
    return False
