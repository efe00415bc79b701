import zlib

import pytest

from aerobee.errors import ProtocolError, RemoteProtocolError
from aerobee.model.flags import COMPRESSED, INNER_BATCH, NEEDS_UNWRAP
from aerobee.protocol.message.message_batch import BatchMessage, encode_batch
from aerobee.protocol.message.received_message import MessageReader, ReceivedMessage
from aerobee.protocol.message.stored_message import encode_record
from tests.received_kit import QUEUE, stored


def read(*records: bytes, tags: frozenset[str] | None = None) -> list[ReceivedMessage]:
    return MessageReader(ReceivedMessage, tags).read(b"".join(records), QUEUE, "holder")


def test_a_message_says_what_its_record_says() -> None:
    record = stored(7, tried=2, TAGS="a", KEYS="k1 k2", UNIQ_KEY="ID", mine="x", WAIT="true")
    (message,) = read(encode_record(record, with_crc=True))
    assert (message.topic, message.offset, message.log_offset) == ("T", 7, 1007)
    assert (message.body, message.tag, message.keys) == (b"body", "a", ("k1", "k2"))
    assert (message.headers, message.message_id, message.attempt) == ({"mine": "x"}, "ID", 3)
    assert message.offset_id == record.offset_message_id
    assert message.properties == record.properties
    assert message.born_timestamp == record.born_timestamp
    assert message.store_timestamp == record.store_timestamp
    assert (message.born_host, message.flag) == ("10.0.0.1:99", 5)
    assert (message.queue, message.holder) == (QUEUE, "holder")


def test_records_of_many_senders_are_not_mixed_up() -> None:
    first, second = stored(0), stored(1, topic="Other")
    found = read(*(encode_record(one) for one in (first, second, first)))
    assert [message.topic for message in found] == ["T", "Other", "T"]
    assert [message.offset for message in found] == [0, 1, 0]


def test_without_the_senders_id_it_is_called_by_its_place() -> None:
    (message,) = read(encode_record(stored(3)))
    assert message.message_id == message.offset_id == stored(3).offset_message_id


def test_a_priority_is_a_number_and_no_header() -> None:
    ranked = stored(0, _SYS_MSG_PRIORITY_="7", mine="x")
    first, second = read(encode_record(ranked), encode_record(stored(1)))
    assert (first.priority, second.priority) == (7, None)
    assert first.headers == {"mine": "x"}


def test_tags_that_only_look_alike_to_a_broker_are_left_out() -> None:
    records = [encode_record(stored(n, TAGS=tag)) for n, tag in enumerate(("Aa", "BB", "Aa"))]
    assert [m.offset for m in read(*records, tags=frozenset({"Aa"}))] == [0, 2]


def test_a_retried_message_says_the_topic_that_it_was_sent_to() -> None:
    record = encode_record(stored(1, topic="%RETRY%g", RETRY_TOPIC="ns%orders"))
    (message,) = MessageReader(ReceivedMessage, None, "ns%").read(record, QUEUE, None)
    assert message.topic == "orders"


def test_a_compressed_body_is_expanded_when_it_is_looked_at() -> None:
    (message,) = read(encode_record(stored(1, zlib.compress(b"x" * 999), sys_flag=COMPRESSED)))
    assert message.body == b"x" * 999
    assert message.body == b"x" * 999


def test_a_body_that_cannot_be_expanded_stops_no_other_message() -> None:
    bad, good = read(
        encode_record(stored(1, b"no zlib", sys_flag=COMPRESSED)), encode_record(stored(2))
    )
    with pytest.raises(ProtocolError):
        bad.body  # noqa: B018
    assert good.body == b"body"


def test_a_batch_in_one_record_is_taken_apart() -> None:
    batch = encode_batch([BatchMessage(b"a", {"TAGS": "x"}, 1), BatchMessage(b"b", {"mine": "y"})])
    record = stored(5, batch, sys_flag=NEEDS_UNWRAP | INNER_BATCH, INNER_NUM="2")
    first, second = read(encode_record(record))
    assert (first.offset, first.body, first.tag, first.flag) == (5, b"a", "x", 1)
    assert (second.offset, second.body, second.headers) == (6, b"b", {"mine": "y"})
    assert [m.offset for m in read(encode_record(record), tags=frozenset({"x"}))] == [5]


def test_a_batch_that_lies_about_its_count_is_refused() -> None:
    batch = encode_batch([BatchMessage(b"a", {})])
    record = stored(5, batch, sys_flag=NEEDS_UNWRAP | INNER_BATCH, INNER_NUM="2")
    with pytest.raises(RemoteProtocolError, match="claims 2"):
        read(encode_record(record))


def test_a_damaged_answer_is_refused_wherever_it_is_damaged() -> None:
    whole = encode_record(stored(1, b"a body that is checked"))
    for cut in range(1, len(whole)):
        with pytest.raises(RemoteProtocolError):
            read(whole[:cut])
    with pytest.raises(RemoteProtocolError, match="checksum"):
        read(whole.replace(b"checked", b"chucked"))


def test_an_attempt_more_is_counted() -> None:
    (message,) = read(encode_record(stored(1)))
    message.count_attempt()
    assert message.attempt == 2
