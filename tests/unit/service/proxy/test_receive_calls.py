import pytest

from aerobee.protocol.grpc.calls import NotifyClientTerminationRequest, ReceiveMessageRequest
from aerobee.protocol.grpc.codes import SQL_FILTER, GrpcCode
from aerobee.protocol.grpc.resources import FilterExpression, Resource, Status
from tests.grpc_kit import GrpcKit, message, receiving, typed


def statuses(kit: GrpcKit, request: ReceiveMessageRequest) -> list[int]:
    call = kit.begin("ReceiveMessage", request)
    kit.finish()
    return [one.status.code for one in kit.responses(call) if one.status is not None]


def orders() -> GrpcKit:
    kit = GrpcKit(typed("orders", "NORMAL", queues=2))
    kit.receive(receiving())  # the group begins here
    return kit


def test_a_receive_is_a_status_the_messages_and_a_time() -> None:
    kit = orders()
    kit.send(message(body=b"a"))
    kit.send(message(body=b"b"))
    call = kit.begin("ReceiveMessage", receiving())
    kit.finish()
    first, *messages, last = kit.responses(call)
    assert first.status == Status(GrpcCode.OK, "OK")
    assert sorted(one.message.body for one in messages) == [b"a", b"b"]
    assert last.delivery_timestamp.ms == kit.clock.now().wall_ms
    assert kit.ended[call].status == 0
    assert statuses(kit, receiving()) == [GrpcCode.MESSAGE_NOT_FOUND]


def test_a_receive_waits_for_a_message() -> None:
    kit = orders()
    call = kit.begin("ReceiveMessage", receiving(poll_ms=15_000))
    kit.finish()
    assert kit.responses(call) == []
    kit.send(message())
    assert [one.message.body for one in kit.responses(call) if one.message] == [b"body"]


def test_a_receive_is_answered_before_its_deadline() -> None:
    kit = orders()
    call = kit.begin("ReceiveMessage", receiving(poll_ms=15_000), timeout_ms=4_000)
    kit.run(3_800)
    assert kit.responses(call) == []
    kit.run(150, 50)
    assert kit.responses(call)[0].status.code == GrpcCode.MESSAGE_NOT_FOUND


def test_without_a_poll_time_the_deadline_decides() -> None:
    kit = orders()
    request = receiving()
    request.long_polling_timeout = None
    call = kit.begin("ReceiveMessage", request, timeout_ms=6_500)
    kit.run(4_800)
    assert kit.responses(call) == []
    kit.run(300)
    assert kit.responses(call)[0].status.code == GrpcCode.MESSAGE_NOT_FOUND


def test_tags_and_sql_choose() -> None:
    kit = GrpcKit(typed("orders", "NORMAL", queues=1))
    kit.receive(receiving(group="g1"))
    kit.receive(receiving(group="g2"))
    for tag in ("A", "B", "C"):
        one = message(body=tag.encode(), tag=tag)
        one.user_properties = {"n": str(ord(tag))}
        kit.send(one)
    found = kit.receive(receiving(expression=FilterExpression(1, "A || C"), group="g1"))
    assert [one.body for one in found] == [b"A", b"C"]
    found = kit.receive(receiving(expression=FilterExpression(SQL_FILTER, "n = 66"), group="g2"))
    assert [one.body for one in found] == [b"B"]


def test_a_tag_with_the_same_hash_is_not_handed_out_and_does_not_come_again() -> None:
    kit = orders()
    kit.send(message(body=b"1", tag="BB"))  # Java's hash of both is 2112
    request = receiving(expression=FilterExpression(1, "Aa"), invisible_s=10)
    assert statuses(kit, request) == [GrpcCode.MESSAGE_NOT_FOUND]
    kit.run(15_000)
    assert kit.receive(receiving()) == []


def test_a_receive_that_was_given_up_takes_no_message() -> None:
    kit = orders()
    kit.cancel(kit.begin("ReceiveMessage", receiving(poll_ms=15_000)))
    kit.send(message())
    assert [one.body for one in kit.receive(receiving())] == [b"body"]


def test_messages_read_for_a_client_that_gave_up_come_again_soon_and_uncounted() -> None:
    kit = orders()
    kit.send(message())
    kit = kit.restarted()
    kit.disk.faults.make_cold("*commitlog*")
    call = kit.begin("ReceiveMessage", receiving(poll_ms=15_000))
    kit.cancel(call)
    kit.finish()
    assert kit.receive(receiving()) == []
    kit.run(3_000)
    (again,) = kit.receive(receiving())
    assert again.system_properties is not None
    assert again.system_properties.delivery_attempt == 1


def test_a_client_that_leaves_is_answered_what_it_waits_for() -> None:
    kit = orders()
    kit.consume("g", "orders")
    call = kit.begin("ReceiveMessage", receiving(poll_ms=15_000))
    kit.call("NotifyClientTermination", NotifyClientTerminationRequest(Resource("", "g")))
    assert [one.status.code for one in kit.responses(call) if one.status] == [
        GrpcCode.MESSAGE_NOT_FOUND
    ]
    kit.send(message())
    assert [one.body for one in kit.receive(receiving(), "c2")] == [b"body"]


def test_a_message_that_is_not_acknowledged_comes_again_with_its_count() -> None:
    kit = orders()
    kit.send(message())
    kit.receive(receiving(invisible_s=10))
    kit.run(12_000)
    (again,) = kit.receive(receiving())
    assert again.system_properties is not None
    assert again.system_properties.delivery_attempt == 2
    assert again.topic is not None
    assert again.topic.name == "orders"


def test_an_ordered_group_gets_the_next_messages_after_the_first_are_done() -> None:
    kit = GrpcKit(typed("orders", "FIFO", queues=1))
    kit.ask(200, body=b'{"groupName":"fifo","consumeMessageOrderly":true}')
    kit.receive(receiving(group="fifo"))
    for body in (b"a", b"b"):
        kit.send(message(body=body, message_group="x"))
    assert [one.body for one in kit.receive(receiving(group="fifo", batch=1))] == [b"a"]
    assert kit.receive(receiving(group="fifo", batch=1)) == []


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (receiving("bad topic"), GrpcCode.ILLEGAL_TOPIC),
        (receiving(group=""), GrpcCode.ILLEGAL_CONSUMER_GROUP),
        (receiving("unknown"), GrpcCode.TOPIC_NOT_FOUND),
        (receiving(invisible_s=9), GrpcCode.ILLEGAL_INVISIBLE_TIME),
        (receiving(invisible_s=43_201), GrpcCode.ILLEGAL_INVISIBLE_TIME),
        (receiving(expression=FilterExpression(2, "")), GrpcCode.ILLEGAL_FILTER_EXPRESSION),
        (receiving(expression=FilterExpression(2, "a >")), GrpcCode.ILLEGAL_FILTER_EXPRESSION),
    ],
)
def test_a_wrong_receive_has_its_code(request_: ReceiveMessageRequest, code: GrpcCode) -> None:
    assert statuses(orders(), request_) == [code]
