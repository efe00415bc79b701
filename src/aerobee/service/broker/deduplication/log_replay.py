"""Reads producer marks from the log at a start, from an offset on, into the table of producers.

A follower (a message behind the first of its batch) counts on from the first one's mark: it is that
many behind it in the queue, because a batch is stored in one piece, and has the same born host,
born timestamp and store timestamp. A copy of such a message has others.

A message that waits in a system topic counts for its real queue. The copy that is later delivered
there has the same mark and is known by then; copies for consumers, in retry topics and elsewhere,
have a mark of another queue and are skipped. So are messages of a deleted topic: no queue has them,
and none that waits for it is delivered.
And those of finished rounds: they are never sent again, and would push out other producers.
"""

import logging

from aerobee.errors import ProtocolError
from aerobee.model.message import StoredMessage
from aerobee.model.properties import PRODUCER_MARK
from aerobee.protocol.message.producer_mark import (
    ROUND_SEQUENCES,
    ProducerMark,
    decode_mark,
    follower_index,
    place_of,
)
from aerobee.protocol.message.stored_message import decode_record
from aerobee.service.broker.deduplication.known_producers import KnownProducers, QueueKey
from aerobee.service.broker.deduplication.seen_sequences import StoredPlace
from aerobee.service.broker.log_access.real_topic import WAITING_TOPICS, find_real_place
from aerobee.storage.store import Store

_log = logging.getLogger(__name__)

_NEEDLE = f"{PRODUCER_MARK}\x01".encode()


def replay_log(store: Store, log_offset: int, known: KnownProducers) -> int:
    """Note the marked messages from this log offset on; returns their number."""
    count = 0
    marks = _Marks()
    for record in store.records_with(_NEEDLE, log_offset):
        try:
            message = decode_record(bytes(record))
            key = _queue_of(message)
            if key is None:
                continue
            mark = marks.mark_of(message, key)
        except ProtocolError as error:
            _log.warning("a message of some producer is passed over: %s", error)
            continue
        if mark is None or mark.place != place_of(*key) or not _is_there(store, message):
            continue
        if message.log_offset < store.born_at(key[0].encode()):
            continue
        if known.finished.covers(mark.producer, key[0], mark.sequence // ROUND_SEQUENCES):
            continue
        place = StoredPlace(message.queue_offset, message.log_offset)
        known.note(mark, *key, place, message.store_timestamp)
        count += 1
    return count


class _Marks:
    """The last message in each queue that may have followers, and its mark."""

    def __init__(self) -> None:
        self._first: dict[QueueKey, tuple[StoredMessage, ProducerMark]] = {}

    def mark_of(self, message: StoredMessage, key: QueueKey) -> ProducerMark | None:
        text = message.properties.get(PRODUCER_MARK)
        if text is None:
            return None
        index = follower_index(text)
        if index == 0:
            mark = decode_mark(text)
            self._first[key] = message, mark
            return mark
        found = self._first.get(key)
        if found is None or not _follows(found[0], index, message):
            return None
        return found[1].next(index)


def _follows(first: StoredMessage, index: int, message: StoredMessage) -> bool:
    return message.queue_offset == first.queue_offset + index and (
        message.born_host,
        message.born_timestamp,
        message.store_timestamp,
    ) == (first.born_host, first.born_timestamp, first.store_timestamp)


def _queue_of(message: StoredMessage) -> QueueKey | None:
    """The queue that a message is for; None: it waits, and does not say for which."""
    if message.topic in WAITING_TOPICS:
        return find_real_place(message.properties)
    return message.topic, message.queue_id


def _is_there(store: Store, message: StoredMessage) -> bool:
    queue = store.queue(message.topic.encode(), message.queue_id)
    unit = None if queue is None else queue.unit(message.queue_offset)
    return unit is not None and unit[0] == message.log_offset
