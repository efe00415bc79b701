from typing import Any

import pytest

from aerobee.model.group import GroupConfig
from aerobee.protocol.bodies.group_config import encode_group_config
from aerobee.protocol.grpc.calls import (
    AckMessageEntry,
    AckMessageRequest,
    ChangeInvisibleDurationRequest,
    ForwardToDeadLettersRequest,
    NotifyClientTerminationRequest,
    QueryAssignmentRequest,
    QueryRouteRequest,
    RecallMessageRequest,
)
from aerobee.protocol.grpc.codes import ClientType, GrpcCode
from aerobee.protocol.grpc.resources import Address, Duration, Endpoints, Resource, timestamp_of
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.access.config import AccessConfig
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.gateway.callers import GuardConfig
from tests.access_kit import INNER, ROOT
from tests.gateway_kit import ADDRESS, GatewayKit
from tests.grpc_kit import message, receiving, signed_by, typed

TOPIC, GROUP = Resource("", "orders"), Resource("", "g")
TWO = ("broker-a", "broker-b")


def ack(kit: GatewayKit, *handles: str, **more: Any) -> Any:
    entries = [AckMessageEntry("id", handle) for handle in handles]
    return kit.call("AckMessage", AckMessageRequest(GROUP, TOPIC, entries), **more)


def begun(kit: GatewayKit) -> GatewayKit:
    """A group of its own begins where topics end."""
    for name in kit.brokers:
        kit.receive(receiving(broker=name))
    return kit


def change(kit: GatewayKit, handle: str, seconds: int) -> Any:
    request = ChangeInvisibleDurationRequest(GROUP, TOPIC, handle, Duration(seconds), "ID-body")
    return kit.call("ChangeInvisibleDuration", request)


def handles(kit: GatewayKit, broker: str = "") -> list[str]:
    """The handles of messages that are received."""
    found = kit.receive(receiving(broker=broker))
    systems = [one.system_properties for one in found if one.system_properties is not None]
    return [system.receipt_handle or "" for system in systems]


def asked(kit: GatewayKit, code: RequestCode) -> list[str]:
    """The addresses that requests of a code went to."""
    return [address for address, one in kit.asked if one == code]


def test_a_route_names_every_broker_and_the_way_that_the_client_came() -> None:
    kit = GatewayKit(typed("orders", "NORMAL", queues=2), brokers=TWO)
    asked = Endpoints(1, [Address("192.0.2.7", 443)])
    response = kit.call("QueryRoute", QueryRouteRequest(TOPIC, asked))
    found = [(queue.broker.name, queue.id) for queue in response.message_queues]
    assert found == [(name, number) for name in TWO for number in range(2)]
    ways = {
        (one.host, one.port)
        for queue in response.message_queues
        for one in queue.broker.endpoints.addresses
    }
    assert ways == {("192.0.2.7", ADDRESS.port)}
    assigned = kit.call("QueryAssignment", QueryAssignmentRequest(TOPIC, GROUP, asked))
    assert [one.message_queue.broker.name for one in assigned.assignments] == list(TWO)


def test_messages_go_to_all_brokers_and_come_from_the_one_that_is_named() -> None:
    kit = begun(GatewayKit(typed("orders", "NORMAL", queues=1), brokers=TWO))
    for number in range(4):
        assert kit.send(message(body=f"m{number}".encode())).status.code == GrpcCode.OK
    bodies = {name: {one.body for one in kit.receive(receiving(broker=name))} for name in TWO}
    assert [len(found) for found in bodies.values()] == [2, 2]
    assert bodies["broker-a"] | bodies["broker-b"] == {b"m0", b"m1", b"m2", b"m3"}


def test_an_acknowledgement_goes_to_the_broker_that_handed_the_message_out() -> None:
    kit = begun(GatewayKit(typed("orders", "NORMAL", queues=1), brokers=TWO))
    for number in range(4):
        kit.send(message(body=f"m{number}".encode()))
    taken = {name: handles(kit, name) for name in TWO}
    answered = ack(kit, *taken["broker-b"])
    assert [one.status.code for one in answered.entries] == [GrpcCode.OK] * 2
    assert asked(kit, RequestCode.ACK_MESSAGE) == [kit.addresses["broker-b"]] * 2


def test_a_changed_message_has_a_new_handle_that_holds() -> None:
    kit = begun(GatewayKit(typed("orders", "NORMAL", queues=1)))
    kit.send(message())
    (handle,) = handles(kit)
    changed = change(kit, handle, 20)
    assert changed.status.code == GrpcCode.OK
    assert changed.receipt_handle not in ("", handle)
    assert ack(kit, changed.receipt_handle).status.code == GrpcCode.OK


def test_a_handle_of_a_broker_that_nobody_knows_is_refused() -> None:
    kit = GatewayKit(typed("orders", "NORMAL"))
    pop_time = kit.clock.now().wall_ms
    assert ack(kit, f"0 {pop_time} 60000 0 0 broker-x 0 0 0").status.code == GrpcCode.BAD_REQUEST


def test_a_receive_that_waits_is_answered_when_a_message_comes() -> None:
    kit = begun(GatewayKit(typed("orders", "NORMAL", queues=1)))
    call = kit.begin("ReceiveMessage", receiving(poll_ms=10_000))
    kit.finish()
    assert kit.responses(call) == []
    kit.send(message())
    kit.finish()
    assert [one.message.body for one in kit.responses(call) if one.message] == [b"body"]


def test_messages_for_a_client_that_has_given_up_are_given_back_uncounted() -> None:
    kit = begun(GatewayKit(typed("orders", "NORMAL", queues=1)))
    call = kit.begin("ReceiveMessage", receiving(poll_ms=10_000))
    kit.finish()
    kit.cancel(call)
    kit.send(message())
    kit.finish()
    assert asked(kit, RequestCode.CHANGE_MESSAGE_INVISIBLETIME) == [kit.addresses["broker-a"]]
    assert kit.responses(call) == []


def test_a_message_that_was_tried_too_often_is_a_dead_letter() -> None:
    """Brokers of Aerobee do it themselves: only the gateway is told of this limit."""
    kit = begun(GatewayKit(typed("orders", "NORMAL", queues=1)))
    impatient = encode_group_config(GroupConfig("g", retries_max=0))
    kit.twist = lambda address, answer: (
        RemotingCommand(0, body=impatient) if b"retryMaxTimes" in bytes(answer.body) else answer
    )
    kit.send(message())
    (handle,) = handles(kit)
    change(kit, handle, 0)
    kit.pass_time(2_000, 500)
    assert kit.receive(receiving()) == []
    assert kit.brokers["broker-a"].bodies("%DLQ%g") == [b"body"]
    assert len(asked(kit, RequestCode.ACK_MESSAGE)) == 1


def test_a_consumer_can_make_a_message_a_dead_letter() -> None:
    kit = begun(GatewayKit(typed("orders", "NORMAL", queues=1)))
    kit.send(message())
    (found,) = kit.receive(receiving())
    assert found.system_properties is not None
    handle = found.system_properties.receipt_handle or ""
    request = ForwardToDeadLettersRequest(GROUP, TOPIC, handle, "ID-body", 1, 1)
    response = kit.call("ForwardMessageToDeadLetterQueue", request)
    assert response.status.code == GrpcCode.OK
    assert kit.brokers["broker-a"].bodies("%DLQ%g") == [b"body"]


def test_a_message_group_stays_in_one_queue_of_one_broker_in_order() -> None:
    kit = GatewayKit(typed("orders", "FIFO", queues=3), brokers=TWO)
    for number in range(5):
        kit.send(message(body=f"m{number}".encode(), message_group="x"))
    stored = [kit.brokers[name].bodies("orders", queue) for name in TWO for queue in range(3)]
    assert [one for one in stored if one] == [[b"m0", b"m1", b"m2", b"m3", b"m4"]]


def test_a_delayed_message_is_recalled_at_its_broker() -> None:
    config = BrokerConfig(recalls=True)
    kit = GatewayKit(typed("orders", "DELAY", queues=1), brokers=TWO, broker_config=config)
    later = timestamp_of(kit.clock.now().wall_ms + 5_000)
    for body in (b"a", b"b"):
        sent = kit.send(message(body=body, delivery_timestamp=later))
        request = RecallMessageRequest(TOPIC, sent.entries[0].recall_handle)
        assert kit.call("RecallMessage", request).status.code == GrpcCode.OK
    sends, recalls = RequestCode.SEND_MESSAGE_V2, RequestCode.RECALL_MESSAGE
    assert asked(kit, sends) == asked(kit, recalls)
    assert set(asked(kit, recalls)) == set(kit.addresses.values())
    odd = kit.call("RecallMessage", RecallMessageRequest(TOPIC, "nonsense"))
    assert odd.status.code == GrpcCode.BAD_REQUEST


def test_brokers_know_groups_of_clients_until_the_last_has_left() -> None:
    kit = GatewayKit(typed("orders", "NORMAL"))
    kit.consume("g", "orders", "c1", ClientType.PUSH_CONSUMER)
    kit.consume("g", "orders", "c2", ClientType.PUSH_CONSUMER)
    kit.pass_time(500)

    def members() -> int:
        asked = kit.brokers["broker-a"].ask(
            RequestCode.GET_CONSUMER_LIST_BY_GROUP, {"consumerGroup": "g"}
        )
        return bytes(asked.body).count(b"gateway")

    assert members() == 1
    for client in ("c1", "c2"):
        kit.call("NotifyClientTermination", NotifyClientTerminationRequest(GROUP), client)
    kit.pass_time(500)
    assert members() == 0


GUARDED = AccessConfig(True, True, init_user=ROOT, inner=INNER)


@pytest.mark.parametrize(("user", "code"), [("root", GrpcCode.OK), ("x", GrpcCode.UNAUTHORIZED)])
def test_callers_sign_for_everything_that_they_ask(user: str, code: GrpcCode) -> None:
    kit = GatewayKit(typed("orders", "NORMAL"), guard=GuardConfig(GUARDED))
    metadata = signed_by(user)
    assert kit.send(message(), metadata=metadata).status.code == code
    routed = kit.call("QueryRoute", QueryRouteRequest(TOPIC), metadata=metadata)
    assert routed.status.code == code
    telemetry = kit.produce("orders", metadata=metadata)
    kit.finish()
    assert kit.responses(telemetry)[0].status.code == code
