import json

import pytest

from aerobee.console.message.avro_schema import TYPES_MAX, parse_avro
from aerobee.console.message.byte_source import DEPTH_MAX, NotOfFormat


def test_names_are_found_with_and_without_their_namespace() -> None:
    schema = {
        "type": "record",
        "name": "Order",
        "namespace": "shop",
        "fields": [
            {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
            {"name": "again", "type": "Kind"},
            {"name": "full", "type": "shop.Kind"},
            {"name": "next", "type": ["null", "Order"]},
        ],
    }
    order = parse_avro(json.dumps(schema))
    kinds = dict(order.fields)
    assert order.name == "shop.Order"
    assert kinds["kind"] is kinds["again"] is kinds["full"]
    assert kinds["next"].branches[1] is order


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "5",
        '{"type": "record", "fields": []}',
        '{"type": "record", "name": "r", "fields": [{"name": "f"}]}',
        '{"type": "record", "name": "r", "fields": [5]}',
        '{"type": "fixed", "name": "f", "size": 4294967296}',
        '{"type": "array"}',
        '"unheard"',
        "[" * 100_000,
        '{"type":' * (DEPTH_MAX + 5) + '"int"' + "}" * (DEPTH_MAX + 5),
        json.dumps(["int"] * (TYPES_MAX + 1)),
    ],
)
def test_what_is_no_schema_or_too_large_is_told(text: str) -> None:
    with pytest.raises(NotOfFormat):
        parse_avro(text)
