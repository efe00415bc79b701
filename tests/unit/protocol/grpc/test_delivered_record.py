from dataclasses import replace
from typing import Any

import pytest

from aerobee.model.message import Host, StoredMessage
from aerobee.model.message_queue import LogOffset, QueueId, QueueOffset
from aerobee.protocol.grpc.calls import ReceiveMessageResponse
from aerobee.protocol.grpc.delivered_record import DeliveredRecord
from aerobee.protocol.grpc.message_mapping import delivered_message
from aerobee.protocol.grpc.resources import GrpcMessage, Resource
from aerobee.protocol.grpc.wire import decode, encode
from aerobee.protocol.message.stored_message import decode_record, encode_record

HEAD = b"7 1700000000123 30000 3 0 broker-a 2 "
TOPIC = encode(GrpcMessage(Resource("", "orders")))
PLAIN = StoredMessage(
    topic="orders",
    queue_id=QueueId(2),
    queue_offset=QueueOffset(9),
    log_offset=LogOffset(123_456),
    body=b"body",
    properties={"UNIQ_KEY": "ID-1", "PGROUP": "orders", "__BORNHOST": "host.example"},
    born_timestamp=1_700_000_000_123,
    born_host=Host("10.1.2.3", 40_000),
    store_timestamp=1_700_000_001_000,
    store_host=Host("127.0.0.1", 10_911),
)
OWN = PLAIN.properties


def delivered(message: StoredMessage, *, with_crc: bool = False) -> GrpcMessage | None:
    record = DeliveredRecord()
    data = encode_record(message, with_crc=with_crc)
    if not record.read(memoryview(data), 0, HEAD, message.queue_id):
        return None
    assert record.end() == len(data)
    assert record.handle() == f"{HEAD.decode()}{message.queue_offset} {message.log_offset}"
    assert (record.tag(), record.message_id()) == (message.tag, message.message_id)
    return decode(ReceiveMessageResponse, record.message(TOPIC)).message


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"body": b""},
        {"body": bytes(range(256)) * 300},
        {"queue_id": 0, "queue_offset": 0},
        {"reconsume_times": 3},
        {"born_timestamp": 0},
        {"born_timestamp": 5_000},
        {"properties": {"UNIQ_KEY": "ID-1"}},  # sent by remoting: the host is the record's
        {"properties": {**OWN, "TAGS": "red", "KEYS": "a  b c", "WAIT": "true"}},
        {"properties": {**OWN, "a": "1", "b c": "x" * 300, "umlaut": "ü" * 100}},
        {"properties": {**OWN, "MSG_REGION": "r", "TRACE_ON": "true", "CLUSTER": "c"}},
        {"properties": {**OWN, "BORN_TIMESTAMP": "1", "KEYS": "k" * 5_000}},
        {"properties": {**OWN, "__BORNHOST": "h" * 900}},
    ],
)
def test_a_plain_record_is_delivered_as_by_the_general_mapping(change: dict[str, Any]) -> None:
    message = replace(PLAIN, **change)
    handle = f"{HEAD.decode()}{message.queue_offset} {message.log_offset}"
    stored = decode_record(encode_record(message))
    wanted = delivered_message(stored, "orders", 1 + message.reconsume_times, handle)
    assert delivered(message) == wanted
    assert delivered(message, with_crc=True) == wanted


@pytest.mark.parametrize(
    "change",
    [
        {"sys_flag": 1},  # compressed
        {"sys_flag": 8},  # a committed transaction
        {"born_host": Host("::1", 1), "sys_flag": 0x10},
        {"born_timestamp": -1},
        {"properties": {}},
        {"properties": {**OWN, "POP_CK": "a retry"}},
        {"properties": {**OWN, "__SHARDINGKEY": "g"}},
        {"properties": {**OWN, "DELAY": "1"}},
        {"properties": {**OWN, "TIMER_DELIVER_MS": "1"}},
        {"properties": {**OWN, "TRAN_MSG": "true"}},
        {"properties": {**OWN, "_SYS_MSG_PRIORITY_": "1"}},
        {"properties": {**OWN, "DLQ_ORIGIN_TOPIC": "t"}},
        {"properties": {**OWN, "TRACE_CONTEXT": "t"}},
    ],
)
def test_other_records_are_left_to_the_general_mapping(change: dict[str, Any]) -> None:
    assert delivered(replace(PLAIN, **change)) is None


def test_a_damaged_record_and_one_of_another_queue_are_left() -> None:
    record = DeliveredRecord()
    data = bytearray(encode_record(PLAIN))
    assert not record.read(memoryview(bytes(data)), 0, HEAD, 1)
    assert not record.read(memoryview(bytes(data[:-1])), 0, HEAD, 2)
    assert not record.read(memoryview(bytes(data)), 0, b"x" * 600, 2)
    data[data.index(b"body")] ^= 1
    assert not record.read(memoryview(bytes(data)), 0, HEAD, 2)
