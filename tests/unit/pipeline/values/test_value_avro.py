import io
import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import fastavro
import pyarrow as pa
import pytest

from aerobee.errors import Misuse
from aerobee.pipeline.values.value_avro import AvroDecoder
from aerobee.pipeline.values.value_types import shaping, words_of

SCHEMA = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "note", "type": ["null", "string"]},
        {"name": "key", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {
            "name": "price",
            "type": {"type": "bytes", "logicalType": "decimal", "precision": 8, "scale": 2},
        },
        {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["NEW", "PAID"]}},
        {"name": "before", "type": ["null", "State"]},
        {"name": "extra", "type": {"type": "map", "values": "double"}},
        {
            "name": "lines",
            "type": {
                "type": "array",
                "items": {
                    "type": "record",
                    "name": "Line",
                    "fields": [{"name": "n", "type": "int"}],
                },
            },
        },
        {"name": "first", "type": ["null", "Line"]},
    ],
}
ORDER = {
    "id": 7,
    "note": None,
    "key": "6a2f41a3-c54c-fce8-32d2-0324e1c32e22",
    "at": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    "price": Decimal("12.50"),
    "state": "PAID",
    "before": "NEW",
    "extra": {"a": 1.5},
    "lines": [{"n": 1}, {"n": 2}],
    "first": {"n": 1},
}


def written(value: Any, schema: Any = SCHEMA) -> bytes:
    body = io.BytesIO()
    fastavro.schemaless_writer(body, fastavro.parse_schema(json.loads(json.dumps(schema))), value)
    return body.getvalue()


def test_every_kind_of_field_becomes_a_column() -> None:
    decoder = AvroDecoder(json.dumps(SCHEMA))
    shape = shaping(decoder.type)
    assert shape is not None
    (row,) = pa.array([shape(decoder.decode(written(ORDER)))], decoder.type).to_pylist()
    assert row == {**ORDER, "extra": [("a", 1.5)]}
    assert words_of(decoder.type) == (
        "struct<`id`:long,`note`:string,`key`:string,`at`:timestamp,`price`:decimal(8,2),"
        "`state`:string,`before`:string,`extra`:map<string,double>,"
        "`lines`:array<struct<`n`:int>>,`first`:struct<`n`:int>>"
    )


def test_a_body_that_is_longer_or_shorter_is_none() -> None:
    decoder = AvroDecoder(json.dumps(SCHEMA))
    body = written(ORDER)
    for wrong in (body + b"x", body[:-1], b""):
        with pytest.raises(Exception, match=r".*"):
            decoder.decode(wrong)


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ("{", "no schema of Avro"),
        ('"long"', "no record"),
        ('{"type":"record","name":"R","fields":[{"name":"a","type":["int","string"]}]}', "union"),
        ('{"type":"record","name":"R","fields":[{"name":"a","type":"Nothing"}]}', "Avro"),
        (
            '{"type":"record","name":"R","fields":[{"name":"a","type":["null","R"]}]}',
            "within itself",
        ),
    ],
)
def test_a_schema_that_cannot_be_a_column_is_named(schema: str, said: str) -> None:
    with pytest.raises(Misuse, match=said):
        AvroDecoder(schema)
