import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.consume.pop_receipt import PopReceipt
from aerobee.protocol.consume.popped_receipts import (
    PoppedMessage,
    PopTerms,
    origin_of,
    read_counts,
    read_places,
    receipts_of,
)

TERMS = PopTerms(1_000, 60_000, 3, "0 1 7;1 0 2", "0 1 7,9;1 0 2")


def test_the_nth_message_of_a_queue_has_the_nth_offset_that_is_named() -> None:
    messages = [
        PoppedMessage("t", 1, 7, ""),
        PoppedMessage("%RETRY%g_t", 0, 2, ""),
        PoppedMessage("t", 1, 8, ""),
    ]
    assert receipts_of(TERMS, "broker-a", messages) == [
        PopReceipt(7, 1_000, 60_000, 3, "0", "broker-a", 1, 7),
        PopReceipt(2, 1_000, 60_000, 3, "1", "broker-a", 0, 2),
        PopReceipt(7, 1_000, 60_000, 3, "0", "broker-a", 1, 9),
    ]


def test_a_receipt_that_a_message_carries_counts() -> None:
    carried = "5 1 2 3 1 broker-a 0 5"
    (found,) = receipts_of(TERMS, "other", [PoppedMessage("t", 1, 7, carried)])
    assert (found.start_offset, found.broker_name) == (5, "broker-a")


def test_more_messages_than_offsets_are_an_error() -> None:
    with pytest.raises(RemoteProtocolError):
        receipts_of(TERMS, "broker-a", [PoppedMessage("%RETRY%g_t", 0, 2, "")] * 2)


def test_texts_that_are_none_are_refused() -> None:
    for text in ("0 1", "0 x 1", "0 1 y"):
        with pytest.raises(RemoteProtocolError):
            read_places(text)
    for text in ("0 1", "0 qo1%x 1", "0 qo1%2 y"):
        with pytest.raises(RemoteProtocolError):
            read_counts(text)


def test_counts_are_those_of_single_messages() -> None:
    assert read_counts("0 qo1%7 2;0 qo1%8 0;0 1 0") == {("0", 1, 7): 2, ("0", 1, 8): 0}


def test_the_origin_follows_from_the_topic() -> None:
    assert [origin_of(topic) for topic in ("t", "%RETRY%g_t", "%RETRY%g+t")] == ["0", "1", "2"]
