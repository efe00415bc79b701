from aerobee.ports.rpc import CallId, CallStart, CallWrite, EndCall, RpcConnectionId
from aerobee.ports.service import ChannelId, Effects, Peer
from aerobee.protocol.grpc.calls import HeartbeatRequest, StatusResponse
from aerobee.protocol.grpc.resources import Status
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.proxy.grpc_clients import GrpcClient
from aerobee.service.proxy.open_call import Method, OpenCall, answering

METADATA = {"x-mq-client-id": "c", "authorization": "MQv2 Credential=alice"}
START = CallStart(CallId(7), RpcConnectionId(1), Peer("fe80::1%eth0", 1), "/s/M", METADATA, None)


def made() -> Method:
    code = RequestCode.HEART_BEAT
    return Method("M", code, HeartbeatRequest, lambda *_: None, answering(StatusResponse))


def opened(outbox: Effects) -> OpenCall:
    method = made()
    return OpenCall(START, method, None, outbox, {})


def test_an_answer_is_written_and_ends_the_call() -> None:
    outbox: Effects = []
    call = opened(outbox)
    call.answer(StatusResponse(Status(1, "")))
    assert outbox == [CallWrite(CallId(7), bytes.fromhex("0a020801")), EndCall(CallId(7))]
    call.answer(StatusResponse())
    assert len(outbox) == 2


def test_a_call_that_was_given_up_takes_answers_and_drops_them() -> None:
    outbox: Effects = []
    call = opened(outbox)
    call.give_up()
    call.answer(StatusResponse())
    assert outbox == []


def test_a_call_is_among_the_open_ones_until_it_ends() -> None:
    method = made()
    waiting: dict[CallId, OpenCall] = {}
    call = OpenCall(START, method, None, [], waiting)
    assert waiting == {CallId(7): call}
    call.end()
    assert waiting == {}


def test_a_call_asks_for_its_client_with_its_own_signature_from_its_own_address() -> None:
    call = opened([])
    assert call.is_unasked
    call.client = GrpcClient("c", ChannelId(9), Peer("h", 1))
    assert not call.is_unasked
    channel, caller = call.asker
    assert channel == ChannelId(9)
    assert caller is call.caller
    assert (caller.signature.name, caller.host, caller.connection) == ("alice", "fe80::1", 1)


def test_a_refusal_is_a_response_with_a_status_alone() -> None:
    outbox: Effects = []
    call = opened(outbox)
    call.method.refuse(call, None, Status(3, "x"), None)  # type: ignore[arg-type]
    assert outbox[0] == CallWrite(CallId(7), bytes.fromhex("0a0508031201") + b"x")
