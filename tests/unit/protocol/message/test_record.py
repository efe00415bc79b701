"""Records: their bytes as the format table draws them, and what a reader makes of any bytes."""

import struct
import zlib

import pytest

from aerobee.errors import Misuse
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.message.record import (
    FILLER,
    FINDINGS,
    MAGIC_FILLER,
    MAGIC_V1,
    MAGIC_V2,
    PROPERTIES_BYTES_MAX,
    RECORD_BYTES_MIN,
    SIZES_DISAGREE,
    TORN,
    UNKNOWN_MAGIC,
    WHOLE,
    Record,
    RecordWriter,
)
from tests.pure import pure

V4 = bytes((192, 168, 0, 7)) + (10911).to_bytes(4, "big")
V6 = bytes(range(16)) + (10911).to_bytes(4, "big")
STORED_AT = 1_700_000_000_123


def draft_of(
    topic: bytes = b"Orders", body: bytes = b"body!", text: bytes = b"", born_host: bytes = V4
) -> MessageDraft:
    draft = MessageDraft()
    draft.topic = topic
    draft.queue_id = 3
    draft.flag = -5
    draft.sys_flag = 0x301
    draft.born_timestamp = STORED_AT - 99
    draft.born_host = born_host
    draft.reconsume_times = 2
    draft.prepared_offset = 1 << 40
    draft.set_body(memoryview(body))
    draft.set_properties(text)
    return draft


def encoded(draft: MessageDraft, *, store_host: bytes = V4, with_crc: bool = False) -> bytes:
    return RecordWriter(store_host, with_crc).encode(draft, 77, 1 << 33, STORED_AT)


def drawn(draft: MessageDraft, body: bytes, text: bytes, store_host: bytes) -> bytes:
    """The record of a draft by the table, without the record CRC."""
    sys_flag = 0x301
    sys_flag |= 0x10 if len(draft.born_host) == 20 else 0
    sys_flag |= 0x20 if len(store_host) == 20 else 0
    is_long = len(draft.topic) > 127
    rest = b"".join(
        (
            struct.pack(">i", MAGIC_V2 if is_long else MAGIC_V1),
            struct.pack(">i", zlib.crc32(body) & 0x7FFFFFFF),
            struct.pack(">iiqqiq", 3, -5, 77, 1 << 33, sys_flag, STORED_AT - 99),
            draft.born_host,
            struct.pack(">q", STORED_AT),
            store_host,
            struct.pack(">iq", 2, 1 << 40),
            struct.pack(">i", len(body)),
            body,
            struct.pack(">h" if is_long else ">b", len(draft.topic)),
            draft.topic,
            struct.pack(">h", len(text)),
            text,
        )
    )
    return struct.pack(">i", len(rest) + 4) + rest


def read(data: bytes, position: int = 0) -> tuple[int, Record]:
    found = Record()
    return found.read_from(memoryview(data), position), found


# Writing.


@pytest.mark.parametrize("store_host", [V4, V6])
@pytest.mark.parametrize("born_host", [V4, V6])
@pytest.mark.parametrize("topic", [b"t", b"t" * 127, b"t" * 128, b"t" * 255])
@pytest.mark.parametrize("text", [b"", b"TAGS\x01a\x02", b"TAGS\x01a"])
def test_a_record_is_written_as_the_table_draws_it(
    topic: bytes, text: bytes, born_host: bytes, store_host: bytes
) -> None:
    draft = draft_of(topic, b"body!", text, born_host)
    assert encoded(draft, store_host=store_host) == drawn(draft, b"body!", text, store_host)


def test_the_smallest_record_has_91_bytes() -> None:
    assert len(encoded(draft_of(b"", b""))) == RECORD_BYTES_MIN == 91


def test_the_flags_of_the_address_families_are_the_writers() -> None:
    draft = draft_of()
    draft.sys_flag = 0x30 | 0x4
    _, found = read(encoded(draft))
    assert found.sys_flag == 0x4


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        (b"", b""),
        (b"a\x01b\x02", b"a\x01b\x02"),
        (b"a\x01b", b"a\x01b\x02"),
        (b"a\x01b\x02\x02", b"a\x01b\x02\x02"),
    ],
)
def test_the_record_crc_follows_the_properties_and_covers_all_before_it(
    text: bytes, stored: bytes
) -> None:
    made = encoded(draft_of(text=text), with_crc=True)
    (size,) = struct.unpack_from(">i", made)
    assert size == len(made)
    covered, tail = made[:-20], made[-20:]
    assert covered.endswith(struct.pack(">h", len(stored) + 20) + stored)
    digits = f"{zlib.crc32(covered) & 0x7FFFFFFF:010}"[::-1].encode()
    assert tail == b"__CRC32#\x01" + digits + b"\x02"


def test_a_crc_that_is_a_small_number_keeps_its_ten_digits() -> None:
    """The least significant digit comes first, so the zeros of a small number come last."""
    seen = 0
    for number in range(4000):
        made = encoded(draft_of(body=str(number).encode()), with_crc=True)
        value = int(made[-11:-1][::-1])
        assert value == zlib.crc32(made[:-20]) & 0x7FFFFFFF
        seen += value < 10**7
    assert seen > 5


@pytest.mark.parametrize(
    ("size", "last", "with_crc", "fits"),
    [
        (PROPERTIES_BYTES_MAX, b"x", False, True),
        (PROPERTIES_BYTES_MAX - 20, b"\x02", True, True),
        (PROPERTIES_BYTES_MAX - 19, b"\x02", True, False),
        (PROPERTIES_BYTES_MAX - 21, b"x", True, True),
        (PROPERTIES_BYTES_MAX - 20, b"x", True, False),
        (PROPERTIES_BYTES_MAX, b"\x02", True, False),
    ],
)
def test_properties_of_32767_bytes_fit_with_all_that_is_added_to_them(
    size: int, last: bytes, with_crc: bool, fits: bool
) -> None:
    draft = draft_of(text=b"n\x01" + b"v" * (size - 3) + last)
    if not fits:
        with pytest.raises(Misuse, match=f"{size} bytes of properties are too many"):
            encoded(draft, with_crc=with_crc)
        return
    made = encoded(draft, with_crc=with_crc)
    finding, found = read(made)
    assert finding == WHOLE
    assert found.properties_size == PROPERTIES_BYTES_MAX
    assert found.is_sound_in(memoryview(made), with_crc)


@pytest.mark.parametrize("size", [0, 4, 7, 9, 16, 19, 21, 300])
def test_a_born_host_that_is_no_address_and_port_is_refused(size: int) -> None:
    with pytest.raises(Misuse, match=f"a born host of {size} bytes"):
        encoded(draft_of(born_host=bytes(size)))


@pytest.mark.parametrize("size", [0, 4, 19, 200])
def test_a_store_host_that_is_no_address_and_port_is_refused(size: int) -> None:
    with pytest.raises(Misuse, match=f"a store host of {size} bytes"):
        RecordWriter(bytes(size), False)


def test_a_topic_of_more_than_255_bytes_is_refused() -> None:
    with pytest.raises(Misuse, match="a topic of 256 bytes"):
        encoded(draft_of(b"t" * 256))


def test_a_writer_forgets_one_draft_when_the_next_begins() -> None:
    writer = RecordWriter(V6, True)
    first = writer.encode(draft_of(b"t" * 200, b"long" * 50, b"a\x01b\x02", V6), 1, 2, 3)
    small = draft_of(b"", b"")
    small.sys_flag = 0
    assert writer.encode(small, 0, 0, 0) == RecordWriter(V6, True).encode(small, 0, 0, 0)
    again = draft_of(b"t" * 200, b"long" * 50, b"a\x01b\x02", V6)
    assert writer.encode(again, 1, 2, 3) == first


# Reading.


@pytest.mark.parametrize("store_host", [V4, V6])
@pytest.mark.parametrize("born_host", [V4, V6])
@pytest.mark.parametrize("topic", [b"", b"t" * 127, b"t" * 255])
@pytest.mark.parametrize("position", [0, 13])
def test_what_was_written_is_read_wherever_it_lies(
    topic: bytes, born_host: bytes, store_host: bytes, position: int
) -> None:
    text = b"KEYS\x01k\x02"
    made = encoded(draft_of(topic, b"the body", text, born_host), store_host=store_host)
    data = bytes(position) + made + b"what follows"
    finding, found = read(data, position)
    assert finding == WHOLE
    assert (found.position, found.size) == (position, len(made))
    assert found.body_crc == zlib.crc32(b"the body") & 0x7FFFFFFF
    assert (found.queue_id, found.flag, found.queue_offset) == (3, -5, 77)
    assert (found.log_offset, found.sys_flag & 0xFFF & ~0x30) == (1 << 33, 0x301)
    assert (found.born_timestamp, found.store_timestamp) == (STORED_AT - 99, STORED_AT)
    assert (found.reconsume_times, found.prepared_offset) == (2, 1 << 40)
    assert data[found.body_start : found.body_start + found.body_size] == b"the body"
    assert data[found.topic_start : found.topic_start + found.topic_size] == topic
    assert data[found.properties_start : found.properties_start + found.properties_size] == text
    assert found.is_sound_in(memoryview(data), False)


def test_every_byte_missing_at_the_end_makes_a_torn_record() -> None:
    made = encoded(draft_of(text=b"a\x01b\x02"), with_crc=True)
    for size in range(len(made)):
        assert read(made[:size])[0] == TORN, size
    assert read(made)[0] == WHOLE


@pytest.mark.parametrize("position", [-1, 101, 1 << 40])
def test_a_position_outside_the_bytes_holds_nothing(position: int) -> None:
    assert read(bytes(100), position)[0] == TORN


def test_the_filler_that_ends_a_file_says_how_much_is_left() -> None:
    finding, found = read(b"......" + struct.pack(">ii", 4321, MAGIC_FILLER), 6)
    assert finding == FILLER
    assert (found.position, found.size) == (6, 4321)


def test_zeros_and_any_other_magic_are_no_record() -> None:
    assert read(bytes(200))[0] == UNKNOWN_MAGIC
    made = bytearray(encoded(draft_of()))
    for bit in range(32):
        flipped = bytearray(made)
        flipped[4 + bit // 8] ^= 1 << bit % 8
        found, _ = read(bytes(flipped))
        assert found != WHOLE
        assert found in FINDINGS


@pytest.mark.parametrize("size", [-(2**31), -1, 0, 8, RECORD_BYTES_MIN - 1, 2**31 - 1])
def test_a_size_that_no_record_has_is_torn(size: int) -> None:
    made = bytearray(encoded(draft_of()))
    struct.pack_into(">i", made, 0, size)
    assert read(bytes(made))[0] == TORN


def patched(position: int, form: str, value: int, topic: bytes = b"Orders") -> int:
    """What is found of a good record, with room behind it, once one number in it is another."""
    made = bytearray(encoded(draft_of(topic, b"body!", b"a\x01b\x02")))
    struct.pack_into(form, made, position, value)
    return read(bytes(made) + bytes(100))[0]


@pytest.mark.parametrize("value", [-(2**31), -1, 4, 6, 2**31 - 1])
def test_a_body_size_that_does_not_add_up_is_seen(value: int) -> None:
    assert patched(84, ">i", 5) == WHOLE
    assert patched(84, ">i", value) == SIZES_DISAGREE


@pytest.mark.parametrize("value", [0, 5, 7, 127, 255])
def test_a_topic_size_of_version_1_that_does_not_add_up_is_seen(value: int) -> None:
    assert patched(93, ">B", 6) == WHOLE
    assert patched(93, ">B", value) == SIZES_DISAGREE


def test_a_topic_of_version_1_has_at_most_127_bytes() -> None:
    made = bytearray(encoded(draft_of(b"t" * 127, b"body!")))
    assert read(bytes(made))[0] == WHOLE
    made[0:4] = struct.pack(">i", len(made) + 1)
    made[93] = 128
    made[94:94] = b"t"
    assert read(bytes(made))[0] == SIZES_DISAGREE


@pytest.mark.parametrize("value", [-(2**15), -1, 0, 199, 201, 2**15 - 1])
def test_a_topic_size_of_version_2_that_does_not_add_up_is_seen(value: int) -> None:
    topic = b"t" * 200
    assert patched(93, ">h", 200, topic) == WHOLE
    assert patched(93, ">h", value, topic) == SIZES_DISAGREE


@pytest.mark.parametrize("value", [-(2**15), -1, 0, 3, 5, 2**15 - 1])
def test_a_properties_size_that_does_not_add_up_is_seen(value: int) -> None:
    assert patched(100, ">h", 4) == WHOLE
    assert patched(100, ">h", value) == SIZES_DISAGREE


def test_address_flags_that_leave_no_room_for_the_rest_are_seen() -> None:
    made = bytearray(encoded(draft_of(b"", b"")))
    assert read(bytes(made))[0] == WHOLE
    struct.pack_into(">i", made, 36, 0x30)
    assert read(bytes(made) + bytes(100))[0] == SIZES_DISAGREE


def test_version_2_without_room_for_its_topic_size_is_seen() -> None:
    made = bytearray(encoded(draft_of(b"", b"")))
    struct.pack_into(">i", made, 4, MAGIC_V2)
    assert read(bytes(made) + bytes(100))[0] == SIZES_DISAGREE


# Checksums.


def test_every_flipped_bit_of_a_record_with_its_crc_is_noticed() -> None:
    made = encoded(draft_of(b"T", b"0123456789", b"a\x01b\x02"), with_crc=True)
    for bit in range(8 * len(made)):
        flipped = bytearray(made)
        flipped[bit // 8] ^= 1 << bit % 8
        finding, found = read(bytes(flipped))
        is_believed = finding == WHOLE and found.is_sound_in(memoryview(flipped), True)
        assert not is_believed, bit


def test_without_a_record_crc_the_body_is_checked_and_nothing_else() -> None:
    made = bytearray(encoded(draft_of()))
    finding, found = read(bytes(made))
    assert finding == WHOLE
    assert found.is_sound_in(memoryview(made), False)
    assert not found.is_sound_in(memoryview(made), True)
    made[found.topic_start] ^= 1
    assert found.is_sound_in(memoryview(made), False)
    made[found.body_start] ^= 1
    assert not found.is_sound_in(memoryview(made), False)


def test_an_empty_body_needs_no_checksum() -> None:
    """RocketMQ leaves whatever it likes in the field."""
    made = bytearray(encoded(draft_of(body=b"")))
    struct.pack_into(">i", made, 8, 12345)
    _, found = read(bytes(made))
    assert found.is_sound_in(memoryview(made), False)


@pytest.mark.parametrize("text", [b"", b"x" * 19, b"__CRC32#\x01" + b"0" * 10])
def test_properties_that_only_resemble_a_record_crc_are_none(text: bytes) -> None:
    made = encoded(draft_of(text=text))
    _, found = read(made)
    assert found.is_sound_in(memoryview(made), False)
    assert not found.is_sound_in(memoryview(made), True)


FORGED = b"__CRC32#\x01" + b"1234567890" + b"\x02"


@pytest.mark.parametrize("before", [b"", b"a\x01b\x02"])
def test_nobody_but_the_writer_may_end_the_properties_in_a_record_crc(before: bytes) -> None:
    """A reader would take it for the record's own, and the record for a damaged one."""
    with pytest.raises(Misuse, match="end in a record CRC"):
        encoded(draft_of(text=before + FORGED))
    made = encoded(draft_of(text=before + FORGED), with_crc=True)
    _, found = read(made)
    assert found.is_sound_in(memoryview(made), True)
    assert FORGED in made


def test_a_value_that_ends_like_a_record_crc_is_none() -> None:
    made = encoded(draft_of(text=b"a\x01b" + FORGED))
    _, found = read(made)
    assert found.is_sound_in(memoryview(made), False)
    assert not found.is_sound_in(memoryview(made), True)


def test_a_view_that_is_shorter_than_the_record_that_was_read_is_not_believed() -> None:
    made = encoded(draft_of(), with_crc=True)
    _, found = read(made)
    assert found.is_sound_in(memoryview(made), True)
    assert not found.is_sound_in(memoryview(made)[:-1], True)


# What only compiled modules call: on the uncompiled twin.


def test_a_filler_is_two_numbers() -> None:
    view = memoryview(bytearray(20))
    pure("aerobee.protocol.message.record").write_filler(view, 4, 16)
    assert bytes(view) == bytes(4) + struct.pack(">ii", 16, MAGIC_FILLER) + bytes(8)


def test_a_checksum_has_its_highest_bit_cleared() -> None:
    checksum = pure("aerobee.protocol.message.record").checksum
    view = memoryview(b"..123456789..")
    assert zlib.crc32(b"123456789") == 0xCBF43926
    assert checksum(view, 2, 9) == 0x4BF43926
    assert checksum(view, 2, 0) == 0


def test_every_finding_has_words() -> None:
    assert set(FINDINGS) == {WHOLE, FILLER, TORN, UNKNOWN_MAGIC, SIZES_DISAGREE}
    assert all(FINDINGS.values())
