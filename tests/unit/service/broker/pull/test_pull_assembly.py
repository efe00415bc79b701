from dataclasses import replace

import pytest

from aerobee.model.topic import TopicConfig
from aerobee.protocol.message.message_batch import BatchMessage, encode_batch
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


PRICES = TopicConfig("Prices", 1, 1, attributes={"cleanup.policy": "COMPACTION"})
COMPACTING = replace(STORAGE, log_file_bytes=1 << 13, compaction_interval_ms=1000)


def compacted() -> BrokerKit:
    """Nine messages of three keys, of which the last three were kept; Orders has filled the log."""
    kit = BrokerKit(ORDERS, PRICES, storage=COMPACTING)
    for number in range(9):
        text = f"KEYS\x01k{number % 3}\x02"
        fields = {**JAVA_FIELDS, "b": "Prices", "e": "0", "i": text}
        assert kit.ask(310, fields, b"v%d" % number).code == 0
    for _ in range(20):
        kit.send_frames(send_frame({"e": "0"}, bytes(900)), OTHER)
    kit.run(20_000)
    kit.heard(OTHER)
    return kit


def pulled(kit: BrokerKit, offset: int) -> tuple[int, list[int], str]:
    answer = kit.pull(topic="Prices", queueOffset=offset, maxMsgNums=2)
    offsets = [int(message.queue_offset) for message in records_in(answer)]
    return answer.code, offsets, answer.ext_fields["nextBeginOffset"]


def test_a_pull_of_a_compacted_topic_gets_what_was_kept_every_time() -> None:
    kit = compacted()
    for _ in range(3):  # the second one would take the short way
        assert pulled(kit, 0) == (0, [6, 7], "8")
        assert pulled(kit, 8) == (0, [8], "9")
    kit = kit.restarted()
    assert pulled(kit, 3) == (0, [6, 7], "8")
    minimum = kit.ask(31, {"topic": "Prices", "queueId": "0"})
    assert minimum.ext_fields["offset"] == "6"


def test_a_pull_at_the_end_of_what_was_kept_waits_for_the_next_message() -> None:
    kit = compacted()
    kit.tell(11, pull_fields(topic="Prices", queueOffset=9, sysFlag=6))
    assert kit.heard(CLIENT) == []
    fields = {**JAVA_FIELDS, "b": "Prices", "e": "0", "i": "KEYS\x01k0\x02"}
    kit.ask(310, fields, b"next", OTHER)
    (answer,) = kit.heard(CLIENT)
    assert [message.queue_offset for message in records_in(answer)] == [9]


def test_a_batch_without_keys_is_not_taken_by_a_compacted_topic() -> None:
    kit = compacted()
    fields = {**JAVA_FIELDS, "b": "Prices", "e": "0", "i": "", "m": "true"}
    batch = encode_batch([BatchMessage(b"a", {"KEYS": "k"}), BatchMessage(b"b", {})])
    answer = kit.ask(320, fields, batch)
    assert (answer.code, answer.remark) == (13, "Required message key is missing")
    batch = encode_batch([BatchMessage(b"a", {"KEYS": "k"}), BatchMessage(b"b", {"KEYS": "k"})])
    assert kit.ask(320, fields, batch).code == 0
