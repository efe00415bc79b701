"""One Spark session that runs cases as it is told: a line of JSON in, a line of JSON out.

    {"case": "batch", "side": "aerobee", "where": {…}}
    RESULT {"rows": 1000000, "seconds": 1.2, "jvm": 1.9, "python": 0.6, "rssMax": 180000000}

Runs in an environment with the connector's PySpark. `jvm` and `python` are seconds of CPU of the
session's processes. Python's are those that still live at the end: workers are used again, but one
that ended meanwhile takes its seconds along.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from aerobee.pipeline.session import spark_session
from bench.pipeline.cases import CASES

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.memory": "3g",
    "spark.driver.host": "127.0.0.1",
    "spark.log.level": "ERROR",
    "spark.sql.streaming.numRecentProgressUpdates": "1000",
    "spark.sql.shuffle.partitions": "2",
}
_TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    jars, cores = sys.argv[1], sys.argv[2]
    settings = {**SETTINGS, "spark.jars": ",".join(map(str, Path(jars).glob("*.jar")))}
    spark = spark_session("bench", master=f"local[{cores}]", settings=settings)
    jvm = spark.sparkContext._gateway.proc.pid
    print("RESULT {}", flush=True)
    for line in sys.stdin:
        told = json.loads(line)
        if told["case"] == "topic":
            found = _made(spark, told["where"])
        elif told["case"] == "load":
            found = _loaded(spark, told["where"])
        else:
            found = _measured(spark, jvm, told)
        print("RESULT " + json.dumps(found), flush=True)
    spark.stop()


def _measured(spark: Any, jvm: int, told: Any) -> dict[str, float]:
    run = CASES[told["case"]][told["side"]]
    before = _cpu(jvm)
    began = time.perf_counter()
    found = run(spark, told["where"])
    seconds = time.perf_counter() - began
    after = _cpu(jvm)
    workers = [pid for pid in _below(jvm) if pid != jvm]
    return {
        **found,
        "seconds": seconds,
        "jvm": after[0] - before[0],
        "python": max(0.0, after[1] - before[1]),
        "rssMax": float(max((_rss_max(pid) for pid in workers), default=0)),
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
    """The same messages as the other side has, written by the connector."""
    for topic, rows, key, value in where["topics"]:
        made = spark.range(rows).selectExpr(f"{key} AS key", f"{value} AS value")
        made.write.format("kafka").option("kafka.bootstrap.servers", where["kafka"]).option(
            "topic", topic
        ).save()
    return {}


def _below(pid: int) -> list[int]:
    """A process and all that came of it."""
    found = [pid]
    for one in found:
        for task in Path(f"/proc/{one}/task").glob("*/children"):
            try:
                found += [int(child) for child in task.read_text().split()]
            except OSError:
                continue
    return found


def _cpu(jvm: int) -> tuple[float, float]:
    """Of the JVM, and of everything below it."""
    seconds = {pid: _seconds(pid) for pid in _below(jvm)}
    own = seconds.pop(jvm, 0.0)
    return own, sum(seconds.values())


def _seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / float(_TICKS)


def _rss_max(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return next(
        (int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("VmHWM")), 0
    )


if __name__ == "__main__":
    main()
