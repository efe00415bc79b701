import pytest

from aerobee.model.queue_mapping import MappingItem, TopicMapping
from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.queue_mapping import encode_mapping
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.static_topic.logical_rows import SENDS, TRANSLATIONS
from tests.broker_kit import CLIENT, BrokerKit, create_fields, pull_fields
from tests.send_rig import send_frame
from tests.static_topic_kit import TOPIC, StaticBrokers


@pytest.mark.parametrize("code", [*TRANSLATIONS, *SENDS])
def test_a_broker_that_does_not_lead_a_queue_refuses_every_request_about_it(code: int) -> None:
    brokers = StaticBrokers()
    brokers.create(2, "broker-a")
    fields = {**pull_fields(), "topic": TOPIC, "timestamp": "1", "b": TOPIC, "e": "0"}
    fields.pop("queueId")
    answer = brokers.ask_at("broker-b", code, 0, fields)
    assert answer.code == ResponseCode.NOT_LEADER_FOR_QUEUE
    assert f"{TOPIC}-0 " in answer.remark
    assert answer.remark.endswith("broker-b")
    beyond = brokers.ask_at("broker-a", code, 7, {**fields, "e": "7"})
    assert beyond.code == ResponseCode.NOT_LEADER_FOR_QUEUE


def test_a_request_that_says_it_is_physical_is_not_translated() -> None:
    brokers = StaticBrokers()
    brokers.create(1, "broker-a")
    brokers.send(0, b"a")
    brokers.move("broker-b")
    brokers.send(0, b"b")
    for name in ("broker-a", "broker-b"):
        assert brokers.ask_at(name, 30, 0, {"lo": "false"}).ext_fields["offset"] == "1"


def test_a_topic_without_a_mapping_is_served_as_ever() -> None:
    kit = BrokerKit(TopicConfig("Orders", 1, 1))
    kit.send_frames(send_frame({"b": "Orders", "e": "0"}, b"x"))
    assert kit.heard()[0].ext_fields["queueOffset"] == "0"
    assert "offsetDelta" not in kit.pull().ext_fields
    assert kit.ask(30, {"topic": "Orders", "queueId": "0"}).ext_fields["offset"] == "1"


def test_a_pull_waits_at_the_leaders_end_and_is_answered_with_logical_offsets() -> None:
    brokers = StaticBrokers()
    brokers.create(1, "broker-a")
    brokers.send(0, b"a")
    brokers.move("broker-b")
    kit = brokers.kits["broker-b"]
    kit.tell(11, pull_fields(topic=TOPIC, queueOffset=10_000, sysFlag=6))
    kit.finish()
    assert kit.heard() == []
    brokers.send(0, b"b")
    (answer,) = kit.heard(CLIENT)
    assert (answer.code, answer.ext_fields["nextBeginOffset"]) == (0, "10001")
    assert answer.ext_fields["offsetDelta"] == "10000"


def test_a_topic_that_becomes_static_loses_the_fast_paths_that_it_had() -> None:
    kit = BrokerKit(TopicConfig("Orders", 2, 2))
    for number in range(3):
        kit.send_frames(send_frame({"b": "Orders", "e": "1"}, b"%d" % number))
    kit.heard()
    kit.pull(queueId=1)
    kit.pull(queueId=1)  # by the fast path now
    mapping = TopicMapping("Orders", "broker-a", 1, 1, {0: (MappingItem(0, 1, "broker-a", 0),)})
    fields = create_fields(TopicConfig("Orders", 2, 2))
    assert kit.ask(513, fields, encode_mapping(mapping)).code == 0
    assert kit.pull(queueId=1).code == ResponseCode.NOT_LEADER_FOR_QUEUE
    answer = kit.pull(queueId=0)
    assert (answer.code, answer.ext_fields["offsetDelta"]) == (0, "0")
    kit.send_frames(send_frame({"b": "Orders", "e": "0"}, b"3"))
    (sent,) = kit.heard()
    assert (sent.ext_fields["queueId"], sent.ext_fields["queueOffset"]) == ("0", "3")
