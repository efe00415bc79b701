import pytest

from aerobee.model.properties import decode_properties, encode_properties
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.service.broker.log_access.real_topic import Undeliverable
from aerobee.service.broker.replication.acting.escaped_form import (
    ESCAPE_GROUP,
    EscapedMessage,
    escaped_form,
)

REAL = {"REAL_TOPIC": "Orders", "REAL_QID": "3"}


def escaped(topic: str, **properties: str) -> EscapedMessage:
    draft = MessageDraft()
    draft.topic, draft.queue_id, draft.sys_flag = topic.encode(), 7, 0x3B
    draft.born_timestamp, draft.reconsume_times, draft.flag = 5, 2, 9
    draft.set_body(memoryview(b"a body"))
    draft.set_properties(encode_properties(properties))
    return escaped_form(draft)


def properties_of(message: EscapedMessage) -> dict[str, str]:
    return decode_properties(message.header.properties.encode())


def test_a_message_keeps_everything_but_what_would_delay_it_again() -> None:
    message = escaped("Orders", KEYS="k", DELAY="2", TIMER_DELIVER_MS="9", TRAN_MSG="true", **REAL)
    header = message.header
    assert properties_of(message) == {"KEYS": "k", **REAL}
    assert (message.body, header.topic, header.queue_id) == (b"a body", "Orders", 7)
    assert (header.born_timestamp, header.reconsume_times, header.flag) == (5, 2, 9)
    # Addresses of version 6 and the outcome of a transaction are gone, compression is not.
    assert header.sys_flag == 0x3
    assert header.producer_group == ESCAPE_GROUP
    assert header.max_reconsume_times == 2**31 - 1


def test_what_waits_for_a_level_waits_there_again() -> None:
    message = escaped("SCHEDULE_TOPIC_XXXX", DELAY="2", **REAL)
    assert (message.topic, message.header.queue_id) == ("Orders", 3)
    assert properties_of(message) == {"DELAY": "2"}


def test_what_waits_for_a_time_waits_for_the_same() -> None:
    message = escaped("rmq_sys_wheel_timer", TIMER_OUT_MS="5000", TIMER_DELAY_SEC="60", **REAL)
    assert (message.topic, properties_of(message)) == ("Orders", {"TIMER_DELIVER_MS": "5001"})
    with pytest.raises(Undeliverable, match="TIMER_OUT_MS"):
        escaped("rmq_sys_wheel_timer", **REAL)


def test_a_half_is_a_new_transaction_of_its_group() -> None:
    counted = {"TRANSACTION_CHECK_TIMES": "3", "TRAN_PREPARED_QUEUE_OFFSET": "1"}
    message = escaped("RMQ_SYS_TRANS_HALF_TOPIC", PGROUP="sellers", **counted, **REAL)
    assert properties_of(message) == {"PGROUP": "sellers", "TRAN_MSG": "true"}
    assert message.header.sys_flag & 0xC == 4
    assert (message.topic, message.header.producer_group) == ("Orders", "sellers")


def test_a_waiting_message_without_a_topic_is_undeliverable() -> None:
    with pytest.raises(Undeliverable):
        escaped("SCHEDULE_TOPIC_XXXX", DELAY="2")
