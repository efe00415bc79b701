"""Finds the open half messages at a start, from the half queue and the op queue.

A half is over if an op record names it. A copy with an earlier first offset replaces the half
there, and all other copies of it: of these only the last is open. Op records are read whole; of
halves only those that no op record names, each checked. Runs once, before requests are served.

From recently saved offsets that is little to read. Without them the whole queues are read, so
halves that are over take one byte each and no object.
"""

import logging
from collections.abc import Iterator
from typing import NamedTuple

from aerobee.errors import CorruptFile, CorruptRecord, ProtocolError
from aerobee.model.message import StoredMessage
from aerobee.model.names import TRANSACTION_HALF_TOPIC, TRANSACTION_OP_TOPIC
from aerobee.protocol.message.stored_message import decode_record, decode_records
from aerobee.service.broker.state.consumer_offsets import UNKNOWN, ConsumerOffsets
from aerobee.service.broker.transaction.half_message import (
    first_offset,
    group_of,
    immunity_ms,
    times_checked,
)
from aerobee.service.broker.transaction.op_record import offsets_over
from aerobee.service.broker.transaction.queue_progress import OpSpan
from aerobee.storage.index.consume_queue import FILLER_SIZE, ConsumeQueue
from aerobee.storage.store import Store

_log = logging.getLogger(__name__)

OFFSETS_GROUP = "CID_RMQ_SYS_TRANS"
_HALF, _OP = TRANSACTION_HALF_TOPIC.encode(), TRANSACTION_OP_TOPIC.encode()
_RECORDS_A_READ = 256
_BYTES_A_READ = 1 << 20


class OpenHalf(NamedTuple):
    """The data of an open half, without the message."""

    offset: int
    first: int
    """The queue offset of its first copy; its own offset if it is the first."""
    group: str
    times: int
    immunity_ms: int | None
    born_ms: int
    stored_ms: int
    earlier: tuple[int, ...] = ()
    """The offsets of its earlier copies."""


class FoundHalves(NamedTuple):
    half_end: int
    op_offset: int
    halves: list[OpenHalf]
    """In the order of their offsets."""
    ops: list[OpSpan]
    unseen: range
    """Halves that are in the log and in no queue yet: the disk was full."""


def find_open(store: Store, offsets: ConsumerOffsets) -> FoundHalves:
    half_queue, op_queue = store.queue(_HALF, 0), store.queue(_OP, 0)
    op_start = _start(op_queue, offsets.find(OFFSETS_GROUP, TRANSACTION_OP_TOPIC, 0))
    if half_queue is None:
        return FoundHalves(0, op_start, [], [], range(0))
    start = _start(half_queue, offsets.find(OFFSETS_GROUP, TRANSACTION_HALF_TOPIC, 0))
    over = _Over(start, half_queue.max_offset)
    ops = []
    for record in _records(store, op_queue, op_start) if op_queue is not None else ():
        named = offsets_over(record)
        over.add(named)
        ops.append(OpSpan(record.queue_offset, max(named, default=-1)))
    found = [
        half
        for offset in over.others()
        if (half := _read_half(store, half_queue, offset)) is not None
    ]
    return FoundHalves(
        half_queue.next_offset,
        op_start,
        _newest(found, over),
        ops,
        range(half_queue.max_offset, half_queue.next_offset),
    )


def _start(queue: ConsumeQueue | None, saved: int) -> int:
    if queue is None:
        return 0
    if saved == UNKNOWN:
        return queue.min_offset
    return max(queue.min_offset, min(saved, queue.max_offset))


class _Over:
    """The halves in a range of the queue that op records name."""

    def __init__(self, start: int, end: int) -> None:
        self._start = start
        self._named = bytearray(end - start)
        # Named, but before the range: a copy in the range may replace one of them.
        self._older: set[int] = set()

    def add(self, offsets: list[int]) -> None:
        for offset in offsets:
            index = offset - self._start
            if index < 0:
                self._older.add(offset)
            elif index < len(self._named):
                self._named[index] = 1

    def __contains__(self, offset: int) -> bool:
        index = offset - self._start
        if index < 0:
            return offset in self._older
        return index < len(self._named) and self._named[index] == 1

    def others(self) -> Iterator[int]:
        """The offsets in the range that no op record names."""
        index = self._named.find(0)
        while index >= 0:
            yield self._start + index
            index = self._named.find(0, index + 1)


def _newest(halves: list[OpenHalf], over: _Over) -> list[OpenHalf]:
    """The last copy of each half, without those whose first copy is over."""
    chains: dict[int, list[OpenHalf]] = {}
    for half in halves:
        chains.setdefault(half.first, []).append(half)
    found = []
    for first, chain in chains.items():
        newest = chain[-1]
        earlier = {first, *(one.offset for one in chain)} - {newest.offset}
        if first not in over:
            found.append(newest._replace(earlier=tuple(sorted(earlier))))
    return sorted(found)


def _read_half(store: Store, queue: ConsumeQueue, offset: int) -> OpenHalf | None:
    try:
        half = _read_single(store, queue, offset)
    except (CorruptRecord, ProtocolError) as error:
        _log.error("a half message is lost, and passed over: queue offset %d: %s", offset, error)
        return None
    if half is None:
        return None
    first = first_offset(half)
    return OpenHalf(
        offset,
        # A first copy has a lower offset.
        offset if first is None or first > offset else first,
        group_of(half),
        times_checked(half),
        immunity_ms(half),
        half.born_timestamp,
        half.store_timestamp,
    )


def _records(store: Store, queue: ConsumeQueue, offset: int) -> Iterator[StoredMessage]:
    """The readable records of a queue from an offset on."""
    while offset < queue.max_offset:
        try:
            read = store.read(queue.topic, queue.queue_id, offset, _RECORDS_A_READ, _BYTES_A_READ)
            if read.is_cold:
                store.verify(read)
            records = decode_records(b"".join(read.slices))
        except (CorruptRecord, CorruptFile, ProtocolError):
            # One of them is damaged.
            yield from _read_alone(store, queue, offset)
            offset += 1
            continue
        yield from records
        offset = max(offset + 1, read.next_offset)


def _read_alone(store: Store, queue: ConsumeQueue, offset: int) -> Iterator[StoredMessage]:
    try:
        record = _read_single(store, queue, offset)
    except (CorruptRecord, ProtocolError) as error:
        # Transactions that it names may be checked again.
        _log.error("an op record is passed over: queue offset %d: %s", offset, error)
        return
    if record is not None:
        yield record


def _read_single(store: Store, queue: ConsumeQueue, offset: int) -> StoredMessage | None:
    """The record of one unit, checked; None if the unit points to a record of another queue or
    offset."""
    unit = queue.unit(offset)
    if unit is None or unit[1] == FILLER_SIZE:
        return None
    record = store.record_at(unit[0])
    found = decode_record(bytes(record)) if record is not None else None
    if found is None or (found.topic.encode(), found.queue_offset) != (queue.topic, offset):
        _log.error("unit %d of %s leads to no record of its own", offset, queue.topic.decode())
        return None
    return found
