from dataclasses import replace

import pytest

from aerobee.model.topic import TopicConfig
from aerobee.ports.service import ChannelId
from aerobee.protocol.message.message_batch import BatchMessage, encode_batch
from aerobee.protocol.message.recall_handle import RecallHandle, encode_recall_handle
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.config import BrokerConfig
from tests.broker_kit import CLIENT, SYNC, BrokerKit, create_fields
from tests.wire import JAVA_FIELDS, LONG_NAMES

ORDERS = TopicConfig("Orders", 4, 4)
ID = "C00002021F384E0E2F2A49FAF0BA0001"
GENERAL = f"UNIQ_KEY\x01{ID}\x02POP_CK\x011 2 3\x02TAGS\x01A\x02"
"""Properties that keep a send off the short way, and mean nothing else."""


def fields(**changes: str) -> dict[str, str]:
    return {**JAVA_FIELDS, "i": GENERAL, **changes}


def send(
    kit: BrokerKit, body: bytes = b"a body", code: int = 310, **changes: str
) -> RemotingCommand:
    return kit.ask(code, fields(**changes), body)


def test_a_send_is_stored_with_what_the_broker_adds_and_without_what_is_its_own() -> None:
    kit = BrokerKit(ORDERS)
    answer = send(kit, b"hello", h="9")
    (message,) = kit.messages(queue_id=1)
    assert (message.body, message.flag, message.born_timestamp) == (b"hello", 9, 1794732382394)
    assert message.born_host == ("10.0.0.9", 40_001)
    assert message.store_timestamp == kit.clock.now().wall_ms
    assert message.properties == {
        "UNIQ_KEY": ID,
        "TAGS": "A",
        "MSG_REGION": "DefaultRegion",
        "TRACE_ON": "true",
        "CLUSTER": "DefaultCluster",
    }
    assert (answer.code, answer.remark) == (0, "")
    assert answer.ext_fields == {
        "msgId": message.offset_message_id,
        "queueId": "1",
        "queueOffset": "0",
        "transactionId": ID,
        "MSG_REGION": "DefaultRegion",
        "TRACE_ON": "true",
    }


def test_a_send_by_long_names_is_the_same() -> None:
    kit = BrokerKit(ORDERS)
    said = {LONG_NAMES[letter]: value for letter, value in fields().items()}
    assert kit.ask(10, said, b"hello").ext_fields["queueId"] == "1"
    assert kit.bodies(queue_id=1) == [b"hello"]


def test_a_message_without_an_id_gets_one() -> None:
    kit = BrokerKit(ORDERS)
    first, second = send(kit, i=""), send(kit, i="")
    ids = [message.properties["UNIQ_KEY"] for message in kit.messages(queue_id=1)]
    assert ids == [first.ext_fields["transactionId"], second.ext_fields["transactionId"]]
    assert len(set(ids)) == 2
    assert all(len(one) == 32 for one in ids)


def test_a_send_without_a_queue_gets_each_in_turn() -> None:
    kit = BrokerKit(ORDERS)
    queues = [send(kit, e="-1").ext_fields["queueId"] for _ in range(8)]
    assert sorted(queues) == ["0", "0", "1", "1", "2", "2", "3", "3"]


def test_a_one_way_send_is_stored_and_never_answered() -> None:
    kit = BrokerKit(ORDERS)
    large = {"i": padded(PLAIN, 33_000)}
    for changes in ({}, {"b": "New"}, {"e": "99"}, {"e": "x"}, {"b": "SELF_TEST_TOPIC"}, large):
        kit.tell(310, fields(**changes), b"quiet", flag=2)
        kit.finish()
    assert kit.heard() == []
    assert kit.bodies(queue_id=1) == [b"quiet"]
    assert kit.bodies("New", 1) == [b"quiet"]


@pytest.mark.parametrize(
    ("letter", "text"),
    [
        ("b", ""),
        ("e", "one"),
        ("e", ""),
        ("e", "2147483648"),
        ("f", "0x1"),
        ("g", "1 "),
        ("g", "9223372036854775808"),
        ("h", "-"),
        ("j", "1_0"),
        ("l", "many"),
        ("d", "٤"),
    ],
)
def test_a_bad_field_is_named_and_nothing_is_stored(letter: str, text: str) -> None:
    kit = BrokerKit(ORDERS)
    end = kit.store.end_offset
    short = kit.ask(310, fields(**{letter: text}))
    said = {LONG_NAMES[key]: value for key, value in fields(**{letter: text}).items()}
    long = kit.ask(10, said)
    assert short.code == long.code == 1
    assert f"field {letter}" in short.remark
    assert f"field {LONG_NAMES[letter]}" in long.remark
    assert kit.store.end_offset == end


@pytest.mark.parametrize("letter", ["b", "e", "f", "g", "h"])
def test_a_field_that_is_missing_is_named(letter: str) -> None:
    kit = BrokerKit(ORDERS)
    said = fields()
    del said[letter]
    answer = kit.ask(310, said)
    assert answer.code == 1
    assert f"without its field {letter}" in answer.remark
    assert kit.store.end_offset == 0


@pytest.mark.parametrize("letter", ["a", "c", "d", "i", "j", "k", "l", "m", "n"])
def test_fields_that_not_every_client_sends_may_be_missing(letter: str) -> None:
    kit = BrokerKit(ORDERS)
    said = fields(i="POP_CK\x011\x02", l="3")
    del said[letter]
    assert kit.ask(310, said).code == 0


def test_every_answer_says_region_and_tracing_refusals_too() -> None:
    kit = BrokerKit(ORDERS, config=BrokerConfig(region="Moon", traces=False))
    expected = {"MSG_REGION": "Moon", "TRACE_ON": "false"}
    for changes in ({"b": "a.b"}, {"b": "SELF_TEST_TOPIC"}, {"e": "4"}, {"c": "none", "b": "T"}):
        answer = kit.ask(310, fields(**changes))
        assert answer.code != 0
        assert answer.ext_fields == expected
    assert send(kit).ext_fields.items() >= expected.items()
    (message,) = kit.messages(queue_id=1)
    assert message.properties.items() >= expected.items()


# What is refused, and what the store refuses.


TOO_LARGE = (
    "the message is illegal, maybe msg body or properties length not matched. "
    "msg body length limit 1000B, msg properties length limit 32KB."
)
PLAIN = f"UNIQ_KEY\x01{ID}\x02"


def padded(text: str, size: int) -> str:
    """Properties of so many bytes."""
    return text + "a\x01" + "x" * (size - len(text) - 3) + "\x02"


@pytest.mark.parametrize("size", [32_768, 33_000, 100_000])
def test_what_is_too_large_is_refused_in_rocketmqs_words(size: int) -> None:
    kit = BrokerKit(ORDERS, config=BrokerConfig(body_bytes_max=1000))
    for answer in (send(kit, b"x" * 1001), send(kit, i=padded(PLAIN, size))):
        assert (answer.code, answer.remark) == (13, TOO_LARGE)
        assert answer.ext_fields == {"MSG_REGION": "DefaultRegion", "TRACE_ON": "true"}
    assert kit.store.end_offset == 0
    assert send(kit, b"x" * 1000).code == 0


def test_a_topic_or_queue_that_is_not_there_is_told_before_what_is_too_large() -> None:
    kit = BrokerKit(ORDERS, config=BrokerConfig(body_bytes_max=1000))
    for text, body in ((padded(PLAIN, 33_000), b"x"), (PLAIN, bytes(1001))):
        assert send(kit, body, b="x" * 128, i=text).code == 29
        assert send(kit, body, b="SELF_TEST_TOPIC", i=text).code == 16
        assert send(kit, body, b="New", c="None", i=text).code == 17
        assert send(kit, body, e="4", i=text).code == 29
        assert send(kit, body, i=text).code == 13


def test_no_topic_is_made_for_what_is_too_large() -> None:
    kit = BrokerKit(config=BrokerConfig(body_bytes_max=1000))
    for text, body in ((padded(PLAIN, 33_000), b"x"), (PLAIN, bytes(1001))):
        answer = send(kit, body, b="New", i=text)
        assert (answer.code, answer.remark) == (13, TOO_LARGE)
        assert kit.ask(351, {"topic": "New"}).code == 17
    assert kit.store.end_offset == 0


@pytest.mark.parametrize("is_first", [True, False])
def test_a_header_with_too_many_fields_is_refused_with_the_reason(is_first: bool) -> None:
    kit = BrokerKit(ORDERS)
    many = {f"x{number}": "" for number in range(128)}
    answer = kit.ask(310, many | fields() if is_first else fields() | many, b"x")
    assert (answer.code, "more than 128 fields" in answer.remark) == (13, True)
    assert answer.ext_fields == {"MSG_REGION": "DefaultRegion", "TRACE_ON": "true"}
    assert kit.store.end_offset == 0
    assert send(kit).code == 0


def test_what_waits_comes_whole_after_the_limit_was_lowered() -> None:
    kit = BrokerKit(ORDERS)
    assert send(kit, b"x" * 900, i=f"UNIQ_KEY\x01{ID}\x02DELAY\x011\x02").code == 0
    assert send(kit, b"y" * 900, i=f"UNIQ_KEY\x01{ID}\x02TIMER_DELAY_SEC\x013\x02").code == 0
    kit.stop()
    lower = BrokerConfig(body_bytes_max=100)
    kit = BrokerKit(disk=kit.disk, config=lower, clock=kit.clock)
    kit.run(6_000)
    assert kit.bodies(queue_id=1) == [b"x" * 900, b"y" * 900]
    assert send(kit, b"z" * 101).code == 13


def test_a_half_message_is_kept_apart_and_one_that_is_none_is_not() -> None:
    kit = BrokerKit(ORDERS)
    answer = send(kit, b"half", i=f"UNIQ_KEY\x01{ID}\x02TRAN_MSG\x01true\x02")
    (half,) = kit.messages("RMQ_SYS_TRANS_HALF_TOPIC")
    assert (answer.code, answer.ext_fields["queueId"]) == (0, "1")
    assert answer.ext_fields["msgId"] == half.offset_message_id
    assert half.properties["PGROUP"] == "group", "the sender's, if the message names none"
    assert send(kit, b"whole", i=f"UNIQ_KEY\x01{ID}\x02TRAN_MSG\x01false\x02").code == 0
    assert kit.bodies(queue_id=1) == [b"whole"]


TIMER = f"UNIQ_KEY\x01{ID}\x02TIMER_DELAY_SEC\x01"


def test_a_message_for_a_time_is_answered_with_the_handle_that_takes_it_back() -> None:
    kit = BrokerKit(ORDERS)
    answer = send(kit, i=f"{TIMER}3\x02")
    (waiting,) = kit.messages("rmq_sys_wheel_timer")
    assert (waiting.properties["REAL_TOPIC"], waiting.properties["REAL_QID"]) == ("Orders", "1")
    assert answer.ext_fields == {
        "msgId": waiting.offset_message_id,
        "queueId": "1",
        "queueOffset": "0",
        "transactionId": ID,
        "MSG_REGION": "DefaultRegion",
        "TRACE_ON": "true",
        "recallHandle": encode_recall_handle(
            RecallHandle("Orders", "broker-a", int(waiting.properties["TIMER_OUT_MS"]) + 1, ID)
        ),
    }


def test_an_id_that_no_handle_can_name_is_stored_without_one() -> None:
    kit = BrokerKit(ORDERS)
    answer = send(kit, i="UNIQ_KEY\x01a b\x02TIMER_DELAY_SEC\x013\x02")
    assert (answer.code, "recallHandle" in answer.ext_fields) == (0, False)
    assert len(kit.messages("rmq_sys_wheel_timer")) == 1


def test_what_cannot_wait_for_its_time_is_refused() -> None:
    kit = BrokerKit(ORDERS)
    answer = send(kit, i=f"{TIMER}259201\x02")
    assert answer.code == 13
    assert "259200000ms" in answer.remark
    assert send(kit, i=f"{TIMER}soon\x02").code == 13
    assert send(kit, b="rmq_sys_wheel_timer").code == 16
    assert kit.store.end_offset == 0
    off = BrokerKit(ORDERS, config=BrokerConfig(keeps_timers=False))
    answer = send(off, i=f"{TIMER}3\x02")
    assert (answer.code, answer.remark) == (1, "accurate timer message is not enabled")


# Topics that are made.


def test_an_unknown_topic_is_made_from_the_template_and_is_on_the_disk_first() -> None:
    kit = BrokerKit()
    kit.tell(310, fields(b="New", d="3"), b"first")
    assert kit.heard() == []
    assert kit.store.end_offset == 0, "the message waits for its topic"
    # A machine that stops now has neither.
    after = kit.power_cut()
    assert after.ask(351, {"topic": "New"}).code == 17
    kit.finish()
    (answer,) = kit.heard()
    assert (answer.code, answer.ext_fields["queueId"]) == (0, "1")
    assert kit.bodies("New", 1) == [b"first"]
    after = kit.power_cut()
    assert b'"readQueueNums":3' in bytes(after.ask(351, {"topic": "New"}).body)


def test_sends_that_wait_for_one_topic_are_all_stored_in_their_order() -> None:
    kit = BrokerKit()
    for number in range(5):
        kit.tell(310, fields(b="New"), b"%d" % number)
    kit.finish()
    assert [answer.code for answer in kit.heard()] == [0] * 5
    assert kit.bodies("New", 1) == [b"0", b"1", b"2", b"3", b"4"]


def test_a_topic_is_made_though_its_sender_is_gone_and_the_message_is_not_lost() -> None:
    kit = BrokerKit()
    kit.tell(310, fields(b="New"), b"a last word")
    kit.close(CLIENT)
    kit.finish()
    (message,) = kit.messages("New", 1)
    assert (message.body, message.born_host) == (b"a last word", ("10.0.0.9", 40_001))


def test_a_message_that_cannot_be_stored_when_its_topic_is_made_is_refused_then() -> None:
    kit = BrokerKit()
    # With what the broker adds, its properties are too long.
    answer = send(kit, b="New", i="a\x01" + "x" * 32_760 + "\x02")
    assert (answer.code, kit.store.end_offset) == (13, 0)
    assert send(kit, b="New").code == 0


def test_a_topic_that_cannot_be_saved_is_not_there_and_its_message_is_refused() -> None:
    kit = BrokerKit()
    kit.finish()
    kit.tell(310, fields(b="New"), b"first")
    kit.disk.faults.fail_call(2)
    kit.finish()
    (answer,) = kit.heard()
    assert answer.code == 1
    assert "New" in answer.remark
    assert kit.store.end_offset == 0
    assert kit.ask(351, {"topic": "New"}).code == 17
    assert send(kit, b="New").code == 0


def test_a_topic_that_may_not_be_made_does_not_exist() -> None:
    kit = BrokerKit(config=BrokerConfig(creates_topics=False))
    answer = send(kit, b="New")
    assert (answer.code, kit.store.end_offset) == (17, 0)
    assert "autoCreateTopicEnable" in answer.remark
    kit = BrokerKit(ORDERS)
    assert send(kit, b="New", c="Orders").code == 17  # no template
    assert send(kit, b="New", c="None").code == 17


# Delays, retries, batches.


def test_a_delayed_message_waits_under_its_level_and_comes_to_its_queue() -> None:
    kit = BrokerKit(ORDERS)
    answer = send(kit, b"later", i=f"UNIQ_KEY\x01{ID}\x02DELAY\x012\x02")
    assert answer.ext_fields["queueId"] == "1"
    assert answer.ext_fields["queueOffset"] == "0"
    assert answer.ext_fields["transactionId"] == ID
    assert kit.bodies("SCHEDULE_TOPIC_XXXX", 1) == [b"later"]
    kit.run(4_900)
    assert kit.bodies(queue_id=1) == []
    kit.run(300)
    (message,) = kit.messages(queue_id=1)
    assert message.body == b"later"
    assert message.properties["UNIQ_KEY"] == ID


def retry_kit(**group: str) -> BrokerKit:
    kit = BrokerKit(ORDERS)
    kit.beat(subscriptions={"Orders": "*"})
    return kit


def test_a_retry_goes_to_its_topic_until_it_was_tried_often_enough() -> None:
    kit = retry_kit()
    answer = send(kit, b"again", b="%RETRY%g", e="0", j="3", l="3")
    assert answer.code == 0
    assert kit.bodies("%RETRY%g") == [b"again"]
    delayed = f"UNIQ_KEY\x01{ID}\x02DELAY\x013\x02"
    answer = send(kit, b"enough", b="%RETRY%g", e="0", j="4", l="3", i=delayed)
    assert (answer.code, answer.ext_fields["queueId"]) == (0, "0")
    assert kit.bodies("%RETRY%g") == [b"again"]
    (dead,) = kit.messages("%DLQ%g")
    assert (dead.body, dead.reconsume_times) == (b"enough", 4)
    assert "DELAY" not in dead.properties


def test_an_old_client_does_not_say_how_often() -> None:
    kit = retry_kit()
    said = fields(b="%RETRY%g", e="0", j="16", l="3")
    assert kit.ask(310, said, b"16", version=120).code == 0
    said["j"] = "17"
    assert kit.ask(310, said, b"17", version=120).code == 0
    assert (kit.bodies("%RETRY%g"), kit.bodies("%DLQ%g")) == ([b"16"], [b"17"])


def test_a_retry_of_a_group_that_consumes_in_order_is_a_dead_letter_at_once() -> None:
    kit = retry_kit()
    lock = (
        b'{"clientId":"c","consumerGroup":"g",'
        b'"mqSet":[{"brokerName":"broker-a","queueId":0,"topic":"Orders"}]}'
    )
    assert kit.ask(41, body=lock).code == 0
    assert send(kit, b"ordered", b="%RETRY%g", e="0", j="1", l="16").code == 0
    assert (kit.bodies("%RETRY%g"), kit.bodies("%DLQ%g")) == ([], [b"ordered"])


def test_a_retry_of_a_group_that_nobody_knows_is_refused() -> None:
    kit = BrokerKit(ORDERS)
    answer = send(kit, b="%RETRY%nobody", e="0")
    assert (answer.code, kit.store.end_offset) == (26, 0)


def test_a_batch_is_stored_as_it_was_sent_with_an_id_for_each() -> None:
    kit = BrokerKit(ORDERS)
    batch = encode_batch(
        [BatchMessage(b"one", {"UNIQ_KEY": "A"}), BatchMessage(b"two", {"TAGS": "t"}, 5)]
    )
    answer = send(kit, batch, 320, b="New", m="true", i="UNIQ_KEY\x01A\x02")
    first, second = kit.messages("New", 1)
    assert (first.body, first.properties) == (b"one", {"UNIQ_KEY": "A"})
    assert (second.body, second.properties, second.flag) == (b"two", {"TAGS": "t"}, 5)
    assert answer.ext_fields["msgId"] == f"{first.offset_message_id},{second.offset_message_id}"
    assert answer.ext_fields["transactionId"] == "A"
    assert (first.queue_offset, second.queue_offset) == (0, 1)


def test_a_batch_without_an_id_of_its_own_is_answered_without_one() -> None:
    kit = BrokerKit(ORDERS)
    answer = send(kit, encode_batch([BatchMessage(b"one", {})]), 320, m="true", i="WAIT\x01true")
    assert (answer.code, "transactionId" in answer.ext_fields) == (0, False)


@pytest.mark.parametrize("text", ["1", "true", "TRUE"])
def test_the_batch_field_makes_a_batch_whatever_the_code_is(text: str) -> None:
    kit = BrokerKit(ORDERS)
    batch = encode_batch([BatchMessage(b"one", {}), BatchMessage(b"two", {})])
    assert send(kit, batch, m=text).ext_fields["msgId"].count(",") == 1
    assert kit.bodies(queue_id=1) == [b"one", b"two"]


def test_a_batch_that_is_not_one_is_refused_whole() -> None:
    kit = BrokerKit(ORDERS)
    batch = encode_batch([BatchMessage(b"one", {}), BatchMessage(b"two", {})])
    for body in (batch[:-1], batch + b"\0", b"", b"\0\0\0\x04"):
        answer = send(kit, body, 320, m="true")
        assert answer.code in (1, 13)
        assert kit.store.end_offset == 0


def test_batches_for_a_retry_topic_are_refused() -> None:
    kit = retry_kit()
    batch = encode_batch([BatchMessage(b"one", {})])
    assert send(kit, batch, 320, b="%RETRY%g", m="true").code == 13


def test_a_topic_of_many_tags_marks_its_messages() -> None:
    kit = BrokerKit(replace(ORDERS, filter_type="MULTI_TAG"))
    assert send(kit).code == 0
    (message,) = kit.messages(queue_id=1)
    assert message.sys_flag & 2


@pytest.mark.parametrize("flag", [0x4, 0x8, 0xC, 0x10, 0x20, 0x40, 0x80])
def test_flags_that_are_the_brokers_to_set_are_not_the_senders(flag: int) -> None:
    kit = BrokerKit(ORDERS)
    assert send(kit, f=str(flag | 0x101), i=f"UNIQ_KEY\x01{ID}\x02").code == 0
    (message,) = kit.messages(queue_id=1)
    assert message.sys_flag == 0x101


# Synchronous flush.


def test_the_general_way_waits_for_the_sync_as_the_short_one_does() -> None:
    kit = BrokerKit(ORDERS, storage=SYNC)
    kit.tell(310, fields(), b"hello")
    kit.tick(1)
    assert kit.heard() == []
    kit.work()
    assert kit.heard() == []
    kit.tick()
    (answer,) = kit.heard()
    assert answer.code == 0
    assert kit.power_cut().bodies(queue_id=1) == [b"hello"]


def test_the_general_way_never_calls_safe_what_the_disk_lost() -> None:
    kit = BrokerKit(ORDERS, storage=SYNC)
    kit.disk.faults.fail_sync("*commitlog*")
    kit.tell(310, fields(), b"hello")
    kit.work()
    kit.tick(1)
    (answer,) = kit.heard()
    assert answer.code == 1
    assert "not known to be stored" in answer.remark


def test_a_changed_topic_counts_for_the_next_send() -> None:
    kit = BrokerKit(ORDERS)
    assert send(kit, e="3").code == 0
    assert kit.ask(17, create_fields(replace(ORDERS, read_queues=2, write_queues=2))).code == 0
    assert send(kit, e="3").code == 29
    assert kit.ask(17, create_fields(replace(ORDERS, permission=4))).code == 0
    assert send(kit).code == 16


def test_two_clients_are_told_apart() -> None:
    kit = BrokerKit(ORDERS)
    kit.open(ChannelId(5))
    send(kit)
    kit.ask(310, fields(), b"other", ChannelId(5))
    hosts = [message.born_host.port for message in kit.messages(queue_id=1)]
    assert hosts == [40_001, 40_005]
