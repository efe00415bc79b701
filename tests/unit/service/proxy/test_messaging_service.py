"""Calls of gRPC; a broker that asks who calls decides whose they are before it reads them."""

from dataclasses import replace

import pytest

from aerobee.model.access import Rule
from aerobee.ports.audit import AuditEvent
from aerobee.ports.rpc import RpcConnectionId
from aerobee.protocol.grpc.calls import (
    SERVICE,
    HeartbeatRequest,
    QueryRouteRequest,
    RecallMessageRequest,
    SendMessageRequest,
)
from aerobee.protocol.grpc.codes import GrpcCode, RpcStatus
from aerobee.protocol.grpc.resources import Resource
from tests.access_kit import ACCESS, ask_as, make_user, set_rules
from tests.broker_kit import create_fields
from tests.grpc_kit import IDENTITY, GrpcKit, message, receiving, signed_by, typed

ORDERS = QueryRouteRequest(Resource("", "orders"))
PUB = Rule("Topic:orders", ("Pub",))
GUESS = {**signed_by("alice"), "x-mq-date-time": "another"}
METHODS = sorted(path.removeprefix(SERVICE) for path in GrpcKit().door.messaging._methods)


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


def guarded(audit: list[AuditEvent] | None = None) -> GrpcKit:
    """A broker with a topic, and alice, who may send to it."""
    sink = None if audit is None else audit.append
    kit = GrpcKit(identity=replace(IDENTITY, access=ACCESS, audit=sink))
    ask_as(kit, "root", 17, create_fields(typed("orders", "DELAY")))
    make_user(kit, "alice", PUB)
    return kit


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("metadata", [{}, GUESS, signed_by("stranger")], ids=["", "wrong", "eve"])
def test_a_stranger_is_refused_before_anything_is_made_or_read(
    method: str, metadata: dict[str, str]
) -> None:
    kit = guarded()
    call = kit.begin(method, b"\xff no message of any kind", "c1", metadata=metadata)
    kit.finish()
    refused, *_ = kit.responses(call)
    assert refused.status.code == GrpcCode.UNAUTHORIZED
    assert len(kit.door.messaging.clients) == 0


@pytest.mark.parametrize(
    "metadata", [{}, signed_by("stranger"), signed_by("bob")], ids=["", "stranger", "bob"]
)
def test_calls_that_are_refused_count_for_the_limits_of_their_address(
    metadata: dict[str, str],
) -> None:
    kit = guarded()
    make_user(kit, "bob")
    kit.run(2_000, 1_000)
    assert ask_as(kit, "root", 25, {}, b"addressRequestsPerSecond=4\n").code == 0
    codes = [
        kit.call("SendMessage", SendMessageRequest([message()]), metadata=metadata).status.code
        for _ in range(7)
    ]
    assert codes == [GrpcCode.UNAUTHORIZED] * 4 + [GrpcCode.TOO_MANY_REQUESTS] * 3


def test_a_user_has_only_so_many_receives_that_wait() -> None:
    kit = guarded()
    make_user(kit, "bob", Rule("Topic:orders", ("Sub",)), Rule("Group:*", ("Sub",)))
    assert ask_as(kit, "root", 25, {}, b"userWaitingPullsMax=1\n").code == 0
    bob = signed_by("bob")
    calls = [
        kit.begin("ReceiveMessage", receiving(poll_ms=15_000), client, metadata=bob)
        for client in ("c1", "c2")
    ]
    kit.finish()
    assert kit.responses(calls[0]) == []
    (refused, *_) = kit.responses(calls[1])
    assert refused.status.code == GrpcCode.TOO_MANY_REQUESTS


def test_an_address_has_only_so_many_receives_that_wait_where_nobody_is_asked() -> None:
    kit = GrpcKit(typed("orders", "NORMAL"))
    assert kit.ask(25, {}, b"addressWaitingPullsMax=1\n").code == 0
    calls = [
        kit.begin("ReceiveMessage", receiving(poll_ms=15_000), client) for client in ("c1", "c2")
    ]
    kit.finish()
    assert kit.responses(calls[0]) == []
    (refused, *_) = kit.responses(calls[1])
    assert refused.status.code == GrpcCode.TOO_MANY_REQUESTS


def test_who_may_not_send_does_not_learn_which_topics_there_are() -> None:
    kit = guarded()
    make_user(kit, "bob")
    heard = set()
    for topic in ("orders", "nothing"):
        recall = RecallMessageRequest(Resource("", topic), "x")
        for method, request in (
            ("SendMessage", SendMessageRequest([message(topic)])),
            ("RecallMessage", recall),
        ):
            heard.add(kit.call(method, request, metadata=signed_by("bob")).status.code)
    assert heard == {GrpcCode.UNAUTHORIZED}


def test_a_rule_for_an_address_is_about_that_of_the_call_and_not_of_its_client() -> None:
    kit = guarded()
    set_rules(kit, "alice", replace(PUB, sources=("10.0.0.9",)))
    alice = signed_by("alice")
    assert kit.call("QueryRoute", ORDERS, "c1", metadata=alice).status.code == GrpcCode.OK
    elsewhere = RpcConnectionId(50)
    refused = kit.call(
        "QueryRoute", ORDERS, "c1", metadata=alice, connection=elsewhere, host="10.0.0.8"
    )
    assert refused.status.code == GrpcCode.UNAUTHORIZED


def test_guesses_slow_down_their_address_and_not_that_of_the_client_that_they_name() -> None:
    kit = guarded()
    alice = signed_by("alice")
    first, second = RpcConnectionId(50), RpcConnectionId(51)

    def ask(metadata: dict[str, str], connection: RpcConnectionId, host: str) -> GrpcCode:
        answer = kit.call(
            "QueryRoute", ORDERS, "c1", metadata=metadata, connection=connection, host=host
        )
        return GrpcCode(answer.status.code)

    assert ask(alice, first, "10.0.0.8") == GrpcCode.OK
    guesses = [ask(GUESS, second, "10.0.0.8") for _ in range(12)]
    assert guesses == [GrpcCode.UNAUTHORIZED] * 10 + [GrpcCode.TOO_MANY_REQUESTS] * 2
    # She has signed on her connection before; on a new one from there she waits.
    assert ask(alice, first, "10.0.0.8") == GrpcCode.OK
    assert ask(alice, RpcConnectionId(52), "10.0.0.8") == GrpcCode.TOO_MANY_REQUESTS
    assert ask(alice, RpcConnectionId(53), "10.0.0.7") == GrpcCode.OK
    kit.disconnect(first)
    assert ask(alice, first, "10.0.0.8") == GrpcCode.TOO_MANY_REQUESTS


def test_the_trail_has_the_name_that_a_call_claims() -> None:
    told: list[AuditEvent] = []
    kit = guarded(told)
    told.clear()
    kit.call("QueryRoute", ORDERS, metadata=GUESS)
    (event,) = told
    assert (event.user, event.request, event.decision) == (
        "alice",
        "GET_ROUTEINFO_BY_TOPIC",
        "deny",
    )
