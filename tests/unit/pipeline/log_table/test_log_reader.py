import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from aerobee.model.flags import CompressionType, with_compression_type
from aerobee.pipeline.log_table.log_files import DamagedLog, Reach
from aerobee.pipeline.log_table.log_options import log_options
from aerobee.pipeline.log_table.log_planning import plan_log
from aerobee.pipeline.log_table.log_reader import read_part
from aerobee.protocol.message.compression import compress
from tests.fixture_store import STORES, expected_messages, unpack
from tests.log_table_kit import Log, message, rows


def numbers(found: list[dict[str, Any]]) -> list[int | None]:
    return [row["offset"] for row in found]


@pytest.mark.parametrize("parts", ["1", "9"])
@pytest.mark.parametrize("name", STORES)
def test_a_store_of_apaches_is_read_as_apache_reads_it(
    tmp_path: Path, name: str, parts: str
) -> None:
    store = unpack(name, tmp_path)
    found = rows(store, minPartitions=parts, columns="topic,queueId,offset,msgId,timestamp")
    places = {(row["topic"], row["queueId"], row["offset"]): row for row in found}
    assert len(places) == len(found)
    expected = list(expected_messages(name))
    assert len(expected) > 1000
    for topic, queue_id, told in expected:
        row = places.pop((topic, queue_id, told["queueOffset"]))
        assert int(row["timestamp"].timestamp() * 1000) == told["storeTimestamp"]
    # What is in the log and in no queue: a topic that was deleted.
    assert {topic for topic, _, _ in places} == {"FixDeleted"}


def test_every_column_is_the_messages(tmp_path: Path) -> None:
    Log(tmp_path, [message(3, b"hello", properties={"KEYS": "k", "TAGS": "t", "x": "y"})])
    (row,) = rows(tmp_path, brokerName="broker-x")
    assert (row["key"], row["value"], row["topic"]) == (b"k", b"hello", "t")
    assert (row["brokerName"], row["queueId"], row["offset"]) == ("broker-x", 0, 3)
    assert (row["tags"], row["logOffset"], row["reconsumeTimes"]) == ("t", 0, 0)
    assert row["properties"] == "KEYS\x01k\x02TAGS\x01t\x02x\x01y\x02"
    assert row["timestamp"].microsecond == 3000
    assert rows(tmp_path)[0]["brokerName"] is None


def test_batches_have_no_more_rows_than_asked_for(tmp_path: Path) -> None:
    Log(tmp_path, [message(n) for n in range(70)])
    options = log_options({"path": str(tmp_path), "batchSize": "32"})
    (part,) = plan_log(options, 1)
    assert [batch.num_rows for batch in read_part(options, part)] == [32, 32, 6]


def test_compressed_bodies_come_expanded_and_those_of_other_topics_are_left(
    tmp_path: Path,
) -> None:
    flag = with_compression_type(0, CompressionType.ZLIB)
    packed = compress(b"long " * 100, CompressionType.ZLIB)
    messages = [message(n, packed, sys_flag=flag) if n % 2 else message(n) for n in range(6)]
    messages.append(message(9, b"no zlib", sys_flag=flag, topic="other"))
    Log(tmp_path, messages)
    found = rows(tmp_path, topic="t", batchSize="4")
    assert [row["value"] for row in found] == [b"body", b"long " * 100] * 3


def test_topics_times_and_places_choose_rows(tmp_path: Path) -> None:
    log = Log(tmp_path, [message(n, topic="ab"[n % 2]) for n in range(60)])
    assert numbers(rows(tmp_path, topic="a")) == list(range(0, 60, 2))
    assert numbers(rows(tmp_path, topics="b,c")) == list(range(1, 60, 2))
    assert numbers(rows(tmp_path, startingTimestamp="7", endingTimestamp="50")) == [*range(7, 50)]
    start, end = log.places[5][0], log.places[40][0]
    for more, expected in ((0, range(5, 40)), (1, range(6, 41))):
        found = rows(tmp_path, startingLogOffset=str(start + more), endingLogOffset=str(end + more))
        assert numbers(found) == list(expected)


def test_damage_is_an_error_that_says_where(tmp_path: Path) -> None:
    log = Log(tmp_path, [message(n) for n in range(60)])
    start, end = log.places[30]
    log.put(start + 90, b"\xff")
    with pytest.raises(DamagedLog, match=rf"\[{start}, {end}\).*checksum.*{log.path(start).name}"):
        rows(tmp_path)
    with pytest.raises(DamagedLog):
        rows(tmp_path, topic="other")  # whose it was cannot be known


@pytest.mark.parametrize("parts", ["1", "13"])
def test_reported_damage_is_a_row_and_everything_else_is_read(tmp_path: Path, parts: str) -> None:
    log = Log(tmp_path, [message(n) for n in range(150)])
    start, end = log.places[30]
    log.put(start, bytes(end - start))
    log.path(2 * log.file_bytes).unlink()
    lost = {n for n, (at, _) in enumerate(log.places) if at // log.file_bytes == 2} | {30}
    found = rows(tmp_path, reach=Reach(300, 600), onDamage="report", minPartitions=parts)
    good = [row for row in found if row["damage"] is None]
    assert numbers(good) == [n for n in range(150) if n not in lost]
    assert {row["damagedBytes"] for row in good} == {None}
    bad = sorted(
        (row for row in found if row["damage"] is not None), key=lambda row: row["logOffset"]
    )
    assert [(row["logOffset"], row["damagedBytes"], row["damage"]) for row in bad] == [
        (start, end - start, "no record"),
        (2 * log.file_bytes, log.file_bytes, "no file has it"),
    ]
    assert {row["topic"] for row in bad} == {None}


def peak_bytes(folder: Path) -> int:
    options = log_options({"path": str(folder), "batchSize": "8", "columns": "value"})
    (part,) = plan_log(options, 1)
    tracemalloc.start()
    count = sum(batch.num_rows for batch in read_part(options, part))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count
    return peak


def test_a_task_needs_no_more_memory_for_more_of_a_log(tmp_path: Path) -> None:
    sizes = {"short": 100, "long": 400}
    for name, count in sizes.items():
        messages = [message(n, b"x" * 50_000) for n in range(count)]
        Log(tmp_path / name, messages, 32 << 20)
    short, long = (peak_bytes(tmp_path / name) for name in sizes)
    assert long < 1.2 * short


def test_the_end_of_the_log_is_where_it_was_when_the_read_was_planned(tmp_path: Path) -> None:
    log = Log(tmp_path / "a", [message(n) for n in range(10)])
    longer = Log(tmp_path / "b", [message(n) for n in range(15)])
    options = log_options({"path": str(log.folder)})
    planned = plan_log(options, 1)
    log.path(0).write_bytes(longer.path(0).read_bytes())
    found = [row for part in planned for b in read_part(options, part) for row in b.to_pylist()]
    assert numbers(found) == list(range(10))
    assert numbers(rows(log.folder)) == list(range(15))
