"""Diverts sends to system topics on the fast path: half messages, delayed ones, timed ones. A draft
is rewritten in place; the result is the same as on the general path.

    kind  property           goes to                        properties appended
    2     DELAY              SCHEDULE_TOPIC_XXXX, level−1   REAL_TOPIC, REAL_QID
    3     TRAN_MSG           RMQ_SYS_TRANS_HALF_TOPIC, 0    REAL_TOPIC, REAL_QID, __transactionId__
    4–6   TIMER_DELAY_SEC,   rmq_sys_wheel_timer, 0         TIMER_OUT_MS, REAL_TOPIC, REAL_QID
          TIMER_DELAY_MS,
          TIMER_DELIVER_MS

Left to the general handler: several such properties, a value that is not a decimal number, a time
in the past, a property that only the broker may set. `divert` returns False then, and the draft may
be half rewritten.

Conditions that rarely change (room for half messages, room in a tick) are checked once per read.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from aerobee.errors import AerobeeError
from aerobee.ports.clock import Now
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.service.broker.transaction.half_timing import HalfTerms
from aerobee.service.broker.transaction.open_halves import Half, OpenHalves
from aerobee.service.broker.transaction.queue_progress import QueueProgress

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
    from aerobee.protocol.primitives.digits import put_decimal
    from aerobee.protocol.text.json_bytes import parse_decimal, plain_end

_SCHEDULE_TOPIC = b"SCHEDULE_TOPIC_XXXX"
_HALF_TOPIC = b"RMQ_SYS_TRANS_HALF_TOPIC"
_TIMER_TOPIC = b"rmq_sys_wheel_timer"
_GROUP_BYTES_MAX = 120


class Ticks(Protocol):
    """The timer, as sends need it: assigns a tick to a delivery time."""

    def tick_of(self, deliver_ms: int, now: Now) -> int:
        """The TIMER_OUT_MS of a message for this time; 0: the time is past. StorageError: the
        message is refused."""


def is_compiled() -> bool:
    return cython.compiled


class SendDiversion:
    """Rewrites drafts to go to system topics. V1. Conditions read since `begin` are valid until the
    next `begin`. V2. After `divert` of a half message, `opened` follows once it is stored."""

    __slots__ = (
        "_deliver_ms",
        "_due_ms",
        "_expiry_ms",
        "_group",
        "_group_size",
        "_group_start",
        "_group_text",
        "_halves",
        "_levels",
        "_progress",
        "_room",
        "_terms",
        "_ticks",
        "out_ms",
    )

    def __init__(
        self,
        levels: int,
        ticks: Ticks,
        halves: OpenHalves,
        progress: QueueProgress,
        terms: Callable[[Now], HalfTerms],
    ) -> None:
        """`levels`: the number of delay levels."""
        self._levels = levels
        self._ticks = ticks
        self._halves = halves
        self._progress = progress
        self._terms = terms
        # See `HalfTerms`; -1: not asked yet.
        self._room = -1
        self._due_ms = 0
        self._expiry_ms = 0
        # The last delivery time that was looked up, and its tick; -1: none in this read yet.
        self._deliver_ms = -1
        self.out_ms = 0
        # Position of PGROUP in the draft, and the producer group of the half message before it.
        self._group_start = 0
        self._group_size = 0
        self._group = b""
        self._group_text = ""

    def begin(self) -> None:
        """A new read begins: forget the conditions of the one before."""
        self._room = -1
        self._deliver_ms = -1

    def divert(
        self,
        draft: MessageDraft,
        kind: int,
        start: int,
        end: int,
        id_start: int,
        id_end: int,
        now: Now,
    ) -> bool:
        """Rewrite the draft for the system topic of `kind`. The property's value is at [start, end)
        of the properties text, the message id at [id_start, id_end); every pair in it is complete.
        """
        # Room for the appended properties: some 100 bytes, three numbers, the topic and the id.
        if draft.properties_size > 32_000 or not self._is_free(draft):
            return False
        if kind == 2:
            return self._to_level(draft, start, end)
        if kind == 3:
            if self._room < 0:
                self._learn_terms(now)
            if len(self._halves) >= self._room:
                return False
            return self._to_half(draft, start, end, id_start, id_end)
        number = parse_decimal(draft.properties, start, end)
        if end - start > 15 or number < 0:
            return False
        if kind == 6:
            return self._to_timer(draft, number, now)
        return self._to_timer(draft, now.wall_ms + (number * 1000 if kind == 4 else number), now)

    def _learn_terms(self, now: Now) -> None:
        self._room, self._due_ms, self._expiry_ms = self._terms(now)

    def opened(self, queue_offset: int) -> None:
        """The half message is stored: track it as open."""
        self._progress.opened(queue_offset)
        half = Half(queue_offset, self._group_text, 0, self._expiry_ms)
        self._halves.add(half, self._due_ms)

    def _is_free(self, draft: MessageDraft) -> bool:
        """Whether the message has none of the properties that only the broker may set. Notes the
        position of its producer group."""
        memory = draft.properties
        end = draft.properties_size
        position = 0
        self._group_size = 0
        while position < end:
            start = position
            while memory[position] != 1:
                position += 1
            kind = _kind_of(memory, start, position)
            if kind == 1:
                return False
            position += 1
            value = position
            while position < end and memory[position] != 2:
                position += 1
            if kind == 2:
                if self._group_size != 0:
                    return False
                self._group_start = value
                self._group_size = position - value
            position += 1
        return True

    def _to_level(self, draft: MessageDraft, start: int, end: int) -> bool:
        level = parse_decimal(draft.properties, start, end)
        # The property stays as it is, so its text must be what the general path would write.
        if end - start > 2 or not 0 < level <= self._levels or draft.properties[start] == 0x30:
            return False
        self._add_place(draft)
        draft.topic = _SCHEDULE_TOPIC
        draft.queue_id = level - 1
        return True

    def _to_half(
        self, draft: MessageDraft, start: int, end: int, id_start: int, id_end: int
    ) -> bool:
        memory = draft.properties
        if end - start != 4 or not same_bytes(memory, start, bytes_address(b"true"), 0, 4):
            return False
        size = self._group_size
        stop = self._group_start + size
        if size == 0 or size > _GROUP_BYTES_MAX or plain_end(memory, stop - size, stop) != stop:
            return False
        if size != len(self._group) or not same_bytes(
            memory, self._group_start, bytes_address(self._group), 0, size
        ):
            self._group = bytes_at(memory, self._group_start, size)
            self._group_text = self._group.decode()
        self._add_place(draft)
        self._add(draft, b"__transactionId__\x01")
        size = draft.properties_size
        copy_bytes(memory, size, memory, id_start, id_end - id_start)
        size += id_end - id_start
        memory[size] = 2
        draft.properties_size = size + 1
        draft.topic = _HALF_TOPIC
        draft.queue_id = 0
        draft.sys_flag &= ~0xC
        return True

    def _to_timer(self, draft: MessageDraft, deliver_ms: int, now: Now) -> bool:
        if deliver_ms != self._deliver_ms:
            try:
                self.out_ms = self._ticks.tick_of(deliver_ms, now)
            except AerobeeError:
                self.out_ms = 0
            self._deliver_ms = deliver_ms
        if self.out_ms <= 0:
            return False
        self._add(draft, b"TIMER_OUT_MS\x01")
        self._add_number(draft, self.out_ms)
        self._add_place(draft)
        draft.topic = _TIMER_TOPIC
        draft.queue_id = 0
        return True

    def _add_place(self, draft: MessageDraft) -> None:
        self._add(draft, b"REAL_TOPIC\x01")
        self._add(draft, draft.topic)
        self._add(draft, b"\x02REAL_QID\x01")
        self._add_number(draft, draft.queue_id)

    def _add_number(self, draft: MessageDraft, number: int) -> None:
        end = put_decimal(draft.properties, draft.properties_size, number)
        draft.properties[end] = 2
        draft.properties_size = end + 1

    def _add(self, draft: MessageDraft, text: bytes) -> None:
        size = len(text)
        copy_bytes(draft.properties, draft.properties_size, bytes_address(text), 0, size)
        draft.properties_size += size


def _kind_of(memory: memoryview, start: int, end: int) -> int:
    """1: a property that only the broker may set, or that changes the checks of a half message;
    2: the producer group; 0: neither."""
    size = end - start
    byte = memory[start]
    if byte == 0x52:
        return (size == 10 and same_bytes(memory, start, bytes_address(b"REAL_TOPIC"), 0, 10)) or (
            size == 8 and same_bytes(memory, start, bytes_address(b"REAL_QID"), 0, 8)
        )
    if byte == 0x50:
        return 2 if size == 6 and same_bytes(memory, start, bytes_address(b"PGROUP"), 0, 6) else 0
    if byte == 0x54:
        # TRAN_PREPARED_QUEUE_OFFSET, TRANSACTION_CHECK_TIMES and whatever begins like them.
        return size > 8 and same_bytes(memory, start, bytes_address(b"TRAN"), 0, 4)
    if byte == 0x5F:
        return size == 17 and same_bytes(memory, start, bytes_address(b"__transactionId__"), 0, 17)
    if byte == 0x43:
        return size > 15 and same_bytes(memory, start, bytes_address(b"CHECK_IMMUNITY_"), 0, 15)
    return 0
