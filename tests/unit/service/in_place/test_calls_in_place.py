from typing import Any

from aerobee.model.topic import TopicConfig
from aerobee.ports.rpc import RpcConnectionId
from aerobee.protocol.grpc.calls import (
    AckMessageEntry,
    AckMessageRequest,
    QueryRouteRequest,
    SendMessageRequest,
)
from aerobee.protocol.grpc.codes import GrpcCode
from aerobee.protocol.grpc.resources import GrpcMessage, Resource
from aerobee.protocol.http2 import frames
from tests.calls_kit import CallsLine
from tests.grpc_kit import CONNECTION, GrpcKit, message, receiving, typed
from tests.grpc_requests import plain_message


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


# Many calls of one read.


def sending(number: int, topic: str = "orders", **system: Any) -> SendMessageRequest:
    return SendMessageRequest([plain_message(topic, b"%d" % number, **system)])


def kit_with_client() -> GrpcKit:
    kit = GrpcKit(TopicConfig("orders", read_queues=1, write_queues=1))
    kit.receive(receiving())
    return kit


def test_all_sends_of_a_read_are_stored_and_answered_in_their_order() -> None:
    kit = kit_with_client()
    line = CallsLine(kit, "SendMessage")
    streams = [line.say("SendMessage", sending(number)) for number in range(50)]
    assert line.read() == 50
    answers = line.answers()
    assert list(answers) == streams
    assert [answer.entries[0].offset for answer in answers.values()] == list(range(50))
    assert kit.bodies("orders") == [b"%d" % number for number in range(50)]
    ends = [one.stream for one in line.frames() if one.flags & frames.END_STREAM]
    assert ends == streams


def test_all_acknowledgements_of_a_read_are_answered_when_the_turn_is_over() -> None:
    kit = kit_with_client()
    for number in range(20):
        kit.send(message(body=b"%d" % number))
    received = kit.receive(receiving())
    line = CallsLine(kit, "AckMessage", "SendMessage")
    streams = [line.say("AckMessage", acking(one)) for one in received]
    sent = line.say("SendMessage", sending(1))
    assert line.read(settles=False) == 21
    assert list(line.answers()) == [sent]
    assert len(line.http2) == 20
    kit.settle(kit.clock.now())
    answers = line.answers()
    assert list(answers) == [sent, *streams]
    assert {answer.status.code for answer in answers.values()} == {GrpcCode.OK}
    for one, stream in zip(received, streams, strict=True):
        (entry,) = answers[stream].entries
        assert one.system_properties is not None
        assert entry.message_id == one.system_properties.message_id
        assert entry.receipt_handle == one.system_properties.receipt_handle
    assert len(line.http2) == 0
    kit.run(60_000)
    assert [one.body for one in kit.receive(receiving())] == [b"1"]


def test_calls_after_one_that_is_not_taken_wait_for_it() -> None:
    kit = kit_with_client()
    line = CallsLine(kit, "SendMessage")
    line.say("SendMessage", sending(0))
    line.say("SendMessage", sending(1, message_type=2))
    line.say("SendMessage", sending(2))
    assert line.read() == 1
    assert kit.bodies("orders") == [b"0"]
    events = line.http2.read()
    assert len(events) == 2
    assert line.http2.is_at_call
    assert line.read() == 1
    assert kit.bodies("orders") == [b"0", b"2"]


def test_calls_of_an_unknown_client_and_of_another_connection_are_not_taken() -> None:
    kit = kit_with_client()
    for line in (
        CallsLine(kit, "SendMessage", client="c2"),
        CallsLine(kit, "SendMessage", connection=RpcConnectionId(7)),
    ):
        line.say("SendMessage", sending(0))
        assert line.read() == 0
    line = CallsLine(kit, "SendMessage")
    line.say("SendMessage", sending(0))
    assert line.read() == 1
    kit.disconnect(CONNECTION)
    line.say("SendMessage", sending(1))
    assert line.read() == 0


def test_methods_that_are_not_of_every_message_are_not_taken() -> None:
    kit = kit_with_client()
    line = CallsLine(kit, "QueryRoute")
    line.say("QueryRoute", QueryRouteRequest(Resource("", "orders")))
    assert line.read() == 0


def test_a_topic_that_takes_no_normal_messages_is_left_to_the_general_path() -> None:
    kit = kit_with_client()
    kit.make_topic(typed("fifo", "FIFO", queues=1))
    line = CallsLine(kit, "SendMessage")
    line.say("SendMessage", sending(0))
    line.say("SendMessage", sending(1, "fifo"))
    assert line.read() == 1
    assert kit.bodies("fifo") == []


def test_what_the_peer_has_no_room_for_is_not_taken() -> None:
    kit = kit_with_client()
    line = CallsLine(kit, "SendMessage")
    window = line.http2.answer_bytes_max()
    line.http2.receive(frames.settings_frame([(frames.INITIAL_WINDOW_SIZE, 2_047)]), 0)
    line.say("SendMessage", sending(0))
    assert line.read() == 0
    line.http2.receive(frames.settings_frame([(frames.INITIAL_WINDOW_SIZE, window)]), 0)
    line.say("SendMessage", sending(1))
    assert line.read() == 1
    for number in range(1_000):
        line.say("SendMessage", sending(number))
    taken = line.read()
    data = sum(len(one.payload) for one in line.frames() if one.kind == frames.DATA)
    assert 65_535 - 2_048 < data <= 65_535
    assert 0 < taken < 1_000


def test_acknowledgements_of_different_pops_share_a_read() -> None:
    kit = GrpcKit(TopicConfig("orders", read_queues=4, write_queues=4))
    kit.receive(receiving())
    for number in range(12):
        kit.send(message(body=b"%d" % number))
    received = kit.receive(receiving(batch=5)) + kit.receive(receiving(batch=7))
    line = CallsLine(kit, "AckMessage")
    mixed = [received[index * 5 % 12] for index in range(12)]
    for one in mixed:
        line.say("AckMessage", acking(one))
    assert line.read() == 12
    assert len(line.answers()) == 12
    kit.run(60_000)
    assert kit.receive(receiving()) == []


def test_an_offset_beyond_its_queue_is_refused_by_the_general_path() -> None:
    kit, received = kit_with_message()
    system = received.system_properties
    assert system is not None
    assert system.receipt_handle is not None
    *before, offset, place = system.receipt_handle.split(" ")
    system.receipt_handle = " ".join([*before, str(int(offset) + 2), place])
    line = CallsLine(kit, "AckMessage")
    line.say("AckMessage", acking(received))
    assert line.read() == 0
    assert len(line.http2) == 0


def test_an_asking_renewal_leaves_its_acknowledgement_to_the_general_path() -> None:
    kit, received = kit_with_message(is_renewed=True)
    (renewal,) = kit.door.messaging.renewals._by_key.values()
    renewal.is_asking = True
    line = CallsLine(kit, "AckMessage")
    line.say("AckMessage", acking(received))
    assert line.read() == 0
