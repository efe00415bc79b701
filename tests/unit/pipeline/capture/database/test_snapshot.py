"""Rows of one moment, in pieces."""

from decimal import Decimal
from typing import Any

import pytest

from aerobee.pipeline.capture.database.catalog import describe
from aerobee.pipeline.capture.database.server import connect
from aerobee.pipeline.capture.database.snapshot import (
    Snapshot,
    after_condition,
    is_ordered,
    key_value,
    quoted,
    stored_key_value,
)
from aerobee.pipeline.capture.table_schema import TableName, TableSchema
from tests.capture_kit import Shop


def _schema(shop: Shop, table: str) -> TableSchema:
    connection = connect(shop.address)
    try:
        return describe(connection, TableName(shop.schema, table))
    finally:
        connection.close()


def _pieces(
    shop: Shop, table: str, after: list[Any] | None = None, rows_max: int = 2
) -> list[tuple[list[Any], list[Any] | None]]:
    snapshot = Snapshot(shop.address, is_mariadb=True)
    snapshot.begin()
    try:
        found = snapshot.pieces(_schema(shop, table), after, rows_max)
        return [([list(row.values()) for row in piece.rows], piece.last_key) for piece in found]
    finally:
        snapshot.close()


def test_a_table_is_read_in_pieces_in_the_order_of_its_key(shop: Shop) -> None:
    shop.run(
        "CREATE TABLE a (x INT, y VARCHAR(9), PRIMARY KEY (y, x))",
        "INSERT INTO a VALUES (3, 'a'), (1, 'b'), (2, 'b'), (1, 'a'), (9, 'c')",
    )
    assert _pieces(shop, "a") == [
        ([[1, "a"], [3, "a"]], ["a", 3]),
        ([[1, "b"], [2, "b"]], ["b", 2]),
        ([[9, "c"]], ["c", 9]),
    ]
    assert _pieces(shop, "a", ["b", 1]) == [([[2, "b"], [9, "c"]], ["c", 9]), ([], ["c", 9])]


@pytest.mark.parametrize(
    ("type_", "values"),
    [
        ("VARBINARY(4)", "(x'00ff'), (x'ff'), (x'0a')"),
        ("DECIMAL(30,10)", "(1.5), (-3), (12345678901234567890.0123456789)"),
        ("DATETIME(6)", "('2020-01-02 03:04:05.000001'), ('2020-01-02 03:04:05'), ('1999-01-01')"),
        ("TIME(2)", "('-01:00:00.25'), ('00:00:01'), ('838:59:58')"),
        ("UUID", "(UUID()), (UUID()), (UUID())"),
        ("BIGINT UNSIGNED", "(18446744073709551615), (0), (7)"),
    ],
)
def test_keys_of_all_kinds_survive_being_written_down(shop: Shop, type_: str, values: str) -> None:
    shop.run(f"CREATE TABLE a (k {type_} PRIMARY KEY)", f"INSERT INTO a VALUES {values}")
    pieces = _pieces(shop, "a", rows_max=1)
    assert len(pieces) == 4
    assert len({str(rows) for rows, _ in pieces[:3]}) == 3


@pytest.mark.parametrize("key", ["ENUM('z','a')", "BIT(3)", "DOUBLE"])
def test_a_key_that_sorts_otherwise_than_it_compares_is_read_at_once(shop: Shop, key: str) -> None:
    shop.run(f"CREATE TABLE a (k {key} PRIMARY KEY)", "INSERT INTO a VALUES (1), (2)")
    assert not is_ordered(_schema(shop, "a"))
    ((rows, last_key),) = _pieces(shop, "a", rows_max=5)
    assert len(rows) == 2
    assert last_key is None


def test_a_table_without_a_key_is_read_at_once_and_may_be_left_in_the_middle(shop: Shop) -> None:
    shop.run("CREATE TABLE a (v INT)", "INSERT INTO a SELECT seq FROM seq_1_to_5000")
    assert sum(len(rows) for rows, _ in _pieces(shop, "a", rows_max=999)) == 5000
    snapshot = Snapshot(shop.address, is_mariadb=True)
    snapshot.begin()
    pieces = snapshot.pieces(_schema(shop, "a"), None, 10)
    assert len(next(iter(pieces)).rows) == 10
    snapshot.close()
    del pieces


@pytest.mark.parametrize("is_mariadb", [True, False])
def test_a_moment_stays_and_has_its_place_in_the_log(shop: Shop, is_mariadb: bool) -> None:
    shop.run("CREATE TABLE a (k INT PRIMARY KEY)", "INSERT INTO a VALUES (1)")
    snapshot = Snapshot(shop.address, is_mariadb=is_mariadb)
    place = snapshot.begin()
    try:
        shop.run("INSERT INTO a VALUES (2)")
        (piece,) = snapshot.pieces(_schema(shop, "a"), None, 10)
    finally:
        snapshot.close()
    assert [dict(row) for row in piece.rows] == [{"k": 1}]
    (events,) = shop.database.rows(
        f"SHOW BINLOG EVENTS IN '{place.file}' FROM {place.offset} LIMIT 1"
    )
    assert events[2] == "Gtid"


def test_conditions_and_names_are_written_for_the_library() -> None:
    assert after_condition(["a", "b"], [1, 2]) == (
        " WHERE (`a` > %s) OR (`a` = %s AND `b` > %s)",
        [1, 1, 2],
    )
    assert quoted("50%`") == "`50%%```"
    assert stored_key_value(Decimal("1.50")) == "1.50"
    assert key_value(stored_key_value(b"\0\xff")) == b"\0\xff"


def test_odd_names_of_columns_are_read(shop: Shop) -> None:
    shop.run(
        "CREATE TABLE `a%b` (`50%``s` INT PRIMARY KEY, `%s` FLOAT)",
        "INSERT INTO `a%b` VALUES (1, 2.5)",
    )
    assert _pieces(shop, "a%b") == [([[1, 2.5]], [1])]
