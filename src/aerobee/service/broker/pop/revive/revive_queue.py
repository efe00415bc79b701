"""ReviveQueue reads one queue of the revive topic and revives messages that were not acknowledged.

    revive queue ─▶ checkpoints, by when they are due ─▶ messages without an acknowledgement
                                                          ─▶ copies into retry topic, dead letters

A checkpoint comes out of the timer a second before its messages become visible, so few are held.
For a checkpoint of this process the acknowledgements are cached (`in_flight`): it is due at its
exact time. For one of an earlier process they are read from the queue behind it: it is due when the
timer has delivered everything up to its time and all of that is read.

Laws. The committed offset is that of the last checkpoint up to which all are finished, and only
when their copies are on the disk: after any crash a message that was not acknowledged comes back at
least once. If the store refuses a copy, it is tried again. A message that retention removed, or
that is damaged, is reported and skipped. A tick does a bounded amount of work.

An acting master stores no records: those that its timer delivers are given to `take_unstored`, and
count as delivered when the copies of their messages are.
"""

import heapq
import logging
from collections import deque
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from aerobee.errors import CorruptRecord, MessageIllegal, ProtocolError, StorageError
from aerobee.model.message import StoredMessage
from aerobee.ports.clock import Now
from aerobee.protocol.bodies.revive_records import (
    AckRecord,
    Checkpoint,
    CheckpointKey,
    decode_ack,
    decode_checkpoint,
)
from aerobee.protocol.message.stored_message import decode_record, decode_records
from aerobee.protocol.primitives.java_hash import tag_code
from aerobee.service.broker.pop.revive.in_flight import InFlight
from aerobee.service.broker.pop.revive.retry_writer import RetryWriter
from aerobee.service.broker.pop.revive.revive_writer import ACK_TAG, BATCH_ACK_TAG, CHECKPOINT_TAG
from aerobee.service.broker.state.consumer_offsets import ConsumerOffsets
from aerobee.storage.index.consume_queue import ConsumeQueue
from aerobee.storage.store import Store

_log = logging.getLogger(__name__)

REVIVE_GROUP = "CID_RMQ_SYS_REVIVE_GROUP"
RECORDS_A_READ = 256
READS_A_STEP = 2
BYTES_A_READ = 256 * 1024

_CHECKPOINTS = frozenset({tag_code(CHECKPOINT_TAG.encode())})
_ACKS = frozenset({tag_code(ACK_TAG.encode()), tag_code(BATCH_ACK_TAG.encode())})
_Tags: TypeAlias = frozenset[int]
_Due: TypeAlias = "tuple[int, int, _Entry]"
Over: TypeAlias = Callable[[list[int]], None]
"""Called when a record is done with, with the ends of the puts that came of it."""


class UnstoredRecord(NamedTuple):
    """A record that was delivered to this queue without being stored."""

    tag: str
    body: bytes
    over: "Over"


class _Entry:
    """A checkpoint that was read, with its acknowledgements and its progress."""

    __slots__ = (
        "acked",
        "checkpoint",
        "is_done",
        "is_remembered",
        "left",
        "offset",
        "over",
        "puts",
    )

    def __init__(
        self, checkpoint: Checkpoint, offset: int, is_remembered: bool, over: "Over | None" = None
    ) -> None:
        self.checkpoint = checkpoint
        self.offset = offset
        self.is_remembered = is_remembered
        # Of a record that is not stored, and where its copies ended.
        self.over = over
        self.puts: list[int] = []
        self.acked: set[int] = set()
        # The messages that are still to come back, once it is due.
        self.left: deque[int] | None = None
        self.is_done = False


class ReviveQueue:
    """One queue of the revive topic.

    R1. `_line` has the checkpoints that were read and are not committed, in order.
    R2. `_due` has those of them that are not done, by their time: of this process, of others;
        `_keys` has the keys of both, `_strangers` those of others.
    """

    def __init__(
        self,
        store: Store,
        offsets: ConsumerOffsets,
        topic: bytes,
        queue_id: int,
        in_flight: InFlight,
        retry_writer: RetryWriter,
    ) -> None:
        self._store = store
        self._offsets = offsets
        self._topic = topic
        self._queue_id = self.queue_id = queue_id
        self._in_flight = in_flight
        self._retry_writer = retry_writer
        # The group's offset is that of the last finished checkpoint; -1 without one.
        self._position = offsets.find(REVIVE_GROUP, topic.decode(), queue_id) + 1
        self._line: deque[_Entry] = deque()
        self._due: tuple[list[_Due], list[_Due]] = ([], [])
        self._keys: set[CheckpointKey] = set()
        self._strangers: dict[CheckpointKey, _Entry] = {}
        # Records that were not stored, and those of them that have a checkpoint so far.
        self._unstored: deque[UnstoredRecord] = deque()
        self._unstored_count = 0
        # Checkpoints that came out of the timer, since the start.
        self.checkpoints = 0
        # (log end, revive offset): the second may be committed once the first is on the disk.
        self._unsafe: deque[tuple[int, int]] = deque()

    def step(self, now: Now, delivered_to_ms: int, copies_max: int) -> int:
        """Revive messages that are due, at most `copies_max`; returns their number. StorageError:
        the store takes none now. `delivered_to_ms`: the timer has delivered everything due up to
        then."""
        queue = self._store.queue(self._topic, self._queue_id)
        for _ in range(READS_A_STEP):
            if queue is None or not self._read(queue):
                break
        is_all_read = queue is None or self._position >= queue.next_offset
        if is_all_read:
            self._note_unstored()
        mine, others = self._due
        copies = 0
        try:
            copies += self._revive_due(mine, now.wall_ms, copies_max, now)
            if is_all_read:
                copies += self._revive_due(others, delivered_to_ms, copies_max - copies, now)
        finally:
            self._advance()
        return copies

    def _revive_due(self, due: list[_Due], until_ms: int, copies_max: int, now: Now) -> int:
        copies = 0
        while due and due[0][0] <= until_ms and copies < copies_max:
            entry = due[0][2]
            copies += self._revive(entry, copies_max - copies, now)
            if not entry.is_done:
                break
            heapq.heappop(due)
        return copies

    def take_unstored(self, record: UnstoredRecord) -> None:
        """Take a record that was delivered and is not stored."""
        self._unstored.append(record)

    def commit_safe(self) -> None:
        """Commit offsets whose copies are lasting."""
        done = -1
        lasting = self._retry_writer.lasting_offset
        while self._unsafe and self._unsafe[0][0] <= lasting:
            done = self._unsafe.popleft()[1]
        queue = self._store.queue(self._topic, self._queue_id)
        if done >= 0 and queue is not None:
            topic = self._topic.decode()
            self._offsets.commit(REVIVE_GROUP, topic, self._queue_id, done, queue.max_offset)

    def ms_to_due(self, now: Now) -> int | None:
        """The time until a checkpoint may be due; None: there is none."""
        heads = [due[0][0] for due in self._due if due]
        return max(0, min(heads) - now.wall_ms) if heads else None

    def behind(self, now: Now) -> tuple[int, int]:
        """(records that are not read yet, how many ms the oldest of them has waited)."""
        queue = self._store.queue(self._topic, self._queue_id)
        if queue is None or queue.max_offset <= self._position:
            return 0, 0
        unit = queue.unit(max(self._position, queue.min_offset))
        record = None if unit is None else self._store.record_at(unit[0])
        stored_ms = now.wall_ms if record is None else decode_record(bytes(record)).store_timestamp
        return queue.max_offset - self._position, max(0, now.wall_ms - stored_ms)

    # Reading.

    def _read(self, queue: ConsumeQueue) -> bool:
        """Read the next records; whether there may be more."""
        start = max(self._position, queue.min_offset)
        if start >= queue.max_offset:
            return False
        end, checkpoints = self._records(queue, start, queue.max_offset, _CHECKPOINTS)
        if end == start:
            return False
        for record in checkpoints:
            self._note_checkpoint(record)
        if self._strangers:
            position = start
            while position < end:
                begun, (position, ack_writer) = position, self._records(queue, position, end, _ACKS)
                for record in ack_writer:
                    self._note_ack(record)
                if position == begun:
                    return False
        self._position = end
        return end < queue.max_offset

    def _records(
        self, queue: ConsumeQueue, start: int, end: int, tags: _Tags
    ) -> tuple[int, list[StoredMessage]]:
        """The records with one of the tags from `start` on, and the offset up to which they were
        looked for."""
        try:
            found = self._store.read(
                queue.topic, queue.queue_id, start, RECORDS_A_READ, BYTES_A_READ, tags
            )
            if found.is_cold:
                self._store.verify(found)
            records = [one for part in found.slices for one in decode_records(bytes(part))]
            return min(found.next_offset, end), records
        except (StorageError, ProtocolError):
            return start + 1, self._single(queue, start, tags)

    def _single(self, queue: ConsumeQueue, offset: int, tags: _Tags) -> list[StoredMessage]:
        """Read one record alone, because one of several is damaged."""
        unit = queue.unit(offset)
        if unit is None or unit[2] not in tags:
            return []
        try:
            record = self._store.record_at(unit[0])
            return [] if record is None else [decode_record(bytes(record))]
        except (CorruptRecord, ProtocolError) as error:
            _log.error(
                "a record of popped messages is damaged, and passed over: queue %d, offset %d: %s",
                queue.queue_id,
                offset,
                error,
            )
            return []

    def _note_checkpoint(self, record: StoredMessage) -> None:
        try:
            checkpoint = decode_checkpoint(record.body)
        except ProtocolError as error:
            _log.error("no checkpoint at offset %d: %s", record.queue_offset, error)
            return
        entry = _Entry(checkpoint, record.queue_offset, self._in_flight.knows(checkpoint.key))
        self._line.append(entry)
        self._await(entry)

    def _note_unstored(self) -> None:
        while self._unstored:
            tag, body, over = self._unstored.popleft()
            try:
                if tag == CHECKPOINT_TAG:
                    self._unstored_count += 1
                    checkpoint = decode_checkpoint(body)
                    self._await(_Entry(checkpoint, -self._unstored_count, False, over))
                    continue
                self._add_ack(decode_ack(body))
            except ProtocolError as error:
                _log.error("no record of popped messages came out of the timer: %s", error)
            over([])

    def _await(self, entry: _Entry) -> None:
        """Have a checkpoint that was read come back when it is due."""
        self.checkpoints += 1
        checkpoint, is_remembered = entry.checkpoint, entry.is_remembered
        key = checkpoint.key
        if key in self._keys:
            entry.is_done = True  # the timer may deliver twice: the first of them is enough
            if entry.over is not None:
                entry.over([])
            return
        if is_remembered and not self._unacked(entry):
            self._end(entry)
            return
        self._keys.add(key)
        if not is_remembered:
            self._strangers[key] = entry
        due = self._due[0 if is_remembered else 1]
        heapq.heappush(due, (checkpoint.revive_time, entry.offset, entry))

    def _note_ack(self, record: StoredMessage) -> None:
        try:
            ack = decode_ack(record.body)
        except ProtocolError as error:
            _log.error("no acknowledgement at offset %d: %s", record.queue_offset, error)
            return
        self._add_ack(ack)

    def _add_ack(self, ack: AckRecord) -> None:
        entry = self._strangers.get(ack.key)
        if entry is not None:
            entry.acked.update(ack.offsets)

    # Reviving.

    def _unacked(self, entry: _Entry) -> list[int]:
        checkpoint = entry.checkpoint
        if entry.is_remembered:
            return [
                checkpoint.start_offset + distance
                for distance in checkpoint.distances
                if not self._in_flight.is_acked(checkpoint.key, distance)
            ]
        offsets = (checkpoint.start_offset + distance for distance in checkpoint.distances)
        return [offset for offset in offsets if offset not in entry.acked]

    def _revive(self, entry: _Entry, copies_max: int, now: Now) -> int:
        """Revive the messages of a checkpoint; returns the number of copies."""
        if entry.left is None:
            entry.left = deque(self._unacked(entry))
        copies = 0
        while entry.left:
            if copies >= copies_max or not self._is_put(entry.checkpoint, entry.left[0], now):
                return copies
            entry.left.popleft()
            entry.puts.append(self._retry_writer.end_offset)
            copies += 1
        self._end(entry)
        return copies

    def _is_put(self, checkpoint: Checkpoint, offset: int, now: Now) -> bool:
        try:
            return self._retry_writer.put(checkpoint, offset, now)
        except (MessageIllegal, ProtocolError) as error:
            _log.error(
                "a popped message cannot come back, and is passed over: %s, offset %d: %s",
                checkpoint.topic,
                offset,
                error,
            )
            return True

    def _end(self, entry: _Entry) -> None:
        entry.is_done = True
        key = entry.checkpoint.key
        self._in_flight.ended(key)
        self._keys.discard(key)
        self._strangers.pop(key, None)
        if entry.over is not None:
            entry.over(entry.puts)

    def _advance(self) -> None:
        """Note the offset up to which all checkpoints are finished."""
        done = -1
        while self._line and self._line[0].is_done:
            done = self._line.popleft().offset
        if done >= 0:
            self._unsafe.append((self._retry_writer.end_offset, done))
