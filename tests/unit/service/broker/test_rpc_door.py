from aerobee.ports.rpc import CallWrite
from aerobee.protocol.grpc.calls import QueryRouteRequest
from aerobee.protocol.grpc.codes import GrpcCode
from aerobee.protocol.grpc.resources import Resource
from tests.broker_kit import BrokerKit
from tests.grpc_kit import GrpcKit, message, receiving, typed


def test_a_broker_without_a_port_for_grpc_has_no_door() -> None:
    assert BrokerKit().broker.rpc is None


def test_effects_leave_with_every_event_of_the_broker() -> None:
    kit = GrpcKit(typed("orders", "NORMAL", queues=1))
    kit.receive(receiving())
    call = kit.begin("ReceiveMessage", receiving(poll_ms=15_000))
    fields = {"a": "P", "b": "orders", "c": "TBW102", "d": "4", "e": "0", "f": "0", "g": "1"}
    kit.tell(310, {**fields, "h": "0", "i": "a\x01b\x02"}, b"by remoting")
    assert [one.message.body for one in kit.responses(call) if one.message] == [b"by remoting"]


def test_effects_for_clients_of_grpc_are_not_written_to_connections() -> None:
    kit = GrpcKit(typed("orders", "NORMAL"))
    kit.consume("g", "orders", "c1")
    kit.consume("g", "orders", "c2")  # the first is told of it, and has no connection
    kit.send(message())
    assert not any(isinstance(effect, CallWrite) for effect in kit.wanted)
    assert kit.door.message_bytes_max > 4 << 20
    route = kit.call("QueryRoute", QueryRouteRequest(Resource("", "orders")))
    assert route.status.code == GrpcCode.OK
