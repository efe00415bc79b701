from aerobee.model.group import GroupConfig
from aerobee.protocol.bodies.group_config import encode_group_config
from aerobee.protocol.grpc.calls import QueryRouteRequest
from aerobee.protocol.grpc.codes import GrpcCode
from aerobee.protocol.grpc.resources import Resource
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.gateway.config import GatewayConfig
from aerobee.service.gateway.configurations import BELIEVED_MS
from tests.gateway_kit import NAME_SERVER, GatewayKit
from tests.grpc_kit import message, receiving, typed

LOOKUPS = {
    RequestCode.GET_ROUTEINFO_BY_TOPIC,
    RequestCode.GET_TOPIC_CONFIG,
    RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG,
}


def lookups(kit: GatewayKit) -> int:
    return sum(code in LOOKUPS for code in kit.codes())


def test_what_was_looked_up_is_believed_for_a_while() -> None:
    kit = GatewayKit(typed("orders", "NORMAL"))
    kit.codes()
    kit.send(message())
    assert lookups(kit) == 2
    kit.send(message(body=b"b"))
    assert lookups(kit) == 0
    kit.clock.advance(BELIEVED_MS)
    kit.send(message(body=b"c"))
    assert lookups(kit) == 2


def test_calls_meanwhile_share_one_lookup() -> None:
    kit = GatewayKit(typed("orders", "NORMAL"))
    kit.codes()
    calls = [kit.begin("QueryRoute", QueryRouteRequest(Resource("", "orders"))) for _ in range(3)]
    kit.finish()
    assert lookups(kit) == 2
    assert all(kit.responses(call)[0].status.code == GrpcCode.OK for call in calls)


def test_a_topic_that_was_just_created_is_found() -> None:
    kit = GatewayKit()
    assert kit.send(message()).status.code == GrpcCode.TOPIC_NOT_FOUND
    kit.make_topic(typed("orders", "NORMAL"))
    assert kit.send(message()).status.code == GrpcCode.OK


def test_another_broker_is_asked_where_one_is_silent_and_then_the_old_answer_holds_on() -> None:
    kit = GatewayKit(typed("orders", "FIFO", queues=1), brokers=("broker-a", "broker-b"))
    kit.silent.add(kit.addresses["broker-a"])
    assert kit.send(message()).status.code == GrpcCode.MESSAGE_PROPERTY_CONFLICT_WITH_TYPE
    kit.clock.advance(BELIEVED_MS)
    kit.silent |= {kit.addresses["broker-b"], NAME_SERVER}
    assert kit.send(message()).status.code == GrpcCode.MESSAGE_PROPERTY_CONFLICT_WITH_TYPE


def test_a_call_is_refused_while_nobody_answers_and_nothing_is_known() -> None:
    kit = GatewayKit(typed("orders", "NORMAL"))
    kit.silent.add(NAME_SERVER)
    assert kit.send(message()).status.code == GrpcCode.PROXY_TIMEOUT
    kit.silent = {kit.addresses["broker-a"]}
    assert kit.send(message()).status.code == GrpcCode.PROXY_TIMEOUT
    kit.silent.clear()
    assert kit.send(message()).status.code == GrpcCode.OK


def test_nonsense_of_a_broker_is_an_error_of_the_call() -> None:
    kit = GatewayKit(typed("orders", "NORMAL"))
    kit.twist = lambda address, answer: (
        answer if address == NAME_SERVER else RemotingCommand(0, body=b"{")
    )
    assert kit.send(message()).status.code == GrpcCode.INTERNAL_SERVER_ERROR


def test_a_cluster_that_name_servers_do_not_know_is_said_and_telemetry_goes_on() -> None:
    kit = GatewayKit(typed("orders", "NORMAL"), config=GatewayConfig(cluster="elsewhere"))
    telemetry = kit.consume("g", "orders")
    assert kit.responses(telemetry)[0].status.code == GrpcCode.OK
    call = kit.begin("ReceiveMessage", receiving())
    kit.finish()
    status = kit.responses(call)[0].status
    assert status.code == GrpcCode.INTERNAL_SERVER_ERROR
    assert "rocketMQClusterName" in status.message


def test_a_groups_own_configuration_counts() -> None:
    kit = GatewayKit(typed("orders", "NORMAL"))
    body = encode_group_config(GroupConfig("g", is_orderly=True, retries_max=3))
    code = RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP
    assert kit.brokers["broker-a"].ask(code, body=body).code == 0
    telemetry = kit.consume("g", "orders")
    kit.finish()
    settings = kit.responses(telemetry)[0].settings
    assert settings.subscription.fifo
    assert settings.backoff_policy.max_attempts == 4
