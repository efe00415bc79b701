import pytest

from aerobee.model.topic import TopicConfig
from aerobee.storage.config import StorageConfig
from tests.broker_kit import (
    CLIENT,
    OTHER,
    STORAGE,
    SYNC,
    BrokerKit,
    create_fields,
    pull_fields,
    records_in,
)
from tests.send_rig import send_frame
from tests.wire import JAVA_FIELDS

ORDERS = TopicConfig("Orders", 4, 4)
HELD = pull_fields(sysFlag=6)


@pytest.mark.parametrize("storage", [STORAGE, SYNC], ids=["async", "sync"])
@pytest.mark.parametrize("is_short", [True, False], ids=["short", "general"])
def test_every_way_into_the_log_wakes_who_waits(storage: StorageConfig, is_short: bool) -> None:
    kit = BrokerKit(ORDERS, storage=storage)
    kit.tell(11, HELD)
    if is_short:
        kit.send_frames(send_frame({"e": "0"}), OTHER)
    else:
        kit.tell(310, {**JAVA_FIELDS, "i": "", "e": "0"}, b"a body", OTHER)
    kit.finish()
    (answer,) = kit.heard(CLIENT)
    assert [message.body for message in records_in(answer)] == [b"a body"]


def test_a_message_that_waited_for_a_topic_wakes_too() -> None:
    """It is stored inside a step of the store, by who hears that the topic is on the disk."""
    kit = BrokerKit(TopicConfig("Dead", 1, 1))
    kit.beat(subscriptions={"Dead": "*"})
    assert kit.ask(17, create_fields(TopicConfig("%DLQ%g", 1, 1))).code == 0
    kit.tell(11, pull_fields(topic="%DLQ%g", sysFlag=6))
    assert kit.ask(215, {"topic": "%DLQ%g"}, channel=OTHER).code == 0
    retry = {**JAVA_FIELDS, "b": "%RETRY%g", "e": "0", "j": "9", "l": "1"}
    assert kit.ask(310, retry, b"dead", OTHER).code == 0
    (answer,) = kit.heard(CLIENT)
    assert [message.body for message in records_in(answer)] == [b"dead"]


def test_one_read_wakes_a_pull_once_and_with_all_of_it() -> None:
    kit = BrokerKit(ORDERS)
    kit.tell(11, HELD)
    kit.send_frames(send_frame({"e": "0"}) * 5, OTHER)
    (answer,) = kit.heard(CLIENT)
    assert len(records_in(answer)) == 5


def test_a_connection_that_is_gone_waits_for_nothing() -> None:
    kit = BrokerKit(ORDERS)
    kit.tell(11, HELD)
    kit.close(CLIENT)
    kit.open(CLIENT)
    kit.send_frames(send_frame({"e": "0"}), OTHER)
    assert kit.heard(CLIENT) == []
    kit.heard(OTHER)
    assert b'"msgGetTotalTodayNow":"0"' in bytes(kit.ask(28, channel=OTHER).body)
