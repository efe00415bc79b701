from collections.abc import Sequence

import pytest

from aerobee.model.access import DENY, Rule
from aerobee.ports.audit import AuditEvent
from aerobee.protocol.grpc.calls import (
    AckMessageEntry,
    AckMessageRequest,
    EndTransactionRequest,
    ForwardToDeadLettersRequest,
    HeartbeatRequest,
)
from aerobee.protocol.grpc.codes import COMMIT, ClientType, GrpcCode, GrpcMessageType
from aerobee.protocol.grpc.resources import GrpcMessage, Resource
from aerobee.service.access.request_limits import LimitConfig
from aerobee.service.gateway.caller_users import LOOK_MS
from aerobee.service.gateway.callers import GuardConfig
from tests.access_kit import ACCESS, make_user, set_rules
from tests.gateway_kit import GatewayKit
from tests.grpc_kit import message, receiving, signed_by, typed

TOPIC, GROUP = Resource("", "orders"), Resource("", "g")
SENDER = Rule("Topic:orders", ("Pub",))
READER = (Rule("Topic:orders", ("Sub",)), Rule("Group:g", ("Sub",)))
ROOT, ALICE, BOB = signed_by("root"), signed_by("alice"), signed_by("bob")


def guarded(kind: str = "NORMAL", limits: LimitConfig | None = None) -> GatewayKit:
    """A proxy whose broker knows alice, who sends, and bob, who receives."""
    guard = GuardConfig(ACCESS, limits or LimitConfig())
    topics = [typed("orders", kind, queues=1), typed("secret", "NORMAL", queues=1)]
    kit = GatewayKit(*topics, guard=guard, broker_access=ACCESS)
    make_user(kit.brokers["broker-a"], "alice", SENDER)
    make_user(kit.brokers["broker-a"], "bob", *READER)
    kit.pass_time(LOOK_MS, LOOK_MS)
    return kit


def send(kit: GatewayKit, user: dict[str, str], body: bytes = b"body") -> int:
    code: int = kit.send(message(body=body), metadata=user).status.code
    return code


def received(kit: GatewayKit, user: dict[str, str]) -> tuple[int, Sequence[GrpcMessage]]:
    """The code of a receive, and its messages."""
    call = kit.begin("ReceiveMessage", receiving(), metadata=user)
    kit.finish()
    found = kit.responses(call)
    return found[0].status.code, [one.message for one in found if one.message is not None]


def begun(kit: GatewayKit) -> GatewayKit:
    """Its group begins at what is sent from now on."""
    received(kit, ROOT)
    return kit


def bury(kit: GatewayKit, handle: str) -> int:
    request = ForwardToDeadLettersRequest(GROUP, TOPIC, handle, "ID-body", 1, 1)
    status = kit.call("ForwardMessageToDeadLetterQueue", request, metadata=BOB).status
    code: int = status.code
    return code


def test_callers_have_the_rights_that_brokers_give_them() -> None:
    kit = begun(guarded())
    assert send(kit, ALICE) == GrpcCode.OK
    assert send(kit, BOB) == GrpcCode.UNAUTHORIZED
    assert received(kit, ALICE)[0] == GrpcCode.UNAUTHORIZED
    assert len(received(kit, BOB)[1]) == 1
    assert send(kit, signed_by("mallory")) == GrpcCode.UNAUTHORIZED
    set_rules(kit.brokers["broker-a"], "alice", Rule("Topic:orders", ("Pub",), DENY))
    kit.pass_time(LOOK_MS, LOOK_MS)
    assert send(kit, ALICE) == GrpcCode.UNAUTHORIZED


@pytest.mark.parametrize("user", [{}, signed_by("mallory"), BOB], ids=["nobody", "eve", "bob"])
def test_calls_that_are_refused_count_for_the_limits_of_their_address(
    user: dict[str, str],
) -> None:
    kit = guarded(limits=LimitConfig(address_requests=4))
    codes = [send(kit, user) for _ in range(7)]
    assert codes == [GrpcCode.UNAUTHORIZED] * 4 + [GrpcCode.TOO_MANY_REQUESTS] * 3
    assert kit.brokers["broker-a"].bodies("orders", 0) == []


@pytest.mark.parametrize("user", [{}, signed_by("mallory")], ids=["nobody", "a stranger"])
def test_a_call_that_waited_for_users_is_let_in_as_any_other(user: dict[str, str]) -> None:
    kit = guarded()
    kit.start_anew()
    call = kit.begin("Heartbeat", HeartbeatRequest(GROUP, ClientType.PRODUCER), metadata=user)
    assert not kit.responses(call)
    kit.finish()
    (answer,) = kit.responses(call)
    assert answer.status.code == GrpcCode.UNAUTHORIZED


def test_whoever_loses_its_rights_gets_no_messages_that_it_waited_for() -> None:
    kit = begun(guarded())
    call = kit.begin("ReceiveMessage", receiving(poll_ms=15_000), metadata=BOB)
    kit.finish()
    set_rules(kit.brokers["broker-a"], "bob")
    kit.pass_time(LOOK_MS, LOOK_MS)
    assert kit.responses(call) == []
    assert send(kit, ROOT) == GrpcCode.OK
    kit.finish()
    (status, *rest) = kit.responses(call)
    assert status.status.code == GrpcCode.FORBIDDEN
    assert [one.message for one in rest if one.message is not None] == []


def test_a_message_of_another_topic_is_no_ones_dead_letter_whatever_the_handle_says() -> None:
    kit = begun(guarded())
    hidden = kit.send(message("secret", b"hidden"), metadata=ROOT)
    assert hidden.status.code == GrpcCode.OK
    send(kit, ALICE)
    (found,) = received(kit, BOB)[1]
    assert found.system_properties is not None
    handle = found.system_properties.receipt_handle or ""
    forged = " ".join([*handle.split(" ")[:8], "0"])
    assert kit.brokers["broker-a"].bodies("secret", 0) == [b"hidden"]
    assert bury(kit, forged) == GrpcCode.FORBIDDEN
    assert kit.brokers["broker-a"].bodies("%DLQ%g") == []
    assert bury(kit, handle) == GrpcCode.OK
    assert kit.brokers["broker-a"].bodies("%DLQ%g") == [b"body"]


def test_a_transaction_is_ended_by_whoever_may_send_to_its_topic() -> None:
    kit = guarded("TRANSACTION")
    half = message(message_type=GrpcMessageType.TRANSACTION)
    sent = kit.send(half, metadata=ALICE)
    transaction = sent.entries[0].transaction_id
    end = EndTransactionRequest(TOPIC, "ID-body", transaction, COMMIT, 1)

    def ended(user: dict[str, str]) -> int:
        code: int = kit.call("EndTransaction", end, metadata=user).status.code
        return code

    assert ended(BOB) == GrpcCode.UNAUTHORIZED
    assert ended(ALICE) == GrpcCode.OK
    assert kit.brokers["broker-a"].bodies("orders", 0) == [b"body"]


def test_who_was_refused_is_in_the_audit_trail() -> None:
    noted: list[AuditEvent] = []
    guard = GuardConfig(ACCESS, audit=noted.append)
    kit = GatewayKit(typed("orders", "NORMAL"), guard=guard, broker_access=ACCESS)
    assert send(kit, ROOT) == GrpcCode.OK
    assert noted == []
    send(kit, signed_by("mallory"))
    (event,) = noted
    assert (event.server, event.user, event.source) == ("proxy", "mallory", "10.0.0.9")


@pytest.mark.parametrize(
    "limits", [LimitConfig(user_requests=2), LimitConfig(user_bytes=200)], ids=["requests", "bytes"]
)
def test_users_are_held_to_limits_each_by_itself_and_may_acknowledge_all_the_same(
    limits: LimitConfig,
) -> None:
    kit = begun(guarded(limits=limits))
    codes = [send(kit, ALICE, bytes(90)) for _ in range(4)]
    assert codes[0] == GrpcCode.OK
    assert codes[-1] == GrpcCode.TOO_MANY_REQUESTS
    code, found = received(kit, BOB)
    assert code == GrpcCode.OK
    assert found[0].system_properties is not None
    handle = found[0].system_properties.receipt_handle or ""
    entries = [AckMessageEntry("ID-body", handle)] * 8
    acked = kit.call("AckMessage", AckMessageRequest(GROUP, TOPIC, entries), metadata=BOB)
    assert acked.status.code == GrpcCode.OK
    shown = {one.name: list(one.samples) for one in kit.gateway.watch.metrics(kit.clock.now())}
    assert shown["aerobee_limited_total"][0].value != 0


def test_a_group_is_held_to_the_bytes_that_it_gets() -> None:
    kit = GatewayKit(
        typed("orders", "NORMAL", queues=1), guard=GuardConfig(limits=LimitConfig(group_bytes=100))
    )
    received(kit, {})
    send(kit, {}, bytes(500))
    assert received(kit, {})[0] == GrpcCode.OK
    assert received(kit, {})[0] == GrpcCode.TOO_MANY_REQUESTS
    kit.pass_time(15_000, 1_000)
    assert received(kit, {})[0] == GrpcCode.MESSAGE_NOT_FOUND
