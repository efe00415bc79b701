import gzip
import hashlib
from dataclasses import replace

import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.model.message import Host, StoredMessage
from aerobee.model.message_queue import LogOffset, QueueId, QueueOffset
from aerobee.protocol.grpc.codes import IDENTITY, MD5, GrpcMessageType
from aerobee.protocol.grpc.message_mapping import delivered_message, plain_body, stored_properties
from aerobee.protocol.grpc.resources import (
    DeadLetterQueue,
    Digest,
    Duration,
    GrpcMessage,
    Resource,
    SystemProperties,
    Timestamp,
)

PEER = "10.0.0.9:40001"
STORED = StoredMessage(
    topic="orders",
    queue_id=QueueId(2),
    queue_offset=QueueOffset(7),
    log_offset=LogOffset(1000),
    body=b"body",
    properties={"UNIQ_KEY": "ID1"},
    born_timestamp=1_700_000_000_001,
    born_host=Host("10.0.0.9", 40001),
    store_timestamp=1_700_000_000_002,
    store_host=Host("10.0.0.1", 10911),
)

# System property → the properties that are stored for it, besides those of every message.
SENT: list[tuple[SystemProperties, dict[str, str]]] = [
    (SystemProperties(tag="A"), {"TAGS": "A"}),
    (SystemProperties(tag=""), {}),
    (SystemProperties(keys=["a", "b"]), {"KEYS": "a b"}),
    (SystemProperties(message_type=GrpcMessageType.TRANSACTION), {"TRAN_MSG": "true"}),
    (
        SystemProperties(
            message_type=GrpcMessageType.TRANSACTION,
            orphaned_transaction_recovery_duration=Duration(30),
        ),
        {"TRAN_MSG": "true", "CHECK_IMMUNITY_TIME_IN_SECONDS": "30"},
    ),
    (
        SystemProperties(delivery_timestamp=Timestamp(1_700_000_000, 5_000_000)),
        {"TIMER_DELIVER_MS": "1700000000005"},
    ),
    (SystemProperties(message_group="g"), {"__SHARDINGKEY": "g"}),
    (SystemProperties(trace_context="t"), {"TRACE_CONTEXT": "t"}),
    (SystemProperties(priority=3), {"_SYS_MSG_PRIORITY_": "3"}),
    (SystemProperties(born_timestamp=Timestamp(1)), {"BORN_TIMESTAMP": "1000"}),
    (SystemProperties(born_host="h:1"), {"__BORNHOST": "h:1"}),
]


@pytest.mark.parametrize(("system", "stored"), SENT)
def test_system_properties_are_stored_under_rocketmqs_names(
    system: SystemProperties, stored: dict[str, str]
) -> None:
    system = replace(system, message_id="ID1")
    message = GrpcMessage(Resource("", "orders"), {"color": "red", "none": ""}, system)
    always = {"color": "red", "UNIQ_KEY": "ID1", "PGROUP": "orders", "__BORNHOST": PEER}
    assert stored_properties(message, "orders", PEER) == {**always, **stored}


# Stored property → the system property of a delivered message, and its value.
DELIVERED: list[tuple[dict[str, str], str, object]] = [
    ({"TAGS": "A"}, "tag", "A"),
    ({}, "tag", None),
    ({"KEYS": "a b"}, "keys", ["a", "b"]),
    ({}, "message_type", GrpcMessageType.NORMAL),
    ({"TRAN_MSG": "true"}, "message_type", GrpcMessageType.TRANSACTION),
    ({"DELAY": "3"}, "message_type", GrpcMessageType.DELAY),
    ({"__SHARDINGKEY": "g"}, "message_type", GrpcMessageType.FIFO),
    ({"_SYS_MSG_PRIORITY_": "3"}, "message_type", GrpcMessageType.PRIORITY),
    ({"_SYS_MSG_PRIORITY_": "3"}, "priority", 3),
    (
        {"TIMER_DELIVER_MS": "1700000000005"},
        "delivery_timestamp",
        Timestamp(1_700_000_000, 5_000_000),
    ),
    ({"__SHARDINGKEY": "g"}, "message_group", "g"),
    ({"TRACE_CONTEXT": "t"}, "trace_context", "t"),
    ({"__BORNHOST": "h:1"}, "born_host", "h:1"),
    ({}, "born_host", "10.0.0.9:40001"),
    ({}, "store_host", "10.0.0.1:10911"),
    ({}, "born_timestamp", Timestamp(1_700_000_000, 1_000_000)),
    ({}, "store_timestamp", Timestamp(1_700_000_000, 2_000_000)),
    ({}, "message_id", "ID1"),
    ({}, "queue_id", 2),
    ({}, "queue_offset", 7),
    ({}, "delivery_attempt", 4),
    ({}, "receipt_handle", "handle"),
    ({}, "body_encoding", IDENTITY),
    ({}, "body_digest", Digest(MD5, hashlib.md5(b"body").hexdigest().upper())),
    (
        {"DLQ_ORIGIN_TOPIC": "t", "DLQ_ORIGIN_MESSAGE_ID": "i"},
        "dead_letter_queue",
        DeadLetterQueue("t", "i"),
    ),
    ({"DLQ_ORIGIN_TOPIC": "t"}, "dead_letter_queue", None),
]


@pytest.mark.parametrize(("properties", "field", "value"), DELIVERED)
def test_stored_properties_are_delivered_as_system_properties(
    properties: dict[str, str], field: str, value: object
) -> None:
    stored = replace(STORED, properties={**STORED.properties, **properties})
    shown = delivered_message(stored, "orders", 4, "handle")
    assert getattr(shown.system_properties, field) == value
    assert shown.user_properties == {}
    assert shown.body == b"body"


def test_user_properties_are_delivered_and_those_of_the_broker_are_not() -> None:
    properties = {"UNIQ_KEY": "I", "color": "red", "REAL_TOPIC": "x", "__transactionId__": "y"}
    shown = delivered_message(replace(STORED, properties=properties), "orders", 1, "")
    assert shown.user_properties == {"color": "red"}
    assert shown.system_properties is not None
    assert shown.system_properties.receipt_handle is None


@pytest.mark.parametrize(
    ("topic", "resource"),
    [("ns%orders", Resource("ns", "orders")), ("%DLQ%g", Resource("", "%DLQ%g"))],
)
def test_the_namespace_of_a_topic_is_split_off(topic: str, resource: Resource) -> None:
    assert delivered_message(STORED, topic, 1, "").topic == resource


def test_a_packed_body_is_unpacked_within_its_limit() -> None:
    assert plain_body(gzip.compress(b"hello"), 5) == b"hello"
    assert len(plain_body(gzip.compress(b"x" * 1_000_000), 10)) == 11
    for broken in (b"no gzip", gzip.compress(b"hello")[:-9]):
        with pytest.raises(RemoteProtocolError):
            plain_body(broken, 100)
