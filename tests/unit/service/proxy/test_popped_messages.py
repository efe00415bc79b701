from dataclasses import replace

from aerobee.model.message_queue import QueueId, QueueOffset
from aerobee.protocol.consume.pop_receipt import PoppedRun, offsets_text, start_offsets_text
from aerobee.protocol.grpc.calls import ReceiveMessageResponse
from aerobee.protocol.grpc.message_mapping import delivered_message
from aerobee.protocol.grpc.wire import decode
from aerobee.protocol.message.stored_message import encode_record
from aerobee.service.proxy.popped_messages import RecordsInPlace, popped_messages
from aerobee.service.request import Answer
from tests.broker_kit import CLIENT
from tests.grpc_kit import GrpcKit, message, typed
from tests.unit.protocol.grpc.test_delivered_record import PLAIN

FIRST = replace(PLAIN, queue_id=QueueId(0), queue_offset=QueueOffset(5))
SECOND = replace(PLAIN, queue_id=QueueId(1), queue_offset=QueueOffset(7), body=b"second")
THIRD = replace(PLAIN, queue_id=QueueId(0), queue_offset=QueueOffset(6), body=b"third")
RUNS = [PoppedRun("0", 0, [5, 6]), PoppedRun("0", 1, [7])]


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


def answer(runs: list[PoppedRun] = RUNS, **more: str) -> Answer:
    fields = {
        "popTime": "1000",
        "invisibleTime": "30000",
        "reviveQid": "3",
        "startOffsetInfo": start_offsets_text(runs),
        "msgOffsetInfo": offsets_text(runs),
        **more,
    }
    parts = [memoryview(encode_record(one)) for one in (FIRST, SECOND, THIRD)]
    return Answer(fields=fields, parts=parts)


def test_records_are_handed_out_as_by_the_general_mapping() -> None:
    found = RecordsInPlace().read(answer(), "broker-a", "ns%orders")
    assert found is not None
    wanted = popped_messages(answer(), "broker-a")
    assert len(found) == len(wanted) == 3
    for one, (stored, receipt, attempt) in zip(found, wanted, strict=True):
        assert one.handle.startswith(f"{receipt.start_offset} 1000 30000 3 0 broker-a ")
        assert (one.message_id, one.tag) == (stored.message_id, stored.tag)
        shown = delivered_message(stored, "ns%orders", attempt, one.handle)
        assert decode(ReceiveMessageResponse, one.response).message == shown


def test_answers_that_need_more_are_left() -> None:
    records = RecordsInPlace()
    assert records.read(answer(orderCountInfo="0 0 1"), "b", "orders") is None
    assert records.read(answer([PoppedRun("1", 0, [5, 6])]), "b", "orders") is None
    assert records.read(answer(RUNS[:1]), "b", "orders") is None
    others = [PoppedRun("0", 0, [5, 8]), RUNS[1]]
    assert records.read(answer(others), "b", "orders") is None
    assert records.read(answer(msgOffsetInfo="nonsense"), "b", "orders") is None
