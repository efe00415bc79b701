"""Statistics job: counts, sums and distinct keys of a topic, per window of time and chosen fields.

    window_start  window_end  <by …>  messages  bytes  keys  [sum_X …]  [unreadable]

A watermark bounds how late a message may be: a window is final, and dropped from memory, when a
message that much newer has been seen. `emit=final` writes a window once, then; `emit=updates`
writes it whenever it changes, and the last version is right. Its message has the window as key, so
that a compacted topic or a table keeps only the last version.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aerobee.errors import Misuse
from aerobee.pipeline.jobs.body_fields import (
    FORMS,
    JSON,
    PLAIN,
    field,
    is_unreadable,
    time_of,
    with_body,
)
from aerobee.pipeline.jobs.job import Chosen, Job, JobOption, JobOutcome
from aerobee.pipeline.jobs.topic_io import (
    FORMAT,
    STREAM_OPTIONS,
    query_id_of,
    started,
    stream_of,
    to_topic,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

NAME = "statistics"
UPDATES, FINAL = "updates", "final"
START, END = "window_start", "window_end"
_COLUMNS = ("key", "value", "topic", "brokerName", "queueId", "timestamp", "bornTimestamp", "tags")
# Sums of money must be exact: 32 digits before the point, 6 behind it.
_SUMMED = "decimal(38,6)"
_OPS = "r,c,u,d"


def transform(
    rows: "DataFrame",
    *,
    window: str,
    slide: str = "",
    watermark: str = "10 minutes",
    time: str = "timestamp",
    form: str = PLAIN,
    by: Sequence[str] = (),
    sums: Sequence[str] = (),
    distinct: str = "key",
    is_exact: bool = False,
    ops: Sequence[str] = (),
) -> "DataFrame":
    """Return statistics per window and group, of a batch or streaming table of messages."""
    from pyspark.sql import functions as sf

    _check_sums(form, sums)
    timed = with_body(rows, form)
    if ops:
        timed = timed.where(field("op", form).isin(*ops))
    timed = timed.withColumn("_time", time_of(time, form)).withWatermark("_time", watermark)
    span = sf.window("_time", window, slide or None).alias("_window")
    counted: list[Column] = [
        sf.count(sf.lit(1)).alias("messages"),
        sf.sum(sf.octet_length("value")).alias("bytes"),
        _distinct(field(distinct, form), is_exact).alias("keys"),
    ]
    counted += [sf.sum(field(name, form).try_cast(_SUMMED)).alias(f"sum_{name}") for name in sums]
    if form != PLAIN:
        counted.append(sf.count_if(is_unreadable()).alias("unreadable"))
    grouped = timed.groupBy(span, *(field(name, form).alias(name) for name in by)).agg(*counted)
    return grouped.select(
        sf.col("_window.start").alias(START),
        sf.col("_window.end").alias(END),
        *(name for name in grouped.columns if name != "_window"),
    )


def messages_of(statistics: "DataFrame", by: Sequence[str]) -> "DataFrame":
    """Return one message for each row: its key is the window and the group, its body the row."""
    from pyspark.sql import functions as sf

    group = [sf.coalesce(sf.col(name).cast("string"), sf.lit("")) for name in by]
    start = sf.date_format(START, "yyyy-MM-dd'T'HH:mm:ss")
    key = sf.concat_ws("|", start, *group)
    return statistics.select(
        key.alias("key"),
        key.alias("orderingKey"),
        sf.to_json(sf.struct(*statistics.columns)).alias("value"),
    )


def check(chosen: Chosen) -> None:
    """Misuse: options contradict each other."""
    _check_sums(chosen.text("form"), chosen.names("sum"))
    folder = chosen.text("to-folder")
    if folder and chosen.text("to-topic"):
        raise Misuse("to-topic and to-folder exclude each other", hint="run the job twice")
    if folder and chosen.text("emit") != FINAL:
        raise Misuse("a folder keeps what was written once", hint="say emit=final, or to-topic")


def start(spark: "SparkSession", chosen: Chosen) -> JobOutcome:
    form, by = chosen.text("form"), chosen.names("by")
    statistics = transform(
        stream_of(spark, chosen, NAME, _COLUMNS),
        window=chosen.interval("window"),
        slide=chosen.interval("slide"),
        watermark=chosen.interval("watermark"),
        time=chosen.text("time"),
        form=form,
        by=by,
        sums=chosen.names("sum"),
        distinct=chosen.text("distinct"),
        is_exact=chosen.is_on("exact"),
        ops=chosen.names("ops"),
    )
    topic, folder = chosen.text("to-topic"), chosen.text("to-folder")
    is_final = chosen.text("emit") == FINAL
    mode = "append" if is_final else "update"
    if folder:
        writer = statistics.writeStream.format("parquet").option("path", folder)
    elif not topic:
        writer = statistics.writeStream.format("console").option("truncate", "false")
    elif is_final:
        writer = messages_of(statistics, by).writeStream.format(FORMAT)
        writer = writer.option("nameServer", chosen.text("name-server")).option("topic", topic)
        writer = writer.options(**chosen.sink)
    else:
        # Spark lets no Python sink take updates; a batch of them is a table like any other.
        def tell(batch: "DataFrame", number: int) -> None:
            rows = messages_of(batch, by).sortWithinPartitions("key")
            to_topic(rows, chosen, topic, query_id_of(batch), number)

        writer = statistics.writeStream.foreachBatch(tell)
    return JobOutcome(started(writer.outputMode(mode), chosen, NAME))


def _check_sums(form: str, sums: Sequence[str]) -> None:
    if form == PLAIN and sums:
        raise Misuse("sums are of fields of the body", hint="form=json or form=captured reads it")


def _distinct(values: "Column", is_exact: bool) -> "Column":
    from pyspark.sql import functions as sf

    if is_exact:
        return sf.size(sf.collect_set(values)).cast("long")
    return sf.approx_count_distinct(values)


JOB = Job(
    NAME,
    "windowed counts, sums and distinct keys",
    "Counts messages, bytes and distinct keys of a topic per window of time, grouped by tag, "
    "queue, fields of a JSON body or of a captured row; sums fields; tells them to a topic, to "
    "Parquet files or to the terminal.",
    (
        *STREAM_OPTIONS,
        JobOption("window", "length of a window", "1m", is_interval=True),
        JobOption("slide", "begin one this often (as long as a window is)", is_interval=True),
        JobOption("watermark", "how late a message may be", "10m", is_interval=True),
        JobOption("time", "timestamp (stored), bornTimestamp or a field", "timestamp"),
        JobOption("form", "what bodies are", PLAIN, choices=FORMS),
        JobOption("by", "group by tags, queueId, table, op, or fields"),
        JobOption("sum", "add these fields up"),
        JobOption("distinct", "count different values of this", "key"),
        JobOption("exact", "count them exactly, with all of them in memory", "no", is_flag=True),
        JobOption("ops", f"of captured changes only these: {_OPS}"),
        JobOption("emit", "a window as it changes, or once", UPDATES, choices=(UPDATES, FINAL)),
        JobOption("to-topic", "send the results to this topic"),
        JobOption("to-folder", "write them as Parquet files to this folder"),
    ),
    start,
    f"aerobee pipeline run statistics --topic orders --form {JSON} --by city",
    check=check,
)
