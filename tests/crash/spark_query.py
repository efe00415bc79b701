"""A streaming query in a process of its own: a topic, a transformation, a topic.

    python -m tests.crash.spark_query '{"master": …, "source": {…}, "sink": {…}, …}'

It says `ready`; for each line that it reads it takes everything that is there, commits it, and says
`drained`. Each row that passes adds a byte to the file `steps`, in whichever process that happens:
so a test knows how far a query is, and whether rows were done again. A row whose number is in the
file `hold` waits there, and says so by the file `held`, until `hold` is gone.
"""

import json
import sys
import threading
from pathlib import Path
from typing import Any

from aerobee.pipeline.session import spark_session

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.log.level": "WARN",
    # So that rows are on their way while others are still to come.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10",
    "spark.sql.execution.python.udf.maxRecordsPerBatch": "10",
    "spark.buffer.size": "256",
    "spark.task.maxFailures": "20",
}


def started(given: dict[str, Any]) -> Any:
    from pyspark.sql.functions import col, udf

    spark = spark_session("killed", master=given["master"], settings=SETTINGS)
    steps, hold, held = (str(Path(given["folder"]) / name) for name in ("steps", "hold", "held"))

    def doubled(value: bytearray) -> str:
        with open(steps, "ab") as file:
            file.write(b".")
        while Path(hold).exists() and Path(hold).read_bytes() == value:
            Path(held).touch()
            threading.Event().wait(0.01)
        return f"{int(value)} {2 * int(value)}"

    rows = spark.readStream.format("aerobee").options(**given["source"]).load()
    number = col("value").cast("string").cast("int")
    rows = rows.select(
        "key",
        udf(doubled, "string", useArrow=False)("value").alias("value"),
        (number % given["keys"]).cast("string").alias("orderingKey"),
    )
    writer = rows.writeStream.format("aerobee").options(**given["sink"])
    return writer.option("checkpointLocation", given["checkpoint"]).start()


def main(given: dict[str, Any]) -> None:
    query = started(given)
    print("ready", flush=True)
    for _ in sys.stdin:
        query.processAllAvailable()
        print("drained", flush=True)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
