from aerobee.ports.rpc import CallWrite, RpcConnectionId
from aerobee.ports.service import Peer
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


def test_connections_of_both_protocols_count_for_their_address() -> None:
    kit = GrpcKit(typed("orders", "NORMAL"))  # with two connections from 10.0.0.9
    assert kit.ask(25, {}, b"addressConnectionsMax=3\n").code == 0
    first, second = RpcConnectionId(50), RpcConnectionId(51)
    here = Peer("10.0.0.9", 1)
    assert kit.door.may_open(first, here)
    assert not kit.door.may_open(second, here)
    assert kit.door.may_open(second, Peer("10.0.0.7", 1))
    kit.disconnect(first)
    assert kit.door.may_open(first, here)
    assert kit.broker.reception.limits.refused == 1
