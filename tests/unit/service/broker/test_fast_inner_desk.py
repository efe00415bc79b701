from aerobee.model.topic import TopicConfig
from aerobee.protocol.grpc.calls import SendMessageRequest
from aerobee.protocol.grpc.codes import GrpcCode
from tests.grpc_kit import GrpcKit, receiving
from tests.grpc_requests import plain_message


def test_a_plain_send_is_stored_in_place_and_counted_as_any_other() -> None:
    kit = GrpcKit(TopicConfig("orders", read_queues=1, write_queues=1))
    kit.receive(receiving())
    before = kit.taken
    answer = kit.call("SendMessage", SendMessageRequest([plain_message()]))
    assert answer.status.code == GrpcCode.OK
    assert kit.taken == before + 1
    assert [one.body for one in kit.receive(receiving())] == [b"body"]
