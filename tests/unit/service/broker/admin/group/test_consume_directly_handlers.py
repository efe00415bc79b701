"""Unit tests of messages that a client is to consume because somebody wants to see it done."""

from aerobee.model.message_id import OffsetMessageId
from aerobee.model.message_queue import LogOffset
from aerobee.model.topic import TopicConfig
from aerobee.protocol.remoting.remoting_command import reply_to
from tests.captured import captured
from tests.consumer_kit import ConsumerKit, channel_of, messages


def test_a_client_is_given_the_message_and_its_result_is_the_answer() -> None:
    requests = captured("CONSUME_MESSAGE_DIRECTLY", "request")
    (told,) = [one.ext_fields for one in requests if "brokerName" in one.ext_fields]
    (recorded, *_) = captured("CONSUME_MESSAGE_DIRECTLY", "response")
    kit = ConsumerKit()
    place = kit.store_messages(3)[1]
    message_id = str(OffsetMessageId("127.0.0.1", 10911, LogOffset(place)))
    fields = {"consumerGroup": "g", "clientId": "a", "msgId": message_id, "topic": "Orders"}
    kit.beat("a")
    kit.news("a")
    kit.send(309, fields)
    (question,) = kit.heard("a")
    assert question.code == 309
    assert set(question.ext_fields) == set(told)
    assert question.ext_fields == {
        **fields,
        "brokerName": "broker-a",
        "topicSysFlag": "0",
        "groupSysFlag": "0",
    }
    assert [message.body for message in messages(question)] == [b"1"]
    kit.calls.on_response(channel_of("a"), reply_to(question, 0, body=bytes(recorded.body)))
    assert kit.answer().body == recorded.body


def test_the_flags_are_those_of_topic_and_group() -> None:
    kit = ConsumerKit()
    kit.make_topic(TopicConfig("Flagged", sys_flag=2))
    (place,) = kit.store_messages(1, "Flagged")
    kit.beat("a")
    kit.news("a")
    message_id = str(OffsetMessageId("127.0.0.1", 10911, LogOffset(place)))
    kit.send(309, {"consumerGroup": "g", "msgId": message_id, "topic": "Flagged"})
    (question,) = kit.heard("a")  # any of the group
    assert question.ext_fields["topicSysFlag"] == "2"


def test_a_message_that_is_not_here_is_given_to_nobody() -> None:
    kit = ConsumerKit()
    kit.store_messages(1)
    kit.beat("a")
    kit.news("a")
    fields = {"consumerGroup": "g", "clientId": "a", "topic": "Orders"}
    elsewhere = str(OffsetMessageId("127.0.0.1", 10911, LogOffset(7)))
    for message_id in (elsewhere, "nonsense", ""):
        assert kit.ask(309, {**fields, "msgId": message_id}).code == 1
    assert not kit.outbox
