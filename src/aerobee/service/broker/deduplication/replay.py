"""What the log says of producers from some offset on: the messages that bear a mark.

A message that waits in a topic of the broker's own counts where it belongs. The copy that is later
delivered there bears the same mark and is known by then; copies for consumers, in retry topics and
elsewhere, bear a mark of another place and are passed over. So are messages of a topic that was
deleted: no queue has them.
"""

import logging

from aerobee.errors import ProtocolError
from aerobee.model.message import StoredMessage
from aerobee.model.names import SCHEDULE_TOPIC, TIMER_TOPIC, TRANSACTION_HALF_TOPIC
from aerobee.model.properties import PRODUCER_MARK, REAL_QUEUE_ID, REAL_TOPIC
from aerobee.protocol.producer_mark import ProducerMark, decode_mark, place_of
from aerobee.protocol.stored_message import decode_record
from aerobee.service.broker.deduplication.known_producers import KnownProducers, QueueKey
from aerobee.service.broker.deduplication.seen import Place
from aerobee.storage.store import Store

_log = logging.getLogger(__name__)

_NEEDLE = f"{PRODUCER_MARK}\x01".encode()
_WAITING = frozenset({SCHEDULE_TOPIC, TIMER_TOPIC, TRANSACTION_HALF_TOPIC})


def replay(store: Store, log_offset: int, known: KnownProducers) -> int:
    """Note what was stored from here on; how many messages that were."""
    count = 0
    for record in store.records_with(_NEEDLE, log_offset):
        try:
            message = decode_record(bytes(record))
            mark = find_mark(message)
        except ProtocolError as error:
            _log.warning("a message of some producer is passed over: %s", error)
            continue
        key = _real_place(message)
        if mark is None or mark.place != place_of(*key) or not _is_there(store, message):
            continue
        place = Place(message.queue_offset, message.log_offset)
        known.note(mark, *key, place, message.store_timestamp)
        count += 1
    return count


def find_mark(message: StoredMessage) -> ProducerMark | None:
    text = message.properties.get(PRODUCER_MARK)
    return None if text is None else decode_mark(text)


def _real_place(message: StoredMessage) -> QueueKey:
    if message.topic not in _WAITING:
        return message.topic, message.queue_id
    queue_text = message.properties.get(REAL_QUEUE_ID, "")
    queue_id = int(queue_text) if queue_text.isdigit() and len(queue_text) < 10 else -1
    return message.properties.get(REAL_TOPIC, ""), queue_id


def _is_there(store: Store, message: StoredMessage) -> bool:
    queue = store.queue(message.topic.encode(), message.queue_id)
    unit = None if queue is None else queue.unit(message.queue_offset)
    return unit is not None and unit[0] == message.log_offset
