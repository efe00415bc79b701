"""What is measured: each case once for every side, in the same Spark session.

A case is a function of the session and of where things are; it does its work and says how many rows
that was, or how long a batch took. Whoever adds one adds a line to `CASES`.

    batch    the whole topic, into nothing
    stream   the same, as one AvailableNow query with a new checkpoint
    log      the broker's own files; the other side of this one is our batch
    micro    32 queues, a message of each in a batch: milliseconds of the median batch
    sink     as many rows, made by Spark, written into a topic; `handed` is a Python sink that only
             counts them
"""

import statistics
import tempfile
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AEROBEE = "aerobee"
KAFKA = "kafka"
LOG = "log"
HANDED = "handed"

KEY = "lpad(cast(id AS string), 16, '0')"
VALUE = "rpad(lpad(cast(id AS string), 16, '0'), 100, 'x')"

Where = Mapping[str, str]
"""nameServer, kafka, store, topic, microTopic, sinkTopic, rows."""
Case = Callable[["SparkSession", Where], dict[str, float]]


def _options(side: str, where: Where, topic: str) -> dict[str, str]:
    if side == KAFKA:
        return {
            "kafka.bootstrap.servers": where["kafka"],
            "subscribe": topic,
            "startingOffsets": "earliest",
        }
    return {"nameServer": where["nameServer"], "topic": topic, "startingOffsets": "earliest"}


def batch(side: str) -> Case:
    def run(spark: "SparkSession", where: Where) -> dict[str, float]:
        options = _options(side, where, where["topic"])
        spark.read.format(side).options(**options).load().write.format("noop").mode(
            "overwrite"
        ).save()
        return {"rows": float(where["rows"])}

    return run


def stream(side: str) -> Case:
    def run(spark: "SparkSession", where: Where) -> dict[str, float]:
        frame = spark.readStream.format(side).options(**_options(side, where, where["topic"]))
        progress = _available_now(frame.load())
        return {"rows": float(sum(one["numInputRows"] for one in progress))}

    return run


def log(spark: "SparkSession", where: Where) -> dict[str, float]:
    reading = spark.read.format("aerobee-log").option("topic", where["topic"])
    reading.load(where["store"]).write.format("noop").mode("overwrite").save()
    return {"rows": float(where["rows"])}


def micro(side: str) -> Case:
    def run(spark: "SparkSession", where: Where) -> dict[str, float]:
        frame = spark.readStream.format(side).options(
            **_options(side, where, where["microTopic"]), maxOffsetsPerTrigger="32"
        )
        progress = [one for one in _available_now(frame.load()) if one["numInputRows"]]
        times = [one["durationMs"]["triggerExecution"] for one in progress]
        rows = float(sum(one["numInputRows"] for one in progress))
        return {"rows": rows, "batchMs": float(statistics.median(times))}

    return run


def sink(side: str) -> Case:
    def run(spark: "SparkSession", where: Where) -> dict[str, float]:
        if side == HANDED:
            from bench.pipeline.handed import Handed

            spark.dataSource.register(Handed)
        rows = int(where["rows"])
        made = spark.range(rows).selectExpr(f"{KEY} AS key", f"{VALUE} AS value")
        address = {
            AEROBEE: ("nameServer", where["nameServer"]),
            KAFKA: ("kafka.bootstrap.servers", where["kafka"]),
        }
        options = {"topic": where["sinkTopic"], **dict([address[side]] if side in address else [])}
        made.write.format(side).options(**options).mode("append").save()
        return {"rows": float(rows)}

    return run


def _available_now(frame: Any) -> list[Any]:
    """The progress of every batch of a run to the end of what is there."""
    with tempfile.TemporaryDirectory(prefix="bench-checkpoint-") as checkpoint:
        query = (
            frame.writeStream.format("noop")
            .option("checkpointLocation", checkpoint)
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        return list(query.recentProgress)


CASES: dict[str, dict[str, Case]] = {
    "batch": {AEROBEE: batch(AEROBEE), KAFKA: batch(KAFKA), LOG: log},
    "stream": {AEROBEE: stream(AEROBEE), KAFKA: stream(KAFKA)},
    "sink": {AEROBEE: sink(AEROBEE), KAFKA: sink(KAFKA), HANDED: sink(HANDED)},
    "micro": {AEROBEE: micro(AEROBEE), KAFKA: micro(KAFKA)},
}
