"""Calls of gRPC by the fast path and by the general one: the same answers, the same records."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from aerobee.model.topic import TopicConfig
from aerobee.protocol.grpc.calls import (
    AckMessageEntry,
    AckMessageRequest,
    SendMessageRequest,
)
from aerobee.protocol.grpc.resources import GrpcMessage, Resource, timestamp_of
from tests.grpc_kit import GrpcKit, receiving, typed
from tests.grpc_requests import BORN_MS, plain_message

NAMES = st.sampled_from(["orders", "typed", "fifo", "absent", "TBW102", "bad name"])
TEXTS = st.sampled_from(["a", "red", "two words", "", " ", "a|b", "ü", "\x01", "x" * 300])
PROPERTY_NAMES = ["a", "b c", "Upper", "TAGS", "__SHARDINGKEY", "ü", "x" * 200]
PROPERTIES = st.dictionaries(st.sampled_from(PROPERTY_NAMES), TEXTS, max_size=3)
SYSTEM = st.fixed_dictionaries(
    {},
    optional={
        "tag": TEXTS,
        "keys": st.lists(TEXTS, max_size=3),
        "message_id": TEXTS,
        "message_type": st.integers(0, 4),
        "message_group": TEXTS,
        "body_encoding": st.integers(0, 2),
        "born_host": TEXTS,
        "born_timestamp": st.sampled_from([None, timestamp_of(0), timestamp_of(BORN_MS)]),
        "queue_id": st.integers(0, 5),
        "priority": st.integers(0, 3),
    },
)
MESSAGES = st.builds(
    lambda topic, body, properties, system: plain_message(topic, body, properties, **system),
    NAMES,
    st.binary(max_size=40),
    PROPERTIES,
    SYSTEM,
)


def two_kits() -> tuple[GrpcKit, GrpcKit]:
    kits = []
    for is_fast in (True, False):
        kit = GrpcKit(
            TopicConfig("orders", read_queues=1, write_queues=1),
            typed("typed", "NORMAL", queues=1),
            typed("fifo", "FIFO", queues=1),
        )
        kit.is_fast = is_fast
        for topic in ("orders", "typed", "fifo"):
            kit.receive(receiving(topic))  # the client is met, and the group begins here
        kits.append(kit)
    return kits[0], kits[1]


def acks(messages: list[GrpcMessage], topic: str) -> list[Any]:
    requests = []
    for one in messages:
        system = one.system_properties
        assert system is not None
        entry = AckMessageEntry(system.message_id, system.receipt_handle or "")
        names = (Resource("", "g"), Resource("", topic))
        requests.append(AckMessageRequest(*names, [entry]))
    return requests


@settings(max_examples=40)
@given(st.lists(MESSAGES, min_size=1, max_size=4))
def test_sends_receives_and_acknowledgements_are_the_same_both_ways(
    messages: list[GrpcMessage],
) -> None:
    kits = two_kits()
    for message in messages:
        request = SendMessageRequest([message])
        answers = [kit.call("SendMessage", request) for kit in kits]
        assert answers[0] == answers[1]
    for topic in ("orders", "typed", "fifo"):
        received = [kit.receive(receiving(topic)) for kit in kits]
        assert received[0] == received[1]
        for request in acks(received[0], topic):
            answers = [kit.call("AckMessage", request) for kit in kits]
            assert answers[0] == answers[1]
    assert kits[1].taken == 0


def test_plain_calls_take_the_fast_path() -> None:
    fast, general = two_kits()
    for topic in ("orders", "typed"):
        message = plain_message(topic, b"body", {"a": "1"}, tag="t", keys=["k"])
        request = SendMessageRequest([message])
        assert fast.call("SendMessage", request) == general.call("SendMessage", request)
        (received,) = fast.receive(receiving(topic))
        assert received == general.receive(receiving(topic))[0]
        (ack,) = acks([received], topic)
        assert fast.call("AckMessage", ack) == general.call("AckMessage", ack)
    assert (fast.taken, general.taken) == (4, 0)
