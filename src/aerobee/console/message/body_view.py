"""Views of a message's body: by a schema, JSON, MessagePack, Avro, Protobuf, text, hexadecimal.

A body says nowhere what it is: a user may give its schema. Formats are tried in an order in which a
wrong guess is unlikely: JSON, Avro (its files begin with a mark), text, MessagePack and Protobuf
last, whose bytes prove little; the page shows them as guesses beside the bytes. Views are of the
first VIEW_BYTES; a body that is longer can be downloaded.

V1. A body is a stranger's: whatever it holds, a view takes tens of milliseconds at most, and is
    something that JSON can hold. Bounds are in `byte_source.py`.
"""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from aerobee.console.message.avro_body import MARK as AVRO_MARK
from aerobee.console.message.avro_body import read_container
from aerobee.console.message.body_schema import PREVIEW_VALUES, BodySchema
from aerobee.console.message.byte_source import DEPTH_MAX, NotOfFormat, real, whole
from aerobee.console.message.plain_formats import read_msgpack, read_protobuf

VIEW_BYTES = 256 << 10
HEX_BYTES = 4 << 10
PREVIEW_CHARS = 200
AVRO_ROWS = 100
SCHEMA, JSON, MSGPACK, AVRO, PROTOBUF, TEXT, BINARY, EMPTY = (
    "schema",
    "json",
    "msgpack",
    "avro",
    "protobuf",
    "text",
    "binary",
    "empty",
)


class BodyView(NamedTuple):
    kind: str
    shown: dict[str, Any]
    """By format, the body as a value of JSON or as a text."""
    why: dict[str, str]
    """By format, the reason why it is not shown so."""
    is_truncated: bool


def kind_of_body(body: bytes) -> str:
    """Return the likely format, without decoding more than needed."""
    if not body:
        return EMPTY
    if body.startswith(AVRO_MARK):
        return AVRO
    text = text_of(body)
    if text is None:
        return BINARY
    if text.lstrip()[:1] not in ("{", "["):
        return TEXT
    return JSON if len(body) > VIEW_BYTES or _is_json(text) else TEXT


def preview_of(body: bytes, schema: BodySchema | None = None) -> str:
    """Return the beginning of a body on one line, by its schema if it fits."""
    if schema is not None and len(body) <= VIEW_BYTES:
        try:
            value = schema.value(body, PREVIEW_VALUES)
        except NotOfFormat:
            pass
        else:
            return json.dumps(value, ensure_ascii=False)[:PREVIEW_CHARS]
    start = body[: PREVIEW_CHARS * 4]
    text = start.decode(errors="replace") if text_of(body) is not None else start.hex(" ")
    return " ".join(text.split())[:PREVIEW_CHARS]


def text_of(body: bytes) -> str | None:
    """Return a body that is text: UTF-8 without control characters."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return None
    is_plain = all(one.isprintable() or one in "\t\n\r" for one in text[:4096])
    return text if is_plain else None


def view_of(body: bytes, schema: BodySchema | None = None) -> BodyView:
    """Return a body in every format that it can be read in."""
    is_truncated = len(body) > VIEW_BYTES
    part = body[:VIEW_BYTES]
    shown: dict[str, Any] = {"hex": hex_lines(part[:HEX_BYTES])}
    why: dict[str, str] = {}
    text = text_of(body)
    if text is not None:
        shown[TEXT] = text[:VIEW_BYTES]
    else:
        why[TEXT] = "the bytes are no UTF-8 text"

    def read_text(_: bytes) -> Any:
        return read_json(text or "")

    readers: dict[str, Callable[[bytes], Any]] = {JSON: read_text}
    if text is None:
        readers |= {MSGPACK: read_msgpack, PROTOBUF: read_protobuf}
    if schema is not None:
        readers[SCHEMA] = schema.value
    for name, read in readers.items():
        try:
            if is_truncated:
                raise NotOfFormat("it is too long")
            shown[name] = read(part)
        except NotOfFormat as error:
            why[name] = str(error)
    try:
        shown[AVRO] = _avro_rows(body)
    except NotOfFormat as error:
        why[AVRO] = str(error)
    kind = kind_of_body(body)
    if kind == BINARY:
        kind = next((one for one in (MSGPACK, PROTOBUF) if one in shown), BINARY)
    kind = SCHEMA if SCHEMA in shown else kind
    return BodyView(kind, shown, why, is_truncated)


def hex_lines(data: bytes) -> list[str]:
    """Return lines of 16 bytes: offset, bytes, letters."""
    lines = []
    for start in range(0, len(data), 16):
        row = data[start : start + 16]
        letters = "".join(chr(one) if 32 <= one < 127 else "." for one in row)
        lines.append(f"{start:08x}  {row.hex(' '):<47}  {letters}")
    return lines


def read_json(text: str) -> Any:
    """Return the value of a JSON text, as any reader can take it. NotOfFormat: it is none."""
    try:
        return _plain(json.loads(text, parse_constant=_no_constant), 0)
    except (ValueError, RecursionError):
        raise NotOfFormat("it is no JSON, or too deep") from None


def _plain(value: Any, depth: int) -> Any:
    """Return a value without what JSON's writers refuse: numbers beyond all, halves of characters,
    a thousand lists in lists."""
    if depth > DEPTH_MAX:
        raise NotOfFormat("too deep")
    match value:
        case str():
            return value if value.isascii() else value.encode(errors="replace").decode()
        case dict():
            return {_plain(name, depth): _plain(one, depth + 1) for name, one in value.items()}
        case list():
            return [_plain(one, depth + 1) for one in value]
        case bool() | None:
            return value
        case int():
            return whole(value)
        case _:
            return real(value)


def _is_json(text: str) -> bool:
    try:
        json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return False
    return True


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


def _avro_rows(body: bytes) -> list[Any]:
    if not body.startswith(AVRO_MARK):
        raise NotOfFormat("without a schema only Avro's container files can be read")
    return read_container(body, AVRO_ROWS)
