from dataclasses import replace

from aerobee.protocol.grpc.calls import (
    HeartbeatRequest,
    NotifyClientTerminationRequest,
    TelemetryCommand,
)
from aerobee.protocol.grpc.codes import ClientType, GrpcCode, RpcStatus
from aerobee.protocol.grpc.resources import (
    ClientSettings,
    FilterExpression,
    GrpcSubscription,
    Publishing,
    Resource,
    SubscriptionEntry,
)
from tests.access_kit import ACCESS
from tests.grpc_kit import IDENTITY, GrpcKit, signed_by, typed


def members(kit: GrpcKit, group: str) -> list[str]:
    """The client ids of a group, as remoting clients ask for them."""
    answer = kit.ask(38, {"consumerGroup": group})
    return [] if answer.code else sorted(bytes(answer.body).decode().split('"')[3::2])


def test_settings_are_answered_at_once_with_the_decisions_of_the_service() -> None:
    kit = GrpcKit(typed("orders", "NORMAL"))
    (answer,) = kit.responses(kit.produce("orders"))
    assert answer.status.code == GrpcCode.OK
    assert answer.settings.publishing.max_body_size == 4 << 20
    (answer,) = kit.responses(kit.consume("g", "orders"))
    assert answer.settings.subscription.receive_batch_size == 32


def test_a_consumer_is_a_member_of_its_group_for_everybody() -> None:
    kit = GrpcKit(typed("orders", "NORMAL"))
    kit.consume("g", "orders", "c1", ClientType.PUSH_CONSUMER)
    kit.consume("g", "orders", "c2")
    assert members(kit, "g") == ["c1", "c2"]


def test_a_heartbeat_needs_settings_and_keeps_the_client() -> None:
    kit = GrpcKit(typed("orders", "NORMAL"))
    beat = HeartbeatRequest(Resource("", "g"), ClientType.SIMPLE_CONSUMER)
    assert kit.call("Heartbeat", beat).status.code == GrpcCode.UNRECOGNIZED_CLIENT_TYPE
    kit.consume("g", "orders", "c1")
    kit.consume("g", "orders", "silent")
    for _ in range(5):
        kit.run(30_000, 5_000)
        assert kit.call("Heartbeat", beat).status.code == GrpcCode.OK
    assert members(kit, "g") == ["c1"]


def test_a_client_that_says_goodbye_is_gone() -> None:
    kit = GrpcKit(typed("orders", "NORMAL"))
    goodbye = NotifyClientTerminationRequest(Resource("", "g"))
    unknown = kit.call("NotifyClientTermination", goodbye)
    assert unknown.status.code == GrpcCode.UNRECOGNIZED_CLIENT_TYPE
    kit.consume("g", "orders")
    assert kit.call("NotifyClientTermination", goodbye).status.code == GrpcCode.OK
    assert members(kit, "g") == []


def test_wrong_settings_end_the_stream() -> None:
    kit = GrpcKit(typed("orders", "NORMAL"))
    bad = SubscriptionEntry(Resource("", "orders"), FilterExpression(2, ""))
    for settings in (
        ClientSettings(),
        ClientSettings(publishing=Publishing([Resource("", "bad topic")])),
        ClientSettings(client_type=5, subscription=GrpcSubscription(Resource("", "g"))),
        ClientSettings(client_type=2, subscription=GrpcSubscription(Resource("", ""))),
        ClientSettings(client_type=2, subscription=GrpcSubscription(Resource("", "g"), [bad])),
    ):
        call = kit.begin("Telemetry", TelemetryCommand(settings=settings))
        assert kit.ended[call].status == RpcStatus.INVALID_ARGUMENT
        assert kit.ended[call].reason.startswith("process client telemetryCommand failed")


def test_a_stream_stays_open_until_the_client_closes_its_side() -> None:
    kit = GrpcKit(typed("orders", "NORMAL"))
    call = kit.produce("orders")
    kit.say(call, TelemetryCommand())
    kit.run(60_000, 5_000)
    assert call not in kit.ended
    kit.half_close(call)
    assert kit.ended[call].status == RpcStatus.OK


def test_a_peer_without_rights_changes_nothing_of_a_client_that_it_names() -> None:
    kit = GrpcKit(identity=replace(IDENTITY, access=ACCESS))
    root = signed_by("root")
    stream = kit.consume("g", "orders", metadata=root)
    client = kit.door.messaging.clients.find("c1")
    settings = client.settings
    kit.produce("stolen")
    kit.begin("Telemetry", TelemetryCommand())
    refused = kit.call("NotifyClientTermination", NotifyClientTerminationRequest())
    assert refused.status.code == GrpcCode.UNAUTHORIZED
    assert kit.door.messaging.clients.find("c1") is client
    assert (client.telemetry, client.topics, client.settings) == (stream, set(), settings)
