from typing import Literal

import pytest

from aerobee.errors import Misuse
from aerobee.model.flags import CompressionType, with_compression_type
from aerobee.model.message import Host, StoredMessage
from aerobee.model.message_queue import LogOffset, QueueId, QueueOffset
from aerobee.pipeline.arrow import message_columns as c
from aerobee.pipeline.arrow.message_columns import FixedColumn, MessageColumns, Row, SizedColumn
from aerobee.protocol.message.record import CRC_PROPERTY_BYTES
from aerobee.protocol.message.stored_message import encode_record

FAR = 2**62


def record(offset: int, body: bytes = b"body", **fields: object) -> bytes:
    with_crc = fields.pop("with_crc", True)
    given: dict[str, object] = {
        "topic": "t",
        "queue_id": QueueId(3),
        "queue_offset": QueueOffset(offset),
        "log_offset": LogOffset(1000 + offset),
        "body": body,
        "properties": {"UNIQ_KEY": f"id-{offset}", "TAGS": "a", "KEYS": "k1 k2"},
        "born_timestamp": 5,
        "born_host": Host("127.0.0.1", 1),
        "store_timestamp": 7,
        "store_host": Host("10.0.0.1", 10911),
        "reconsume_times": 2,
    }
    return encode_record(StoredMessage(**(given | fields)), with_crc=bool(with_crc))  # type: ignore[arg-type]


def texts(column: SizedColumn) -> list[bytes | None]:
    rows = column.rows
    validity, offsets, data = column.finish()
    places = offsets.cast("i")
    return [
        bytes(data[places[row] : places[row + 1]])
        if validity is None or validity[row >> 3] >> (row & 7) & 1
        else None
        for row in range(rows)
    ]


def numbers(column: FixedColumn, kind: Literal["i", "q"]) -> list[int]:
    return column.finish().cast(kind).tolist()


def taken(data: bytes, wanted: int = c.ALL, **limits: int) -> MessageColumns:
    columns = MessageColumns(wanted, limits.get("rows", 100), limits.get("size", 1 << 20))
    assert columns.take(memoryview(data), 0, len(data), FAR) == c.ENDED
    return columns


def test_every_field_of_a_record_comes_into_its_column() -> None:
    columns = taken(record(7) + record(8, b""))
    assert columns.rows == 2
    assert columns.next_offset == 9
    assert texts(columns.key) == [b"k1 k2", b"k1 k2"]
    assert texts(columns.value) == [b"body", b""]
    assert texts(columns.topic) == [b"t", b"t"]
    assert numbers(columns.queue_id, "i") == [3, 3]
    assert numbers(columns.offset, "q") == [7, 8]
    assert numbers(columns.timestamp, "q") == [7000, 7000]
    assert numbers(columns.born_timestamp, "q") == [5000, 5000]
    assert texts(columns.tags) == [b"a", b"a"]
    assert texts(columns.message_id) == [b"id-7", b"id-8"]
    assert numbers(columns.reconsume_times, "i") == [2, 2]
    assert numbers(columns.log_offset, "q") == [1007, 1008]
    assert texts(columns.properties)[0] == b"UNIQ_KEY\x01id-7\x02TAGS\x01a\x02KEYS\x01k1 k2\x02"


@pytest.mark.parametrize("with_crc", [True, False])
def test_what_is_missing_is_null_and_an_id_is_made_of_the_place(with_crc: bool) -> None:
    columns = taken(record(1, properties={"x": "y"}, with_crc=with_crc) + record(2))
    assert texts(columns.key) == [None, b"k1 k2"]
    assert texts(columns.tags) == [None, b"a"]
    assert texts(columns.message_id) == [b"0A00000100002A9F00000000000003E9", b"id-2"]
    assert texts(columns.properties)[0] == b"x\x01y\x02"


def test_an_id_of_an_ipv6_host_is_as_long_as_that() -> None:
    columns = taken(record(1, properties={}, store_host=Host("::1", 5)))
    (made,) = texts(columns.message_id)
    assert made == (b"0" * 31 + b"1" + b"00000005" + b"00000000000003E9")


def test_only_what_is_wanted_is_built() -> None:
    columns = taken(record(1), c.OFFSET)
    assert columns.rows == 1
    assert columns.offset.rows == 1
    assert [columns.value.rows, columns.key.rows, columns.timestamp.rows] == [0, 0, 0]


def test_a_batch_is_full_of_rows_or_of_bytes_and_goes_on_where_it_stopped() -> None:
    data = b"".join(record(offset) for offset in range(5))
    for limits in ({"rows": 2}, {"size": len(record(0)) + 1}):
        columns = MessageColumns(c.OFFSET, limits.get("rows", 9), limits.get("size", 1 << 20))
        found = []
        position = 0
        while True:
            outcome = columns.take(memoryview(data), position, len(data), FAR)
            position = columns.position
            found.append(numbers(columns.offset, "q"))
            columns.begin_again()
            if outcome == c.ENDED:
                break
            assert outcome == c.FULL
        assert found == [[0, 1], [2, 3], [4]]


def test_messages_from_the_end_of_the_range_on_are_left() -> None:
    data = b"".join(record(offset) for offset in range(5))
    columns = MessageColumns(c.OFFSET, 9, 1 << 20)
    assert columns.take(memoryview(data), 0, len(data), 3) == c.ENDED
    assert numbers(columns.offset, "q") == [0, 1, 2]
    assert columns.next_offset == 3


def test_a_compressed_body_is_left_to_the_caller_who_adds_it_as_values() -> None:
    flag = with_compression_type(0, CompressionType.ZLIB)
    data = record(1) + record(2, sys_flag=flag) + record(3)
    columns = MessageColumns(c.ALL, 9, 1 << 20)
    assert columns.take(memoryview(data), 0, len(data), FAR) == c.SPECIAL
    position = columns.position
    columns.add(Row(None, b"expanded", b"t", 3, 2, 7, 5, None, b"id", 0, b"", 0))
    position += columns.record_size
    assert columns.take(memoryview(data), position, len(data), FAR) == c.ENDED
    assert texts(columns.value) == [b"body", b"expanded", b"body"]
    assert texts(columns.tags) == [b"a", None, b"a"]


def test_damage_is_found_and_named_never_skipped() -> None:
    good = record(1)
    for place in range(len(good) - CRC_PROPERTY_BYTES - 1):
        bad = bytearray(good + record(2))
        bad[place] ^= 0x40
        columns = MessageColumns(c.ALL, 9, 1 << 20)
        assert columns.take(memoryview(bytes(bad)), 0, len(bad), FAR) == c.WRONG, place
        assert columns.position == 0
        assert columns.rows == 0


def test_text_that_is_no_utf_8_is_replaced_and_bytes_are_kept() -> None:
    data = record(1, "grüße".encode(), properties={"TAGS": "grün", "KEYS": "x"})
    broken = data.replace("grün".encode(), b"gr\xff\xfen")
    crc_free = record(1, properties={"TAGS": "ok"}, with_crc=False).replace(b"ok", b"\xff\xff")
    columns = taken(data)
    assert texts(columns.tags) == ["grün".encode()]
    assert texts(columns.value) == ["grüße".encode()]
    assert broken != data
    assert texts(taken(crc_free).tags) == ["\ufffd\ufffd".encode()]


def test_the_later_of_two_equal_properties_counts() -> None:
    twice = record(1, properties={"TAGS": "old", "tags": "new"}, with_crc=False)
    columns = taken(twice.replace(b"tags\x01new", b"TAGS\x01new"))
    assert texts(columns.tags) == [b"new"]


def test_a_column_grows_and_a_batch_needs_room() -> None:
    big = bytes(300_000)
    assert texts(taken(record(1, big) + record(2, big), c.VALUE).value) == [big, big]
    with pytest.raises(Misuse):
        MessageColumns(c.ALL, 0, 1)
    with pytest.raises(Misuse):
        MessageColumns(c.ALL, 1, 1).take(memoryview(b""), 0, 1, FAR)
