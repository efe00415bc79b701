"""A server that can be captured, and those that cannot: what must be changed is said."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pymysql
import pytest

from aerobee.errors import AerobeeError
from aerobee.pipeline.capture.database.server import (
    ServerAddress,
    check,
    connect,
    connect_as_told,
    current_position,
    explained,
    explanation,
    query,
)
from aerobee.pipeline.capture.errors import (
    CaptureError,
    DatabaseGone,
    PositionLost,
    Unfit,
)
from tests.capture_kit import Shop
from tests.mariadb_kit import Database, running_database


def _address(database: Database) -> ServerAddress:
    at = database.server
    return ServerAddress(at.host, at.port, at.user, at.password)


def test_a_server_of_the_right_kind_is_taken(database: Database) -> None:
    facts = check(_address(database))
    assert facts.version
    assert facts.is_mariadb == ("MariaDB" in facts.version)


def test_every_wrong_setting_is_named_with_its_remedy(tmp_path: Path) -> None:
    options = ("--binlog-format=MIXED", "--binlog-row-image=MINIMAL", "--log-bin-compress=ON")
    with (
        running_database(tmp_path, *options, "--binlog-row-metadata=NO_LOG") as database,
        pytest.raises(Unfit) as raised,
    ):
        check(_address(database))
    for said in ("binlog_format is MIXED", "binlog_row_image is MINIMAL", "log_bin_compress is ON"):
        assert said in raised.value.message
    assert "SET GLOBAL binlog_row_metadata = FULL" in raised.value.hint
    assert "SET GLOBAL binlog_format = ROW" in raised.value.hint


def test_a_server_without_a_log_is_refused(tmp_path: Path) -> None:
    with (
        running_database(tmp_path, "--skip-log-bin") as database,
        pytest.raises(Unfit, match="log_bin is OFF") as raised,
    ):
        check(_address(database))
    assert "log-bin" in raised.value.hint


def test_missing_rights_are_named(shop: Shop) -> None:
    shop.run("CREATE USER poor@'127.0.0.1' IDENTIFIED BY 'x'")
    poor = replace(shop.address, user="poor", password="x")
    with pytest.raises(Unfit, match="BINLOG MONITOR") as raised:
        check(poor)
    assert "REPLICATION CLIENT" in raised.value.hint
    with pytest.raises(Unfit, match="Access denied"):
        connect(replace(poor, password="y"))


def test_a_server_is_believed_only_if_somebody_vouches_for_it(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make certificates with")
    for name in ("right", "wrong"):
        subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
        files = ["-keyout", str(tmp_path / f"{name}.key"), "-out", str(tmp_path / f"{name}.pem")]
        command = ["openssl", "req", "-x509", "-nodes", "-newkey", "rsa:2048", "-days", "9"]
        subprocess.run([*command, *subject, *files], check=True, capture_output=True)
    right, key = tmp_path / "right.pem", tmp_path / "right.key"
    options = (f"--ssl-cert={right}", f"--ssl-key={key}", "--require-secure-transport=ON")
    with running_database(tmp_path / "db", *options) as database:
        assert check(_address(database)).version
        assert check(replace(_address(database), authority=str(right))).version
        with pytest.raises(DatabaseGone, match="CERTIFICATE_VERIFY_FAILED"):
            check(replace(_address(database), authority=str(tmp_path / "wrong.pem")))


def test_a_way_to_log_in_that_needs_a_package_is_said() -> None:
    with pytest.raises(Unfit, match="sha2") as raised, explained(ServerAddress()):
        raise RuntimeError("'cryptography' package is required for caching_sha2_password")
    assert "pip install cryptography" in raised.value.hint


def test_a_password_is_not_shown() -> None:
    assert "secret" not in repr(ServerAddress(password="secret"))


def test_a_server_that_is_not_there_is_gone() -> None:
    with pytest.raises(DatabaseGone) as raised:
        check(ServerAddress(port=1))
    assert "is the database up" in raised.value.hint


@pytest.mark.parametrize(
    ("code", "kind"), [(1236, PositionLost), (2013, DatabaseGone), (1412, DatabaseGone)]
)
def test_errors_are_told_apart_by_what_there_is_to_do(code: int, kind: type[CaptureError]) -> None:
    error = explanation(pymysql.err.OperationalError(code, "no"), ServerAddress())
    assert type(error) is kind
    assert error.hint


def test_an_unknown_error_keeps_its_number() -> None:
    error: AerobeeError = explanation(pymysql.err.InternalError(4711, "odd"), ServerAddress())
    assert "4711" in error.message


def test_the_log_has_an_end_that_moves(shop: Shop) -> None:
    connection = connect(shop.address)
    try:
        before = current_position(connection)
        shop.run("CREATE TABLE a (k INT PRIMARY KEY)")
        assert before.is_before(current_position(connection))
        assert query(connection, "SELECT %s, '%%'", 7) == ((7, "%"),)
    finally:
        connection.close()


def test_a_word_of_old_is_understood(shop: Shop) -> None:
    settings = shop.address.settings()
    connection = connect_as_told(**settings, db="information_schema")
    try:
        assert query(connection, "SELECT DATABASE()") == (("information_schema",),)
    finally:
        connection.close()
