import asyncio
import csv
import io
import json
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from pyarrow import parquet

from aerobee.console.message.message_export import COLUMNS, exported, guarded, record_of
from aerobee.console.message.message_search import Found
from tests.unit.console.message.test_message_rows import MESSAGE

FORMULA = replace(MESSAGE, body=b'=HYPERLINK("http://x")', properties={"TAGS": "@x"})
BINARY = replace(MESSAGE, body=b"\x00\xff")


def _file(form: str) -> bytes:
    async def messages() -> AsyncIterator[Found]:
        for one in (MESSAGE, FORMULA, BINARY):
            yield Found(one, "broker-a")

    async def live() -> bytes:
        return b"".join([piece async for piece in exported(messages(), form)])

    return asyncio.run(live())


def test_ndjson_has_a_line_for_each_message_and_loses_no_byte() -> None:
    first, _, last = map(json.loads, _file("ndjson").splitlines())
    assert first["body"] == '{"a": 1}'
    assert (last["body"], last["body_base64"]) == (None, "AP8=")
    assert tuple(first) == COLUMNS


def test_no_cell_of_csv_is_a_formula() -> None:
    heading, first, formula, _ = csv.reader(io.StringIO(_file("csv").decode()))
    assert tuple(heading) == COLUMNS
    told = dict(zip(heading, formula, strict=True))
    assert told["body"].startswith("'=HYPERLINK")
    assert told["tag"] == "'@x"
    assert dict(zip(heading, first, strict=True))["offset"] == "7"


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r"])
def test_a_cell_that_begins_like_a_formula_is_guarded(sign: str) -> None:
    assert guarded(f"{sign}1") == f"'{sign}1"
    assert guarded(f"1{sign}") == f"1{sign}"


def test_parquet_is_read_back() -> None:
    rows = parquet.read_table(io.BytesIO(_file("parquet"))).to_pylist()
    assert [row["body_bytes"] for row in rows] == [MESSAGE.body, FORMULA.body, BINARY.body]
    assert rows[0]["offset"] == 7
    assert json.loads(rows[0]["keys"]) == ["k1", "k2"]
    assert record_of(Found(MESSAGE, "b"))["headers"] == {"color": "red"}
