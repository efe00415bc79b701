from dataclasses import replace

import pytest

from aerobee.model.message import Host
from aerobee.ports.clock import Now
from aerobee.service.broker.transaction.op_record import (
    BODY_BYTES_MAX,
    count_that_fits,
    offsets_over,
    op_message,
)

HOST = Host("127.0.0.1", 10_911)
NOW = Now(1_700_000_000_000, 0)


def test_a_record_says_which_halves_are_over_in_apaches_words() -> None:
    record = op_message([12, 15, 9], HOST, NOW)
    assert (record.topic, record.queue_id) == ("RMQ_SYS_TRANS_OP_HALF_TOPIC", 0)
    assert (record.body, record.properties) == (b"12,15,9,", {"WAIT": "true", "TAGS": "d"})
    assert (record.born_timestamp, record.born_host) == (NOW.wall_ms, HOST)
    assert offsets_over(record) == [12, 15, 9]


@pytest.mark.parametrize(
    ("body", "offsets"),
    [
        (b"12", [12]),  # as brokers of 4.x wrote it
        (b"12,15", [12, 15]),
        (b"", []),
        (b",,", []),
        (b"12,x,-3, 4,1_0,\xd9\xa1,15,", [12, 15]),
        (b"9" * 19 + b",7,", [7]),
    ],
)
def test_what_is_no_offset_is_passed_over(body: bytes, offsets: list[int]) -> None:
    assert offsets_over(replace(op_message([], HOST, NOW), body=body)) == offsets


def test_a_record_with_another_tag_ends_nothing() -> None:
    record = op_message([1], HOST, NOW)
    assert offsets_over(replace(record, properties={"TAGS": "other"})) == []
    assert offsets_over(replace(record, properties={})) == []


def test_a_record_takes_as_many_as_fit_and_one_in_any_case() -> None:
    many = list(range(100_000, 102_000))
    count = count_that_fits(many)
    assert len(op_message(many[:count], HOST, NOW).body) <= BODY_BYTES_MAX
    assert len(op_message(many[: count + 1], HOST, NOW).body) > BODY_BYTES_MAX
    assert count_that_fits(many[:5]) == 5
    assert count_that_fits([10**4099]) == 1
