"""Schemas: versions that mean what they say, and announcements that can be read back."""

import json

import pytest

from aerobee.pipeline.capture.table_schema import (
    Column,
    Kind,
    TableName,
    TableSchema,
    column_of_description,
    is_fixed_in_log,
    kind_of_log,
    kind_of_name,
)

_NAME = TableName("shop", "orders")
_ID = Column("id", Kind.INTEGER)
_STATE = Column("state", Kind.ENUM, labels=("new", "paid"))
_SCHEMA = TableSchema(_NAME, (_ID, _STATE), ("id",))


def test_a_version_changes_with_columns_their_order_their_kinds_and_the_key() -> None:
    others = [
        TableSchema(_NAME, (_STATE, _ID), ("id",)),
        TableSchema(_NAME, (_ID,), ("id",)),
        TableSchema(_NAME, (Column("id", Kind.TEXT), _STATE), ("id",)),
        TableSchema(_NAME, (Column("id", Kind.INTEGER, True), _STATE), ("id",)),
        TableSchema(_NAME, (_ID, _STATE), ()),
        TableSchema(TableName("shop", "order"), (_ID, _STATE), ("id",)),
    ]
    versions = {schema.version for schema in (*others, _SCHEMA)}
    assert len(versions) == len(others) + 1


def test_a_version_does_not_depend_on_what_only_the_log_says() -> None:
    seen = TableSchema(_NAME, (_ID, Column("state", Kind.ENUM)), ("id",))
    assert seen.version == _SCHEMA.version


def test_an_announcement_says_all_that_a_reader_of_the_rows_must_know() -> None:
    body = _SCHEMA.announcement("binlog.000001", 4711, 5)
    assert json.loads(body) == {
        "version": _SCHEMA.version,
        "db": "shop",
        "table": _NAME.table,
        "columns": [
            {"name": "id", "kind": "integer"},
            {"name": "state", "kind": "enum", "labels": ["new", "paid"]},
        ],
        "key": ["id"],
        "source": {"file": "binlog.000001", "pos": 4711},
        "ts_ms": 5,
    }


@pytest.mark.parametrize(
    ("number", "is_binary", "kind"),
    [
        (8, False, Kind.INTEGER),
        (15, False, Kind.TEXT),
        (15, True, Kind.BINARY),
        (252, True, Kind.BINARY),
        (17, False, Kind.TIMESTAMP),
        (255, True, Kind.GEOMETRY),
        (140, False, None),
    ],
)
def test_kinds_of_the_log(number: int, is_binary: bool, kind: Kind | None) -> None:
    assert kind_of_log(number, is_binary) is kind


def test_only_fixed_strings_have_one_length() -> None:
    assert is_fixed_in_log(254)
    assert not is_fixed_in_log(15)


@pytest.mark.parametrize(
    ("data_type", "kind"),
    [("BIGINT", Kind.INTEGER), ("longtext", Kind.TEXT), ("inet6", Kind.INET), ("vector", None)],
)
def test_kinds_by_name(data_type: str, kind: Kind | None) -> None:
    assert kind_of_name(data_type) is kind


def test_a_year_is_not_unsigned_whatever_its_description_says() -> None:
    described = column_of_description("y", "year", "year(4) unsigned")
    assert described == Column("y", Kind.YEAR)
    assert column_of_description("n", "int", "int(10) unsigned") == Column("n", Kind.INTEGER, True)
    assert column_of_description("v", "vector", "vector(3)") is None
