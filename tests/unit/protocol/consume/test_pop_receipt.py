import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.consume.pop_receipt import (
    PoppedRun,
    PopReceipt,
    counts_text,
    decode_pop_receipt,
    encode_pop_receipt,
    offsets_text,
    start_offsets_text,
)
from tests.captured import captured

TEXT = "7 1794732599068 10000 3 1 broker-a 2 9"
RECEIPT = PopReceipt(7, 1_794_732_599_068, 10_000, 3, "1", "broker-a", 2, 9)


def test_a_receipt_is_its_eight_parts_with_blanks_between() -> None:
    assert encode_pop_receipt(RECEIPT) == TEXT
    assert decode_pop_receipt(TEXT) == RECEIPT
    assert RECEIPT.revive_time == 1_794_732_609_068
    assert not RECEIPT.is_orderly
    assert decode_pop_receipt("0 1 2 999 0 b 0 0").is_orderly


@pytest.mark.parametrize("name", ["ACK_MESSAGE", "CHANGE_MESSAGE_INVISIBLETIME"])
def test_receipts_of_a_real_client_are_read_and_written_again(name: str) -> None:
    for request in captured(name, "request"):
        text = request.ext_fields["extraInfo"]
        receipt = decode_pop_receipt(text)
        assert encode_pop_receipt(receipt) == text
        assert receipt.queue_offset == int(request.ext_fields["offset"])


def test_where_the_message_lies_may_be_missing() -> None:
    assert decode_pop_receipt("7 1 2 3 0 b").queue_id == -1


def test_what_a_proxy_appends_is_ignored() -> None:
    assert decode_pop_receipt(TEXT + " 123456") == RECEIPT
    assert decode_pop_receipt(TEXT + " -1 more") == RECEIPT


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1 2 3",
        "x" + TEXT,
        "-1 1 2 3 0 b 0 0",
        "1 2 3 9999999999 0 b 0 0",
        "1 9223372036854775807 3 0 0 b 0 0",
        "1" * 2000,
    ],
)
def test_what_is_no_receipt_is_refused(text: str) -> None:
    with pytest.raises(RemoteProtocolError, match="extraInfo"):
        decode_pop_receipt(text)


def test_runs_are_written_as_apache_does() -> None:
    runs = [PoppedRun("0", 0, [0, 1]), PoppedRun("1", 2, [5, 9])]
    assert start_offsets_text(runs) == "0 0 0;1 2 5"
    assert offsets_text(runs) == "0 0 0,1;1 2 5,9"


def test_counts_are_said_for_each_message_and_the_least_for_the_queue() -> None:
    run = PoppedRun("0", 3, [5, 6])
    assert counts_text(run, {5: 2}) == "0 qo3%5 2;0 qo3%6 0;0 3 0"
    assert counts_text(run, {5: 2, 6: 1}) == "0 qo3%5 2;0 qo3%6 1;0 3 1"
