from aerobee.errors import MessageIllegal, MessageTooLarge
from aerobee.model.message_id import OffsetMessageId, parse_offset_message_id
from aerobee.model.message_queue import LogOffset
from aerobee.model.properties import decode_properties
from aerobee.ports.service import Peer
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.send.send_stamp import SendStamp
from aerobee.service.request import Answer
from aerobee.sim.clock import SimClock

HOST = bytes((10, 0, 0, 1)) + (10911).to_bytes(4, "big")
NOW = SimClock().now()


def stamp(*, is_traced: bool = True) -> SendStamp:
    return SendStamp("Moon", is_traced, "Cluster", HOST, Peer("10.0.0.1", 10911), 1000)


def test_a_message_gets_region_tracing_and_cluster_whatever_it_says() -> None:
    properties = {"TAGS": "A", "UNIQ_KEY": "mine", "CLUSTER": "elsewhere", "TRACE_ON": "x"}
    stamp().on_message(properties, NOW)
    added = {"MSG_REGION": "Moon", "TRACE_ON": "true", "CLUSTER": "Cluster"}
    assert properties == {"TAGS": "A", "UNIQ_KEY": "mine", **added}


def test_the_text_for_every_message_says_the_same() -> None:
    properties: dict[str, str] = {"UNIQ_KEY": "mine"}
    stamp().on_message(properties, NOW)
    assert {**decode_properties(stamp().properties_text()), "UNIQ_KEY": "mine"} == properties


def test_only_a_message_without_an_id_gets_one() -> None:
    one = stamp()
    for properties in ({}, {"UNIQ_KEY": ""}):
        first, second = dict(properties), dict(properties)
        one.on_message(first, NOW)
        one.on_message(second, NOW)
        assert first["UNIQ_KEY"] != second["UNIQ_KEY"]


def test_answers_say_region_and_tracing_and_never_the_cluster() -> None:
    assert stamp(is_traced=False).on_answer({"msgId": "1"}) == {
        "MSG_REGION": "Moon",
        "TRACE_ON": "false",
        "msgId": "1",
    }


def test_a_refusal_says_them_too_and_stays_what_it_is() -> None:
    refused = stamp().on_refusal(Answer(ResponseCode.NO_PERMISSION, "no", {"more": "1"}))
    assert (refused.code, refused.remark) == (16, "no")
    assert refused.fields == {"MSG_REGION": "Moon", "TRACE_ON": "true", "more": "1"}


def test_what_is_too_large_is_refused_in_rocketmqs_words_and_the_rest_with_its_reason() -> None:
    for refused in (stamp().on_too_large(), stamp().on_storage_error(MessageTooLarge("why"))):
        assert refused.code == 13
        assert "msg body length limit 1000B, msg properties length limit 32KB." in refused.remark
        assert refused.fields == {"MSG_REGION": "Moon", "TRACE_ON": "true"}
    refused = stamp().on_storage_error(MessageIllegal("why"))
    assert (refused.code, refused.remark) == (13, "why")


def test_an_id_points_to_its_record_and_those_of_a_batch_are_joined() -> None:
    one = stamp()
    (made,) = [parse_offset_message_id(one.message_ids([123456789]))]
    assert made == OffsetMessageId("10.0.0.1", 10911, LogOffset(123456789))
    joined = one.message_ids([0, 255])
    assert joined == "0A00000100002A9F0000000000000000,0A00000100002A9F00000000000000FF"
