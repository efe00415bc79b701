from dataclasses import replace

from aerobee.model.message_queue import LogOffset, QueueOffset
from aerobee.protocol.message.stored_message import decode_record
from aerobee.service.broker.log_access.real_topic import RealPlace
from aerobee.service.broker.transaction.check_request import check_request
from aerobee.service.broker.transaction.half_message import half_of, renewed
from tests.delay_kit import message
from tests.transaction_kit import checks_in

SENT = message(b"body", "Orders", 3, UNIQ_KEY="id-1", TRAN_MSG="true", PGROUP="g")


def test_a_question_names_the_half_and_shows_the_message_as_it_was_sent() -> None:
    half = replace(
        renewed(half_of(SENT, ""), 5, 2), queue_offset=QueueOffset(32), log_offset=LogOffset(83_569)
    )
    command = check_request(half, RealPlace("Orders", 3), "broker-a")
    assert command.is_oneway
    assert not command.is_response
    assert command.ext_fields == {
        "topic": "RMQ_SYS_TRANS_HALF_TOPIC",
        "tranStateTableOffset": "32",
        "commitLogOffset": "83569",
        "msgId": "id-1",
        "transactionId": "id-1",
        "offsetMsgId": half.offset_message_id,
        "bname": "broker-a",
    }
    shown = decode_record(bytes(command.body))
    assert (shown.topic, shown.queue_id, shown.body) == ("Orders", 3, b"body")
    assert (shown.queue_offset, shown.log_offset) == (32, 83_569)
    assert shown.properties == half.properties
    assert checks_in([command])[0].header.commit_log_offset == 83_569
