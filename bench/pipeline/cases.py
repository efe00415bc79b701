"""Cases of the pipeline benchmark: each once for every side, in the same Spark session.

A case is a function of the session and of where things are; it does its work and says how many rows
that was, or how long a batch took. Whoever adds one adds a line to `CASES`.

    batch    the whole topic, into nothing: all columns that a side has, seven of Kafka's, twelve of
             ours; `same` is ours with the six that both have; `log` is the broker's own files, with
             all columns, `log same` with the six
    stream   the same, as one AvailableNow query with a new checkpoint, in as many batches; again
             `same` is ours with the six columns
    sink     as many rows, out of Spark's memory, written into a topic; `handed` is a Python sink
             that only counts them
    written  half of those rows, out of files, by a stream of five batches
    micro    32 queues, a message of each in a batch: milliseconds of the median batch
    memory   the topic, and an eighth of it, each in one task: what a Python process needs for it
"""

import statistics
import tempfile
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AEROBEE = "aerobee"
KAFKA = "kafka"
SAME = "same"
LOG = "log"
LOG_SAME = "log same"
HANDED = "handed"
WHOLE = "whole"
EIGHTH = "eighth"
SIDES = (AEROBEE, KAFKA, SAME, LOG, LOG_SAME, HANDED, WHOLE, EIGHTH)

COLUMNS = (
    "lpad(cast(id AS string), 16, '0') AS key",
    "rpad(lpad(cast(id AS string), 16, '0'), 100, 'x') AS value",
)
SAME_COLUMNS = "key,value,topic,queueId,offset,timestamp"
ROWS = "rows_to_write"
FILES_A_BATCH, WRITTEN_BATCHES = 2, 5

Where = Mapping[str, str]
"""nameServer, kafka, store, logEnd, topic, microTopic, sinkTopic, rows, rowsFolder."""
Case = Callable[["SparkSession", Where], dict[str, float]]


def reading(side: str, where: Where, topic: str) -> dict[str, str]:
    if side == KAFKA:
        return {
            "kafka.bootstrap.servers": where["kafka"],
            "subscribe": topic,
            "startingOffsets": "earliest",
        }
    return {"nameServer": where["nameServer"], "topic": topic, "startingOffsets": "earliest"}


def _writing(side: str, where: Where) -> dict[str, str]:
    address = {
        AEROBEE: {"nameServer": where["nameServer"]},
        KAFKA: {"kafka.bootstrap.servers": where["kafka"]},
    }
    return {"topic": where["sinkTopic"], **address.get(side, {})}


def batch(side: str, **more: str) -> Case:
    def run(spark: "SparkSession", where: Where) -> dict[str, float]:
        options = {**reading(side, where, where["topic"]), **more}
        _into_nothing(spark.read.format(side).options(**options).load())
        return {"rows": float(where["rows"])}

    return run


def stream(side: str, **more: str) -> Case:
    def run(spark: "SparkSession", where: Where) -> dict[str, float]:
        options = {**reading(side, where, where["topic"]), **more}
        frame = spark.readStream.format(side).options(**options)
        progress = _available_now(frame.load(), "noop", {})
        return {"rows": float(sum(one["numInputRows"] for one in progress))}

    return run


def log(**more: str) -> Case:
    def run(spark: "SparkSession", where: Where) -> dict[str, float]:
        # Up to where the topic ends: what sinks write while this goes on is no part of it.
        options = {"topic": where["topic"], "endingLogOffset": where["logEnd"], **more}
        _into_nothing(spark.read.format("aerobee-log").options(**options).load(where["store"]))
        return {"rows": float(where["rows"])}

    return run


def micro(side: str) -> Case:
    def run(spark: "SparkSession", where: Where) -> dict[str, float]:
        frame = spark.readStream.format(side).options(
            **reading(side, where, where["microTopic"]), maxOffsetsPerTrigger="32"
        )
        progress = _available_now(frame.load(), "noop", {})
        full = [one for one in progress if one["numInputRows"]]
        if {one["numInputRows"] for one in full} != {32}:
            raise RuntimeError(f"batches of {[one['numInputRows'] for one in full]} rows, not 32")
        times = [one["durationMs"]["triggerExecution"] for one in full]
        return {"rows": 32.0 * len(full), "batchMs": float(statistics.median(times))}

    return run


def memory(share: int) -> Case:
    """One task for one piece of the topic's first queue, or for all of its queues."""

    def run(spark: "SparkSession", where: Where) -> dict[str, float]:
        options = {**reading(AEROBEE, where, where["topic"]), "maxPartitions": "1"}
        rows = int(where["rows"])
        if share > 1:
            each = rows // int(where["queues"]) // share
            ends = ",".join(f'"{number}":{each}' for number in range(int(where["queues"])))
            options["endingOffsets"] = f'{{"{where["topic"]}":{{"broker-a":{{{ends}}}}}}}'
        _into_nothing(spark.read.format(AEROBEE).options(**options).load())
        return {"rows": float(rows // share)}

    return run


def sink(side: str) -> Case:
    def run(spark: "SparkSession", where: Where) -> dict[str, float]:
        _know(side, spark)
        writing = spark.table(ROWS).write.format(side).options(**_writing(side, where))
        writing.mode("append").save()
        return {"rows": float(where["rows"])}

    return run


def written(side: str) -> Case:
    def run(spark: "SparkSession", where: Where) -> dict[str, float]:
        frame = (
            spark.readStream.schema("key string, value string")
            .option("maxFilesPerTrigger", FILES_A_BATCH)
            .parquet(where["rowsFolder"])
        )
        progress = _available_now(frame, side, _writing(side, where))
        full = [one for one in progress if one["numInputRows"]]
        if len(full) != WRITTEN_BATCHES:
            raise RuntimeError(f"{len(full)} batches, not {WRITTEN_BATCHES}")
        return {"rows": float(sum(one["numInputRows"] for one in full))}

    return run


def _know(side: str, spark: "SparkSession") -> None:
    if side == HANDED:
        from bench.pipeline.handed import Handed

        spark.dataSource.register(Handed)


def _into_nothing(frame: Any) -> None:
    frame.write.format("noop").mode("overwrite").save()


def _available_now(frame: Any, sink: str, options: Mapping[str, str]) -> list[Any]:
    """The progress of every batch of a run to the end of what is there."""
    with tempfile.TemporaryDirectory(prefix="bench-checkpoint-") as checkpoint:
        query = (
            frame.writeStream.format(sink)
            .options(**options)
            .option("checkpointLocation", checkpoint)
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        return list(query.recentProgress)


CASES: dict[str, dict[str, Case]] = {
    "batch": {
        AEROBEE: batch(AEROBEE),
        KAFKA: batch(KAFKA),
        SAME: batch(AEROBEE, columns=SAME_COLUMNS),
        LOG: log(),
        LOG_SAME: log(columns=SAME_COLUMNS),
    },
    "stream": {
        AEROBEE: stream(AEROBEE),
        KAFKA: stream(KAFKA),
        SAME: stream(AEROBEE, columns=SAME_COLUMNS),
    },
    "sink": {AEROBEE: sink(AEROBEE), KAFKA: sink(KAFKA), HANDED: sink(HANDED)},
    "written": {AEROBEE: written(AEROBEE), KAFKA: written(KAFKA)},
    "micro": {AEROBEE: micro(AEROBEE), KAFKA: micro(KAFKA)},
    "memory": {WHOLE: memory(1), EIGHTH: memory(8)},
}
WRITING = ("sink", "written")
"""Cases in which brokers take new pages, which a virtual machine has to have got from its host."""
