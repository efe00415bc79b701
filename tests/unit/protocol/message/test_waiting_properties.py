import pytest

from aerobee.protocol.message.waiting_properties import WaitingProperties

CRC = b"__CRC32#\x011234567890\x02"


def read(text: bytes) -> WaitingProperties:
    found = WaitingProperties()
    found.read_from(memoryview(text))
    return found


def part(text: bytes, start: int, size: int) -> bytes:
    return text[start : start + size]


def test_a_text_says_where_its_message_belongs_and_when_it_is_due() -> None:
    text = (
        b"TAGS\x01a\x02UNIQ_KEY\x01id\x02TIMER_OUT_MS\x011700000008000\x02"
        b"TIMER_DEL_UNIQKEY\x01Orders+x\x02REAL_TOPIC\x01Orders\x02REAL_QID\x013\x02"
    )
    found = read(text + CRC)
    assert found.size == len(text)
    assert part(text, found.topic_start, found.topic_size) == b"Orders"
    assert (found.queue_id, found.out_ms) == (3, 1_700_000_008_000)
    assert part(text, found.key_start, found.key_size) == b"id"
    assert part(text, found.delete_start, found.delete_size) == b"Orders+x"
    assert not found.is_delayed


def test_what_a_text_said_before_is_forgotten() -> None:
    found = read(
        b"REAL_TOPIC\x01T\x02REAL_QID\x011\x02TIMER_OUT_MS\x015\x02TIMER_DELAY_MS\x011\x02"
    )
    found.read_from(memoryview(b""))
    assert (found.size, found.topic_size, found.key_size, found.delete_size) == (0, 0, 0, 0)
    assert (found.queue_id, found.out_ms, found.is_delayed) == (-1, -1, False)


@pytest.mark.parametrize("name", [b"TIMER_DELAY_MS", b"TIMER_DELAY_SEC"])
def test_a_delay_is_told_from_a_time_of_day(name: bytes) -> None:
    assert read(name + b"\x015\x02").is_delayed
    assert not read(name + b"\x01\x02").is_delayed
    assert not read(b"x" + name + b"\x015\x02").is_delayed
    assert not read(b"TIMER_DELIVER_MS\x015\x02").is_delayed


@pytest.mark.parametrize(
    ("value", "number"),
    [(b"0", 0), (b"4095", 4_095), (b"999999999", 999_999_999)],
)
def test_numbers_of_queues_have_nine_digits_at_most(value: bytes, number: int) -> None:
    assert read(b"REAL_QID\x01" + value).queue_id == number


@pytest.mark.parametrize("value", [b"", b"-1", b"+1", b" 1", b"1x", b"1234567890", b"/", b":"])
def test_what_is_no_number_of_a_queue_is_none(value: bytes) -> None:
    assert read(b"REAL_QID\x01" + value + b"\x02").queue_id == -1


def test_times_have_fifteen_digits_at_most() -> None:
    assert read(b"TIMER_OUT_MS\x01" + b"9" * 15 + b"\x02").out_ms == 10**15 - 1
    assert read(b"TIMER_OUT_MS\x01" + b"9" * 16 + b"\x02").out_ms == -1


def test_the_last_of_a_name_counts_if_it_is_not_empty() -> None:
    text = b"REAL_QID\x011\x02REAL_QID\x012\x02REAL_QID\x01\x02"
    assert read(text).queue_id == 2
    assert read(b"REAL_QID\x011\x02REAL_QID\x01x\x02").queue_id == -1
