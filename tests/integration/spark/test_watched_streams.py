"""Queries that are watched, and topics in SQL, through Spark itself."""

import asyncio
import threading
import urllib.request
from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from aerobee.errors import Misuse
from aerobee.pipeline.progress import QueueLag
from aerobee.pipeline.progress_listener import watch_progress
from aerobee.pipeline.tables import register_table
from tests.process_kit import SECONDS_MAX
from tests.server_kit import Server
from tests.spark_kit import finished, stream_frame


def test_a_watched_query_is_a_group_with_its_lag_and_its_last_batch_counts(
    spark: SparkSession, server: Server, tmp_path: Path
) -> None:
    topic, group = "Watched", "spark-watched"
    server.send(topic, [b"x"] * 12)
    done = threading.Event()

    def on_lag(_: str, lags: Sequence[QueueLag]) -> None:
        if sum(lag.offset for lag in lags) == 12:
            done.set()

    options = {"topic": topic, "group": group, "commitOffsets": "true"}
    given = {**options, "nameServer": server.name_server}
    watch = watch_progress(spark, given, on_lag=on_lag, port=0)
    try:
        frame = stream_frame(spark, server.name_server, maxOffsetsPerTrigger="8", **options)
        finished(frame, tmp_path / "c")
        assert done.wait(SECONDS_MAX)
        with urllib.request.urlopen(f"http://127.0.0.1:{watch.page_port}/metrics") as page:
            text = page.read().decode()
    finally:
        watch.close()
    assert text.count(f'topic="{topic}"') == 8
    assert 'queue="3"} 3\n' in text

    async def progress() -> tuple[int, dict[str, int]]:
        async with server.connect() as client:
            found = await client.admin.groups.progress(group)
            return len(found.queues), found.topics()

    assert asyncio.run(progress()) == (4, {topic: 0})


def test_a_topic_in_sql_is_looked_at_anew_by_every_query(
    spark: SparkSession, server: Server
) -> None:
    server.send("InSql", [b"x"] * 5, tag="a")
    table = register_table(spark, "in_sql", nameServer=server.name_server, topic="InSql")
    assert table.columns[:2] == ["key", "value"]
    counting = "SELECT count(*) AS n FROM in_sql"
    assert spark.sql(counting).first().n == 5  # type: ignore[union-attr]
    server.send("InSql", [b"y"] * 4, tag="b")
    assert spark.sql(counting).first().n == 9  # type: ignore[union-attr]
    chosen = f"{counting} WITH (subExpression = 'b')"
    assert spark.sql(chosen).first().n == 4  # type: ignore[union-attr]
    with pytest.raises(Misuse, match="there is a table in_sql already"):
        register_table(spark, "in_sql", nameServer=server.name_server, topic="InSql")
