"""A capture of a real database into a real broker: what topics have is what tables have."""

import asyncio
import json
from typing import Any

import pytest

from aerobee.pipeline.capture.capture import Capture, SnapshotMode
from aerobee.pipeline.capture.envelope import Op
from aerobee.pipeline.capture.errors import PositionLost
from aerobee.pipeline.capture.meter import Meter
from aerobee.pipeline.capture.position import CaptureState, Phase
from aerobee.pipeline.capture.state_topic import StateTopic
from aerobee.pipeline.capture.tables import TopicNames
from tests.capture_kit import Shop, check_states

_UUID = "123e4567-e89b-12d3-a456-426614174000"
_TYPES = {
    "id": ("BIGINT UNSIGNED PRIMARY KEY", "18446744073709551615", 18446744073709551615),
    "tiny": ("TINYINT", "-5", -5),
    "de": ("DECIMAL(20,5)", "-123.456", "-123.45600"),
    "small": ("DECIMAL(65,30)", "-1e-30", "-0.000000000000000000000000000001"),
    "f": ("FLOAT", "0.1", 0.1),
    "f2": ("FLOAT", "16777216", 16777216.0),
    "d": ("DOUBLE", "0.1", 0.1),
    "da": ("DATE", "'2020-02-29'", "2020-02-29"),
    "zero": ("DATE", "'0000-00-00'", None),
    "dt": ("DATETIME(6)", "'2020-01-02 03:04:05.678901'", "2020-01-02T03:04:05.678901"),
    "half": ("DATETIME", "'2020-00-01 00:00:00'", None),
    "ts": ("TIMESTAMP(6) NULL", "'2020-01-02 03:04:05.678901'", "2020-01-02T01:04:05.678901Z"),
    "ts0": ("TIMESTAMP NULL", "'0000-00-00 00:00:00'", None),
    "ti": ("TIME(3)", "'-00:00:00.250'", "-00:00:00.25"),
    "ye": ("YEAR", "2024", 2024),
    "ye0": ("YEAR", "0", 0),
    "bi": ("BIT(10)", "b'1000000001'", 513),
    "en": ("ENUM('x','é','z') CHARACTER SET latin1", "'é'", "é"),
    "en0": ("ENUM('x')", "''", ""),
    "se": ("SET('a','ü','c')", "'c,ü'", "ü,c"),
    "se0": ("SET('a')", "''", ""),
    "bin": ("BINARY(5)", "x'0100'", "AQAAAAA="),
    "vb": ("VARBINARY(10)", "x'00ff00'", "AP8A"),
    "bl": ("BLOB", "x'ff00'", "/wA="),
    "tx": ("TEXT", "'grüße 🐝'", "grüße 🐝"),
    "js": ("JSON", """'{"a": [1, "ü"]}'""", '{"a": [1, "ü"]}'),
    "la": ("VARCHAR(9) CHARACTER SET latin1", "'é€'", "é€"),
    "ch": ("CHAR(4)", "'ab'", "ab"),
    "long_": ("VARCHAR(300)", "REPEAT('x', 300)", "x" * 300),
    "un": ("UUID", f"'{_UUID}'", _UUID),
    "ip": ("INET6", "'::1'", "::1"),
    "nu": ("INT", "NULL", None),
    "se1": ("SET('a')", "NULL", None),
    "iv": ("INT INVISIBLE DEFAULT 7", "7", 7),
    "vi": ("INT AS (tiny + 1) VIRTUAL", "", -4),
    "st": ("INT AS (tiny + 2) STORED", "", -3),
    "bo": ("BOOLEAN", "TRUE", 1),
}


def test_values_of_all_types_are_the_same_from_a_snapshot_and_from_the_log(shop: Shop) -> None:
    columns = ", ".join(f"{name} {said[0]}" for name, said in _TYPES.items())
    given = {name: said[1] for name, said in _TYPES.items() if said[1]}
    insert = f"({', '.join(given)}) VALUES ({', '.join(given.values())})"
    shop.run(
        "SET sql_mode = '', time_zone = '+02:00'",
        f"CREATE TABLE a ({columns}) CHARACTER SET utf8mb4",
        "CREATE TABLE b LIKE a",
        f"INSERT INTO a {insert}",
    )
    assert shop.capture().rows == {"r": 1}
    shop.run("SET sql_mode = '', time_zone = '+02:00'", f"INSERT INTO b {insert}")
    assert shop.capture().rows == {"c": 1}
    expected = {name: said[2] for name, said in _TYPES.items()}
    (read,) = shop.envelopes("a")
    (created,) = shop.envelopes("b")
    assert read.after == expected
    assert created.after == expected
    assert read.key == {"id": 18446744073709551615}


def test_a_table_in_a_topic_equals_the_table(shop: Shop) -> None:
    shop.run(
        "CREATE TABLE a (k INT PRIMARY KEY, v VARCHAR(20))",
        "INSERT INTO a SELECT seq, CONCAT('v', seq) FROM seq_1_to_2500",
    )
    assert shop.capture().rows == {"r": 2500}
    shop.run(
        "UPDATE a SET v = 'changed' WHERE k % 5 = 0",
        "DELETE FROM a WHERE k % 7 = 0",
        "UPDATE a SET k = k + 100000 WHERE k % 11 = 0",
        "INSERT INTO a VALUES (7, 'again')",
        "UPDATE a SET v = 'twice' WHERE k < 100",
    )
    shop.capture()
    assert [tuple(row.values()) for row in sorted(shop.replica("a"), key=lambda row: row["k"])] == [
        tuple(row) for row in shop.rows("a")
    ]
    moved = [one for one in shop.envelopes("a") if one.after and len(str(one.after["k"])) == 6]
    assert {one.op for one in moved} == {Op.CREATE}


def test_what_was_captured_is_not_captured_again(shop: Shop) -> None:
    shop.run("CREATE TABLE a (k INT PRIMARY KEY)", "INSERT INTO a VALUES (1)")
    shop.capture()
    shop.run("INSERT INTO a VALUES (2)")
    shop.capture()
    assert shop.capture().rows == {}
    assert [one.op for one in shop.envelopes("a")] == [Op.READ, Op.CREATE]


def test_rows_of_a_transaction_are_numbered_over_all_its_tables(shop: Shop) -> None:
    shop.run("CREATE TABLE a (k INT PRIMARY KEY)", "CREATE TABLE b (k INT PRIMARY KEY)")
    shop.capture()
    shop.run("BEGIN", "INSERT INTO a VALUES (1), (2)", "INSERT INTO b VALUES (3)", "COMMIT")
    shop.run("INSERT INTO b VALUES (4)")
    shop.capture()
    found = {
        one.after["k"]: one.transaction
        for table in "ab"
        for one in shop.envelopes(table)
        if one.after and one.transaction
    }
    name = found[1][0]
    assert [found[key] for key in (1, 2, 3)] == [(name, 0), (name, 1), (name, 2)]
    assert found[4][0] != name
    assert found[4][1] == 0


def test_a_table_that_was_emptied_or_dropped_is_empty(shop: Shop) -> None:
    shop.run(
        "CREATE TABLE a (k INT PRIMARY KEY)",
        "CREATE TABLE b (k INT PRIMARY KEY)",
        "INSERT INTO a SELECT seq FROM seq_1_to_50",
        "INSERT INTO b SELECT seq FROM seq_1_to_50",
    )
    shop.capture()
    shop.run("TRUNCATE a", "INSERT INTO a VALUES (3)", "DROP TABLE b")
    shop.capture()
    assert shop.replica("a") == [{"k": 3}]
    assert shop.replica("b") == []


def test_a_new_snapshot_forgets_what_is_not_there_any_more(shop: Shop) -> None:
    shop.run("CREATE TABLE a (k INT PRIMARY KEY)", "INSERT INTO a VALUES (1), (2)")
    shop.capture()
    shop.run("SET sql_log_bin = 0", "DELETE FROM a WHERE k = 1", "INSERT INTO a VALUES (3)")
    shop.capture()
    assert shop.replica("a") == [{"k": 1}, {"k": 2}]
    shop.capture(SnapshotMode.ALWAYS)
    assert shop.replica("a") == [{"k": 2}, {"k": 3}]
    shop.run("DELETE FROM a WHERE k = 2")
    shop.capture()
    assert shop.replica("a") == [{"k": 3}]


def test_without_a_snapshot_only_changes_are_captured(shop: Shop) -> None:
    shop.run("CREATE TABLE a (k INT PRIMARY KEY)", "INSERT INTO a VALUES (1)")
    assert shop.capture(SnapshotMode.NEVER).rows == {}
    shop.run("INSERT INTO a VALUES (2)")
    assert shop.capture(SnapshotMode.NEVER).rows == {"c": 1}


def test_a_table_that_comes_later_is_captured_whole(shop: Shop) -> None:
    shop.run("CREATE TABLE a (k INT PRIMARY KEY)")
    shop.capture()
    shop.run("CREATE TABLE b (k INT PRIMARY KEY)", "INSERT INTO b VALUES (1)", "DELETE FROM b")
    shop.run("INSERT INTO b VALUES (2)")
    shop.capture()
    assert shop.replica("b") == [{"k": 2}]


def test_an_altered_table_has_its_new_columns_and_is_read_again_on_request(shop: Shop) -> None:
    shop.run(
        "CREATE TABLE a (k INT PRIMARY KEY, v INT)",
        "CREATE TABLE b (k INT PRIMARY KEY)",
        "INSERT INTO a VALUES (1, 1), (2, 2)",
    )
    shop.capture()
    alter = "ALTER TABLE a ADD COLUMN w INT DEFAULT {}, DROP COLUMN v"
    shop.run(alter.format(5), "INSERT INTO a VALUES (3, 3)", "INSERT INTO b VALUES (1)")
    shop.capture()
    assert shop.replica("a") == [{"k": 1, "v": 1}, {"k": 2, "v": 2}, {"k": 3, "w": 3}]
    assert "was altered" in shop.notes[-1]
    shop.run("BEGIN", "UPDATE a SET w = 4 WHERE k = 1", "INSERT INTO b VALUES (2)", "COMMIT")
    shop.run("ALTER TABLE a ADD COLUMN x INT DEFAULT 6", "INSERT INTO b VALUES (3)")
    shop.run("INSERT INTO a VALUES (4, 4, 4)", "DELETE FROM a WHERE k = 3")
    assert shop.capture(is_rereading=True).rows == {"u": 1, "c": 3, "r": 3, "d": 1}
    assert shop.replica("a") == [
        {"k": 1, "w": 4, "x": 6},
        {"k": 2, "w": 5, "x": 6},
        {"k": 4, "w": 4, "x": 4},
    ]
    assert len(shop.replica("b")) == 3


def test_a_table_that_loses_a_partition_is_read_again_on_request(shop: Shop) -> None:
    shop.run(
        "CREATE TABLE a (k INT PRIMARY KEY) PARTITION BY RANGE (k)"
        " (PARTITION low VALUES LESS THAN (10), PARTITION high VALUES LESS THAN (100))",
        "INSERT INTO a VALUES (1), (2), (11), (12)",
    )
    shop.capture()
    shop.run("INSERT INTO a VALUES (13)", "ALTER TABLE a DROP PARTITION low")
    shop.run("INSERT INTO a VALUES (14)")
    shop.capture(is_rereading=True)
    assert "has lost rows" in shop.notes[-1]
    assert [row["k"] for row in shop.replica("a")] == [11, 12, 13, 14]


def test_rows_that_a_foreign_key_changes_are_not_in_the_log_and_that_is_said(shop: Shop) -> None:
    shop.run(
        "CREATE TABLE a (k INT PRIMARY KEY)",
        "CREATE TABLE b (k INT PRIMARY KEY, a INT REFERENCES a (k) ON DELETE CASCADE)",
    )
    shop.capture()
    assert [note for note in shop.notes if f"{shop.schema}.b has a foreign key" in note]
    assert not [note for note in shop.notes if f"{shop.schema}.a has a foreign key" in note]


def test_a_purged_log_is_said_and_a_new_snapshot_helps(shop: Shop) -> None:
    shop.run("CREATE TABLE a (k INT PRIMARY KEY)", "INSERT INTO a VALUES (1)")
    shop.capture()
    shop.run("INSERT INTO a VALUES (2)", "FLUSH BINARY LOGS")
    ((last, *_),) = shop.database.rows("SHOW MASTER STATUS")
    # A server keeps what somebody reads, and what it needs itself, a little longer.
    while shop.database.rows("SHOW BINARY LOGS")[0][0] != last:
        shop.run(f"PURGE BINARY LOGS TO '{last}'")
    with pytest.raises(PositionLost) as raised:
        shop.capture()
    assert "--snapshot always" in raised.value.hint
    shop.capture(SnapshotMode.ALWAYS)
    assert shop.replica("a") == [{"k": 1}, {"k": 2}]


def test_one_topic_can_have_all_tables_and_rows_without_a_key(shop: Shop) -> None:
    shop.run(
        "CREATE TABLE a (k INT PRIMARY KEY)",
        "CREATE TABLE b (v INT)",
        "INSERT INTO a VALUES (1)",
        "INSERT INTO b VALUES (1), (1)",
    )
    topics = TopicNames(topic=f"{shop.schema}-all")
    assert shop.capture(topics=topics).rows == {"r": 3}
    found = [json.loads(body)["source"]["table"] for body in shop.bodies(f"{shop.schema}-all")]
    assert sorted(found) == ["a", "b", "b"]
    assert "no primary key" in shop.notes[0]


def test_an_interrupted_snapshot_goes_on_behind_its_last_piece(shop: Shop) -> None:
    shop.run("CREATE TABLE a (k INT PRIMARY KEY)", "INSERT INTO a SELECT seq FROM seq_1_to_100")
    stopped = _run_until(shop, rows=40, piece_rows=10, save_seconds=0.0)
    assert 40 <= stopped < 100
    shop.run("DELETE FROM a WHERE k IN (1, 99)", "INSERT INTO a VALUES (0), (101)")
    meter = shop.capture(piece_rows=10)
    assert meter.rows["r"] < 100
    assert sorted(row["k"] for row in shop.replica("a")) == [row[0] for row in shop.rows("a")]


def test_every_state_is_behind_all_that_it_covers(shop: Shop) -> None:
    shop.run(
        "CREATE TABLE a (k INT PRIMARY KEY, v INT)",
        "CREATE TABLE b (k INT PRIMARY KEY)",
        "INSERT INTO a SELECT seq, 0 FROM seq_1_to_100",
        "INSERT INTO b SELECT seq FROM seq_1_to_30",
    )
    pieces: dict[str, Any] = {"piece_rows": 10, "save_seconds": 0.0}
    _run_until(shop, rows=35, **pieces)
    for number in range(3):
        shop.run("UPDATE a SET v = v + 1 WHERE k < 25")
        shop.run("BEGIN", *(f"UPDATE a SET v = {n} WHERE k < 9" for n in range(6)), "COMMIT")
        shop.run(
            "BEGIN", f"INSERT INTO b VALUES ({number + 100})", "DELETE FROM a LIMIT 7", "COMMIT"
        )
        _run_until(shop, rows=45, **pieces)
    shop.capture(**pieces)
    assert check_states(shop, ("a", "b")) > 20
    assert sorted(tuple(row.values()) for row in shop.replica("a")) == list(shop.rows("a"))


def test_changes_are_followed_until_it_is_told_to_stop(shop: Shop) -> None:
    shop.run("CREATE TABLE a (k INT PRIMARY KEY)")

    async def run() -> tuple[Meter, CaptureState | None]:
        meter, stop = Meter(), asyncio.Event()
        async with shop.server.connect() as client:
            options = shop.options(is_once=False, idle_seconds=0.02, heartbeat_seconds=0.05)
            task = asyncio.create_task(Capture(options, meter, print).run(client, stop))
            while meter.phase is not Phase.STREAMING:
                assert not task.done()
                await asyncio.wait([task], timeout=0.01)
            for number in range(5):
                await asyncio.to_thread(shop.run, f"INSERT INTO a VALUES ({number})")
                while meter.rows_all <= number:
                    assert not task.done()
                    await asyncio.wait([task], timeout=0.01)
            stop.set()
            await task
            return meter, await StateTopic(client, shop.schema).load()

    meter, state = asyncio.run(run())
    assert meter.rows == {"c": 5}
    assert state is not None
    assert (state.phase, state.rows, state.lag_seconds) == (Phase.STOPPED, 5, 0.0)
    assert state.position == meter.position
    assert shop.capture().rows == {}


def _run_until(shop: Shop, rows: int, **more: Any) -> int:
    """Stop a capture when it has sent so many rows."""

    class Counting(Meter):
        def count(self, op: str, body_bytes: int) -> None:
            Meter.count(self, op, body_bytes)
            if self.rows_all >= rows:
                stop.set()

    stop = asyncio.Event()
    meter = Counting()

    async def run() -> None:
        async with shop.server.connect() as client:
            await Capture(shop.options(**more), meter, print).run(client, stop)

    asyncio.run(run())
    return meter.rows_all
