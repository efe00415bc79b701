"""The log, read: rows with the columns they had, transactions, and what must not be passed over."""

from collections.abc import Callable

import pytest

from aerobee.pipeline.capture.database.binlog import (
    Altered,
    BinlogReader,
    Boundary,
    Emptied,
    LogItem,
    Noted,
    RowsChanged,
)
from aerobee.pipeline.capture.database.server import connect, current_position
from aerobee.pipeline.capture.errors import PositionLost, Unreadable
from aerobee.pipeline.capture.position import Position
from aerobee.pipeline.capture.tables import TablePatterns
from tests.capture_kit import Shop


@pytest.fixture
def read(shop: Shop) -> Callable[[], list[LogItem]]:
    """What the log has since the test began."""
    connection = connect(shop.address)
    start = current_position(connection)
    connection.close()
    return lambda: _read(shop, start)


def _read(shop: Shop, start: Position) -> list[LogItem]:
    reader = BinlogReader(
        shop.address,
        TablePatterns([f"{shop.schema}.*,!{shop.schema}.other"]),
        start,
        server_id=4713,
        heartbeat_seconds=None,
        disguises=lambda _: {},
    )
    try:
        items: list[LogItem] = []
        while True:
            batch = reader.read(1000, 10)
            items += batch.items
            if batch.is_end:
                return items
    finally:
        reader.close()


def test_a_row_has_the_columns_that_the_table_had(
    shop: Shop, read: Callable[[], list[LogItem]]
) -> None:
    shop.run(
        "CREATE TABLE a (k INT PRIMARY KEY, v INT)",
        "INSERT INTO a VALUES (1, 10)",
        "ALTER TABLE a ADD COLUMN w INT DEFAULT 5 AFTER k",
        "INSERT INTO a VALUES (2, 20, 200)",
        "ALTER TABLE a RENAME COLUMN v TO u, DROP COLUMN w",
        "UPDATE a SET u = 11 WHERE k = 1",
        "ALTER TABLE a DROP PRIMARY KEY, ADD PRIMARY KEY (u)",
        "DELETE FROM a WHERE k = 2",
    )
    changed = [item for item in read() if isinstance(item, RowsChanged)]
    assert [(item.rows, item.schema.key) for item in changed] == [
        ([(None, {"k": 1, "v": 10})], ("k",)),
        ([(None, {"k": 2, "w": 20, "v": 200})], ("k",)),
        ([({"k": 1, "u": 10}, {"k": 1, "u": 11})], ("k",)),
        ([({"k": 2, "u": 200}, None)], ("u",)),
    ]
    assert len({item.version for item in changed}) == 4


def test_transactions_have_names_and_ends(shop: Shop, read: Callable[[], list[LogItem]]) -> None:
    shop.run("CREATE TABLE a (k INT PRIMARY KEY)", "CREATE TABLE m (k INT) ENGINE = MyISAM")
    shop.run("BEGIN", "INSERT INTO a VALUES (1)", "INSERT INTO a VALUES (2), (3)", "COMMIT")
    shop.run("INSERT INTO m VALUES (1)")
    items = [item for item in read() if isinstance(item, RowsChanged | Boundary)]
    kinds = [type(item).__name__ for item in items]
    assert kinds == [
        "Boundary",
        "Boundary",
        *["RowsChanged"] * 2,
        "Boundary",
        "RowsChanged",
        "Boundary",
    ]
    first, second, end, third, last = items[2:]
    assert isinstance(first, RowsChanged)
    assert isinstance(second, RowsChanged)
    assert isinstance(end, Boundary)
    assert first.origin.transaction == second.origin.transaction == end.transaction != ""
    assert isinstance(third, RowsChanged)
    assert third.origin.transaction != end.transaction
    assert isinstance(last, Boundary)
    assert first.origin.position.is_before(end.position)


def test_what_is_not_wanted_is_not_read(shop: Shop, read: Callable[[], list[LogItem]]) -> None:
    shop.run("CREATE TABLE other (k INT PRIMARY KEY)", "INSERT INTO other VALUES (1)")
    shop.run("TRUNCATE other", "ALTER TABLE other ADD COLUMN c INT")
    assert all(isinstance(item, Boundary) for item in read())


def test_tables_that_are_emptied_or_renamed_or_altered_are_told(
    shop: Shop, read: Callable[[], list[LogItem]]
) -> None:
    shop.run("CREATE TABLE a (k INT PRIMARY KEY)", "TRUNCATE a", "ALTER TABLE a ADD COLUMN c INT")
    shop.run("RENAME TABLE a TO b", "DROP TABLE b", f"DROP DATABASE {shop.schema}")
    found = [item for item in read() if not isinstance(item, Boundary)]
    emptied = [(item.table, item.schema) for item in found if isinstance(item, Emptied)]
    assert [(str(table), schema) for table, schema in emptied] == [
        (f"{shop.schema}.a", ""),
        (f"{shop.schema}.b", ""),
        ("None", shop.schema),
    ]
    altered = [str(item.table) for item in found if isinstance(item, Altered)]
    assert altered == [f"{shop.schema}.a"]
    (note,) = [item.text for item in found if isinstance(item, Noted)]
    assert "renamed" in note


def test_a_log_that_goes_on_in_another_file_is_followed(
    shop: Shop, read: Callable[[], list[LogItem]]
) -> None:
    shop.run("CREATE TABLE a (k INT PRIMARY KEY)", "INSERT INTO a VALUES (1)", "FLUSH BINARY LOGS")
    shop.run("INSERT INTO a VALUES (2)")
    changed = [item for item in read() if isinstance(item, RowsChanged)]
    first, second = (item.origin.position for item in changed)
    assert second.file_number == first.file_number + 1
    assert first.is_before(second)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("SET binlog_format = STATEMENT", "a statement instead of rows"),
        ("SET binlog_row_image = MINIMAL", "not whole"),
    ],
)
def test_rows_that_the_log_does_not_have_end_the_reading(
    shop: Shop, read: Callable[[], list[LogItem]], setting: str, said: str
) -> None:
    shop.run("CREATE TABLE a (k INT PRIMARY KEY, v INT)", "INSERT INTO a VALUES (1, 1)")
    shop.run(setting, "UPDATE a SET v = 2")
    with pytest.raises(Unreadable, match=said) as raised:
        read()
    assert raised.value.hint


def test_compressed_rows_are_not_passed_over(shop: Shop, read: Callable[[], list[LogItem]]) -> None:
    shop.run("CREATE TABLE a (k INT PRIMARY KEY, v TEXT)")
    shop.database.run("SET GLOBAL log_bin_compress = ON")
    try:
        shop.run("INSERT INTO a VALUES (1, REPEAT('x', 5000))")
    finally:
        shop.database.run("SET GLOBAL log_bin_compress = OFF")
    with pytest.raises(Unreadable, match="compressed"):
        read()


def test_columns_without_names_are_not_guessed(
    shop: Shop, read: Callable[[], list[LogItem]]
) -> None:
    shop.database.run("SET GLOBAL binlog_row_metadata = MINIMAL")
    try:
        shop.run("CREATE TABLE a (k INT PRIMARY KEY)", "INSERT INTO a VALUES (1)")
    finally:
        shop.database.run("SET GLOBAL binlog_row_metadata = FULL")
    with pytest.raises(Unreadable, match="without a name"):
        read()


def test_a_position_that_the_log_does_not_have_is_lost(shop: Shop) -> None:
    with pytest.raises(PositionLost) as raised:
        _read(shop, Position("binlog.999999", 4))
    assert "--snapshot always" in raised.value.hint


def test_silence_is_told(shop: Shop) -> None:
    connection = connect(shop.address)
    start = current_position(connection)
    connection.close()
    reader = BinlogReader(
        shop.address,
        TablePatterns(["x.*"]),
        start,
        server_id=4714,
        heartbeat_seconds=0.02,
        disguises=lambda _: {},
    )
    try:
        while not (batch := reader.read(10, 1)).is_idle:
            assert not batch.is_end
    finally:
        reader.close()
