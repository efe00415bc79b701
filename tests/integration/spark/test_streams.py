"""Topics read as streams, through whole queries with checkpoints."""

from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from tests.server_kit import Server, running_broker
from tests.spark_kit import Running, finished, forget_last_commit, stream_frame


def test_a_run_reads_what_is_there_within_its_limits_and_the_next_goes_on(
    spark: SparkSession, server: Server, tmp_path: Path
) -> None:
    topic = "StreamNow"
    server.send(topic, [b"%d" % number for number in range(20)])
    frame = stream_frame(spark, server.name_server, topic=topic, maxOffsetsPerTrigger="8")
    first = finished(frame, tmp_path / "c")
    # Batch 0 is empty: it pins where the stream begins.
    assert [len(rows) for _, rows in sorted(first.items())] == [0, 8, 8, 4]
    assert sorted(int(row.value) for rows in first.values() for row in rows) == list(range(20))
    assert finished(frame, tmp_path / "c") == {}
    server.send(topic, [b"more"] * 4)
    second = finished(frame, tmp_path / "c")
    assert list(second) == [4]
    assert [bytes(row.value) for row in second[4]] == [b"more"] * 4


def test_a_batch_that_was_not_committed_comes_again_in_the_same_partitions(
    spark: SparkSession, server: Server, tmp_path: Path
) -> None:
    topic = "StreamAgain"
    server.send(topic, [b"%d" % number for number in range(24)])
    frame = stream_frame(spark, server.name_server, topic=topic, maxPartitions="3")
    first = finished(frame, tmp_path / "c")
    assert len({row.partition for row in first[1]}) == 3
    assert forget_last_commit(tmp_path / "c") == 1
    server.send(topic, [b"later"] * 4)
    # As on a machine with fewer cores.
    frame = stream_frame(spark, server.name_server, topic=topic, maxPartitions="2")
    again = finished(frame, tmp_path / "c")
    assert again[1] == first[1]
    assert [bytes(row.value) for row in again[2]] == [b"later"] * 4


def test_a_stream_begins_at_its_end_unless_told_and_stays_pinned_there(
    spark: SparkSession, server: Server, tmp_path: Path
) -> None:
    topic = "StreamLatest"
    server.send(topic, [b"old"] * 4)
    frame = stream_frame(spark, server.name_server, topic=topic, startingOffsets="latest")
    assert list(finished(frame, tmp_path / "c").values()) == [[]]
    server.send(topic, [b"new"] * 4)
    rows = [row for batch in finished(frame, tmp_path / "c").values() for row in batch]
    assert [bytes(row.value) for row in rows] == [b"new"] * 4


def test_a_running_stream_finds_new_queues_and_new_brokers(
    spark: SparkSession, server: Server, tmp_path: Path
) -> None:
    topic = "StreamGrows"
    server.create(topic, queues=2)
    server.send(topic, [b"one"] * 4)
    frame = stream_frame(spark, server.name_server, topic=topic, columns="brokerName,queueId,value")
    with Running(frame, tmp_path / "c", processingTime="0 seconds") as running:
        assert {row.queueId for row in running.catch_up()} == {0, 1}
        server.create(topic, queues=4)
        server.send(topic, [b"two"] * 8)
        assert {row.queueId for row in running.catch_up()} == {0, 1, 2, 3}
        home = tmp_path / "b"
        home.mkdir()
        with running_broker(server, home, "broker-b"):
            server.create(topic, queues=2, on="broker-b")
            server.send(topic, [b"three"] * 12)
            rows = running.catch_up()
            running.query.stop()
    assert {row.brokerName for row in rows} == {"broker-a", "broker-b"}
    assert sorted(bytes(row.value) for row in rows) == sorted(
        [b"one"] * 4 + [b"two"] * 8 + [b"three"] * 12
    )


def test_a_topic_that_is_gone_ends_a_stream_unless_loss_is_allowed(
    spark: SparkSession, server: Server, tmp_path: Path
) -> None:
    for topic in ("StreamLossA", "StreamLossB"):
        server.send(topic, [b"old"] * 12)
    options = {"topicsPattern": "StreamLoss.", "fetchOffset.numRetries": "0"}
    finished(stream_frame(spark, server.name_server, **options), tmp_path / "c")
    server.delete("StreamLossA")
    server.send("StreamLossB", [b"new"] * 4)
    with pytest.raises(StreamingQueryException, match="was read up to 3, and is gone"):
        finished(stream_frame(spark, server.name_server, **options), tmp_path / "c")
    allowed = stream_frame(spark, server.name_server, failOnDataLoss="false", **options)
    (rows,) = finished(allowed, tmp_path / "c").values()
    assert [bytes(row.value) for row in rows] == [b"new"] * 4
