import pickle

import pytest
from pyspark.sql.types import (
    BinaryType,
    DataType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from aerobee.errors import Misuse
from aerobee.pipeline.sink.partition_writer import WriteTask, write_partition
from aerobee.pipeline.sink.spark_sink import (
    AerobeeStreamWriter,
    AerobeeWriter,
    TaskCommit,
    checked_options,
)
from aerobee.pipeline.source.spark_source import AerobeeSource, RocketmqSource
from tests.server_kit import Server
from tests.sink_kit import all_values, numbered, options_of, write

GIVEN = {"nameServer": "127.0.0.1:1", "topic": "t"}


def schema(**columns: DataType) -> StructType:
    return StructType([StructField(name, kind) for name, kind in columns.items()])


VALUE = schema(value=StringType())


def test_the_source_writes_too_under_both_names() -> None:
    for kind in (AerobeeSource, RocketmqSource):
        source = kind(GIVEN)
        assert isinstance(source.writer(VALUE, False), AerobeeWriter)
        assert isinstance(source.streamWriter(VALUE, False), AerobeeStreamWriter)


def test_options_and_columns_are_checked_before_any_task() -> None:
    with pytest.raises(Misuse, match="no column 'offset'"):
        checked_options(
            GIVEN,
            schema(offset=LongType(), value=StringType()),
            is_stream=True,
            overwrite=False,
        )
    with pytest.raises(Misuse, match="was topic meant"):
        checked_options({**GIVEN, "topi": "x"}, VALUE, is_stream=True, overwrite=False)
    with pytest.raises(Misuse, match="cannot be overwritten"):
        checked_options(GIVEN, VALUE, is_stream=False, overwrite=True)
    nested = schema(
        value=BinaryType(),
        properties=MapType(StringType(), StringType()),
        deliverAt=TimestampType(),
    )
    assert checked_options(GIVEN, nested, is_stream=True, overwrite=True).topic == "t"


def test_all_attempts_of_a_write_without_an_id_have_the_same() -> None:
    writer = AerobeeSource(GIVEN).writer(VALUE, False)
    assert pickle.loads(pickle.dumps(writer))._write_id == writer._write_id
    assert AerobeeSource(GIVEN).writer(VALUE, False)._write_id != writer._write_id


def test_only_a_task_of_spark_writes() -> None:
    with pytest.raises(Misuse, match="this is none"):
        AerobeeSource(GIVEN).writer(VALUE, False).write(iter([]))


def test_a_batch_write_that_is_committed_is_done(server: Server) -> None:
    options = options_of(server, "SinkCommitted", writeId="committed", batchId="3")
    task = WriteTask("committed", 3, 0)
    written = TaskCommit(*write_partition(options, task, numbered(50)))
    for _ in range(2):
        AerobeeWriter(options).commit([written, None])
    assert write(server, "SinkCommitted", numbered(80), task=task) == 80
    assert len(all_values(server, "SinkCommitted")) == 50


def test_a_streams_batch_may_be_done_again_after_its_commit(server: Server) -> None:
    options = options_of(server, "SinkStreamed")
    task = WriteTask("streamed", 3, 0)
    written = TaskCommit(*write_partition(options, task, numbered(50)))
    AerobeeStreamWriter(options).commit([written], 3)
    assert write(server, "SinkStreamed", numbered(80), task=task) == 80
    assert len(all_values(server, "SinkStreamed")) == 80


def test_a_write_without_rows_asks_nobody() -> None:
    options = checked_options(GIVEN, VALUE, is_stream=False, overwrite=False)
    AerobeeWriter(options).commit([TaskCommit(0, None), None])
