from dataclasses import replace

from aerobee.protocol.grpc.calls import QueryRouteRequest, SendMessageRequest
from aerobee.protocol.grpc.codes import GrpcCode
from aerobee.protocol.grpc.resources import Resource
from tests.access_kit import ACCESS
from tests.grpc_kit import IDENTITY, GrpcKit, message

GUARDED = replace(IDENTITY, access=ACCESS)


def test_a_guarded_broker_refuses_calls_without_a_signature() -> None:
    kit = GrpcKit(identity=GUARDED)
    routed = kit.call("QueryRoute", QueryRouteRequest(Resource("", "orders")))
    assert routed.status.code == GrpcCode.UNAUTHORIZED


def test_an_open_broker_asks_nobody_who_it_is() -> None:
    kit = GrpcKit()
    sent = kit.call("SendMessage", SendMessageRequest([message()]))
    assert sent.status.code == GrpcCode.TOPIC_NOT_FOUND
