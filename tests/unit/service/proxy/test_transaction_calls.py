from typing import Any

from aerobee.protocol.grpc.calls import EndTransactionRequest
from aerobee.protocol.grpc.codes import COMMIT, ROLLBACK, SERVER_CHECK, GrpcCode, GrpcMessageType
from aerobee.protocol.grpc.resources import Resource
from aerobee.service.broker.config import BrokerConfig
from tests.grpc_kit import GrpcKit, message, typed

SOON = BrokerConfig(transaction_timeout_ms=1_000, transaction_check_interval_ms=1_000)


def begun(kit: GrpcKit, body: bytes = b"body") -> str:
    """The id of a transaction that is open."""
    response = kit.send(message(body=body, message_type=GrpcMessageType.TRANSACTION))
    assert response.status.code == GrpcCode.OK
    transaction_id = response.entries[0].transaction_id
    assert isinstance(transaction_id, str)
    return transaction_id


def end(kit: GrpcKit, transaction_id: str, resolution: int, source: int = 1) -> Any:
    request = EndTransactionRequest(
        Resource("", "orders"), transaction_id, transaction_id, resolution, source
    )
    return kit.call("EndTransaction", request).status.code


def orders(config: BrokerConfig | None = None) -> GrpcKit:
    return GrpcKit(typed("orders", "TRANSACTION", queues=1), config=config)


def test_a_message_is_visible_when_it_is_committed() -> None:
    kit = orders()
    transaction_id = begun(kit)
    assert kit.bodies("orders", 0) == []
    assert end(kit, transaction_id, COMMIT) == GrpcCode.OK
    assert kit.bodies("orders", 0) == [b"body"]


def test_a_message_that_is_rolled_back_is_never_visible() -> None:
    kit = orders()
    transaction_id = begun(kit)
    assert end(kit, transaction_id, ROLLBACK) == GrpcCode.OK
    assert end(kit, transaction_id, COMMIT) == GrpcCode.INTERNAL_SERVER_ERROR
    kit.run(1_000)
    assert kit.bodies("orders", 0) == []


def test_an_end_that_is_repeated_is_answered_as_the_first() -> None:
    kit = orders()
    transaction_id = begun(kit)
    assert [end(kit, transaction_id, COMMIT) for _ in range(2)] == [GrpcCode.OK] * 2
    assert kit.bodies("orders", 0) == [b"body"]


def test_an_end_without_a_decision_leaves_it_open() -> None:
    kit = orders()
    transaction_id = begun(kit)
    assert end(kit, transaction_id, 0) == GrpcCode.OK
    assert end(kit, transaction_id, COMMIT) == GrpcCode.OK


def test_an_end_needs_a_transaction() -> None:
    kit = orders()
    assert end(kit, "", COMMIT) == GrpcCode.INVALID_TRANSACTION_ID
    assert end(kit, "unknown", COMMIT) == GrpcCode.INTERNAL_SERVER_ERROR


def test_a_producer_is_asked_through_its_stream_and_its_answer_ends_the_transaction() -> None:
    kit = orders(SOON)
    telemetry = kit.produce("orders")
    kit.responses(telemetry)
    transaction_id = begun(kit)
    kit.run(3_000)
    asked = kit.responses(telemetry)
    assert asked
    command = asked[-1].recover_orphaned_transaction_command
    assert command.transaction_id == transaction_id
    assert (command.message.topic.name, command.message.body) == ("orders", b"body")
    assert command.message.system_properties.receipt_handle is None
    assert end(kit, transaction_id, COMMIT, SERVER_CHECK) == GrpcCode.OK
    assert kit.bodies("orders", 0) == [b"body"]


def test_a_producer_that_did_not_announce_the_topic_is_asked_all_the_same() -> None:
    kit = orders(SOON)
    telemetry = kit.produce()
    kit.responses(telemetry)
    begun(kit)
    kit.run(3_000)
    assert kit.responses(telemetry)
