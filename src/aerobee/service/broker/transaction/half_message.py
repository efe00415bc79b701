"""Converts a message between the forms that it has in a transaction.

    half       RMQ_SYS_TRANS_HALF_TOPIC, queue 0; REAL_TOPIC, REAL_QID, __transactionId__ added
    renewed    the half once more at the end of its queue: TRANSACTION_CHECK_TIMES is the number of
               checks, TRAN_PREPARED_QUEUE_OFFSET the queue offset of the first copy
    committed  the message in its real topic: REAL_TOPIC and REAL_QID removed, the flag is COMMIT,
               the prepared offset is the half's log offset
    given up   TRANS_CHECK_MAX_TIME_TOPIC, queue 0, properties unchanged

Body, flag, born data and reconsume times are the same in all. Agrees with Apache 5.5.0, which sets
the first queue offset only in halves that it moves before the first check.
"""

from dataclasses import replace

from aerobee.errors import MessageIllegal
from aerobee.model.flags import TransactionType, with_transaction_type
from aerobee.model.message import StoredMessage
from aerobee.model.message_queue import QueueId
from aerobee.model.names import (
    GROUP_CHARS_MAX,
    TRANSACTION_GIVEN_UP_TOPIC,
    TRANSACTION_HALF_TOPIC,
)
from aerobee.model.properties import (
    CHECK_IMMUNITY_SECONDS,
    PRODUCER_GROUP,
    REAL_QUEUE_ID,
    REAL_TOPIC,
    TRANSACTION_CHECK_TIMES,
    TRANSACTION_ID,
    TRANSACTION_PREPARED_QUEUE_OFFSET,
    UNIQUE_KEY,
)
from aerobee.service.broker.log_access.real_topic import find_real_place

QUEUE = QueueId(0)
_DIGITS_MAX = 18  # what fits into 64 bits, whatever the digits are
_OURS = (TRANSACTION_CHECK_TIMES, TRANSACTION_PREPARED_QUEUE_OFFSET)


def half_of(message: StoredMessage, group: str) -> StoredMessage:
    """The half message of a message. `group` is the sender's, used if the message has none.
    MessageIllegal: no producer could be asked about it."""
    properties = {name: text for name, text in message.properties.items() if name not in _OURS}
    group = properties.setdefault(PRODUCER_GROUP, group) if group else group_of(message)
    if not group or len(group) > GROUP_CHARS_MAX:
        raise MessageIllegal(
            f"a transaction of a producer group whose name has {len(group)} characters: "
            f"1 to {GROUP_CHARS_MAX} are allowed"
        )
    properties[REAL_TOPIC] = message.topic
    properties[REAL_QUEUE_ID] = str(message.queue_id)
    if UNIQUE_KEY in properties:
        properties[TRANSACTION_ID] = properties[UNIQUE_KEY]
    return replace(
        message,
        topic=TRANSACTION_HALF_TOPIC,
        queue_id=QUEUE,
        properties=properties,
        sys_flag=with_transaction_type(message.sys_flag, TransactionType.NONE),
    )


def renewed(half: StoredMessage, first_offset: int, times: int) -> StoredMessage:
    """A half to be stored once more. `first_offset` is the queue offset that its producer knows."""
    properties = dict(half.properties)
    if times:
        properties[TRANSACTION_CHECK_TIMES] = str(times)
    properties[TRANSACTION_PREPARED_QUEUE_OFFSET] = str(first_offset)
    return replace(half, properties=properties)


def committed(half: StoredMessage) -> StoredMessage | None:
    """The message itself; None: the half has no valid REAL_TOPIC and REAL_QID."""
    place = find_real_place(half.properties)
    if place is None:
        return None
    return replace(
        half,
        topic=place.topic,
        queue_id=QueueId(place.queue_id),
        properties={
            name: text
            for name, text in half.properties.items()
            if name not in (REAL_TOPIC, REAL_QUEUE_ID)
        },
        sys_flag=with_transaction_type(half.sys_flag, TransactionType.COMMIT),
        prepared_offset=half.log_offset,
    )


def given_up(half: StoredMessage) -> StoredMessage:
    """The message for the topic of given-up transactions, where an operator finds it."""
    return replace(half, topic=TRANSACTION_GIVEN_UP_TOPIC, queue_id=QUEUE)


def resumed(parked: StoredMessage) -> StoredMessage:
    """A given-up message as a half again, with a check count of 0."""
    properties = {name: text for name, text in parked.properties.items() if name not in _OURS}
    properties[TRANSACTION_CHECK_TIMES] = "0"
    return replace(parked, topic=TRANSACTION_HALF_TOPIC, queue_id=QUEUE, properties=properties)


def is_half(message: StoredMessage) -> bool:
    return message.topic == TRANSACTION_HALF_TOPIC


def is_given_up(message: StoredMessage) -> bool:
    return message.topic == TRANSACTION_GIVEN_UP_TOPIC


# Properties of a half.


def group_of(half: StoredMessage) -> str:
    return half.properties.get(PRODUCER_GROUP, "")


def times_checked(half: StoredMessage) -> int:
    return _number(half.properties.get(TRANSACTION_CHECK_TIMES, "")) or 0


def first_offset(half: StoredMessage) -> int | None:
    """The queue offset of its first copy, which its producer knows; None: it is the first."""
    return _number(half.properties.get(TRANSACTION_PREPARED_QUEUE_OFFSET, ""))


def immunity_ms(half: StoredMessage) -> int | None:
    """The time before the first check that its producer asks for; None: none is set."""
    seconds = _number(half.properties.get(CHECK_IMMUNITY_SECONDS, ""))
    return None if seconds is None else seconds * 1000


def _number(text: str) -> int | None:
    if text.isascii() and text.isdigit() and len(text) <= _DIGITS_MAX:
        return int(text)
    return None
