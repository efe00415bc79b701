from aerobee.model.topic import TopicConfig
from aerobee.protocol.grpc.calls import AckMessageEntry, AckMessageRequest
from aerobee.protocol.grpc.codes import GrpcCode
from aerobee.protocol.grpc.resources import GrpcMessage, Resource
from tests.grpc_kit import GrpcKit, message, receiving


def kit_with_message(*, is_renewed: bool = False) -> tuple[GrpcKit, GrpcMessage]:
    kit = GrpcKit(TopicConfig("orders", read_queues=1, write_queues=1))
    kit.receive(receiving())
    kit.send(message())
    (received,) = kit.receive(receiving(is_renewed=is_renewed))
    kit.taken = 0
    return kit, received


def acking(received: GrpcMessage, group: str = "g", topic: str = "orders") -> AckMessageRequest:
    system = received.system_properties
    assert system is not None
    entry = AckMessageEntry(system.message_id, system.receipt_handle or "")
    return AckMessageRequest(Resource("", group), Resource("", topic), [entry])


def test_a_message_is_acknowledged_in_place_and_does_not_come_back() -> None:
    kit, received = kit_with_message()
    answer = kit.call("AckMessage", acking(received))
    assert answer.status.code == GrpcCode.OK
    assert answer.entries[0].status.code == GrpcCode.OK
    assert kit.taken == 1
    kit.run(60_000)
    assert kit.receive(receiving()) == []


def test_a_renewed_message_is_no_longer_renewed_after_it() -> None:
    kit, received = kit_with_message(is_renewed=True)
    receipts = kit.door.messaging._receipts
    assert len(receipts.renewals) == 1
    assert kit.call("AckMessage", acking(received)).status.code == GrpcCode.OK
    assert kit.taken == 1
    assert len(receipts.renewals) == 0


def test_a_receipt_that_was_renewed_is_left_to_the_general_path() -> None:
    kit, received = kit_with_message(is_renewed=True)
    kit.run(55_000)
    assert kit.call("AckMessage", acking(received)).status.code == GrpcCode.OK
    assert kit.taken == 0


def test_expired_receipts_and_wrong_names_are_refused_by_the_general_path() -> None:
    kit, received = kit_with_message()
    wrong = kit.call("AckMessage", acking(received, group="bad group"))
    assert wrong.status.code == GrpcCode.ILLEGAL_CONSUMER_GROUP
    absent = kit.call("AckMessage", acking(received, topic="absent"))
    assert absent.status.code == GrpcCode.TOPIC_NOT_FOUND
    kit.run(40_000)
    expired = kit.call("AckMessage", acking(received))
    assert expired.status.code == GrpcCode.INVALID_RECEIPT_HANDLE
    assert kit.taken == 0


def test_a_client_that_is_not_known_is_met_first() -> None:
    kit, received = kit_with_message()
    assert kit.call("AckMessage", acking(received), client="other").status.code == GrpcCode.OK
    assert kit.taken == 0
