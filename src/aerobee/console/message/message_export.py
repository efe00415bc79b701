"""Exports of messages: NDJSON, CSV and Parquet.

A cell of CSV that begins with = + - @ or a tab gets an apostrophe before it: spreadsheets would
take it for a formula, and a message is text of somebody else. Parquet needs pyarrow.
"""

import csv
import io
import json
from base64 import b64encode
from collections.abc import AsyncIterator
from typing import Any

from aerobee.console.http.problem import Problem
from aerobee.console.message.body_view import text_of
from aerobee.console.message.message_rows import message_detail
from aerobee.console.message.message_search import Found

NDJSON, CSV, PARQUET = FORMATS = ("ndjson", "csv", "parquet")
COLUMNS = (
    "id",
    "offset_id",
    "topic",
    "broker",
    "queue",
    "offset",
    "stored",
    "born",
    "tag",
    "keys",
    "attempt",
    "headers",
    "properties",
    "body",
    "body_base64",
)
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
_NUMBERS = frozenset({"queue", "offset", "stored", "born", "attempt"})
ROWS_AT_ONCE = 1000


def record_of(found: Found) -> dict[str, Any]:
    """Return all fields of a message, the body as text or else as base64."""
    detail = message_detail(found.message, found.broker)
    text = text_of(found.message.body)
    encoded = b64encode(found.message.body).decode() if text is None else None
    return {**{name: detail.get(name) for name in COLUMNS}, "body": text, "body_base64": encoded}


def guarded(text: str) -> str:
    """Return a cell that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(_FORMULAS) else text


async def exported(messages: AsyncIterator[Found], form: str) -> AsyncIterator[bytes]:
    """Yield the file in pieces."""
    if form == PARQUET:
        async for piece in _parquet(messages):
            yield piece
        return
    if form == CSV:
        yield _csv_line(list(COLUMNS))
    async for one in messages:
        record = record_of(one)
        if form == CSV:
            yield _csv_line([_cell(name, record[name]) for name in COLUMNS])
        else:
            yield json.dumps(record, ensure_ascii=False).encode() + b"\n"


def _cell(name: str, value: object) -> str:
    if value is None:
        return ""
    if name in _NUMBERS:
        return str(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return guarded(text)


def _csv_line(cells: list[str]) -> bytes:
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow(cells)
    return line.getvalue().encode()


async def _parquet(messages: AsyncIterator[Found]) -> AsyncIterator[bytes]:
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise Problem(
            501, "not_supported", "Parquet needs pyarrow", hint="pip install pyarrow"
        ) from None
    number, text = arrow.int64(), arrow.string()
    schema = arrow.schema(
        [(name, number if name in _NUMBERS else text) for name in COLUMNS if name != "body_base64"]
        + [("body_bytes", arrow.binary())]
    )
    sink = io.BytesIO()
    rows: list[dict[str, Any]] = []
    with parquet.ParquetWriter(sink, schema) as writer:
        async for one in messages:
            record = record_of(one)
            for name in ("keys", "headers", "properties"):
                record[name] = json.dumps(record[name], ensure_ascii=False)
            del record["body_base64"]
            rows.append({**record, "body_bytes": one.message.body})
            if len(rows) >= ROWS_AT_ONCE:
                writer.write_table(arrow.Table.from_pylist(rows, schema))
                rows.clear()
        if rows:
            writer.write_table(arrow.Table.from_pylist(rows, schema))
    yield sink.getvalue()
