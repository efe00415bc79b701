"""A topic, or a whole commit log, checked: is every queue without gaps, repeats and disorder?

    topic  day  queues  messages  bytes  missing  repeats  backwards

    missing     offsets that nothing was found for, between the first and the last of a queue
    repeats     messages whose offset another one has
    backwards   messages stored before the one in front of them, by the log's place or by the clock

A gap counts on the day of the message behind it. Compaction and retention leave gaps on purpose.
"""

from typing import TYPE_CHECKING

from aerobee.errors import Misuse
from aerobee.pipeline.jobs.job import Chosen, Job, JobOption, Outcome
from aerobee.pipeline.jobs.topic_io import batch_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAME = "audit"
_COLUMNS = ("value", "topic", "brokerName", "queueId", "offset", "timestamp")
_QUEUE = ("topic", "brokerName", "queueId")
FLAWS = ("missing", "repeats", "backwards")


def transform(rows: "DataFrame", *, place: str = "timestamp") -> "DataFrame":
    """Per topic and day. `place` is what must not go back as offsets go on: a time, or a place in
    the log."""
    from pyspark.sql import Window
    from pyspark.sql import functions as sf

    queue = Window.partitionBy(*_QUEUE).orderBy("offset", place)
    step = sf.col("offset") - sf.lag("offset").over(queue)
    seen = rows.select(
        *_QUEUE,
        sf.to_date("timestamp").alias("day"),
        sf.octet_length("value").alias("bytes"),
        sf.greatest(step - 1, sf.lit(0)).alias("missing"),
        (step == 0).alias("is_repeat"),
        (sf.col(place) < sf.lag(place).over(queue)).alias("is_backwards"),
    )
    return (
        seen.groupBy("topic", "day")
        .agg(
            sf.count_distinct("brokerName", "queueId").alias("queues"),
            sf.count(sf.lit(1)).alias("messages"),
            sf.sum("bytes").alias("bytes"),
            sf.coalesce(sf.sum("missing"), sf.lit(0)).alias("missing"),
            sf.count_if("is_repeat").alias("repeats"),
            sf.count_if("is_backwards").alias("backwards"),
        )
        .orderBy("topic", "day")
    )


def start(spark: "SparkSession", chosen: Chosen) -> Outcome:
    if not chosen.text("topic") or not chosen.text("name-server"):
        raise Misuse("topic and name-server say what is checked")
    found = transform(batch_of(spark, chosen, _COLUMNS)).collect()
    records = [{**row.asDict(), "day": str(row["day"])} for row in found]
    flaws = sum(int(row[name]) for row in found for name in FLAWS)
    messages = sum(row["messages"] for row in found)
    said = f"{messages} messages checked: " + (f"{flaws} flaws" if flaws else "nothing is wrong")
    return Outcome(records=records, said=said, is_well=not flaws)


JOB = Job(
    NAME,
    "a topic or a commit log checked: order, gaps, repeats, size per day",
    "Looks at every message, and says per topic and day how many there are, how large, and\n"
    "whether offsets are missing, repeated or out of order.",
    (
        JobOption("name-server", "HOST:PORT of the name servers"),
        JobOption("topic", "what is checked"),
    ),
    start,
    "aerobee pipeline run audit --topic orders",
    is_stream=False,
)
