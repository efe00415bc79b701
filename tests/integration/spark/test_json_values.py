"""JSON bodies as columns, beside Spark's own `from_json`: the same rows of the same bodies."""

import json
import math
import random
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession
from pyspark.sql.functions import col, from_json

from tests.server_kit import Server
from tests.sink_kit import all_values
from tests.spark_kit import frame

SCHEMA = (
    "i int, l bigint, d double, f float, b boolean, s string, a array<bigint>, "
    "m map<string, double>, "
    "o struct<s: string, a: array<struct<l: bigint, m: map<string, string>>>>"
)
TEXTS = ["", "a", "é", "日本", "\U0001f600", 'q"\\/', "\n\t\u0001", "null", "12"]
BAD = [
    b"",
    b"no json",
    b"[1, 2]",
    b'"text"',
    b"17",
    b"null",
    b'{"i": 1',
    b'{"i": 1.5}',
    b'{"i": 1.0}',
    b'{"i": 2147483648}',
    b'{"l": 9223372036854775808}',
    b'{"l": "1"}',
    b'{"l": true}',
    b'{"d": true}',
    b'{"d": "1.5"}',
    b'{"b": 0}',
    b'{"b": "true"}',
    b'{"a": 1}',
    b'{"a": "12"}',
    b'{"a": {"0": 1}}',
    b'{"a": [1, "2"]}',
    b'{"m": [1]}',
    b'{"m": {"x": "y"}}',
    b'{"o": 1}',
    b'{"o": {"a": [{"l": 1.5}]}}',
    b'{"i": 01}',
    b'{"i": 1,}',
]
DIFFERENT = {
    b'{"d": "+INF"}': "infinity in another word",
    b"{'i': 1}": "single quotes",
    b'{"i": 1} and more': "what comes after the object",
}
"""Which Spark takes, and we do not."""


def made_up(choice: random.Random) -> dict[str, Any]:
    def text() -> str:
        return choice.choice(TEXTS)

    def long() -> int:
        return choice.choice([0, -1, 7, 2**31, -(2**63), 2**63 - 1])

    def double() -> float:
        return choice.choice([0, 1, -2.5, 1e300, 2**60 + 1, 0.1, 1e-320, 12.50])

    def some(make: Any) -> list[Any]:
        return [make() if choice.random() < 0.8 else None for _ in range(choice.randrange(3))]

    def line() -> dict[str, Any]:
        return {"l": long(), "m": {text(): choice.choice([text(), 12.50, True, None])}}

    found: dict[str, Any] = {
        "i": choice.choice([0, 1, -(2**31), 2**31 - 1]),
        "l": long(),
        "d": double(),
        "f": choice.choice([0.5, 3, -1e10, 16777216]),
        "b": choice.random() < 0.5,
        "s": choice.choice([text(), 5, 1.5, False, "text"]),
        "a": some(long),
        "m": {text(): double() for _ in range(choice.randrange(3))},
        "o": {"s": text(), "a": some(line), "unknown": [1, {"x": 2}]},
        "also unknown": {"l": "text"},
    }
    kept = {name: value for name, value in found.items() if choice.random() < 0.8}
    return {name: value if choice.random() < 0.9 else None for name, value in kept.items()}


def rows_by_place(rows: list[Row]) -> dict[tuple[int, int], Any]:
    return {(row.queueId, row.offset): row for row in rows}


def both(
    spark: SparkSession, server: Server, topic: str
) -> list[tuple[bytes, Row | None, Row | None, bool]]:
    """Of each body: what we make of it, what Spark does, and whether it says that it is bad."""
    at = server.name_server
    chosen = {"topic": topic, "columns": "queueId,offset,value"}
    plain = frame(spark, at, **chosen)
    corrupt = from_json(
        col("value").cast("string"),
        f"{SCHEMA}, corrupt string",
        {"columnNameOfCorruptRecord": "corrupt"},
    )
    theirs = from_json(col("value").cast("string"), SCHEMA)
    told = plain.select("queueId", "offset", "value", theirs.alias("j"), corrupt.alias("c"))
    ours = rows_by_place(
        frame(
            spark, at, **chosen, valueFormat="json", valueSchema=SCHEMA, onDecodeError="null"
        ).collect()
    )
    return [
        (bytes(row.value), ours[place].value, row.j, row.c is None or row.c.corrupt is not None)
        for place, row in rows_by_place(told.collect()).items()
    ]


def test_bodies_are_the_rows_that_from_json_makes_of_them(
    spark: SparkSession, server: Server
) -> None:
    choice = random.Random(5)
    bodies = [made_up(choice) for _ in range(300)]
    server.send(
        "JsonMadeUp",
        [json.dumps(one, ensure_ascii=choice.random() < 0.5).encode() for one in bodies],
    )
    found = both(spark, server, "JsonMadeUp")
    assert len(found) == 300
    for body, ours, theirs, is_bad in found:
        assert (ours, is_bad) == (theirs, False), body
    assert len({str(ours) for _, ours, _, _ in found}) > 200


def test_what_spark_says_is_no_json_of_the_schema_is_none_for_us(
    spark: SparkSession, server: Server
) -> None:
    server.send("JsonBad", [body for body in BAD if body])
    for body, ours, _, is_bad in both(spark, server, "JsonBad"):
        assert (ours, is_bad) == (None, True), body


def test_where_we_are_stricter_than_spark(spark: SparkSession, server: Server) -> None:
    server.send("JsonStrict", list(DIFFERENT))
    for body, ours, _, is_bad in both(spark, server, "JsonStrict"):
        assert (ours, is_bad) == (None, False), DIFFERENT[body]


def test_what_is_no_number_of_json_is_read_as_spark_wrote_it(
    spark: SparkSession, server: Server
) -> None:
    words = ["NaN", "Infinity", "-Infinity"]
    rows = ", ".join(f"(double('{word}'), float('{word}'))" for word in words)
    told = spark.sql(f"select to_json(struct(d, f)) as value from values {rows} as t(d, f)")
    written = [str(row.value) for row in told.collect()]
    assert written == [f'{{"d":"{word}","f":"{word}"}}' for word in words]
    bare = [text.replace('"' + word + '"', word) for text, word in zip(written, words, strict=True)]
    server.send("JsonNotFinite", [text.encode() for text in (*written, *bare)])
    for body, ours, theirs, is_bad in both(spark, server, "JsonNotFinite"):
        assert str(ours) == str(theirs), body
        assert not is_bad, body
        assert ours is not None
        assert not math.isfinite(ours.d)


def test_where_text_is_wanted_numbers_are_as_they_were_written(
    spark: SparkSession, server: Server
) -> None:
    server.send("JsonText", [b'{"s": {"x": [1, 2.50]}}'])
    ((_, ours, theirs, is_bad),) = both(spark, server, "JsonText")
    assert ours is not None
    assert theirs is not None
    assert (ours.s, theirs.s, is_bad) == ('{"x":[1,2.50]}', '{"x":[1,2.5]}', False)


def test_of_a_bad_field_spark_keeps_the_others_and_we_do_as_we_were_told(
    spark: SparkSession, server: Server
) -> None:
    bodies = [b'{"i": "x", "l": 2}', b'{"i": 1, "l": 2}']
    server.send("JsonField", bodies)
    found = {body: (ours, theirs) for body, ours, theirs, _ in both(spark, server, "JsonField")}
    ours, theirs = found[bodies[0]]
    assert theirs is not None
    assert (ours, theirs.i, theirs.l) == (None, None, 2)
    given = {"topic": "JsonField", "valueFormat": "json", "valueSchema": "i int, l bigint"}
    with pytest.raises(PySparkException, match='"x" is not a whole number'):
        frame(spark, server.name_server, **given).collect()
    dead = {"onDecodeError": "dlq", "deadLetterTopic": "JsonDead"}
    (row,) = frame(spark, server.name_server, **given, **dead).collect()
    assert row.value == Row(i=1, l=2)
    assert set(all_values(server, "JsonDead")) == {bodies[0]}
