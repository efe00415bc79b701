"""Avro read here, beside fastavro as the reference, and on bodies that were made to do harm."""

import contextlib
import json
import random
import zlib
from io import BytesIO
from typing import Any

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as some

from aerobee.console.message.avro_body import (
    BLOCK_BYTES_MAX,
    MARK,
    read_avro,
    read_container,
)
from aerobee.console.message.avro_schema import AvroType, parse_avro
from aerobee.console.message.byte_source import VALUES_MAX, NotOfFormat

ORDER: dict[str, Any] = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "price", "type": "double"},
        {"name": "note", "type": ["null", "string"]},
        {"name": "paid", "type": "boolean"},
        {"name": "state", "type": {"type": "enum", "name": "S", "symbols": ["NEW", "SENT"]}},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "counts", "type": {"type": "map", "values": "int"}},
    ],
}
ORDERS = some.fixed_dictionaries(
    {
        "id": some.integers(-(2**53), 2**53),
        "price": some.floats(allow_nan=False, allow_infinity=False),
        "note": some.none() | some.text(max_size=20),
        "paid": some.booleans(),
        "state": some.sampled_from(["NEW", "SENT"]),
        "tags": some.lists(some.text(max_size=5), max_size=5),
        "counts": some.dictionaries(some.text(max_size=5), some.integers(-9, 9), max_size=3),
    }
)


def written(schema: Any, value: Any) -> bytes:
    sink = BytesIO()
    fastavro.schemaless_writer(sink, fastavro.parse_schema(schema), value)
    return sink.getvalue()


def container(schema: Any, values: list[Any], codec: str = "null") -> bytes:
    sink = BytesIO()
    fastavro.writer(sink, fastavro.parse_schema(schema), values, codec=codec)
    return sink.getvalue()


def type_of(schema: Any) -> AvroType:
    return parse_avro(json.dumps(schema))


def number(value: int) -> bytes:
    """A count or a size, as Avro writes it."""
    left, made = value << 1 ^ value >> 63, b""
    while left >= 0x80:
        made += bytes([left & 0x7F | 0x80])
        left >>= 7
    return made + bytes([left])


@given(ORDERS)
def test_values_are_read_as_the_usual_library_wrote_them(order: dict[str, Any]) -> None:
    body = written(ORDER, order)
    assert read_avro(body, type_of(ORDER), VALUES_MAX) == order
    framed = (b"\0" + bytes(4) + body, b"\xc3\x01" + bytes(8) + body)
    for one in framed:
        assert read_avro(one, type_of(ORDER), VALUES_MAX) == order


@pytest.mark.parametrize("codec", ["null", "deflate"])
def test_container_files_are_read_and_cut_ones_as_far_as_they_go(codec: str) -> None:
    rows = [{"n": one} for one in range(5)]
    schema = {"type": "record", "name": "r", "fields": [{"name": "n", "type": "long"}]}
    file = container(schema, rows, codec)
    assert read_container(file, 100) == rows
    assert read_container(file, 2) == rows[:2]
    assert read_container(file[:-8], 100) == rows
    with pytest.raises(NotOfFormat):
        read_container(file[:40], 100)


@pytest.mark.parametrize(
    ("schema", "value", "shown"),
    [
        ({"type": "int", "logicalType": "date"}, 19_000, "2022-01-08"),
        ({"type": "long", "logicalType": "timestamp-millis"}, 0, "1970-01-01T00:00:00Z"),
        ({"type": "long", "logicalType": "timestamp-millis"}, 2**62, str(2**62)),
        ({"type": "int", "logicalType": "time-millis"}, 3_723_004, "01:02:03.004000"),
        ({"type": "int", "logicalType": "time-millis"}, -1, -1),
        ({"type": "bytes", "logicalType": "decimal", "scale": 2}, b"\xff\x9c", "-1.00"),
        ({"type": "fixed", "name": "f", "size": 2}, b"\x01\x02", "0x0102"),
        ("float", 1.5, 1.5),
        ("long", 2**60, str(2**60)),
    ],
)
def test_logical_types_are_readable(schema: Any, value: Any, shown: Any) -> None:
    plain = {**schema, "logicalType": None} if isinstance(schema, dict) else schema
    assert read_avro(written(plain, value), type_of(schema), VALUES_MAX) == shown


def test_a_body_of_another_schema_is_told() -> None:
    kind = type_of(ORDER)
    for body in (b"", b"hello", written(ORDER, _order()) + b"x", bytes(200)):
        with pytest.raises(NotOfFormat):
            read_avro(body, kind, VALUES_MAX)


def _order() -> dict[str, Any]:
    return {
        "id": 1,
        "price": 1.0,
        "note": None,
        "paid": True,
        "state": "NEW",
        "tags": [],
        "counts": {},
    }


NULLS = {"type": "array", "items": "null"}
ITSELF = {"type": "record", "name": "r", "fields": [{"name": "r", "type": "r"}]}
EMPTY = {"type": "record", "name": "e", "fields": []}


@pytest.mark.parametrize(
    ("schema", "body"),
    [
        (NULLS, number(2**62)),
        (NULLS, number(-(2**62)) + number(0)),
        (NULLS, number(1) * 200_000),
        (ITSELF, b""),
        ({"type": "array", "items": EMPTY}, number(2**62)),
        ("string", number(2**62)),
        ("string", number(-5)),
        ("bytes", b"\xff" * 12),
        (["null", "int"], number(2)),
        (["null", "int"], number(-1)),
        ("boolean", b"\x02"),
    ],
)
def test_what_was_made_to_do_harm_ends_at_a_bound(schema: Any, body: bytes) -> None:
    with pytest.raises(NotOfFormat):
        read_avro(body, type_of(schema), VALUES_MAX)


def _file(schema: Any, block: bytes, codec: bytes = b"null", count: int = 1) -> bytes:
    head = b""
    for name, text in ((b"avro.schema", json.dumps(schema).encode()), (b"avro.codec", codec)):
        head += number(len(name)) + name + number(len(text)) + text
    sync = bytes(16)
    return MARK + number(2) + head + b"\0" + sync + number(count) + number(len(block)) + block


def test_container_files_made_to_do_harm_end_at_a_bound() -> None:
    for schema, block, codec, count in (
        (ITSELF, b"", b"null", 1),
        (NULLS, number(2**62), b"null", 1),
        ("long", b"", b"null", 2**62),
        ("long", b"\0", b"snappy", 1),
        ("long", b"no deflate", b"deflate", 1),
    ):
        with pytest.raises(NotOfFormat):
            read_container(_file(schema, block, codec, count), 100)
    packing = zlib.compressobj(wbits=-15)
    bomb = packing.compress(bytes(30 << 20)) + packing.flush()
    rows = read_container(
        _file({"type": "fixed", "name": "f", "size": 65536}, bomb, b"deflate", 9**9), 100
    )
    assert len(rows) == BLOCK_BYTES_MAX // 65536


def test_whatever_bytes_come_nothing_but_a_value_or_a_refusal_goes() -> None:
    dice = random.Random(7)
    whole = container(ORDER, [_order()] * 3)
    kind = type_of(ORDER)
    for _ in range(2_000):
        body = bytearray(whole)
        for _ in range(dice.randint(1, 6)):
            body[dice.randrange(len(body))] = dice.randrange(256)
        with contextlib.suppress(NotOfFormat):
            json.dumps(read_container(bytes(body), 100), allow_nan=False)
        with contextlib.suppress(NotOfFormat):
            json.dumps(read_avro(dice.randbytes(dice.randint(0, 60)), kind, 1000), allow_nan=False)
