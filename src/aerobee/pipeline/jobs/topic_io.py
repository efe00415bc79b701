"""Topics as input and output of jobs: shared options, tables of topics, queries that write.

    read       `stream_of` and `batch_of`: the source, with the chosen options and these columns
    written    `to_topic`: the sink; `started`: a trigger, and a checkpoint

The default checkpoint is in the folder `checkpoints` of the working directory, under the names of
the job and its topic.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aerobee.pipeline.jobs.job import Chosen, JobOption

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

FORMAT = "aerobee"
CHECKPOINTS = "checkpoints"

NAME_SERVER = JobOption("name-server", "HOST:PORT of the name servers", is_needed=True)
TOPIC = JobOption("topic", "what is read", is_needed=True)
STREAM_OPTIONS = (
    NAME_SERVER,
    TOPIC,
    JobOption(
        "from", "where the first run begins", "earliest", choices=("earliest", "latest", "group")
    ),
    JobOption("once", "end when everything that is there now is done", "no", is_flag=True),
    JobOption("every", "how long a batch gathers", "1s", is_interval=True),
    JobOption("checkpoint", f"folder of the query's memory ({CHECKPOINTS}/JOB-TOPIC)"),
    JobOption("group", "consumer group that the query is (JOB-TOPIC)"),
    JobOption("commit-offsets", "tell brokers how far the group is", "no", is_flag=True),
    JobOption("metrics", "port for lag and progress, /metrics; 0: any"),
)


def stream_of(
    spark: "SparkSession", chosen: Chosen, name: str, columns: Sequence[str]
) -> "DataFrame":
    """Return the topic as a stream; `name` is the job's."""
    reader = spark.readStream.format(FORMAT)
    reader = reader.option("nameServer", chosen.text("name-server"))
    reader = reader.option("topic", chosen.text("topic"))
    reader = reader.option("startingOffsets", chosen.text("from"))
    reader = reader.option("columns", ",".join(columns))
    if chosen.text("group") or chosen.text("from") == "group":
        reader = reader.option("group", group_of(chosen, name))
    return reader.options(**chosen.source).load()


def batch_of(
    spark: "SparkSession", chosen: Chosen, columns: Sequence[str], **more: str
) -> "DataFrame":
    reader = spark.read.format(FORMAT)
    reader = reader.option("nameServer", chosen.text("name-server"))
    reader = reader.option("topic", chosen.text("topic"))
    reader = reader.option("columns", ",".join(columns))
    return reader.options(**more).options(**chosen.source).load()


def to_topic(rows: "DataFrame", chosen: Chosen, topic: str, write_id: str, batch: int = 0) -> None:
    """Send a finite table; once, however often it is repeated with the same id and number. A repeat
    must have the same rows in the same partitions, in the same order."""
    writer = rows.write.format(FORMAT).mode("append")
    writer = writer.option("nameServer", chosen.text("name-server"))
    writer = writer.option("topic", topic).option("writeId", write_id).option("batchId", batch)
    writer.options(**chosen.sink).save()


def started(writer: Any, chosen: Chosen, name: str) -> "StreamingQuery":
    """Start a streaming query; `writer` is a DataStreamWriter with its target set."""
    if chosen.is_on("once"):
        writer = writer.trigger(availableNow=True)
    else:
        writer = writer.trigger(processingTime=chosen.interval("every"))
    query: StreamingQuery = (
        writer.queryName(name).option("checkpointLocation", checkpoint_of(chosen, name)).start()
    )
    return query


def checkpoint_of(chosen: Chosen, name: str) -> str:
    return chosen.text("checkpoint") or f"{CHECKPOINTS}/{_called(chosen, name)}"


def group_of(chosen: Chosen, name: str) -> str:
    return chosen.text("group") or _called(chosen, name)


def _called(chosen: Chosen, name: str) -> str:
    return f"{name}-{re.sub(r'[^0-9A-Za-z_-]', '_', chosen.text('topic'))}"


def query_id_of(rows: "DataFrame") -> str:
    """Return the id of the query that this batch belongs to. It is kept in the checkpoint, so a
    restart has the same."""
    found = rows.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
    assert found, "not in a batch of a query"
    return found
