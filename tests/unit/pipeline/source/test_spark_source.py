import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows
from pyspark.sql.types import StructType

from aerobee.errors import Misuse
from aerobee.pipeline.source.range_pull import DataLoss
from aerobee.pipeline.source.spark_source import (
    AerobeeSource,
    AerobeeStreamReader,
    Ranges,
    RocketmqSource,
)
from tests.server_kit import Server
from tests.sink_kit import lag_of

ANY = StructType()


def source(server: Server, topic: str, **more: str) -> AerobeeSource:
    return AerobeeSource({"nameServer": server.name_server, "topic": topic, **more})


@contextmanager
def stream(server: Server, topic: str, **more: str) -> Iterator[AerobeeStreamReader]:
    reader = source(server, topic, **more).streamReader(ANY)
    try:
        yield reader
    finally:
        reader.stop()


def ends(offset: dict[str, Any]) -> list[int]:
    (brokers,) = offset["o"].values()
    return list(brokers["broker-a"].values())


def read(reader: Any, partitions: Any) -> list[int]:
    """As Spark does: what crosses to an executor is pickled."""
    there = pickle.loads(pickle.dumps(reader))
    return sorted(
        row["offset"]
        for partition in partitions
        for batch in there.read(pickle.loads(pickle.dumps(partition)))
        for row in batch.to_pylist()
    )


def test_both_names_are_the_same_source(server: Server) -> None:
    assert (AerobeeSource.name(), RocketmqSource.name()) == ("aerobee", "rocketmq")
    assert source(server, "t", columns="offset").schema() == "offset long"
    assert source(server, "t", maxOffsetsPerTrigger="5").schema().startswith("key binary")
    with pytest.raises(Misuse, match="was columns meant"):
        source(server, "t", column="offset").schema()


def test_a_batch_reads_everything_once(server: Server) -> None:
    server.send("Batch", [b"x"] * 20)
    reader = source(server, "Batch").reader(ANY)
    assert read(reader, reader.partitions()) == sorted([*range(5)] * 4)
    nothing = source(server, "Batch", startingOffsets="latest").reader(ANY)
    assert read(nothing, nothing.partitions()) == []


def test_a_stream_is_pinned_where_it_begins_and_goes_on_from_there(server: Server) -> None:
    server.send("Stream", [b"x"] * 8)
    with stream(server, "Stream") as reader:
        start = reader.initialOffset()
        assert ends(start) == [2] * 4
        server.send("Stream", [b"y"] * 4)
        assert reader.initialOffset() == start
        assert reader.latestOffset(start, reader.getDefaultReadLimit()) == start  # an empty batch
        end = reader.latestOffset(start, reader.getDefaultReadLimit())
        assert ends(end) == [3] * 4
        assert read(reader, reader.partitions(start, end)) == [2] * 4
        assert ends(reader.reportLatestOffset()) == [3] * 4
        reader.commit(end)


def test_a_group_is_told_how_far_a_stream_is_if_that_is_wanted(server: Server) -> None:
    server.send("SourceTells", [b"x"] * 8)
    given = {"startingOffsets": "earliest", "group": "source-tells"}
    for more, expected in (({}, {}), ({"commitOffsets": "true"}, {"SourceTells": 4})):
        with stream(server, "SourceTells", **given, **more) as reader:
            half = {"o": {"SourceTells": {"broker-a": dict.fromkeys("0123", 1)}}, "v": 1}
            reader.commit(half)
        assert lag_of(server, "source-tells") == expected


def test_a_group_that_cannot_be_told_ends_no_stream(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    given = {"group": "source-tells", "commitOffsets": "true", "fetchOffset.numRetries": "0"}
    with stream(server, "SourceTells", **given) as reader:
        reader.commit({"o": {"SourceTells": {"nobody": {"0": 1}}}, "v": 1})
    assert "the group source-tells was not told" in caplog.text


def test_a_batch_is_cut_as_its_checkpoint_says_whatever_machine_does_it_again(
    server: Server,
) -> None:
    server.send("CutAgain", [b"x"] * 40)
    for most in ("3", "4"):
        with stream(server, "CutAgain", startingOffsets="earliest", maxPartitions=most) as reader:
            start = reader.initialOffset()
            limit = reader.getDefaultReadLimit()
            assert reader.latestOffset(start, limit) == start
            end = reader.latestOffset(start, limit)
            assert end["p"] == int(most)
            assert len(reader.partitions(start, end)) == int(most)
            for pieces in (1, 2, 4):
                assert len(reader.partitions(start, {**end, "p": pieces})) == pieces
            assert reader.latestOffset({**end, "p": 9}, limit) == {**end, "p": 9}
            assert reader.latestOffset({**end, "p": 9}, ReadAllAvailable()) == {**end, "p": 9}


def test_a_stream_keeps_its_limits_unless_all_is_wanted(server: Server) -> None:
    server.send("Limits", [b"x"] * 40)
    with stream(server, "Limits", startingOffsets="earliest", maxOffsetsPerTrigger="8") as reader:
        start = reader.initialOffset()
        reader.latestOffset(start, ReadMaxRows(8))
        assert ends(reader.latestOffset(start, ReadMaxRows(8))) == [2] * 4
        assert ends(reader.latestOffset(start, ReadAllAvailable())) == [10] * 4


def test_available_now_goes_as_far_as_when_it_began(server: Server) -> None:
    server.send("Now", [b"x"] * 4)
    with stream(server, "Now", startingOffsets="earliest") as reader:
        reader.prepareForTriggerAvailableNow()
        server.send("Now", [b"y"] * 4)
        start = reader.initialOffset()
        limit = reader.getDefaultReadLimit()
        reader.latestOffset(start, limit)
        end = reader.latestOffset(start, limit)
        assert ends(end) == [1] * 4
        assert reader.latestOffset(end, limit) == end


def test_available_now_finds_what_was_lost_and_takes_nothing_else_for_it(server: Server) -> None:
    server.send("NowLoss", [b"x"] * 4)
    with stream(server, "NowLoss") as reader:
        reader.prepareForTriggerAvailableNow()
        server.send("NowLoss", [b"y"] * 4)
        start = reader.initialOffset()  # at the end, which is later than what was frozen
        limit = reader.getDefaultReadLimit()
        reader.latestOffset(start, limit)
        assert reader.latestOffset(start, limit) == start
        beyond = {"o": {"NowLoss": {"broker-a": {"0": 9, "1": 2, "2": 2, "3": 2}}}, "v": 1}
        with pytest.raises(DataLoss, match="was read up to 9, and ends at 2 now"):
            reader.latestOffset(beyond, limit)


def test_a_stream_waits_for_enough_but_not_for_ever(server: Server) -> None:
    server.send("Enough", [b"x"] * 4)
    for delay, expected in (("1h", [0] * 4), ("0ms", [1] * 4)):
        with stream(
            server,
            "Enough",
            startingOffsets="earliest",
            minOffsetsPerTrigger="5",
            maxTriggerDelay=delay,
        ) as reader:
            start = reader.initialOffset()
            limit = reader.getDefaultReadLimit()
            reader.latestOffset(start, limit)
            assert ends(reader.latestOffset(start, limit)) == expected


def test_a_partition_is_plain_values() -> None:
    partition = Ranges([])
    assert partition.restored() == []
    assert b"aerobee.pipeline.source.offset_ranges" not in pickle.dumps(partition)
