import random

import pytest

from aerobee.ports.rpc import CallId
from aerobee.ports.service import AnswerAsked, ChannelId, CloseChannel, Dial, Peer
from aerobee.protocol.grpc.calls import (
    EndTransactionRequest,
    SendMessageRequest,
    TelemetryCommand,
    ThreadStackTrace,
    VerifyMessageResult,
)
from aerobee.protocol.grpc.codes import COMMIT, SERVER_CHECK, ClientType, GrpcCode, GrpcMessageType
from aerobee.protocol.grpc.resources import Resource, Status
from aerobee.protocol.remoting.command_header import ONEWAY_FLAG
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.remoting.signature import ACCESS_KEY
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.access.config import AccessConfig
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.gateway.callers import GuardConfig
from tests.access_kit import INNER, ROOT
from tests.gateway_kit import GatewayKit, restart
from tests.grpc_kit import message, receiving, typed

SOON = BrokerConfig(transaction_timeout_ms=1_000, transaction_check_interval_ms=1_000)
TWO = ("broker-a", "broker-b")


def end(kit: GatewayKit, transaction_id: str, source: int = 1, client: str = "c1") -> int:
    request = EndTransactionRequest(
        Resource("", "orders"), transaction_id, transaction_id, COMMIT, source
    )
    status = kit.call("EndTransaction", request, client).status
    return int(status.code)


def stored(kit: GatewayKit) -> list[bytes]:
    return [body for name in kit.brokers for body in kit.brokers[name].bodies("orders", 0)]


def test_transactions_are_ended_at_the_broker_that_has_them() -> None:
    kit = GatewayKit(typed("orders", "TRANSACTION", queues=1), brokers=TWO)
    for body in (b"a", b"b"):
        half = message(body=body, message_type=GrpcMessageType.TRANSACTION)
        sent = kit.send(half)
        assert end(kit, sent.entries[0].transaction_id) == GrpcCode.OK
    assert sorted(stored(kit)) == [b"a", b"b"]


def test_a_check_of_a_broker_reaches_a_producer_of_the_topic_and_its_answer_counts() -> None:
    kit = GatewayKit(typed("orders", "TRANSACTION", queues=1), broker_config=SOON)
    streams = {client: kit.produce("orders", client=client) for client in ("c1", "c2")}
    kit.produce("other", client="c3")
    for stream in streams.values():
        kit.responses(stream)
    kit.send(message(message_type=GrpcMessageType.TRANSACTION))
    kit.half_close(streams["c1"])
    kit.pass_time(4_000, 500)
    asked = [one.recover_orphaned_transaction_command for one in kit.responses(streams["c2"])]
    assert asked
    assert (asked[0].transaction_id, asked[0].message.body) == ("ID-body", b"body")
    assert kit.responses(streams["c1"]) == []
    assert end(kit, "ID-body", SERVER_CHECK, client="c2") == GrpcCode.OK
    assert stored(kit) == [b"body"]


def test_a_broker_that_was_restarted_hears_of_producers_again() -> None:
    kit = GatewayKit(typed("orders", "TRANSACTION", queues=1), broker_config=SOON)
    stream = kit.produce("orders")
    kit.pass_time(500)
    kit.send(message(message_type=GrpcMessageType.TRANSACTION))
    restart(kit, "broker-a")
    kit.responses(stream)
    kit.pass_time(14_000, 2_000)
    assert [one.recover_orphaned_transaction_command for one in kit.responses(stream)]


def test_requests_of_brokers_that_are_not_for_clients_change_nothing() -> None:
    kit = GatewayKit(typed("orders", "TRANSACTION"))
    kit.produce("orders")
    kit.pass_time(500)
    now = kit.clock.now()
    for code in (RequestCode.NOTIFY_CONSUMER_IDS_CHANGED, RequestCode.CHECK_TRANSACTION_STATE):
        for body in (b"", b"nonsense", b"\0" * 200):
            fields = {"commitLogOffset": "x"}
            command = RemotingCommand(code, flag=ONEWAY_FLAG, ext_fields=fields, body=body)
            assert kit.gateway.on_asked("10.0.1.0:10911", command, now) == []


def broker_asks(kit: GatewayKit, code: int, fields: dict[str, str], body: bytes = b"") -> None:
    """A tool asks the broker about the one consumer that it sees: the gateway."""
    kit.brokers["broker-a"].tell(code, {"consumerGroup": "g", "clientId": "gateway"} | fields, body)
    kit.finish()


def tool_heard(kit: GatewayKit) -> list[RemotingCommand]:
    kit.finish()
    return [one for one in kit.brokers["broker-a"].heard() if one.is_response]


def kit_with_members() -> tuple[GatewayKit, CallId]:
    """Two members of a group, of which one has a stream."""
    kit = GatewayKit(typed("orders", "NORMAL", queues=1))
    gone = kit.consume("g", "orders", "c1", ClientType.PUSH_CONSUMER)
    kit.pass_time(500)
    kit.half_close(gone)
    stream = kit.consume("g", "orders", "c2", ClientType.PUSH_CONSUMER)
    kit.pass_time(500)
    kit.responses(stream)
    return kit, stream


def test_what_a_tool_asks_the_gateway_is_answered_by_a_member_of_the_group() -> None:
    kit, stream = kit_with_members()
    broker_asks(kit, RequestCode.GET_CONSUMER_RUNNING_INFO, {"jstackEnable": "true"})
    assert tool_heard(kit) == []
    (asked,) = kit.responses(stream)
    nonce = asked.print_thread_stack_trace_command.nonce
    told = TelemetryCommand(Status(GrpcCode.OK), thread_stack_trace=ThreadStackTrace(nonce, "main"))
    kit.say(stream, told)
    (answer,) = tool_heard(kit)
    assert (answer.code, b"main" in bytes(answer.body)) == (0, True)


def test_a_message_of_a_broker_is_verified_by_a_member_of_the_gateway() -> None:
    kit, stream = kit_with_members()
    kit.send(message())
    (stored,) = kit.brokers["broker-a"].messages("orders", 0)
    fields = {"msgId": stored.offset_message_id, "topic": "orders"}
    broker_asks(kit, RequestCode.CONSUME_MESSAGE_DIRECTLY, fields)
    command = kit.responses(stream)[0].verify_message_command
    assert command.message.body == b"body"
    result = VerifyMessageResult(command.nonce)
    kit.say(stream, TelemetryCommand(Status(GrpcCode.OK), verify_message_result=result))
    (answer,) = tool_heard(kit)
    assert (answer.code, b"CR_SUCCESS" in bytes(answer.body)) == (0, True)


def test_a_member_of_the_gateway_that_says_nothing_is_busy_after_five_seconds() -> None:
    kit, _ = kit_with_members()
    broker_asks(kit, RequestCode.GET_CONSUMER_RUNNING_INFO, {"jstackEnable": "true"})
    kit.pass_time(6_000, 500)
    assert [answer.code for answer in tool_heard(kit)] == [ResponseCode.SYSTEM_BUSY]


def test_a_question_that_is_for_nobody_here_is_answered() -> None:
    kit = GatewayKit(typed("orders", "NORMAL"))
    now = kit.clock.now()
    for code, said in ((RequestCode.GET_CONSUMER_RUNNING_INFO, 2), (RequestCode.PULL_MESSAGE, 3)):
        command = RemotingCommand(code, ext_fields={"consumerGroup": "g", "clientId": "x"})
        (answer,) = kit.gateway.on_asked("10.0.1.0:10911", command, now)
        assert isinstance(answer, AnswerAsked)
        assert (answer.command.code, answer.address) == (said, "10.0.1.0:10911")


def test_requests_are_signed_as_the_user_of_the_process() -> None:
    guard = GuardConfig(AccessConfig(init_user=ROOT, inner=INNER))
    kit = GatewayKit(typed("orders", "NORMAL"), guard=guard)
    kit.produce("orders")
    kit.clock.advance(1_000)
    dials = [one for one in kit.gateway.on_tick(kit.clock.now()) if isinstance(one, Dial)]
    assert {one.command.ext_fields[ACCESS_KEY] for one in dials} == {INNER.access_key}


def test_a_broker_that_dies_costs_its_callers_an_error_and_nothing_else() -> None:
    kit = GatewayKit(typed("orders", "NORMAL", queues=1), brokers=TWO)
    waiting = kit.begin("ReceiveMessage", receiving(broker="broker-a", poll_ms=10_000))
    kit.finish()
    kit.break_off("broker-a")
    assert kit.responses(waiting)[0].status.code == GrpcCode.PROXY_TIMEOUT
    codes = {kit.send(message(body=str(n).encode())).status.code for n in range(4)}
    assert codes == {GrpcCode.OK, GrpcCode.PROXY_TIMEOUT}
    assert len(kit.receive(receiving(broker="broker-b"))) > 0


@pytest.mark.parametrize("seed", range(3))
def test_nonsense_of_servers_costs_an_error(seed: int) -> None:
    """Whatever brokers and name servers answer, every call is answered, and later ones well."""
    kit = GatewayKit(typed("orders", "NORMAL", queues=1))
    kit.send(message())
    chance = random.Random(seed)  # a story, not a secret

    def twisted(address: str, answer: RemotingCommand) -> RemotingCommand:
        body = bytearray(answer.body)
        for _ in range(3 if body else 0):
            body[chance.randrange(len(body))] = chance.randrange(256)
        fields = {
            key: chance.choice((text, "", "-1", "nonsense", text * 3))
            for key, text in answer.ext_fields.items()
            if chance.random() < 0.9
        }
        code = chance.choice((answer.code, answer.code, 0, 1, 4711, -3))
        return RemotingCommand(code, flag=1, ext_fields=fields, body=bytes(body))

    kit.twist = twisted
    for number in range(10):
        sent = kit.begin("SendMessage", _sending(f"s{number}".encode()))
        received = kit.begin("ReceiveMessage", receiving())
        kit.finish()
        kit.pass_time(1_000, 1_000)
        assert len(kit.responses(sent)) == 1
        assert any(one.status is not None for one in kit.responses(received))
    kit.twist = lambda _, answer: answer
    kit.pass_time(10_000, 5_000)
    assert kit.send(message(body=b"well")).status.code == GrpcCode.OK


def _sending(body: bytes) -> SendMessageRequest:
    return SendMessageRequest([message(body=body)])


def test_at_the_end_messages_come_back_soon_and_brokers_hear_that_it_leaves() -> None:
    kit = GatewayKit(typed("orders", "NORMAL", queues=1))
    kit.consume("g", "orders")
    kit.receive(receiving())
    kit.send(message())
    assert len(kit.receive(receiving(is_renewed=True))) == 1
    kit.pass_time(500)
    kit.codes()
    kit.carry_out(kit.gateway.stop(kit.clock.now()))
    assert kit.codes() == [
        RequestCode.CHANGE_MESSAGE_INVISIBLETIME,
        RequestCode.UNREGISTER_CLIENT,
    ]


def test_remoting_connections_are_closed_at_once() -> None:
    kit = GatewayKit()
    channel, now = ChannelId(5), kit.clock.now()
    (effect,) = kit.gateway.on_open(channel, Peer("10.0.0.9", 1), now)
    assert isinstance(effect, CloseChannel)
    assert kit.gateway.on_command(channel, RemotingCommand(310), now) == []
    assert kit.gateway.on_closed(channel, now) == []


def test_it_rests_while_nothing_is_due() -> None:
    kit = GatewayKit(typed("orders", "NORMAL"))
    assert kit.gateway.rest_ms(kit.clock.now()) == 1_000
    kit.produce("orders")
    assert kit.gateway.rest_ms(kit.clock.now()) <= 100
