"""Audit job: counts gaps, repeats and disorder in every queue of a topic or of a whole commit log.

    topic  day  queues  messages  bytes  missing  repeats  backwards  damaged

    missing     offsets without a message, between the first and the last of a queue
    repeats     messages whose offset another message has, too
    backwards   messages stored in front of one with a smaller offset: in a log by log offset,
                otherwise by store time
    damaged     bytes of the log that cannot be read; their topic is unknown

A gap counts on the day of the message behind it. Compaction leaves gaps on purpose.
"""

from typing import TYPE_CHECKING

from aerobee.errors import Misuse
from aerobee.pipeline.jobs.job import Chosen, Job, JobOption, JobOutcome
from aerobee.pipeline.jobs.topic_io import batch_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAME = "audit"
LOG_FORMAT = "aerobee-log"
LOG_PLACE, TIME = "logOffset", "timestamp"
_QUEUE = ("topic", "brokerName", "queueId")
_COLUMNS = ("value", *_QUEUE, "offset", TIME)
_DAMAGED = "damagedBytes"
FLAWS = ("missing", "repeats", "backwards", "damaged")


def transform(rows: "DataFrame") -> "DataFrame":
    """Return the counts per topic and day, of the messages of a topic or of a log."""
    from pyspark.sql import Window
    from pyspark.sql import functions as sf

    place = LOG_PLACE if LOG_PLACE in rows.columns else TIME
    damaged = sf.col(_DAMAGED) if _DAMAGED in rows.columns else sf.lit(None).cast("long")
    queue = Window.partitionBy(*_QUEUE).orderBy("offset", place)
    step = sf.col("offset") - sf.lag("offset").over(queue)
    seen = rows.select(
        *_QUEUE,
        sf.to_date(TIME).alias("day"),
        sf.octet_length("value").alias("bytes"),
        sf.greatest(step - 1, sf.lit(0)).alias("missing"),
        (step == 0).alias("is_repeat"),
        (sf.col(place) < sf.lag(place).over(queue)).alias("is_backwards"),
        damaged.alias("damaged"),
    )
    queues = sf.struct("brokerName", "queueId")
    return (
        seen.groupBy("topic", "day")
        .agg(
            sf.count_distinct(sf.when(sf.col("topic").isNotNull(), queues)).alias("queues"),
            sf.count("topic").alias("messages"),
            sf.coalesce(sf.sum("bytes"), sf.lit(0)).alias("bytes"),
            sf.coalesce(sf.sum("missing"), sf.lit(0)).alias("missing"),
            sf.count_if("is_repeat").alias("repeats"),
            sf.count_if("is_backwards").alias("backwards"),
            sf.coalesce(sf.sum("damaged"), sf.lit(0)).alias("damaged"),
        )
        .orderBy("topic", "day")
    )


def check(chosen: Chosen) -> None:
    """Misuse: the options name neither a store nor a topic."""
    if not chosen.text("store") and not chosen.text("topic"):
        raise Misuse("nothing says what is checked", hint="say --store FOLDER, or --topic TOPIC")


def start(spark: "SparkSession", chosen: Chosen) -> JobOutcome:
    found = transform(_rows(spark, chosen)).collect()
    records = [
        {**row.asDict(), "topic": row["topic"] or "-", "day": str(row["day"] or "-")}
        for row in found
    ]
    flaws = {name: sum(int(row[name]) for row in found) for name in FLAWS}
    messages = sum(row["messages"] for row in found)
    told = ", ".join(f"{count:,} {name}" for name, count in flaws.items() if count)
    said = f"{messages:,} messages checked: {told or 'nothing is wrong'}"
    return JobOutcome(records=records, said=said, is_well=not told)


def _rows(spark: "SparkSession", chosen: Chosen) -> "DataFrame":
    topic, store = chosen.text("topic"), chosen.text("store")
    if not store:
        return batch_of(spark, chosen, _COLUMNS)
    reader = spark.read.format(LOG_FORMAT).option("columns", ",".join((*_COLUMNS, LOG_PLACE)))
    reader = reader.option("onDamage", "report")
    if topic:
        reader = reader.option("topic", topic)
    return reader.options(**chosen.source).load(store)


JOB = Job(
    NAME,
    "a topic or a log checked: order, gaps, repeats, size per day",
    "Looks at every message, and says per topic and day how many there are, how large, and "
    "whether offsets are missing, repeated or out of order. Of a store it reads the files, and "
    "needs no broker. The status is 4 if something is wrong.",
    (
        JobOption("store", "folder of a store or of its log; no broker is asked"),
        JobOption("topic", "what is checked; of a store all topics, if none is named"),
        JobOption("name-server", "HOST:PORT of the name servers, for a topic without a store"),
    ),
    start,
    "aerobee pipeline run audit --store data/broker-a",
    is_stream=False,
    check=check,
)
