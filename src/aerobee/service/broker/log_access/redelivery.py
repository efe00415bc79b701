"""Redelivery stores messages that waited in a system topic again in their real topic.

    from                                     to
    SCHEDULE_TOPIC_XXXX, queue level−1       topic REAL_TOPIC, queue REAL_QID
    rmq_sys_wheel_timer, queue 0

    body, flags, born time and host, reconsume times: the same
    properties text: the same, and what the caller adds; without the old record's CRC
    store timestamp, offsets, checksums: its own; prepared transaction: 0

The properties stay as they are, REAL_TOPIC and REAL_QID among them: consumers of Apache's broker
see them, too. Fields that are only passed on are not decoded, and no object is made per message:
topic and host objects are reused if they are the same as in the message before.

Called from the core's thread only.
"""

from typing import TYPE_CHECKING

from aerobee.errors import Misuse
from aerobee.model.properties import PROPERTIES_BYTES_MAX
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.message.record import CRC_PROPERTY_BYTES, Record
from aerobee.protocol.message.waiting_properties import WaitingProperties
from aerobee.service.broker.log_access.real_topic import real_place
from aerobee.storage.appender import Appender

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import (
        address,
        bytes_address,
        bytes_at,
        copy_bytes,
        same_bytes,
    )
    from aerobee.protocol.send.send_field_names import memory_part

_NOTHING = memoryview(b"")
_TEXT_BYTES_MAX = PROPERTIES_BYTES_MAX
_ROOM_BYTES = PROPERTIES_BYTES_MAX - CRC_PROPERTY_BYTES


def is_compiled() -> bool:
    return cython.compiled


class Redelivery:
    """Stores one message after another: `read` and `put`, or `begin` and `run`; then `let_go`."""

    __slots__ = (
        "_appender",
        "_draft",
        "_end",
        "_memory",
        "_position",
        "_topic",
        "_view",
        "bytes_run",
        "count_run",
        "next_offset",
        "record",
        "stored",
        "text",
    )

    def __init__(self, appender: Appender) -> None:
        self._appender = appender
        self._draft = MessageDraft()
        self._view = _NOTHING
        self._memory = address(_NOTHING)
        # Of `run`: the position of the next record, and the end of the view.
        self._position = 0
        self._end = 0
        # The last REAL_TOPIC that was checked.
        self._topic = b""
        # The record read last, and its properties.
        self.record = Record()
        self.text = WaitingProperties()
        # Messages, since the start.
        self.stored = 0
        # Of `run`: the queue offset after the last message that is finished; the number of finished
        # ones and their bytes, which the caller resets to 0.
        self.next_offset = 0
        self.count_run = 0
        self.bytes_run = 0

    def let_go(self) -> None:
        """Drop references to views: a file of the log is not unmapped while there are any."""
        self._view = _NOTHING
        self._memory = address(_NOTHING)
        self._position = self._end = 0
        self._draft.set_body(_NOTHING)

    # One record.

    def look(self, view: memoryview) -> None:
        """Read the properties of `record`, which was filled from this view."""
        if view is not self._view:
            self._view = view
            self._memory = address(view)
        self.text.read(self._memory, self.record.properties_start, self.record.properties_size)

    def read(self, view: memoryview) -> None:
        """Read the record at the start of a view, and its properties."""
        self._view = view
        self._memory = address(view)
        found = self.record.read(self._memory, 0, len(view))
        assert found == 0, found
        self.look(view)

    def put(self, more: bytes, wall_ms: int) -> None:
        """Store the message of the record just read, with `more` properties text if there is room
        for it. Undeliverable or StorageError: it is not stored."""
        draft = self._draft
        draft.topic = self._place()
        draft.queue_id = self.text.queue_id
        self._fill_text(more)
        self._fill_rest()
        self._appender.append(draft, wall_ms)
        self.stored += 1

    def is_dead(self) -> bool:
        """Whether the topic of the record just read was deleted after the record was stored: the
        message does not belong to a new topic of the same name. Undeliverable if it names none."""
        return self.record.log_offset < self._appender.born_at(self._place())

    def key(self) -> bytes:
        """The key by which a recall names this message."""
        text = self.text
        topic = bytes_at(self._memory, text.topic_start, text.topic_size)
        return topic + b"+" + bytes_at(self._memory, text.key_start, text.key_size)

    def delete_key(self) -> bytes:
        """The key of the message that this one recalls."""
        return bytes_at(self._memory, self.text.delete_start, self.text.delete_size)

    def _place(self) -> bytes:
        """The real topic; Undeliverable if there is none, or no queue."""
        text = self.text
        topic = self._topic
        if (
            text.queue_id < 0
            or text.topic_size == 0
            or text.topic_size != len(topic)
            or not same_bytes(
                self._memory, text.topic_start, bytes_address(topic), 0, text.topic_size
            )
        ):
            start = self.record.properties_start
            topic = real_place(bytes_at(self._memory, start, text.size))[0]
            self._topic = topic
        return topic

    def _fill_text(self, more: bytes) -> None:
        draft = self._draft
        size = self.text.size
        more_size = len(more)
        target = draft.properties
        copy_bytes(target, 0, self._memory, self.record.properties_start, size)
        if more_size > 0:
            if size > 0 and target[size - 1] != 2:
                target[size] = 2  # the draft's buffer is one byte longer than the limit
                size += 1
            if size + more_size <= _ROOM_BYTES:
                copy_bytes(target, size, bytes_address(more), 0, more_size)
                size += more_size
        if size > _TEXT_BYTES_MAX:
            raise Misuse(f"{size} bytes of properties; at most {_TEXT_BYTES_MAX} fit")
        draft.properties_size = size

    def _fill_rest(self) -> None:
        draft = self._draft
        record = self.record
        draft.flag = record.flag
        draft.sys_flag = record.sys_flag
        draft.born_timestamp = record.born_timestamp
        draft.reconsume_times = record.reconsume_times
        host_start = record.position + 48
        host_size = 20 if record.sys_flag & 0x10 else 8
        host = draft.born_host
        if len(host) != host_size or not same_bytes(
            self._memory, host_start, bytes_address(host), 0, host_size
        ):
            draft.born_host = bytes_at(self._memory, host_start, host_size)
        draft.body_view = self._view
        draft.body_size = record.body_size
        draft.body = memory_part(
            self._memory, record.body_start, record.body_start + record.body_size
        )

    # A run of records.

    def begin(self, view: memoryview) -> None:
        """Set complete, consecutive records of one queue for `run`."""
        self._view = view
        self._memory = address(view)
        self._position = 0
        self._end = len(view)

    def run(self, end: int, wall_ms: int) -> None:
        """Store the messages of `begin` with a queue offset before `end`, except those of
        topics that were deleted since. An exception belongs to the record just read, which is not
        finished."""
        while self._position < self._end:
            found = self.record.read(self._memory, self._position, self._end)
            assert found == 0, found
            if self.record.queue_offset >= end:
                self._position = self._end
                break
            self.text.read(self._memory, self.record.properties_start, self.record.properties_size)
            if not self.is_dead():
                self.put(b"", wall_ms)
            self.pass_over()

    def pass_over(self) -> None:
        """Count the record just read as finished."""
        self._position += self.record.size
        self.count_run += 1
        self.bytes_run += self.record.size
        self.next_offset = self.record.queue_offset + 1

    def is_over(self) -> bool:
        """Whether `run` has nothing left."""
        return self._position >= self._end


def are_whole(view: memoryview) -> bool:
    """Whether a view consists of complete records."""
    memory = address(view)
    record = Record()
    position = 0
    end = len(view)
    while position < end:
        if record.read(memory, position, end) != 0:
            return False
        position += record.size
    return True
