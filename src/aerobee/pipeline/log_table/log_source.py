"""The data source `aerobee-log`, for Spark: the files of a commit log as a table, without a broker.

    spark.read.format("aerobee-log").option("topic", "orders").load("/var/lib/aerobee/store")

The log may be that of a live broker, of a backup, or of a store that RocketMQ wrote. Executors read
the files themselves, so every executor needs them at the same path as the driver. Columns are those
of the source `aerobee`, and `logOffset`. Thin on purpose: the work is done in modules that know no
Spark.
"""

import os
from collections.abc import Iterator, Sequence
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from aerobee.pipeline.log_table.log_files import LogFile
from aerobee.pipeline.log_table.log_options import LogOptions, log_options
from aerobee.pipeline.log_table.log_planning import Gap, LogPart, plan_log
from aerobee.pipeline.log_table.log_reader import read_part
from aerobee.pipeline.spark.worker_memory import settle


class Part(InputPartition):
    """The part of a log that one task reads, as plain values."""

    def __init__(self, part: LogPart) -> None:
        super().__init__(None)
        self.start, self.end = part.start, part.end
        self.files: list[Any] = [tuple(file) for file in part.files]
        self.gaps: list[Any] = [tuple(gap) for gap in part.gaps]

    def restored(self) -> LogPart:
        return LogPart(
            self.start,
            self.end,
            tuple(LogFile(*file) for file in self.files),
            tuple(Gap(*gap) for gap in self.gaps),
        )


class AerobeeLogSource(DataSource):
    @classmethod
    def name(cls) -> str:
        return "aerobee-log"

    def schema(self) -> str:
        return log_options(self.options).ddl()

    def reader(self, schema: StructType) -> "AerobeeLogReader":
        return AerobeeLogReader(log_options(self.options))


class AerobeeLogReader(DataSourceReader):
    def __init__(self, options: LogOptions) -> None:
        self.options = options

    def partitions(self) -> Sequence[InputPartition]:
        planned = plan_log(self.options, os.cpu_count() or 1)
        return [Part(part) for part in planned or [LogPart(0, 0, (), ())]]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        assert isinstance(partition, Part)
        settle(os.getpid())
        return read_part(self.options, partition.restored())
