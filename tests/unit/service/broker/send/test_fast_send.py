import pytest

from aerobee.model.topic import TopicConfig
from aerobee.protocol.message.message_batch import BatchMessage, encode_batch
from aerobee.protocol.message.stored_message import decode_record
from aerobee.service.broker.state.topic_entry import TopicEntry
from tests.send_rig import BODY_BYTES_MAX, SendRig, send_frame
from tests.store_kit import read_all

ID = "C00002021F384E0E2F2A49FAF0BA0001"


@pytest.mark.parametrize("code", [10, 310])
@pytest.mark.parametrize("is_binary", [False, True])
def test_a_plain_send_is_stored_and_answered(code: int, is_binary: bool) -> None:
    rig = SendRig()
    assert not rig.send(send_frame({"h": "9"}, b"hello", code=code, is_binary=is_binary))
    (message,) = read_all(rig.store, b"Orders", 1)
    assert (message.body, message.flag, message.queue_offset) == (b"hello", 9, 0)
    assert (message.born_host, message.born_timestamp) == (("10.0.0.9", 40_000), 1794732382394)
    assert message.properties == {
        "KEYS": "k1",
        "UNIQ_KEY": ID,
        "TAGS": "A",
        "MSG_REGION": "DefaultRegion",
        "TRACE_ON": "true",
        "CLUSTER": "DefaultCluster",
    }
    (answer,) = rig.answers()
    assert (answer["code"], answer["opaque"], answer["flag"]) == (0, 7, 1)
    assert answer["serialize_type"] == is_binary
    assert answer["ext_fields"] == {
        "MSG_REGION": "DefaultRegion",
        "TRACE_ON": "true",
        "msgId": message.offset_message_id,
        "queueId": "1",
        "queueOffset": "0",
        "transactionId": ID,
    }


def test_all_sends_of_a_read_are_taken_and_their_places_follow() -> None:
    rig = SendRig()
    data = b"".join(send_frame(opaque=number, body=b"%d" % number) for number in range(20))
    assert not rig.send(data[:-5])
    assert len(rig.answers()) == 19
    assert not rig.send(data[-5:])
    assert [message.body for message in read_all(rig.store, b"Orders", 1)] == [
        b"%d" % number for number in range(20)
    ]
    assert [(a["opaque"], a["ext_fields"]["queueOffset"]) for a in rig.answers()] == [(19, "19")]
    assert rig.plain.taken == 20


def test_a_batch_is_stored_as_many_and_answered_with_an_id_for_each() -> None:
    rig = SendRig()
    batch = encode_batch(
        [BatchMessage(b"one", {"UNIQ_KEY": "A"}), BatchMessage(b"two", {"TAGS": "t"})]
    )
    assert not rig.send(send_frame({"m": "true"}, batch, code=320))
    first, second = read_all(rig.store, b"Orders", 1)
    assert (first.body, first.properties) == (b"one", {"UNIQ_KEY": "A"})
    assert (second.body, second.properties) == (b"two", {"TAGS": "t"})
    (answer,) = rig.answers()
    assert answer["ext_fields"]["msgId"] == ",".join(
        (first.offset_message_id, second.offset_message_id)
    )
    assert answer["ext_fields"]["transactionId"] == ID


def test_a_body_over_the_limit_is_left() -> None:
    rig = SendRig()
    assert rig.send(send_frame(body=bytes(BODY_BYTES_MAX + 1)))
    rig = SendRig()
    assert not rig.send(send_frame(body=bytes(BODY_BYTES_MAX)))


def test_a_send_that_nobody_waits_for_is_stored_and_not_answered() -> None:
    rig = SendRig()
    assert not rig.send(send_frame(flag=2))
    assert len(read_all(rig.store, b"Orders", 1)) == 1
    assert rig.answers() == []


def test_a_send_without_a_queue_gets_each_in_turn() -> None:
    rig = SendRig()
    for _ in range(8):
        assert not rig.send(send_frame({"e": "-1"}))
    queues = [answer["ext_fields"]["queueId"] for answer in rig.answers()]
    assert sorted(queues) == ["0", "0", "1", "1", "2", "2", "3", "3"]


def test_properties_that_do_not_end_as_they_should_do_then() -> None:
    rig = SendRig()
    assert not rig.send(send_frame({"i": f"UNIQ_KEY\x01{ID}\x02WAIT\x01true"}))
    (message,) = read_all(rig.store, b"Orders", 1)
    assert message.properties["WAIT"] == "true"
    assert message.properties["MSG_REGION"] == "DefaultRegion"


@pytest.mark.parametrize("name", ["Type", "TracesOn", "DELAYED", "POP", "Cluster", "MSG", "INNER"])
def test_a_property_that_only_looks_like_one_of_the_brokers_is_plain(name: str) -> None:
    rig = SendRig()
    assert not rig.send(send_frame({"i": f"{name}\x01x\x02UNIQ_KEY\x01{ID}\x02"}))


def with_property(name: str, value: str = "1") -> dict[str, str]:
    return {"i": f"UNIQ_KEY\x01{ID}\x02{name}\x01{value}\x02"}


@pytest.mark.parametrize(
    ("priority", "queue_id"), [("0", 0), ("2", 2), ("3", 3), ("4", 3), ("999999999", 3)]
)
def test_a_message_with_a_priority_goes_to_the_queue_of_that_number_or_to_the_last(
    priority: str, queue_id: int
) -> None:
    rig = SendRig()
    assert not rig.send(send_frame(with_property("_SYS_MSG_PRIORITY_", priority)))
    (message,) = read_all(rig.store, b"Orders", queue_id)
    assert message.properties["_SYS_MSG_PRIORITY_"] == priority
    (answer,) = rig.answers()
    assert answer["ext_fields"]["queueId"] == str(queue_id)
    assert "recallHandle" not in answer["ext_fields"]


@pytest.mark.parametrize(
    "fields",
    [
        {"b": "Unknown"},
        {"b": "Odd"},
        {"e": "4"},
        {"f": "4"},
        {"f": "8"},
        {"f": "128"},
        {"j": "1"},
        {"i": ""},
        {"i": "TAGS\x01A\x02"},
        {"i": "UNIQ_KEY\x01\x02"},
        {"i": 'UNIQ_KEY\x01a"b\x02'},
        {"i": "UNIQ_KEY\x01a\\b\x02"},
        {"i": "UNIQ_KEY\x01" + "a" * 257 + "\x02"},
        {"i": f"UNIQ_KEY\x01{ID}\x02loose"},
        {"i": f"UNIQ_KEY\x01{ID}\x01x\x02"},
        {"i": f"UNIQ_KEY\x01{ID}\x02a\x01" + "x" * 32_690 + "\x02"},
        with_property("DELAY"),
        with_property("TIMER_DELAY_SEC"),
        with_property("TIMER_DELIVER_MS"),
        with_property("TRAN_MSG", "true"),
        with_property("TRACE_ON"),
        with_property("POP_CK"),
        with_property("INNER_NUM"),
        with_property("MSG_REGION"),
        with_property("CLUSTER"),
        with_property("__CRC32#"),
        with_property("_SYS_MSG_PRIORITY_", "-1"),
        with_property("_SYS_MSG_PRIORITY_", "high"),
        with_property("_SYS_MSG_PRIORITY_", "1\x02__SHARDINGKEY\x01k"),
        with_property("__RMQ.TRANSIENT.TOPIC_SYS_FLAG"),
    ],
)
def test_what_wants_more_is_left_as_it_came(fields: dict[str, str]) -> None:
    rig = SendRig()
    rig.entries[b"Odd"] = TopicEntry(TopicConfig("Odd", permission=4))
    end = rig.store.end_offset
    assert rig.send(send_frame(fields))
    assert rig.store.end_offset == end
    assert rig.answers() == []
    # The frame is still the current one.
    assert b'"code":310' in rig.frames.header()


def test_frames_behind_one_that_is_left_are_not_lost() -> None:
    rig = SendRig()
    assert rig.send(send_frame({"b": "Unknown"}, opaque=1) + send_frame(opaque=2))
    assert rig.frames.advance()
    assert not rig.plain.take_all(rig.frames, rig.output, bytes(8), rig.clock.now())
    assert [answer["opaque"] for answer in rig.answers()] == [2]


def test_a_send_that_the_store_refuses_is_left() -> None:
    rig = SendRig()
    end = rig.store.end_offset
    assert rig.send(send_frame(body=b"x" * (1 << 16)))
    assert rig.store.end_offset == end


def test_other_requests_are_left() -> None:
    rig = SendRig()
    assert rig.send(send_frame(code=325))
    assert rig.send(send_frame(flag=4))


def test_the_newest_entry_of_a_topic_decides() -> None:
    rig = SendRig()
    assert not rig.send(send_frame({"e": "3"}))
    rig.entries[b"Orders"] = TopicEntry(TopicConfig("Orders", read_queues=2, write_queues=2))
    assert rig.send(send_frame({"e": "3"}))


def test_what_is_stored_has_the_checksum_of_a_record() -> None:
    rig = SendRig()
    rig.send(send_frame())
    record = rig.store.record_at(0)
    assert record is not None
    assert decode_record(bytes(record)).body == b"a body"
