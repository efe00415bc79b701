"""Raises the offsets of popping groups at a start to those that the checkpoints in the log name.

Offsets are saved every few seconds, and count a checkpoint only when it is on the disk. A process
that dies has popped more, and every pop left a checkpoint in the log; its messages must not be
popped a second time, because some have been acknowledged. So every checkpoint that the saved
offsets do not count raises the offset of its queue to the one that it names. The log offset from
which checkpoints are not counted is saved with the offsets; without it, those stored since the
save are read.

A checkpoint counts only if the message before that offset is older than itself: otherwise the topic
was deleted and created again since, and its offsets begin at 0. Both the log offset and the time
are compared, because the copy of a checkpoint that the timer delivers has a later log offset than
messages that were stored in between. If the clock was set back, a message may be popped again; none
is skipped. Checkpoints that extend an
invisible time name no offset, and Apache's do not either: their offsets stay as they were saved.
"""

import logging
from collections.abc import Iterator

from aerobee.errors import ProtocolError, StorageError
from aerobee.model.message import StoredMessage
from aerobee.protocol.bodies.revive_records import decode_checkpoint
from aerobee.protocol.message.stored_message import decode_records
from aerobee.protocol.primitives.java_hash import tag_code
from aerobee.service.broker.pop.revive.revive_writer import CHECKPOINT_TAG, POPPED_TO
from aerobee.service.broker.state.consumer_offsets import NOTHING_POPPED, ConsumerOffsets
from aerobee.storage.index.consume_queue import ConsumeQueue
from aerobee.storage.read.time_search import Boundary
from aerobee.storage.store import Store

_log = logging.getLogger(__name__)

_COUNT_A_READ = 64
_BYTES_A_READ = 256 * 1024
_TAGS = frozenset({tag_code(CHECKPOINT_TAG.encode())})


def catch_up(store: Store, offsets: ConsumerOffsets, topics: frozenset[bytes]) -> int:
    """Raise offsets by the checkpoints in these topics. Returns the number of checkpoints that
    raised one. Blocks on the disk."""
    raised = 0
    for queue in store.queues():
        if queue.topic in topics and queue.max_offset > 0:
            for record in _checkpoints(store, queue, _first(store, queue, offsets)):
                raised += _raise(store, offsets, record)
    if offsets.popped_to != NOTHING_POPPED:
        offsets.popped_to = store.end_offset  # an operator may set offsets from now on
    if raised:
        _log.info("offsets of %d pops were not saved, and were found in the log", raised)
    return raised


def _first(store: Store, queue: ConsumeQueue, offsets: ConsumerOffsets) -> int:
    """The queue offset of the first checkpoint that the saved offsets may not count."""
    if offsets.popped_to == NOTHING_POPPED:
        return store.offset_by_time(queue, offsets.version.timestamp, Boundary.LOWER)
    return queue.first_at(offsets.popped_to)


def _checkpoints(store: Store, queue: ConsumeQueue, offset: int) -> Iterator[StoredMessage]:
    while offset < queue.max_offset:
        try:
            found = store.read(
                queue.topic, queue.queue_id, offset, _COUNT_A_READ, _BYTES_A_READ, _TAGS
            )
            store.verify(found)
            records = [one for part in found.slices for one in decode_records(bytes(part))]
        except (StorageError, ProtocolError) as error:
            _log.error("checkpoints of pops cannot be read, some may be popped again: %s", error)
            return
        if found.next_offset <= offset:
            return
        offset = found.next_offset
        yield from records


def _raise(store: Store, offsets: ConsumerOffsets, record: StoredMessage) -> bool:
    text = record.properties.get(POPPED_TO, "")
    # Only a broker's own, this one's or a master's before it: a client can send to any topic.
    if record.born_host != record.store_host or not text.isdigit():
        return False
    try:
        checkpoint = decode_checkpoint(record.body)
    except ProtocolError:
        return False
    popped_to = int(text[:19])
    group, topic, queue_id = checkpoint.group, checkpoint.topic, checkpoint.queue_id
    queue = store.queue(topic.encode(), queue_id)
    before = queue.unit(popped_to - 1) if queue is not None else None
    if queue is None or before is None or before[0] >= record.log_offset:
        return False
    stored_ms = store.records.store_timestamp_at(before[0])
    if stored_ms is not None and stored_ms > checkpoint.pop_time:
        return False
    if offsets.find(group, topic, queue_id) >= popped_to:
        return False
    offsets.commit(group, topic, queue_id, popped_to, queue.max_offset)
    return True
