from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.types import LongType, StructType

from aerobee.errors import Misuse
from aerobee.pipeline.delta.delta_sink import (
    DATE,
    DeltaCommit,
    DeltaSink,
    DeltaWriter,
    dated_files,
)
from aerobee.pipeline.delta.delta_table import opened

DAYS = ["2026-11-15", "2026-11-16"]


def columns() -> StructType:
    from pyspark.sql.types import DateType

    return StructType().add("n", LongType()).add(DATE, DateType())


def batch(*rows: tuple[int, str]) -> Any:
    from datetime import date

    import pyarrow as pa

    return pa.RecordBatch.from_pylist(
        [{"n": number, DATE: date.fromisoformat(day)} for number, day in rows]
    )


def written(folder: Path, *batches: Any, name: str = "part.parquet") -> DeltaCommit:
    return DeltaCommit("query", dated_files(str(folder), name, iter(batches)))


def table_at(folder: Path) -> list[tuple[int, str]]:
    table = opened(str(folder))
    assert table is not None
    rows = table.to_pyarrow_table().to_pylist()
    return sorted((row["n"], str(row[DATE])) for row in rows)


def test_a_task_writes_a_file_for_each_date(tmp_path: Path) -> None:
    one = written(tmp_path, batch((1, DAYS[0]), (2, DAYS[1])), batch((3, DAYS[1])))
    assert [(path, day, rows) for path, day, _, rows in one.files] == [
        (f"date={DAYS[0]}/part.parquet", DAYS[0], 1),
        (f"date={DAYS[1]}/part.parquet", DAYS[1], 2),
    ]
    assert all((tmp_path / path).stat().st_size == size for path, _, size, _ in one.files)


def test_a_batch_is_in_the_table_once_however_often_it_is_committed(tmp_path: Path) -> None:
    writer = DeltaWriter(str(tmp_path), columns())
    first = [
        written(tmp_path, batch((1, DAYS[0])), name="a.parquet"),
        written(tmp_path, name="nothing.parquet"),
        written(tmp_path, batch((2, DAYS[1])), name="b.parquet"),
    ]
    writer.commit(first, 0)
    assert table_at(tmp_path) == [(1, DAYS[0]), (2, DAYS[1])]
    writer.commit([written(tmp_path, batch((1, DAYS[0])), name="again.parquet")], 0)
    assert table_at(tmp_path) == [(1, DAYS[0]), (2, DAYS[1])]
    writer.commit([written(tmp_path, batch((3, DAYS[1])), name="c.parquet")], 1)
    assert table_at(tmp_path) == [(1, DAYS[0]), (2, DAYS[1]), (3, DAYS[1])]


def test_an_attempt_that_broke_off_says_nothing_of_its_files(tmp_path: Path) -> None:
    def broken() -> Any:
        yield batch((1, DAYS[0]))
        raise OSError("it was planted")

    with pytest.raises(OSError, match="planted"):
        dated_files(str(tmp_path), "part.parquet", broken())
    DeltaWriter(str(tmp_path), columns()).commit([None], 0)
    assert opened(str(tmp_path)) is None


def test_a_table_without_a_path_or_a_date_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="a column date"):
        DeltaSink({"path": str(tmp_path)}).streamWriter(StructType().add("n", LongType()), False)
    with pytest.raises(Misuse, match="an option path"):
        DeltaSink({}).streamWriter(columns(), False)
