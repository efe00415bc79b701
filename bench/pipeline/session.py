"""One Spark session that runs cases as it is told: a line of JSON in, a line of JSON out.

    {"case": "batch", "side": "aerobee", "where": {…}}
    RESULT {"rows": 1000000, "seconds": 1.2, "jvm": 1.9, "python": 0.6, "rssMax": 180000000}

Runs in an environment with the connector's PySpark. `jvm` and `python` are seconds of CPU of the
JVM and of all that it starts, those included that have ended meanwhile: Python processes and, for
every file of a checkpoint, a `chmod`. `rssMax` is the most memory that one of those took that did
something.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

from aerobee.pipeline.session import spark_session
from bench.pipeline.cases import AEROBEE, CASES, KAFKA, ROWS, reading
from bench.pipeline.usage import Usage

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.memory": "3g",
    "spark.driver.host": "127.0.0.1",
    "spark.log.level": "ERROR",
    "spark.sql.streaming.numRecentProgressUpdates": "1000",
    "spark.sql.shuffle.partitions": "2",
}


def main() -> None:
    jars, cores = sys.argv[1], sys.argv[2]
    settings = {**SETTINGS, "spark.jars": ",".join(map(str, Path(jars).glob("*.jar")))}
    spark = spark_session("bench", master=f"local[{cores}]", settings=settings)
    usage = Usage(spark.sparkContext._gateway.proc.pid)
    print("RESULT {}", flush=True)
    for line in sys.stdin:
        told = json.loads(line)
        prepared = _PREPARED.get(told["case"])
        if prepared is not None:
            found = prepared(spark, told["where"])
        else:
            found = _measured(spark, usage, told)
        print("RESULT " + json.dumps(found), flush=True)
    spark.stop()


def _measured(spark: Any, usage: Usage, told: Any) -> dict[str, float]:
    run = CASES[told["case"]][told["side"]]
    usage.forget_memory()
    before = usage.seconds()
    began = time.perf_counter()
    found = run(spark, told["where"])
    seconds = time.perf_counter() - began
    after = usage.seconds()
    return {
        **found,
        "seconds": seconds,
        "jvm": after.jvm - before.jvm,
        "python": after.python - before.python,
        "rssMax": float(usage.memory_max()),
    }


def _made(spark: Any, where: Any) -> dict[str, float]:
    """A topic of Kafka's, by the client that came with the connector."""
    jvm = spark._jvm
    settings = jvm.java.util.Properties()
    settings.setProperty("bootstrap.servers", where["kafka"])
    admin = jvm.org.apache.kafka.clients.admin.AdminClient.create(settings)
    topic = jvm.org.apache.kafka.clients.admin.NewTopic(where["topic"], where["queues"], 1)
    admin.createTopics(jvm.java.util.Collections.singletonList(topic)).all().get()
    admin.close()
    return {}


def _loaded(spark: Any, where: Any) -> dict[str, float]:
    """The same messages as the other side has, as many in each queue, written by the connector."""
    for topic, rows, queues, columns in where["topics"]:
        made = spark.range(rows).selectExpr(*columns, f"cast(id % {queues} AS int) AS partition")
        made.write.format("kafka").option("kafka.bootstrap.servers", where["kafka"]).option(
            "topic", topic
        ).save()
    return {}


def _ready(spark: Any, where: Any) -> dict[str, float]:
    """Rows to write into a topic: in files for streams, and in Spark's memory, so that a write is
    measured and not how its rows are made."""
    rows, files = int(where["rows"]), int(where["files"])
    made = spark.range(0, rows // 2, 1, files).selectExpr(*where["columns"])
    made.write.parquet(where["rowsFolder"])
    cores = spark.sparkContext.defaultParallelism
    made = spark.range(0, rows, 1, cores).selectExpr(*where["columns"])
    made.cache().createOrReplaceTempView(ROWS)
    return {"rows": float(spark.table(ROWS).count())}


def _compared(spark: Any, where: Any) -> dict[str, float]:
    """What the sides hold, as numbers that are the same if the messages are."""
    summed = "sum(crc32(concat(key, value)))"
    found: dict[str, float] = {}
    for side in (AEROBEE, KAFKA):
        table = spark.read.format(side).options(**reading(side, where, where["topic"])).load()
        rows, total = table.selectExpr("count(*)", summed).first()
        found |= {f"{side} rows": float(rows), f"{side} sum": float(total)}
    return found


_PREPARED = {"topic": _made, "load": _loaded, "ready": _ready, "same": _compared}


if __name__ == "__main__":
    main()
