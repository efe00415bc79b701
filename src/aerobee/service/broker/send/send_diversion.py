"""Sends that go elsewhere first: half messages, delayed ones, ones for a time. What the general way
does with them, done to a draft in place.

    kind  property           goes to                        is added behind what the message has
    2     DELAY              SCHEDULE_TOPIC_XXXX, level−1   REAL_TOPIC, REAL_QID
    3     TRAN_MSG           RMQ_SYS_TRANS_HALF_TOPIC, 0    REAL_TOPIC, REAL_QID, __transactionId__
    4–6   TIMER_DELAY_SEC,   rmq_sys_wheel_timer, 0         TIMER_OUT_MS, REAL_TOPIC, REAL_QID
          TIMER_DELAY_MS,
          TIMER_DELIVER_MS

Of several such properties, of one that is no plain number, of a time that has come, of a name that
is the broker's to set, only the general handler knows what to do: `divert` says False then, and the
draft is a mixture.

What rarely changes (whether halves are taken, whether a tick has room) is asked once in a read.
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
    """Who keeps messages for a time."""

    def tick_of(self, deliver_ms: int, now: Now) -> int:
        """The TIMER_OUT_MS of a message for this time; 0: it has come. A StorageError: it is
        refused."""


def is_compiled() -> bool:
    return cython.compiled


class SendDiversion:
    """V1. What was learned since `begin` holds until the next one. V2. After `divert` of a half,
    `opened` follows once it is stored."""

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
        """`levels`: how many delays there are."""
        self._levels = levels
        self._ticks = ticks
        self._halves = halves
        self._progress = progress
        self._terms = terms
        # See `HalfTerms`; -1: not asked yet.
        self._room = -1
        self._due_ms = 0
        self._expiry_ms = 0
        # The tick of messages for a time; -1: no time was asked about yet.
        self._deliver_ms = -1
        self.out_ms = 0
        # Where the draft says whose half it is, and the last one that was said.
        self._group_start = 0
        self._group_size = 0
        self._group = b""
        self._group_text = ""

    def begin(self) -> None:
        """A new read: what was learned may not hold any more."""
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
        """Have the draft go elsewhere first, because of a property whose value is at [start, end)
        of its text, every pair of which is whole; its unique id is there, too."""
        # What is added is some 100 bytes, three numbers, the topic and the id.
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
        """The half is stored."""
        self._progress.opened(queue_offset)
        half = Half(queue_offset, self._group_text, 0, self._expiry_ms)
        self._halves.add(half, self._due_ms)

    def _is_free(self, draft: MessageDraft) -> bool:
        """Whether the message has none of the names that are the broker's to set. Where it says its
        producer group is noted."""
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
        # As text it must be what the general way would write.
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
    """1: a name that the broker sets in some of these messages, or that it asks about in a half;
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
