from aerobee.model.message_id import parse_offset_message_id, parse_unique_id
from aerobee.model.topic import TopicConfig
from aerobee.service.broker.config import BrokerConfig, BrokerIdentity
from tests.broker_kit import STORAGE, BrokerKit
from tests.send_rig import send_frame
from tests.wire import JAVA_FIELDS

ORDERS = TopicConfig("Orders", 4, 4)
GENERAL = {**JAVA_FIELDS, "i": "TAGS\x01A\x02"}
"""Fields of a send without an id, which is not for the short way."""


def test_both_ways_count_what_they_store() -> None:
    kit = BrokerKit(ORDERS)
    kit.send_frames(send_frame() * 2)
    kit.heard()
    kit.ask(310, GENERAL)
    assert b'"putMessageTimesTotal":"3"' in bytes(kit.ask(28).body)


def test_both_ways_stamp_what_they_store_and_answer_with_the_same() -> None:
    config = BrokerConfig(region="Moon", traces=False)
    kit = BrokerKit(ORDERS, config=config, identity=BrokerIdentity(cluster="C"))
    kit.send_frames(send_frame())
    (short,) = kit.heard()
    general = kit.ask(310, GENERAL)
    for message, answer in zip(kit.messages(queue_id=1), (short, general), strict=True):
        told = {"MSG_REGION": "Moon", "TRACE_ON": "false"}
        assert message.properties.items() >= {**told, "CLUSTER": "C"}.items()
        assert answer.ext_fields.items() >= told.items()
        assert answer.ext_fields["msgId"] == message.offset_message_id
        assert answer.ext_fields["transactionId"] == message.properties["UNIQ_KEY"]


def test_message_ids_point_to_the_broker_and_ids_that_it_gives_bear_its_address() -> None:
    kit = BrokerKit(ORDERS, identity=BrokerIdentity(address="10.1.2.3:10911"))
    answer = kit.ask(310, GENERAL)
    stored = parse_offset_message_id(answer.ext_fields["msgId"])
    packed = STORAGE.store_host
    assert (stored.address, stored.port) == ("127.0.0.1", int.from_bytes(packed[4:], "big"))
    assert parse_unique_id(answer.ext_fields["transactionId"]).address == "10.1.2.3"


def test_a_broker_with_an_ipv6_address_gives_ids_too() -> None:
    kit = BrokerKit(ORDERS, identity=BrokerIdentity(address="[fe80::1]:10911"))
    given = kit.ask(310, GENERAL).ext_fields["transactionId"]
    assert parse_unique_id(given).address == "fe80::1"


def test_a_topic_that_is_made_is_there_for_the_short_way() -> None:
    kit = BrokerKit()
    assert kit.ask(310, {**JAVA_FIELDS, "b": "New"}).code == 0
    before = kit.store.end_offset
    kit.send_frames(send_frame({"b": "New"}))
    assert [answer.code for answer in kit.heard()] == [0]
    assert kit.store.end_offset > before


def test_a_topic_that_is_removed_is_gone_for_the_short_way() -> None:
    kit = BrokerKit(ORDERS)
    assert kit.ask(215, {"topic": "Orders"}).code == 0
    kit.send_frames(send_frame({"c": ""}))
    kit.finish()
    assert [answer.code for answer in kit.heard()] == [17]


def test_a_message_handed_back_waits_for_its_retry() -> None:
    kit = BrokerKit(ORDERS)
    kit.beat(subscriptions={"Orders": "*"})
    kit.send_frames(send_frame({"e": "0"}))
    kit.heard()
    (message,) = kit.messages()
    fields = {"offset": str(message.log_offset), "group": "g", "delayLevel": "0"}
    assert kit.ask(36, fields).code == 0
    assert len(kit.bodies("SCHEDULE_TOPIC_XXXX", 2)) == 1
    kit.run(11_000, 500)
    (again,) = kit.messages("%RETRY%g")
    assert (again.body, again.reconsume_times) == (message.body, 1)
