from aerobee.protocol.grpc.calls import HeartbeatRequest, QueryRouteRequest, SendMessageRequest
from aerobee.protocol.grpc.codes import GrpcCode, RpcStatus
from aerobee.protocol.grpc.resources import Resource
from tests.grpc_kit import GrpcKit, message, receiving, typed

ORDERS = QueryRouteRequest(Resource("", "orders"))


def test_methods_that_are_not_served_are_unimplemented() -> None:
    kit = GrpcKit()
    for method in ("PullMessage", "UpdateOffset", "GetOffset", "QueryOffset", "Nonsense"):
        call = kit.begin(method, None)
        assert kit.ended[call].status == RpcStatus.UNIMPLEMENTED
    assert kit.ended[kit.begin("SyncLiteSubscription", None)].status == RpcStatus.UNIMPLEMENTED


def test_a_call_without_a_client_id_is_refused_in_its_response() -> None:
    kit = GrpcKit(typed("orders", "NORMAL"))
    response = kit.call("QueryRoute", ORDERS, "")
    assert response.status.code == GrpcCode.CLIENT_ID_REQUIRED
    assert kit.call("Heartbeat", HeartbeatRequest(), "").status.code == GrpcCode.CLIENT_ID_REQUIRED


def test_bytes_that_are_no_request_fail_their_call_alone() -> None:
    kit = GrpcKit(typed("orders", "NORMAL"))
    call = kit.begin("SendMessage", b"\xff\xff")
    assert kit.ended[call].status == RpcStatus.INTERNAL
    assert kit.call("QueryRoute", ORDERS).status.code == GrpcCode.OK


def test_a_call_that_ends_without_a_request_fails() -> None:
    kit = GrpcKit()
    call = kit.begin("SendMessage", None)
    kit.half_close(call)
    assert kit.ended[call].status == RpcStatus.INTERNAL


def test_messages_after_the_answer_are_ignored() -> None:
    kit = GrpcKit(typed("orders", "NORMAL", queues=1))
    call = kit.begin("SendMessage", SendMessageRequest([message()]))
    kit.finish()
    kit.say(call, SendMessageRequest([message(body=b"second")]))
    assert kit.bodies("orders", 0) == [b"body"]


def test_messages_of_one_protocol_are_read_by_the_other() -> None:
    kit = GrpcKit(typed("orders", "NORMAL", queues=1))
    kit.receive(receiving())
    kit.send(message(tag="A"))
    assert kit.pull(topic="orders", queueOffset=0).code == 0
    fields = {"a": "P", "b": "orders", "c": "TBW102", "d": "4", "e": "0", "f": "0", "g": "1"}
    sent = kit.ask(310, {**fields, "h": "0", "i": "TAGS\x01B\x02color\x01red\x02"}, b"remoting")
    assert sent.code == 0
    found = kit.receive(receiving())
    assert [one.body for one in found] == [b"body", b"remoting"]
    assert found[1].user_properties == {"color": "red"}


def test_nothing_is_kept_of_calls_that_are_over() -> None:
    kit = GrpcKit(typed("orders", "NORMAL"))
    kit.receive(receiving())
    waiting = kit.begin("ReceiveMessage", receiving(poll_ms=15_000))
    assert len(kit.door.messaging) == 1
    kit.send(message())
    assert waiting in kit.ended
    kit.cancel(kit.begin("ReceiveMessage", receiving(poll_ms=15_000)))
    kit.half_close(kit.produce("orders"))
    assert len(kit.door.messaging) == 0


def test_a_call_that_was_given_up_is_not_answered() -> None:
    kit = GrpcKit(typed("orders", "NORMAL"))
    call = kit.begin("ReceiveMessage", receiving(poll_ms=15_000))
    kit.cancel(call)
    kit.cancel(call)
    kit.disconnect()
    kit.run(20_000, 1_000)
    assert call not in kit.ended
