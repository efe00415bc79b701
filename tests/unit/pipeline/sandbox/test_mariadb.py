"""A server of one's own: what it is set to, what it keeps, how it fails."""

from pathlib import Path

import pytest

from aerobee.pipeline.sandbox.mariadb import DatabaseFailed, MariaDb
from tests.mariadb_kit import Database, program


def test_it_logs_whole_rows_with_the_names_of_columns_and_listens_here_only(
    tmp_path: Path,
) -> None:
    with MariaDb(tmp_path, program()) as server:
        asked = "SELECT @@binlog_format, @@binlog_row_image, @@log_bin, @@bind_address"
        assert Database(server).rows(asked) == [("ROW", "FULL", 1, "127.0.0.1")]
        metadata = Database(server).rows("SHOW VARIABLES LIKE 'binlog_row_metadata'")
        assert metadata == [("binlog_row_metadata", "FULL")]


def test_what_was_stored_survives_a_stop_and_a_kill(tmp_path: Path) -> None:
    server = MariaDb(tmp_path, program(), "--innodb-flush-log-at-trx-commit=1")
    with server:
        Database(server).run("CREATE DATABASE a", "CREATE TABLE a.t (k INT PRIMARY KEY)")
        Database(server).run("INSERT INTO a.t VALUES (1)")
    with server:
        Database(server).run("INSERT INTO a.t VALUES (2)")
        server.kill()
        server.start()
        assert Database(server).rows("SELECT k FROM a.t ORDER BY k") == [(1,), (2,)]


def test_a_server_that_does_not_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(DatabaseFailed, match="no-such-option") as raised:
        MariaDb(tmp_path, program(), "--no-such-option").start()
    assert "server.log" in raised.value.hint
