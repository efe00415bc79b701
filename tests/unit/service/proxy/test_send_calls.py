import pytest

from aerobee.model.topic import TopicConfig
from aerobee.protocol.grpc.calls import SendMessageRequest
from aerobee.protocol.grpc.codes import GrpcCode, GrpcMessageType
from aerobee.protocol.grpc.group_queues import queue_of_group
from aerobee.protocol.grpc.resources import GrpcMessage, Timestamp
from tests.grpc_kit import GrpcKit, message, typed


def stored(kit: GrpcKit, topic: str = "orders", queues: int = 4) -> list[list[bytes]]:
    return [kit.bodies(topic, number) for number in range(queues)]


def test_messages_are_stored_in_turn_and_answered_with_their_offsets() -> None:
    kit = GrpcKit(typed("orders", "NORMAL", queues=2))
    for body in (b"a", b"b", b"c"):
        response = kit.send(message(body=body))
        assert response.status.code == GrpcCode.OK
        (entry,) = response.entries
        assert (entry.message_id, entry.transaction_id) == (f"ID-{body.decode()}",) * 2
    assert sorted(map(len, stored(kit, queues=2))) == [1, 2]
    assert entry.offset == 1


def test_the_record_has_the_properties_and_the_address_of_the_sender() -> None:
    kit = GrpcKit(typed("orders", "NORMAL", queues=1))
    one = message(tag="A", keys=["k1", "k2"])
    one.user_properties = {"color": "red"}
    kit.send(one)
    (record,) = kit.messages("orders", 0)
    assert record.properties["TAGS"] == "A"
    assert record.properties["KEYS"] == "k1 k2"
    assert record.properties["color"] == "red"
    assert record.properties["PGROUP"] == "orders"
    assert record.born_host == ("10.0.0.9", 50_000)


def test_messages_of_a_group_share_a_queue() -> None:
    kit = GrpcKit(typed("orders", "FIFO"))
    for body in (b"a", b"b", b"c"):
        kit.send(message(body=body, message_group="x"))
    assert stored(kit)[queue_of_group("x", 4)] == [b"a", b"b", b"c"]


def test_a_request_of_several_messages_has_an_entry_for_each() -> None:
    kit = GrpcKit(typed("orders", "NORMAL"))
    response = kit.send(message(body=b"a"), message(body=b"b"))
    assert [entry.message_id for entry in response.entries] == ["ID-a", "ID-b"]


def test_a_timed_message_waits_and_has_a_recall_handle() -> None:
    kit = GrpcKit(typed("orders", "DELAY", queues=1))
    at = Timestamp(kit.clock.now().wall_ms // 1_000 + 5)
    (entry,) = kit.send(message(delivery_timestamp=at)).entries
    assert entry.recall_handle
    assert stored(kit, queues=1) == [[]]
    kit.run(6_000)
    assert stored(kit, queues=1) == [[b"body"]]


def test_a_priority_names_its_queue() -> None:
    kit = GrpcKit(typed("orders", "PRIORITY"))
    kit.send(message(priority=2))
    assert stored(kit)[2] == [b"body"]


@pytest.mark.parametrize(
    ("messages", "code"),
    [
        ([], GrpcCode.MESSAGE_CORRUPTED),
        ([message(), message("other")], GrpcCode.MESSAGE_CORRUPTED),
        ([message()] * 129, GrpcCode.MESSAGE_CORRUPTED),
        ([message("unknown")], GrpcCode.TOPIC_NOT_FOUND),
        ([message("read-only")], GrpcCode.FORBIDDEN),
        ([message("bad topic")], GrpcCode.ILLEGAL_TOPIC),
        ([message(body=b"")], GrpcCode.MESSAGE_BODY_EMPTY),
        ([message(message_id="")], GrpcCode.ILLEGAL_MESSAGE_ID),
        ([message(message_group="x")], GrpcCode.MESSAGE_PROPERTY_CONFLICT_WITH_TYPE),
        (
            [message(message_type=GrpcMessageType.TRANSACTION)],
            GrpcCode.MESSAGE_PROPERTY_CONFLICT_WITH_TYPE,
        ),
    ],
)
def test_a_send_that_is_refused_stores_nothing(messages: list[GrpcMessage], code: GrpcCode) -> None:
    kit = GrpcKit(typed("orders", "NORMAL"), TopicConfig("read-only", permission=4))
    response = kit.call("SendMessage", SendMessageRequest(messages))
    assert response.status.code == code
    assert response.entries == []
    assert not any(stored(kit))
