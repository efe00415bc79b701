"""Views of a message's body: JSON, MessagePack, Avro, Protobuf, text, hexadecimal.

A body says nowhere what it is. Formats are tried in an order in which a wrong guess is unlikely:
JSON, Avro (its files begin with a mark), text, MessagePack and Protobuf last, whose bytes prove
little; the page shows them as guesses beside the bytes. Every view of a body is of its first
VIEW_BYTES; a body that is longer can be downloaded.
"""

import json
from io import BytesIO
from typing import Any, NamedTuple

from aerobee.console.message.plain_formats import NotOfFormat, read_msgpack, read_protobuf

VIEW_BYTES = 256 << 10
HEX_BYTES = 4 << 10
PREVIEW_CHARS = 200
AVRO_MARK = b"Obj\x01"
AVRO_ROWS = 100
JSON, MSGPACK, AVRO, PROTOBUF, TEXT, BINARY, EMPTY = (
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
    return JSON if text.lstrip()[:1] in ("{", "[") and _json(text) is not None else TEXT


def preview_of(body: bytes) -> str:
    """Return the beginning of a body, on one line."""
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


def view_of(body: bytes) -> BodyView:
    """Return a body in every format that it can be read in."""
    is_truncated = len(body) > VIEW_BYTES
    part = body[:VIEW_BYTES]
    shown: dict[str, Any] = {"hex": hex_lines(part[:HEX_BYTES])}
    why: dict[str, str] = {}
    text = text_of(body)
    if text is not None:
        shown[TEXT] = text[:VIEW_BYTES]
        value = None if is_truncated else _json(text)
        if value is not None:
            shown[JSON] = value[0]
    else:
        why[TEXT] = "the bytes are no UTF-8 text"
    if JSON not in shown:
        why[JSON] = "it is too long" if is_truncated else "it is no JSON"
    _show_avro(body, shown, why)
    if text is None and not is_truncated:
        for name, read in ((MSGPACK, read_msgpack), (PROTOBUF, read_protobuf)):
            try:
                shown[name] = read(part)
            except NotOfFormat as error:
                why[name] = str(error)
    kind = kind_of_body(body)
    if kind == BINARY:
        kind = next((one for one in (MSGPACK, PROTOBUF) if one in shown), BINARY)
    return BodyView(kind, shown, why, is_truncated)


def hex_lines(data: bytes) -> list[str]:
    """Return lines of 16 bytes: offset, bytes, letters."""
    lines = []
    for start in range(0, len(data), 16):
        row = data[start : start + 16]
        letters = "".join(chr(one) if 32 <= one < 127 else "." for one in row)
        lines.append(f"{start:08x}  {row.hex(' '):<47}  {letters}")
    return lines


def _json(text: str) -> tuple[Any] | None:
    """Return the value of a JSON text, in a tuple: it may be null."""
    try:
        return (json.loads(text, parse_constant=_no_constant),)
    except (ValueError, RecursionError):
        return None


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


def _show_avro(body: bytes, shown: dict[str, Any], why: dict[str, str]) -> None:
    if not body.startswith(AVRO_MARK):
        why[AVRO] = "without a schema only Avro's container files can be read"
        return
    try:
        import fastavro
    except ModuleNotFoundError:
        why[AVRO] = "fastavro is not installed: pip install 'aerobee[avro]'"
        return
    rows = []
    try:
        for row in fastavro.reader(BytesIO(body)):
            rows.append(json.loads(json.dumps(row, default=str)))
            if len(rows) >= AVRO_ROWS:
                break
    except Exception as error:  # whatever a decoder of strange bytes raises
        why[AVRO] = f"it cannot be read: {error}"
    else:
        shown[AVRO] = rows
