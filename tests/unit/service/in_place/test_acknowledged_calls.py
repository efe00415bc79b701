import pytest

from aerobee.errors import RemoteProtocolError, StoreBusy
from aerobee.model.topic import TopicConfig
from aerobee.ports.rpc import FlushCalls
from aerobee.protocol.grpc.codes import GrpcCode
from aerobee.protocol.grpc.resources import GrpcMessage
from aerobee.protocol.http2 import frames
from aerobee.protocol.http2.connection import DEFAULT_WINDOW
from aerobee.protocol.http2.frames import ErrorCode, reset_frame
from aerobee.protocol.http2.limits import Http2Limits
from tests.broker_kit import STORAGE, SYNC
from tests.calls_kit import CallsLine
from tests.grpc_kit import GrpcKit, message, receiving
from tests.unit.service.in_place.test_calls_in_place import acking


def kit_with_messages(
    count: int, *, is_sync: bool = False, is_renewed: bool = False
) -> tuple[GrpcKit, list[GrpcMessage]]:
    topic = TopicConfig("orders", read_queues=2, write_queues=2)
    kit = GrpcKit(topic, storage=SYNC if is_sync else STORAGE)
    kit.receive(receiving())
    for number in range(count):
        kit.send(message(body=b"%d" % number))
    return kit, kit.receive(receiving(is_renewed=is_renewed))


def line_that_acknowledges(
    kit: GrpcKit, received: list[GrpcMessage], limits: Http2Limits | None = None
) -> CallsLine:
    line = CallsLine(kit, "AckMessage", limits=limits)
    for one in received:
        line.say("AckMessage", acking(one))
    return line


def test_answers_wait_until_the_disk_has_the_acknowledgements() -> None:
    kit, received = kit_with_messages(6, is_sync=True)
    line = line_that_acknowledges(kit, received)
    assert line.read() == 6
    assert line.frames() == []
    assert len(line.http2) == 6
    kit.finish()
    assert {one.status.code for one in line.answers().values()} == {GrpcCode.OK}
    assert len(line.answers()) == 6
    assert len(line.http2) == 0


def test_what_the_store_refuses_is_refused_to_each_call_and_comes_back() -> None:
    kit, received = kit_with_messages(6)
    line = line_that_acknowledges(kit, received)
    kit.store.appender.refusal = StoreBusy("the disk is behind")
    line.http2.reserve(DEFAULT_WINDOW - 8_000)
    assert line.http2.answer_bytes_max() == 8_000
    assert line.read() == 6
    kit.store.appender.refusal = None
    answers = line.answers()
    assert len(answers) == 6
    for one, answer in zip(received, answers.values(), strict=True):
        assert one.system_properties is not None
        assert answer.status.code == GrpcCode.TOO_MANY_REQUESTS
        assert answer.entries[0].message_id == one.system_properties.message_id
        assert answer.entries[0].status.code == GrpcCode.TOO_MANY_REQUESTS
    assert len(line.http2) == 0
    data = sum(len(one.payload) for one in line.frames() if one.kind == frames.DATA)
    assert line.http2.answer_bytes_max() == 8_000 - data  # nothing else stays reserved
    kit.run(60_000)
    assert len(kit.receive(receiving())) == 6


def test_a_message_whose_acknowledgement_was_refused_is_renewed_again() -> None:
    kit, received = kit_with_messages(2, is_renewed=True)
    renewals = kit.door.messaging.renewals
    line = line_that_acknowledges(kit, received)
    kit.store.appender.refusal = StoreBusy("the disk is behind")
    assert line.read(settles=False) == 2
    assert len(renewals) == 0
    kit.settle(kit.clock.now())
    assert len(renewals) == 2
    kit.store.appender.refusal = None
    for one in received:
        line.say("AckMessage", acking(one))
    assert line.read() == 2
    assert len(renewals) == 0


def test_answers_wait_for_room_if_the_peer_has_made_its_windows_smaller_meanwhile() -> None:
    kit, received = kit_with_messages(2)
    line = line_that_acknowledges(kit, received)
    assert line.read(settles=False) == 2
    line.http2.receive(frames.settings_frame([(frames.INITIAL_WINDOW_SIZE, 10)]), 0)
    kit.settle(kit.clock.now())
    sizes = [len(one.payload) for one in line.frames() if one.kind == frames.DATA]
    assert sizes == [10, 10]
    for stream in (3, 5):
        line.http2.receive(frames.window_frame(stream, 10_000), 0)
    assert [one.status.code for one in line.answers().values()] == [GrpcCode.OK] * 2


def test_a_peer_that_leaves_too_much_unread_is_dropped() -> None:
    kit, received = kit_with_messages(4)
    line = line_that_acknowledges(kit, received, Http2Limits(unsent_bytes_max=300))
    assert line.read(settles=False) == 4
    line.http2.receive(frames.settings_frame([(frames.INITIAL_WINDOW_SIZE, 0)]), 0)
    now = kit.clock.now()
    flushed = [one for one in kit.broker.settle(now) if isinstance(one, FlushCalls)]
    assert flushed == [FlushCalls(line.connection, is_broken=True)]


def test_a_call_that_its_client_gives_up_meanwhile_counts_as_given_up() -> None:
    kit, received = kit_with_messages(2)
    line = line_that_acknowledges(kit, received, Http2Limits(resets_a_second=2))
    assert line.read(settles=False) == 2
    line.http2.receive(reset_frame(3, ErrorCode.CANCEL), 0)
    assert len(line.http2) == 2
    with pytest.raises(RemoteProtocolError):
        line.http2.receive(reset_frame(5, ErrorCode.CANCEL), 0)
    kit.settle(kit.clock.now())
    assert len(line.http2) == 0
