from aerobee.service.proxy.popped_messages import popped_messages
from aerobee.service.request import Answer
from tests.broker_kit import CLIENT
from tests.grpc_kit import GrpcKit, message, typed


def test_messages_of_a_pop_have_their_receipt_and_the_number_of_their_delivery() -> None:
    kit = GrpcKit(typed("orders", "FIFO", queues=1))
    for body in (b"a", b"b"):
        kit.send(message(body=body, message_group="x"))
    fields = {
        "consumerGroup": "g",
        "topic": "orders",
        "queueId": "-1",
        "maxMsgNums": "32",
        "invisibleTime": "30000",
        "order": "true",
    }
    raw = kit.ask(200050, fields, channel=CLIENT)
    answer = Answer(fields=dict(raw.ext_fields), body=bytes(raw.body))
    found = popped_messages(answer, "broker-a")
    assert [(one.body, receipt.queue_offset, attempt) for one, receipt, attempt in found] == [
        (b"a", 0, 1),
        (b"b", 1, 1),
    ]
    kit.run(30_100)
    raw = kit.ask(200050, fields, channel=CLIENT)
    again = popped_messages(Answer(fields=dict(raw.ext_fields), body=bytes(raw.body)), "broker-a")
    assert [attempt for *_, attempt in again] == [2, 2]
