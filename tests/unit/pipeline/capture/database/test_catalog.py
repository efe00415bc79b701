"""Tables as a server describes them."""

import pytest

from aerobee.pipeline.capture.database.catalog import captured_tables, describe, disguised_columns
from aerobee.pipeline.capture.database.server import connect
from aerobee.pipeline.capture.errors import Unfit
from aerobee.pipeline.capture.table_schema import Column, Kind, TableName, TableSchema
from aerobee.pipeline.capture.tables import TablePatterns
from tests.capture_kit import Shop


def test_tables_have_their_columns_and_the_order_of_their_key(shop: Shop) -> None:
    shop.run(
        "CREATE TABLE b (x INT UNSIGNED, y VARCHAR(9), z UUID, PRIMARY KEY (y, x))",
        "CREATE TABLE a (t TEXT)",
        "CREATE TABLE tmp_a (t TEXT)",
        "CREATE VIEW v AS SELECT * FROM a",
    )
    connection = connect(shop.address)
    try:
        found = captured_tables(
            connection, TablePatterns([f"{shop.schema}.*,!{shop.schema}.tmp_*"])
        )
        name = TableName(shop.schema, "b")
        assert disguised_columns(connection, name) == {"z": Kind.UUID}
        assert describe(connection, name) == found[1]
    finally:
        connection.close()
    assert found == [
        TableSchema(TableName(shop.schema, "a"), (Column("t", Kind.TEXT),), ()),
        TableSchema(
            name,
            (
                Column("x", Kind.INTEGER, True),
                Column("y", Kind.TEXT),
                Column("z", Kind.UUID),
            ),
            ("y", "x"),
        ),
    ]


def test_every_type_that_a_server_has_is_known(shop: Shop) -> None:
    connection = connect(shop.address)
    shop.run("CREATE TABLE a (k INT PRIMARY KEY, g GEOMETRYCOLLECTION, m MULTIPOLYGON, i INET4)")
    try:
        found = describe(connection, TableName(shop.schema, "a"))
    finally:
        connection.close()
    assert [column.kind for column in found.columns] == [
        Kind.INTEGER,
        Kind.GEOMETRY,
        Kind.GEOMETRY,
        Kind.INET,
    ]


def test_a_schema_of_nothing_is_no_table(shop: Shop) -> None:
    connection = connect(shop.address)
    try:
        assert captured_tables(connection, TablePatterns([f"{shop.schema}.*"])) == []
    finally:
        connection.close()
    with pytest.raises(Unfit, match="no table") as raised:
        shop.capture()
    assert "SELECT" in raised.value.hint
