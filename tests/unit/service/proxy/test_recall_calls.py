from aerobee.protocol.grpc.calls import RecallMessageRequest
from aerobee.protocol.grpc.codes import GrpcCode
from aerobee.protocol.grpc.resources import Resource, Timestamp
from aerobee.service.broker.config import BrokerConfig
from tests.grpc_kit import GrpcKit, message, typed


def test_a_recalled_message_is_never_delivered() -> None:
    kit = GrpcKit(typed("orders", "DELAY", queues=1), config=BrokerConfig(recalls=True))
    at = Timestamp(kit.clock.now().wall_ms // 1_000 + 5)
    (entry,) = kit.send(message(delivery_timestamp=at)).entries
    request = RecallMessageRequest(Resource("", "orders"), entry.recall_handle)
    response = kit.call("RecallMessage", request)
    assert (response.status.code, response.message_id) == (GrpcCode.OK, "ID-body")
    kit.run(8_000)
    assert kit.bodies("orders", 0) == []


def test_a_recall_is_refused_by_type_topic_handle_or_switch() -> None:
    kit = GrpcKit(typed("orders", "NORMAL"), typed("later", "DELAY"))
    for topic, code in (
        ("orders", GrpcCode.MESSAGE_PROPERTY_CONFLICT_WITH_TYPE),
        ("unknown", GrpcCode.TOPIC_NOT_FOUND),
        ("later", GrpcCode.FORBIDDEN),
    ):
        response = kit.call("RecallMessage", RecallMessageRequest(Resource("", topic), "x"))
        assert response.status.code == code
