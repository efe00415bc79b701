from aerobee.protocol.grpc.calls import QueryRouteRequest
from aerobee.protocol.grpc.codes import GrpcCode
from aerobee.protocol.grpc.resources import Resource
from tests.grpc_kit import GrpcKit, message, receiving, typed


def test_a_message_is_stored_and_received_whichever_broker_is_named() -> None:
    kit = GrpcKit(typed("orders", "NORMAL", queues=1))
    kit.receive(receiving())
    assert kit.send(message()).status.code == GrpcCode.OK
    assert [one.body for one in kit.receive(receiving(broker="another"))] == [b"body"]


def test_the_route_of_a_topic_that_no_name_server_knows_yet_has_the_own_queues() -> None:
    kit = GrpcKit(typed("orders", "NORMAL", queues=3))
    response = kit.call("QueryRoute", QueryRouteRequest(Resource("", "orders")))
    assert [queue.broker.name for queue in response.message_queues] == ["broker-a"] * 3


def test_a_topic_that_cannot_be_written_has_no_queue_for_a_message() -> None:
    kit = GrpcKit(typed("orders", "NORMAL", permission=4))
    assert kit.send(message()).status.code == GrpcCode.FORBIDDEN
