"""A topic → files that can be queried for years: Parquet, or a Delta table. Each message once.

Partitioned by the date on which messages were stored, in UTC. Parquet is written by Spark's own
sink, whose list of files in `_spark_metadata` is authoritative; a Delta table has its own log, and
any reader of Delta sees each batch whole or not at all.
"""

from typing import TYPE_CHECKING

from aerobee.pipeline.arrow.schema import COLUMN_NAMES
from aerobee.pipeline.jobs.job import Chosen, Job, JobOption, JobOutcome
from aerobee.pipeline.jobs.topic_io import STREAM_OPTIONS, started, stream_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAME = "lake"
PARQUET, DELTA = "parquet", "delta"
DATE = "date"


def transform(rows: "DataFrame", *, is_text: bool = False) -> "DataFrame":
    """Return the rows with their date; keys and values as text, if that is chosen."""
    from pyspark.sql import functions as sf

    if is_text:
        rows = rows.withColumns({name: sf.col(name).cast("string") for name in ("key", "value")})
    return rows.withColumn(DATE, sf.to_date("timestamp"))


def start(spark: "SparkSession", chosen: Chosen) -> JobOutcome:
    rows = transform(stream_of(spark, chosen, NAME, COLUMN_NAMES), is_text=chosen.is_on("text"))
    folder = chosen.text("to-folder")
    if chosen.text("format") == DELTA:
        from aerobee.pipeline.delta import delta_sink, delta_table

        delta_table.opened(folder)  # without the library it is better to hear of it now
        spark.dataSource.register(delta_sink.DeltaSink)
        writer = rows.writeStream.format(delta_sink.NAME).option("path", folder)
    else:
        writer = rows.writeStream.format(PARQUET).option("path", folder).partitionBy(DATE)
    return JobOutcome(started(writer.outputMode("append"), chosen, NAME))


JOB = Job(
    NAME,
    "a topic into Parquet or Delta, by date, each message once",
    "Writes every message of a topic, with all its columns, to a folder divided by date.",
    (
        *STREAM_OPTIONS,
        JobOption("to-folder", "where to", is_needed=True),
        JobOption("format", "what to write", PARQUET, choices=(PARQUET, DELTA)),
        JobOption("text", "keys and bodies as text instead of bytes", "no", is_flag=True),
    ),
    start,
    "aerobee pipeline run lake --topic orders --to-folder lake/orders --once",
)
