"""Captured changes → a Delta table that equals the table they were captured from.

    changes ─▶ the last of each key in a batch ─▶ one MERGE, under (query, batch)

Every change has a sequence, and the one with the greatest wins, whichever queue and batch it comes
in and however often: the table keeps it in a column of its own, `_sequence`, beside the columns of
the source. Changes without a sequence are ordered by their queue offsets. A TRUNCATE deletes the
rows that are older than itself.

Columns are text in a change, and get the types that were declared, else those that the capture has
announced, else types inferred from the first batch. A column that appears later is added to the
table. A value that its type cannot hold fails the batch and is not lost.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

from aerobee.errors import Misuse
from aerobee.pipeline.delta.delta_table import GONE, SEQUENCE
from aerobee.pipeline.jobs.captured_schema import (
    Announcements,
    columns_of,
    scales_of,
    struct_of,
    with_known_types,
)
from aerobee.pipeline.jobs.job import Chosen, Job, JobOption, JobOutcome
from aerobee.pipeline.jobs.topic_io import STREAM_OPTIONS, query_id_of, started, stream_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

NAME = "upsert"
_COLUMNS = ("value", "offset", "timestamp")


def transform(rows: "DataFrame", schema: "StructType", keys: Sequence[str]) -> "DataFrame":
    """Return the last change of each key: its columns, its sequence, and whether the row is
    gone."""
    from pyspark.sql import functions as sf

    row_type = ", ".join(f"`{one.name}`: string" for one in schema.fields)
    sides = f"before struct<{row_type}>, after struct<{row_type}>"
    whole = f"op string, {sides}, source struct<seq: string>"
    change = sf.from_json(sf.col("value").cast("string"), whole, {"mode": "FAILFAST"})
    is_gone = sf.col("change.op") == "d"
    read = rows.select(change.alias("change"), "timestamp", "offset").select(
        sf.when(is_gone, sf.col("change.before")).otherwise(sf.col("change.after")).alias("row"),
        is_gone.alias(GONE),
        sf.coalesce("change.source.seq", sf.lit("")).alias(SEQUENCE),
        "timestamp",
        "offset",
    )
    last = read.groupBy(*(sf.col(f"row.`{key}`").alias(f"key_{key}") for key in keys)).agg(
        sf.max_by(
            sf.struct("row", GONE, SEQUENCE), sf.struct(SEQUENCE, "offset", "timestamp")
        ).alias("last")
    )
    typed = [
        _typed(sf.col(f"last.row.`{one.name}`"), one.dataType).alias(one.name)
        for one in schema.fields
    ]
    return last.select(*typed, *(sf.col(f"last.{name}").alias(name) for name in (SEQUENCE, GONE)))


def of_table(rows: "DataFrame", table: str) -> "DataFrame":
    """Keep only the changes of one table; messages that are no change are dropped."""
    from pyspark.sql import functions as sf

    changes = rows.where(_of_change("op").isin("r", "c", "u", "d", "t"))
    if not table:
        return changes
    name, database = _of_change("source.table"), _of_change("source.db")
    return changes.where((name == table) | (sf.concat_ws(".", database, name) == table))


class Contents(NamedTuple):
    """Summary of a batch: its tables, captures, schema versions, key columns, TRUNCATE and size."""

    tables: tuple[str, ...]
    captures: tuple[str, ...]
    versions: tuple[str, ...]
    keys: tuple[str, ...]
    emptied: str | None
    """The sequence of the last TRUNCATE; empty if it has none."""
    changes: int


def contents_of(changes: "DataFrame") -> Contents:
    """Summarise a batch in one pass."""
    from pyspark.sql import functions as sf

    is_row = _of_change("op") != "t"
    table = sf.concat_ws(".", _of_change("source.db"), _of_change("source.table"))
    sequence = sf.coalesce(_of_change("source.seq"), sf.lit(""))
    keys = sf.array_join(sf.json_object_keys(_of_change("key")), "\x00")
    (row,) = changes.agg(
        sf.sort_array(sf.collect_set(table)),
        sf.sort_array(sf.collect_set(_of_change("source.name"))),
        sf.sort_array(sf.collect_set(sf.when(is_row, _of_change("source.schema")))),
        sf.max(sf.when(is_row, keys)),
        sf.max(sf.when(~is_row, sequence)),
        sf.count_if(is_row),
    ).collect()
    found_keys = tuple(row[3].split("\x00")) if row[3] else ()
    tables, captures, versions = map(tuple, row[:3])
    return Contents(tables, captures, versions, found_keys, row[4], row[5])


def found_columns(rows: "DataFrame") -> "StructType":
    """Return the columns of the rows of these changes, with inferred types. A column without any
    value is left out."""
    from pyspark.sql import functions as sf
    from pyspark.sql.types import StructType

    row = sf.coalesce(_of_change("after"), _of_change("before"))
    found = rows.select(sf.schema_of_variant_agg(sf.parse_json(row)).alias("found")).first()
    assert found is not None
    return _from_variant(found["found"]) if found["found"] else StructType()


def start(spark: "SparkSession", chosen: Chosen) -> JobOutcome:
    apply = _Applying(spark, chosen).apply
    writer = stream_of(spark, chosen, NAME, _COLUMNS).writeStream.foreachBatch(apply)
    return JobOutcome(started(writer, chosen, NAME))


class _Applying:
    """Applies batch after batch to one table."""

    def __init__(self, spark: "SparkSession", chosen: Chosen) -> None:
        from pyspark.sql.types import StructType

        from aerobee.pipeline.delta.delta_table import DeltaCopy

        self._table = chosen.text("table")
        self._keys = chosen.names("key")
        self._announced = Announcements(spark, chosen)
        self._copy = DeltaCopy(chosen.text("to-folder"))
        self._declared: StructType | None = None
        if chosen.text("schema"):
            self._declared = cast(StructType, StructType.fromDDL(chosen.text("schema")))

    def apply(self, batch: "DataFrame", number: int) -> None:
        query = query_id_of(batch)
        if self._copy.is_applied(query, number):
            return
        changes = of_table(batch, self._table).persist()
        try:
            self._apply(changes, query, number)
        finally:
            changes.unpersist()

    def _apply(self, changes: "DataFrame", query: str, number: int) -> None:
        contents = contents_of(changes)
        if not contents.tables:
            return
        if len(contents.tables) > 1:
            raise Misuse(
                f"changes of several tables: {', '.join(contents.tables)}",
                hint="the option table chooses one; run a job for each",
            )
        if contents.emptied is not None:
            changes = _newer_than(changes, contents.emptied)
        keys = self._keys or contents.keys
        if not keys and contents.changes:
            raise Misuse(
                f"{contents.tables[0]} has no key: its rows cannot be told apart",
                hint="the option key names its columns",
            )
        rows = _rows_of(changes)
        schema = self._schema_of(rows, contents)
        if not schema.fields:
            return
        last = transform(rows, schema, keys).toArrow()
        self._copy.apply(last, keys, query, number, emptied=contents.emptied)

    def _schema_of(self, changes: "DataFrame", contents: Contents) -> "StructType":
        if self._declared is not None:
            return self._declared
        known = self._copy.schema()
        if not contents.changes:
            from pyspark.sql.types import StructType

            return known or StructType()
        announced = None
        if len(contents.captures) == 1 and contents.versions:
            announced = self._announced.of(contents.captures[0], contents.versions)
        if announced is None:
            return with_known_types(found_columns(changes), known)
        columns = columns_of(announced)
        decimals = [name for name, column in columns.items() if column["kind"] == "decimal"]
        return with_known_types(struct_of(columns, scales_of(changes, decimals)), known)


def _rows_of(changes: "DataFrame") -> "DataFrame":
    return changes.where(_of_change("op") != "t")


def _newer_than(changes: "DataFrame", sequence: str) -> "DataFrame":
    from pyspark.sql import functions as sf

    return changes.where(sf.coalesce(_of_change("source.seq"), sf.lit("")) >= sequence)


def _of_change(path: str) -> "Column":
    from pyspark.sql import functions as sf

    return sf.get_json_object(sf.col("value").cast("string"), f"$.{path}")


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
        raise Misuse(f"a change whose row is no object, but {text}")
    kinds = {"bigint": LongType(), "boolean": BooleanType(), "double": DoubleType()}
    columns = []
    for one in parsed.fields:
        is_fraction = one.dataType.typeName() in ("decimal", "float")
        name = "double" if is_fraction else one.dataType.simpleString()
        if not isinstance(one.dataType, NullType):
            columns.append(StructField(one.name, kinds.get(name, StringType())))
    return StructType(columns)


JOB = Job(
    NAME,
    "captured changes into a Delta table that equals the source",
    "Applies what `aerobee capture` has sent to a topic to a Delta table: inserts, updates and "
    "deletes by key, each batch once. Key and types are those that the capture has announced.",
    (
        *STREAM_OPTIONS,
        JobOption("to-folder", "the Delta table: a folder, or an address of one", is_needed=True),
        JobOption("table", "only the changes of this table: NAME or DATABASE.NAME"),
        JobOption("key", "columns of the primary key (what the changes say)"),
        JobOption("schema", "columns and types: 'id bigint, total decimal(9,2)'"),
    ),
    start,
    "aerobee pipeline run upsert --topic shop-orders --to-folder lake/orders",
)
