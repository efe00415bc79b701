import json
import random
from io import BytesIO
from typing import Any

import fastavro
import pytest

from aerobee.console.message.body_schema import schema_of
from aerobee.console.message.body_view import (
    HEX_BYTES,
    VIEW_BYTES,
    hex_lines,
    kind_of_body,
    preview_of,
    text_of,
    view_of,
)


def _avro() -> bytes:
    schema = {"type": "record", "name": "r", "fields": [{"name": "n", "type": "long"}]}
    file = BytesIO()
    fastavro.writer(file, fastavro.parse_schema(schema), [{"n": 1}, {"n": 2}])
    return file.getvalue()


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", "empty"),
        (b'{"a": 1}', "json"),
        (b"[1, 2]", "json"),
        (b"{not json", "text"),
        (b"hello\nworld", "text"),
        (b"\x00\x01\x02", "binary"),
        ("grüße".encode(), "text"),
        (_avro(), "avro"),
    ],
)
def test_a_body_has_a_likely_kind(body: bytes, kind: str) -> None:
    assert kind_of_body(body) == kind


def test_every_format_that_fits_is_shown_and_the_others_say_why() -> None:
    view = view_of(b'{"a": [1, null]}')
    assert view.shown["json"] == {"a": [1, None]}
    assert view.shown["text"] == '{"a": [1, null]}'
    assert "avro" in view.why
    packed = view_of(bytes.fromhex("82a16101a162c3"))
    assert packed.kind == "msgpack"
    assert packed.shown["msgpack"] == {"a": 1, "b": True}
    assert "no UTF-8" in packed.why["text"]
    assert view_of(_avro()).shown["avro"] == [{"n": 1}, {"n": 2}]
    assert "too early" in view_of(b"Obj\x01\xff\xff").why["avro"]


def test_numbers_that_json_does_not_have_are_no_json() -> None:
    assert "json" not in view_of(b"[NaN]").shown
    assert "json" not in view_of(b"[" * 100_000).shown


def test_a_long_body_is_cut() -> None:
    view = view_of(b"x" * (VIEW_BYTES + 1))
    assert view.is_truncated
    assert len(view.shown["text"]) == VIEW_BYTES
    assert len(view.shown["hex"]) == HEX_BYTES // 16


def test_a_preview_is_one_line_and_bytes_are_in_hexadecimal() -> None:
    assert preview_of(b"a\n  b\tc") == "a b c"
    assert preview_of(b"\x00\xff") == "00 ff"
    assert len(preview_of(b"x" * 5000)) == 200
    assert hex_lines(b"ab\x00") == ["00000000  61 62 00" + " " * 39 + "  ab."]
    assert text_of(b"\x1b[31m") is None


def test_a_body_is_shown_by_the_schema_that_was_given_or_says_why_it_is_not() -> None:
    schema = schema_of('{"type": "record", "name": "r", "fields": [{"name": "n", "type": "long"}]}')
    view = view_of(b"\x54", schema)
    assert (view.kind, view.shown["schema"]) == ("schema", {"n": 42})
    assert preview_of(b"\x54", schema) == '{"n": 42}'
    other = view_of(b'{"a": 1}', schema)
    assert other.kind == "json"
    assert "left over" in other.why["schema"]
    assert preview_of(b'{"a": 1}', schema) == '{"a": 1}'


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b'["\\ud800"]', ["?"]),
        (b'{"\\ud800": 1}', {"?": 1}),
        (b"[1e999, -1e999]", ["inf", "-inf"]),
        (b"[9007199254740993]", ["9007199254740993"]),
    ],
)
def test_what_json_can_read_and_not_write_is_shown_all_the_same(body: bytes, shown: Any) -> None:
    view = view_of(body)
    assert view.shown["json"] == shown
    json.dumps(view.shown, allow_nan=False, ensure_ascii=False).encode()


def test_lists_in_lists_have_an_end() -> None:
    assert "too deep" in view_of(b"[" * 500 + b"]" * 500).why["json"]


def test_whatever_bytes_come_a_view_is_something_that_json_can_hold() -> None:
    dice = random.Random(3)
    for _ in range(500):
        body = dice.choice((b"", b"{", b"Obj\x01", b"\x93", b"\x0a")) + dice.randbytes(
            dice.randint(0, 80)
        )
        json.dumps(view_of(body).shown, allow_nan=False, ensure_ascii=False).encode()
        preview_of(body)
