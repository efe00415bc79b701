"""Converts a message that this broker would put into its own log to a send to another master.

    topic of the put             is sent to    as
    SCHEDULE_TOPIC_XXXX          REAL_TOPIC    a delayed message, with its level
    rmq_sys_wheel_timer          REAL_TOPIC    a message for the time that it waits for
    RMQ_SYS_TRANS_HALF_TOPIC     REAL_TOPIC    a half message, whose producers the other master asks
    any other                    the same      a message without delay

The properties that would delay the message again, or make a transaction of it again, are left out.
Agrees with Apache 5.5.0's escapes.
"""

from typing import NamedTuple

from aerobee.model.flags import (
    BORN_HOST_V6,
    STORE_HOST_V6,
    TransactionType,
    with_transaction_type,
)
from aerobee.model.names import SCHEDULE_TOPIC, TIMER_TOPIC, TRANSACTION_HALF_TOPIC
from aerobee.model.properties import (
    CRC32,
    DELAY,
    PRODUCER_GROUP,
    PRODUCER_MARK,
    REAL_QUEUE_ID,
    REAL_TOPIC,
    TIMER_DELAY_MS,
    TIMER_DELAY_SECONDS,
    TIMER_DELIVER_MS,
    TIMER_OUT_MS,
    TRANSACTION_CHECK_TIMES,
    TRANSACTION_PREPARED,
    TRANSACTION_PREPARED_QUEUE_OFFSET,
    WAIT,
    decode_properties,
    encode_properties,
)
from aerobee.protocol.headers.sending import SendV2Header
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.service.broker.log_access.real_topic import Undeliverable, real_place

ESCAPE_GROUP = "CID_RMQ_SYS_INNER_GROUP"
"""The producer group of messages that name none."""

_TIMES_MAX = 2**31 - 1
_ALWAYS_DROPPED = (
    WAIT,
    CRC32,
    PRODUCER_MARK,
    TIMER_DELAY_SECONDS,
    TIMER_DELAY_MS,
    TIMER_DELIVER_MS,
    TRANSACTION_PREPARED,
    TRANSACTION_CHECK_TIMES,
    TRANSACTION_PREPARED_QUEUE_OFFSET,
)


class EscapedMessage(NamedTuple):
    topic: str
    header: SendV2Header
    """Its queue is that of the put: the other master may have fewer."""
    body: bytes


def escaped_form(draft: MessageDraft) -> EscapedMessage:
    """The message of a draft. Undeliverable: it waits in a topic of the broker and names no other;
    LocalProtocolError: its properties are too long."""
    text = draft.properties_text()
    properties = decode_properties(text)
    for name in _ALWAYS_DROPPED:
        properties.pop(name, None)
    topic, queue_id = draft.topic.decode(), draft.queue_id
    kind = TransactionType.NONE
    if topic in (SCHEDULE_TOPIC, TIMER_TOPIC, TRANSACTION_HALF_TOPIC):
        real_topic, queue_id = real_place(text)
        if topic == TIMER_TOPIC:
            properties[TIMER_DELIVER_MS] = str(_out_ms(properties) + 1)
        elif topic == TRANSACTION_HALF_TOPIC:
            properties[TRANSACTION_PREPARED] = "true"
            kind = TransactionType.PREPARED
        properties.pop(REAL_TOPIC)
        properties.pop(REAL_QUEUE_ID)
        topic = real_topic.decode()
    else:
        properties.pop(DELAY, None)
    properties.pop(TIMER_OUT_MS, None)
    flags = draft.sys_flag & ~(BORN_HOST_V6 | STORE_HOST_V6)
    header = SendV2Header(
        producer_group=properties.get(PRODUCER_GROUP, ESCAPE_GROUP),
        topic=topic,
        queue_id=queue_id,
        sys_flag=with_transaction_type(flags, kind),
        born_timestamp=draft.born_timestamp,
        properties=encode_properties(properties).decode(),
        flag=draft.flag,
        reconsume_times=draft.reconsume_times,
        # It was counted here whether the message is a retry or a dead letter.
        max_reconsume_times=_TIMES_MAX,
    )
    return EscapedMessage(topic, header, draft.body_bytes())


def _out_ms(properties: dict[str, str]) -> int:
    text = properties.get(TIMER_OUT_MS, "")
    if not text.isascii() or not text.isdigit():
        raise Undeliverable(f"its {TIMER_OUT_MS} is {text[:100]!r}")
    return int(text)
