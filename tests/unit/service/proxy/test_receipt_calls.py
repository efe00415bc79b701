from dataclasses import replace
from typing import Any

import pytest

from aerobee.protocol.grpc.calls import (
    AckMessageEntry,
    AckMessageRequest,
    ChangeInvisibleDurationRequest,
    ForwardToDeadLettersRequest,
    HeartbeatRequest,
    NotifyClientTerminationRequest,
)
from aerobee.protocol.grpc.codes import ClientType, GrpcCode
from aerobee.protocol.grpc.resources import Duration, GrpcMessage, Resource
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.proxy.renewals import STEPS_MS, TOTAL_MS_MAX
from tests.access_kit import ACCESS, ask_as
from tests.broker_kit import create_fields
from tests.gateway_kit import GatewayKit
from tests.grpc_kit import IDENTITY, GrpcKit, message, receiving, signed_by, typed

TOPIC, GROUP = Resource("", "orders"), Resource("", "g")
CHANGE = RequestCode.CHANGE_MESSAGE_INVISIBLETIME


def orders(*bodies: bytes) -> GrpcKit:
    kit = GrpcKit(typed("orders", "NORMAL", queues=1))
    kit.receive(receiving())
    for body in bodies:
        kit.send(message(body=body))
    return kit


def handle_of(one: GrpcMessage) -> str:
    assert one.system_properties is not None
    return one.system_properties.receipt_handle or ""


def attempt_of(one: GrpcMessage) -> int | None:
    assert one.system_properties is not None
    return one.system_properties.delivery_attempt


def ack(kit: GrpcKit, *messages: GrpcMessage) -> Any:
    entries = [
        AckMessageEntry(one.system_properties.message_id, handle_of(one))
        for one in messages
        if one.system_properties is not None
    ]
    return kit.call("AckMessage", AckMessageRequest(GROUP, TOPIC, entries))


def change(kit: GrpcKit, one: GrpcMessage, ms: int, **more: Any) -> Any:
    assert one.system_properties is not None
    wanted = Duration(ms // 1_000, ms % 1_000 * 1_000_000)
    request = ChangeInvisibleDurationRequest(
        GROUP, TOPIC, handle_of(one), wanted, one.system_properties.message_id, **more
    )
    return kit.call("ChangeInvisibleDuration", request)


def test_acknowledged_messages_do_not_come_again() -> None:
    kit = orders(b"a", b"b")
    found = kit.receive(receiving(invisible_s=10))
    response = ack(kit, *found)
    assert response.status.code == GrpcCode.OK
    assert [entry.status.code for entry in response.entries] == [GrpcCode.OK] * 2
    kit.run(15_000)
    assert kit.receive(receiving()) == []


def test_results_that_differ_have_a_code_of_their_own() -> None:
    kit = orders(b"a")
    (found,) = kit.receive(receiving())
    entries = [AckMessageEntry("x", "no handle"), AckMessageEntry("ID-a", handle_of(found))]
    response = kit.call("AckMessage", AckMessageRequest(GROUP, TOPIC, entries))
    assert response.status.code == GrpcCode.MULTIPLE_RESULTS
    assert [entry.status.code for entry in response.entries] == [
        GrpcCode.INVALID_RECEIPT_HANDLE,
        GrpcCode.OK,
    ]


def test_an_expired_handle_is_refused_and_an_empty_request_too() -> None:
    kit = orders(b"a")
    (found,) = kit.receive(receiving(invisible_s=10))
    kit.run(10_000)
    assert ack(kit, found).status.code == GrpcCode.INVALID_RECEIPT_HANDLE
    assert ack(kit).status.code == GrpcCode.INTERNAL_SERVER_ERROR


def test_a_changed_message_comes_again_after_its_new_time_and_its_new_handle_counts() -> None:
    kit = orders(b"a")
    (found,) = kit.receive(receiving(invisible_s=600))
    response = change(kit, found, 20_000)
    assert response.status.code == GrpcCode.OK
    assert response.receipt_handle != handle_of(found)
    assert response.receipt_handle.split(" ")[8] == handle_of(found).split(" ")[8]
    kit.run(22_000)
    (again,) = kit.receive(receiving(invisible_s=10))
    assert attempt_of(again) == 2
    assert ack(kit, again).status.code == GrpcCode.OK
    kit.run(15_000)
    assert kit.receive(receiving()) == []


def test_a_change_to_nothing_makes_it_visible_at_once_and_suspended_it_is_not_counted() -> None:
    kit = orders(b"a")
    (found,) = kit.receive(receiving())
    change(kit, found, 0, suspend=True)
    kit.run(2_000)
    (again,) = kit.receive(receiving())
    assert attempt_of(again) == 1


@pytest.mark.parametrize(("ms", "handle"), [(-1, ""), (43_200_001, ""), (1_000, "no handle")])
def test_a_refused_change_gives_the_old_handle_back(ms: int, handle: str) -> None:
    kit = orders(b"a")
    (found,) = kit.receive(receiving())
    assert found.system_properties is not None
    found.system_properties.receipt_handle = handle or handle_of(found)
    response = change(kit, found, ms)
    assert response.status.code in (
        GrpcCode.ILLEGAL_INVISIBLE_TIME,
        GrpcCode.INVALID_RECEIPT_HANDLE,
    )
    assert response.receipt_handle == handle_of(found)


def test_a_message_can_be_forwarded_to_the_dead_letters() -> None:
    kit = orders(b"a")
    (found,) = kit.receive(receiving(invisible_s=10))
    request = ForwardToDeadLettersRequest(GROUP, TOPIC, handle_of(found), "ID-a", 1, 1)
    assert kit.call("ForwardMessageToDeadLetterQueue", request).status.code == GrpcCode.OK
    assert kit.bodies("%DLQ%g", 0) == [b"a"]
    kit.run(15_000)
    assert kit.receive(receiving()) == []
    request.receipt_handle = " ".join(handle_of(found).split(" ")[:8])
    refused = kit.call("ForwardMessageToDeadLetterQueue", request)
    assert refused.status.code == GrpcCode.INVALID_RECEIPT_HANDLE


def test_a_renewed_message_stays_invisible_and_its_first_handle_acknowledges_it() -> None:
    kit = orders(b"a")
    kit.consume("g", "orders", kind=ClientType.PUSH_CONSUMER)
    (found,) = kit.receive(receiving(is_renewed=True))
    for _ in range(3):
        kit.run(60_000, 1_000)
        assert kit.call("Heartbeat", HeartbeatRequest(GROUP)).status.code == GrpcCode.OK
    assert kit.receive(receiving(), "c2") == []
    assert ack(kit, found).status.code == GrpcCode.OK
    kit.run(400_000, 2_000)
    assert kit.receive(receiving(), "c2") == []


def held_by_gateway() -> tuple[GatewayKit, GrpcMessage]:
    """A gateway whose client has a message, at the moment when its broker is asked to renew it."""
    kit = GatewayKit(typed("orders", "NORMAL", queues=1))
    kit.consume("g", "orders", kind=ClientType.PUSH_CONSUMER)
    kit.receive(receiving())
    kit.send(message(body=b"a"))
    (found,) = kit.receive(receiving(is_renewed=True))
    kit.pass_time(49_000, 1_000)
    assert kit.receive(receiving(), "c2") == []  # the topic is looked up, and known for a while
    kit.codes()
    while CHANGE not in kit.codes():
        kit.clock.advance(100)
        kit.carry_out(kit.gateway.on_tick(kit.clock.now()))
    return kit, found


def comes_again(kit: GatewayKit, within_ms: int) -> bool:
    """Whether another client gets a message within some time; the first one lives on."""
    for _ in range(0, within_ms, 500):
        kit.pass_time(500, 500)
        kit.call("Heartbeat", HeartbeatRequest(GROUP))
        if kit.receive(receiving(), "c2"):
            return True
    return False


def test_a_message_acknowledged_while_it_is_renewed_does_not_come_again() -> None:
    kit, found = held_by_gateway()
    entries = [AckMessageEntry("ID-a", handle_of(found))]
    call = kit.begin("AckMessage", AckMessageRequest(GROUP, TOPIC, entries))
    assert kit.responses(call) == [], "it waits for the newest receipt"
    kit.finish()
    (answer,) = kit.responses(call)
    assert answer.status.code == GrpcCode.OK
    assert not comes_again(kit, 80_000)


def test_a_message_of_a_client_that_goes_while_it_is_renewed_is_visible_soon() -> None:
    kit, _ = held_by_gateway()
    kit.begin("NotifyClientTermination", NotifyClientTerminationRequest(GROUP))
    kit.finish()
    assert comes_again(kit, 5_000)


def test_a_message_that_is_worked_on_for_three_hours_comes_again_after_its_groups_delay() -> None:
    kit = orders(b"a")
    kit.consume("g", "orders", kind=ClientType.PUSH_CONSUMER)
    assert len(kit.receive(receiving(is_renewed=True))) == 1
    begun_ms = kit.clock.now().wall_ms
    while not (again := kit.receive(receiving(), "c2")):
        kit.run(60_000, 10_000)
        assert kit.call("Heartbeat", HeartbeatRequest(GROUP)).status.code == GrpcCode.OK
        assert kit.clock.now().wall_ms < begun_ms + TOTAL_MS_MAX + STEPS_MS[-1] + 60_000
    assert attempt_of(again[0]) == 2
    assert kit.clock.now().wall_ms >= begun_ms + TOTAL_MS_MAX
    kit.run(120_000, 10_000)
    assert len(kit.door.messaging._receipts.renewals) == 0


def test_the_messages_of_a_client_that_is_gone_are_visible_soon() -> None:
    kit = orders(b"a")
    kit.consume("g", "orders", kind=ClientType.PUSH_CONSUMER)
    assert len(kit.receive(receiving(is_renewed=True))) == 1
    kit.disconnect()
    kit.run(9_000)
    assert (
        kit.receive(
            receiving(),
            "c2",
        )
        == []
    )
    kit.run(5_000)
    assert [one.body for one in kit.receive(receiving(), "c2")] == [b"a"]


@pytest.mark.parametrize("way", ["AckMessage", "ChangeInvisibleDuration", "ForwardMessage"])
def test_a_peer_without_rights_does_not_end_the_renewals_of_a_client_that_it_names(
    way: str,
) -> None:
    kit = GrpcKit(identity=replace(IDENTITY, access=ACCESS))
    ask_as(kit, "root", 17, create_fields(typed("orders", "NORMAL", queues=1)))
    root = signed_by("root")
    kit.consume("g", "orders", kind=ClientType.PUSH_CONSUMER, metadata=root)
    kit.receive(receiving(), metadata=root)
    kit.send(message(body=b"a"), metadata=root)
    (found,) = kit.receive(receiving(is_renewed=True), metadata=root)
    handle = handle_of(found)
    match way:
        case "AckMessage":
            refused = ack(kit, found)
        case "ChangeInvisibleDuration":
            refused = change(kit, found, 0)
        case _:
            request = ForwardToDeadLettersRequest(GROUP, TOPIC, handle, "ID-a", 1, 1)
            refused = kit.call("ForwardMessageToDeadLetterQueue", request)
    assert refused.status.code == GrpcCode.UNAUTHORIZED
    kit.run(90_000, 1_000)
    entries = [AckMessageEntry("ID-a", handle)]
    done = kit.call("AckMessage", AckMessageRequest(GROUP, TOPIC, entries), metadata=root)
    assert done.status.code == GrpcCode.OK


@pytest.mark.parametrize("way", ["AckMessage", "ChangeInvisibleDuration", "ForwardMessage"])
def test_a_message_is_renewed_further_when_the_broker_refuses_what_its_client_wants(
    way: str,
) -> None:
    kit = orders(b"a")
    kit.consume("g", "orders", kind=ClientType.PUSH_CONSUMER)
    (found,) = kit.receive(receiving(is_renewed=True))
    elsewhere = Resource("", "elsewhere")
    handle = handle_of(found)
    match way:
        case "AckMessage":
            entries = [AckMessageEntry("ID-a", handle)]
            refused = kit.call("AckMessage", AckMessageRequest(GROUP, elsewhere, entries))
        case "ChangeInvisibleDuration":
            wanted = ChangeInvisibleDurationRequest(GROUP, elsewhere, handle, Duration(1), "ID-a")
            refused = kit.call("ChangeInvisibleDuration", wanted)
        case _:
            nowhere = " ".join([*handle.split(" ")[:8], "999999"])
            request = ForwardToDeadLettersRequest(GROUP, TOPIC, nowhere, "ID-a", 1, 1)
            (renewal,) = kit.door.messaging._receipts.renewals._by_key.values()
            renewal.handle = nowhere
            refused = kit.call("ForwardMessageToDeadLetterQueue", request)
            renewal.handle = handle
    assert refused.status.code != GrpcCode.OK
    kit.run(90_000, 1_000)
    assert ack(kit, found).status.code == GrpcCode.OK


def test_after_a_kill_only_what_was_not_acknowledged_comes_again() -> None:
    kit = orders(b"done", b"open")
    done, left = sorted(kit.receive(receiving(invisible_s=10)), key=lambda one: one.body)
    assert ack(kit, done).status.code == GrpcCode.OK
    kit = kit.killed()
    assert kit.receive(receiving()) == [], "it is invisible still"
    kit.run(12_000)
    (again,) = kit.receive(receiving())
    assert (again.body, attempt_of(again)) == (b"open", 2)
    assert attempt_of(left) == 1


def test_a_message_received_before_a_kill_is_acknowledged_after_it() -> None:
    kit = orders(b"a")
    (found,) = kit.receive(receiving(invisible_s=10))
    kit = kit.killed()
    assert ack(kit, found).status.code == GrpcCode.OK
    kit.run(12_000)
    assert kit.receive(receiving()) == []
