"""Captured changes → a Delta table that equals the table they were captured from.

    changes ─▶ the last of each key in a batch ─▶ one MERGE, under (query, batch)

A key's changes are in one queue, in order; so the one with the highest offset is the last. Repeats
of a capture that was started again come in order, too, and end with the same last change. Columns
are text in a change, and take the types of the table: those that are declared, or found in the
first batch. A column that comes later is added to the table; a value that its type cannot hold
fails the batch and is not lost.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from aerobee.errors import Misuse
from aerobee.pipeline.jobs.job import Chosen, Job, JobOption, Outcome
from aerobee.pipeline.jobs.topic_io import STREAM_OPTIONS, query_id_of, started, stream_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

NAME = "upsert"
GONE = "is_gone"
_COLUMNS = ("value", "queueId", "brokerName", "offset", "timestamp")


def transform(rows: "DataFrame", schema: "StructType", keys: Sequence[str]) -> "DataFrame":
    """The last change of each key: its columns, and whether the row is gone."""
    from pyspark.sql import functions as sf

    whole = f"op string, before struct<{_fields(schema)}>, after struct<{_fields(schema)}>"
    change = sf.from_json(sf.col("value").cast("string"), whole, {"mode": "FAILFAST"})
    read = rows.select(change.alias("change"), "timestamp", "offset")
    is_gone = sf.col("change.op") == "d"
    row = sf.when(is_gone, sf.col("change.before")).otherwise(sf.col("change.after"))
    last = (
        read.select(row.alias("row"), is_gone.alias(GONE), "timestamp", "offset")
        .groupBy(*(sf.col(f"row.`{key}`").alias(f"key_{key}") for key in keys))
        .agg(sf.max_by(sf.struct("row", GONE), sf.struct("offset", "timestamp")).alias("last"))
    )
    typed = [
        _typed(sf.col(f"last.row.`{one.name}`"), one.dataType).alias(one.name)
        for one in schema.fields
    ]
    return last.select(*typed, sf.col(f"last.{GONE}").alias(GONE))


def of_table(rows: "DataFrame", table: str) -> "DataFrame":
    """Only the changes of one table, and nothing that is no change."""
    from pyspark.sql import functions as sf

    body = sf.col("value").cast("string")
    changes = rows.where(sf.get_json_object(body, "$.op").isin("r", "c", "u", "d"))
    if not table:
        return changes
    source = sf.get_json_object(body, "$.source.table")
    database = sf.get_json_object(body, "$.source.db")
    return changes.where((source == table) | (sf.concat_ws(".", database, source) == table))


def found_columns(rows: "DataFrame") -> "StructType":
    """The columns that the rows of these changes have, and what their values look like. A column
    without any value is left out: nothing is known of it."""
    from pyspark.sql import functions as sf
    from pyspark.sql.types import StructType

    body = sf.col("value").cast("string")
    after = sf.coalesce(sf.get_json_object(body, "$.after"), sf.get_json_object(body, "$.before"))
    found = rows.select(sf.schema_of_variant_agg(sf.parse_json(after)).alias("found")).first()
    assert found is not None
    return _from_variant(found["found"]) if found["found"] else StructType()


def start(spark: "SparkSession", chosen: Chosen) -> Outcome:
    from pyspark.sql.types import StructType

    from aerobee.pipeline.delta_table import DeltaCopy

    keys = chosen.names("key")
    declared: StructType | None = None
    if chosen.text("schema"):
        declared = cast(StructType, StructType.fromDDL(chosen.text("schema")))
    if declared is not None and not set(keys) <= set(declared.names):
        raise Misuse(f"schema has no column {', '.join(sorted(set(keys) - set(declared.names)))}")
    copy = DeltaCopy(chosen.text("to-folder"), keys)

    def apply(batch: "DataFrame", number: int) -> None:
        query = query_id_of(batch)
        if copy.is_applied(query, number):
            return
        changes = of_table(batch, chosen.text("table")).persist()
        try:
            if changes.isEmpty():
                return
            schema = declared
            if schema is None:
                schema = with_known_types(found_columns(changes), copy.schema())
            copy.apply(transform(changes, schema, keys).toArrow(), query, number)
        finally:
            changes.unpersist()

    writer = stream_of(spark, chosen, _COLUMNS).writeStream.foreachBatch(apply)
    return Outcome(started(writer, chosen, NAME))


def with_known_types(found: "StructType", known: "StructType | None") -> "StructType":
    """What the table has, as it has it, and what is new."""
    from pyspark.sql.types import StructType

    if known is None:
        return found
    new = [one for one in found.fields if one.name not in known.names]
    return StructType([*known.fields, *new])


def _fields(schema: "StructType") -> str:
    return ", ".join(f"`{one.name}`: string" for one in schema.fields)


def _typed(text: "Column", kind: "DataType") -> "Column":
    from pyspark.sql import functions as sf
    from pyspark.sql.types import BinaryType

    return sf.unbase64(text) if isinstance(kind, BinaryType) else text.cast(kind)


def _from_variant(text: str) -> "StructType":
    """`OBJECT<id: BIGINT, total: DECIMAL(4,1), at: VOID>` → columns that any such value fits."""
    from pyspark.sql.types import (
        BooleanType,
        DoubleType,
        LongType,
        NullType,
        StringType,
        StructField,
        StructType,
        _parse_datatype_string,
    )

    parsed = _parse_datatype_string(text.replace("OBJECT<", "STRUCT<"))
    if not isinstance(parsed, StructType):
        raise Misuse(f"a change whose row is no object: {json.dumps(text)}")
    kinds = {"bigint": LongType(), "boolean": BooleanType(), "double": DoubleType()}
    columns = []
    for one in parsed.fields:
        name = "double" if one.dataType.typeName() in ("decimal", "float") else ""
        name = name or one.dataType.simpleString()
        if not isinstance(one.dataType, NullType):
            columns.append(StructField(one.name, kinds.get(name, StringType())))
    return StructType(columns)


JOB = Job(
    NAME,
    "captured changes into a Delta table that equals the source table",
    "Applies what `aerobee capture` has sent to a topic to a Delta table: inserts, updates and\n"
    "deletes by key, each batch once. Types come from the option schema, or from what is found.",
    (
        *STREAM_OPTIONS,
        JobOption("to-folder", "the Delta table: a folder, or an address of one", is_needed=True),
        JobOption("key", "columns of the primary key", "id"),
        JobOption("table", "only the changes of this table: NAME or DATABASE.NAME"),
        JobOption("schema", "columns and types: 'id bigint, total decimal(10,2), at timestamp'"),
    ),
    start,
    "aerobee pipeline run upsert --topic shop-orders --key id --to-folder lake/orders",
)
