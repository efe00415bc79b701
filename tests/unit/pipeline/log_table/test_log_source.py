import pickle
from pathlib import Path

import pytest
from pyspark.sql.types import StructType

from aerobee.errors import Misuse
from aerobee.pipeline.log_table.log_planning import Gap, LogPart
from aerobee.pipeline.log_table.log_source import AerobeeLogSource, Part
from pyspark_aerobee_log import DefaultSource
from tests.log_table_kit import Log, message


def test_the_source_is_found_by_its_name_and_says_its_columns() -> None:
    assert DefaultSource is AerobeeLogSource
    assert DefaultSource.name() == "aerobee-log"
    assert AerobeeLogSource({"path": "/s", "columns": "value"}).schema() == "value binary"
    with pytest.raises(Misuse, match="path is missing"):
        AerobeeLogSource({}).schema()


def test_parts_are_plain_values_that_an_executor_reads(tmp_path: Path) -> None:
    Log(tmp_path, [message(n) for n in range(40)])
    reader = AerobeeLogSource({"path": str(tmp_path), "minPartitions": "3"}).reader(StructType())
    there = pickle.loads(pickle.dumps(reader))
    partitions = reader.partitions()
    assert len(partitions) == 3
    found = [
        row["offset"]
        for partition in partitions
        for batch in there.read(pickle.loads(pickle.dumps(partition)))
        for row in batch.to_pylist()
    ]
    assert found == list(range(40))
    part = LogPart(1, 2, (), (Gap(1, 2, "x"),))
    assert Part(part).restored() == part
    assert b"log_planning" not in pickle.dumps(Part(part))


def test_an_empty_log_is_an_empty_table(tmp_path: Path) -> None:
    Log(tmp_path, [])
    reader = AerobeeLogSource({"path": str(tmp_path)}).reader(StructType())
    (partition,) = reader.partitions()
    assert list(reader.read(partition)) == []
