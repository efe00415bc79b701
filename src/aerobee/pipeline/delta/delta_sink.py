"""A sink for streams: tasks write Parquet files, and the driver makes them part of a Delta table.

    tasks     a file for each date and task, with a unique name
    driver    one commit for each batch, with (query, batch) in it

A replayed batch finds its number in the table and adds nothing. Files of an attempt that failed are
in the folder and not in the table; Delta's `vacuum` takes them away.
"""

import json
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import (
    DataSource,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)
from pyspark.sql.types import StructType

from aerobee.errors import Misuse
from aerobee.pipeline.delta.delta_table import is_applied, once, opened

if TYPE_CHECKING:
    import pyarrow as pa

NAME = "aerobee-delta"
DATE = "date"

DatedFile = tuple[str, str, int, int]
"""Path in the table, date, bytes, rows."""


@dataclass
class DeltaCommit(WriterCommitMessage):
    """The files that one task wrote, as plain values."""

    query: str
    files: list[DatedFile]


class DeltaSink(DataSource):
    """Writes to the table at `path`, partitioned by the column `date`."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def streamWriter(self, schema: StructType, overwrite: bool) -> "DeltaWriter":
        path = self.options.get("path")
        if not path or DATE not in schema.names:
            raise Misuse("a Delta sink takes an option path and a column date")
        return DeltaWriter(path, schema)


class DeltaWriter(DataSourceStreamArrowWriter):
    def __init__(self, path: str, schema: StructType) -> None:
        self._path = path
        self._schema = schema

    def write(self, iterator: "Iterator[pa.RecordBatch]") -> DeltaCommit:
        from pyspark import TaskContext

        task = TaskContext.get()
        assert task is not None
        query = task.getLocalProperty("sql.streaming.queryId") or ""
        name = f"part-{task.partitionId():05}-{uuid.uuid4()}.parquet"
        return DeltaCommit(query, dated_files(self._path, name, iterator))

    def commit(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:
        written = [one for one in messages if isinstance(one, DeltaCommit) and one.files]
        if not written:
            return
        from deltalake import DeltaTable
        from deltalake.schema import Schema
        from deltalake.transaction import AddAction, RemoveAction

        query = written[0].query
        table = opened(self._path)
        if is_applied(table, query, batchId):
            return
        schema = Schema.from_json(self._schema.json())
        if table is None:
            table = DeltaTable.create(self._path, schema, mode="ignore", partition_by=[DATE])
        now_ms = int(time.time() * 1000)
        actions: list[AddAction | RemoveAction] = [
            AddAction(path, size, {DATE: date}, now_ms, True, json.dumps({"numRecords": rows}))
            for one in written
            for path, date, size, rows in one.files
        ]
        table.create_write_transaction(
            actions, "append", schema, [DATE], commit_properties=once(query, batchId)
        )

    def abort(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:
        """Do nothing: files that were not committed are not in the table."""


def dated_files(root: str, name: str, batches: "Iterator[pa.RecordBatch]") -> list[DatedFile]:
    """Write a file of this name for each date in the rows."""
    files = _DatedFiles(root, name)
    try:
        for batch in batches:
            files.add(batch)
    finally:
        files.close()
    return files.finished()


class _DatedFiles:
    """Open files, by date."""

    def __init__(self, root: str, name: str) -> None:
        from pyarrow import fs

        if "://" in root:
            self._system, self._root = fs.FileSystem.from_uri(root)
        else:
            self._system, self._root = fs.LocalFileSystem(), root
        self._name = name
        self._writers: dict[str, Any] = {}
        self._rows: dict[str, int] = {}

    def add(self, batch: "pa.RecordBatch") -> None:
        import pyarrow.compute as pc

        dates = batch.column(DATE)
        values = batch.drop_columns([DATE])
        for date in pc.unique(dates):
            chosen = values.filter(pc.equal(dates, date))
            self._writer(str(date), chosen).write_batch(chosen)
            self._rows[str(date)] += chosen.num_rows

    def close(self) -> None:
        for writer in self._writers.values():
            writer.close()

    def finished(self) -> list[DatedFile]:
        return [
            (
                self._place(date),
                date,
                self._system.get_file_info(f"{self._root}/{self._place(date)}").size,
                rows,
            )
            for date, rows in sorted(self._rows.items())
        ]

    def _writer(self, date: str, like: "pa.RecordBatch") -> Any:
        import pyarrow.parquet as pq

        found = self._writers.get(date)
        if found is None:
            self._system.create_dir(f"{self._root}/{DATE}={date}", recursive=True)
            place = f"{self._root}/{self._place(date)}"
            found = pq.ParquetWriter(
                place, like.schema, filesystem=self._system, compression="zstd"
            )
            self._writers[date] = found
            self._rows[date] = 0
        return found

    def _place(self, date: str) -> str:
        return f"{DATE}={date}/{self._name}"
