"""`aerobee capture …` as people give it."""

import asyncio
import os
import signal
from pathlib import Path

import aerobee as mq
from aerobee.pipeline.capture.envelope import Envelope, Op
from tests.capture_kit import Shop
from tests.cli_kit import aerobee
from tests.mariadb_kit import Database
from tests.process_kit import Started
from tests.server_kit import Server


def _flags(shop: Shop) -> list[str]:
    at = shop.address
    database = ["--host", at.host, "--port", str(at.port), "--user", at.user]
    return [*database, "--tables", f"{shop.schema}.*", "--name", shop.schema]


def test_a_capture_runs_once_says_what_it_did_and_is_listed(
    database: Database, server: Server, tmp_path: Path
) -> None:
    shop = Shop(database, server)
    shop.run("CREATE TABLE a (k INT PRIMARY KEY)", "INSERT INTO a VALUES (1), (2)")
    password = tmp_path / "password"
    password.write_text(shop.address.password + "\n")
    flags = [*_flags(shop), "--password-file", str(password), "--once", "--topic-prefix", "cdc-"]
    said = aerobee(server, "capture", "mysql", *flags, "-o", "json")
    assert said.status == 0, said.error
    (record,) = said.records
    assert (record["rows"], record["restarts"]) == (2, 0)
    bodies = shop.bodies(f"cdc-{shop.schema}-a")
    assert {Envelope.decode(body).op for body in bodies} == {Op.READ}
    listed = aerobee(server, "capture", "status", "-o", "json").records
    (state,) = [one for one in listed if one["name"] == shop.schema]
    assert (state["phase"], state["rows"], state["tables"]) == ("stopped", 2, 1)
    assert state["position"] == record["position"]


def test_mistakes_are_said_with_what_to_do(
    database: Database, server: Server, tmp_path: Path
) -> None:
    shop = Shop(database, server)
    flags = _flags(shop)
    for more, said in (
        (["--password-file", str(tmp_path / "none")], "see --password-file"),
        (["--topic", "a", "--topic-prefix", "b"], "one topic has no prefix"),
        (["--tables", "shop"], "SCHEMA.TABLE"),
        (["--name", "a.b"], "--name a_b"),
        ([], "rights"),
    ):
        failed = aerobee(server, "capture", "mysql", *flags, *more, "--once")
        assert failed.status == 1
        assert "hint: " in failed.error
        assert said in failed.error
    assert aerobee(server, "capture", "mysql").status == 2


def test_a_database_that_is_not_there_leaves_nothing_behind(server: Server) -> None:
    flags = ["--port", "1", "--tables", "a.b", "--name", "nobody"]
    failed = aerobee(server, "capture", "mysql", *flags, "--once")
    assert (failed.status, "is the database up" in failed.error) == (1, True)
    assert aerobee(server, "topic", "route", "aerobee-capture-nobody").status == 3


def test_it_follows_shows_figures_and_stops_when_told(
    database: Database, server: Server, tmp_path: Path
) -> None:
    shop = Shop(database, server)
    shop.run("CREATE TABLE a (k INT PRIMARY KEY)")
    command = ["capture", "mysql", *_flags(shop), "-n", server.name_server]
    environment = {"AEROBEE_MYSQL_PASSWORD": shop.address.password}
    with Started(tmp_path, *command, "--metrics-port", "0", **environment) as started:
        assert started.process.stdout is not None
        ready = started.process.stdout.readline()
        assert ready.startswith(f"ready: {shop.schema}.*, from "), started.end()
        shop.run("INSERT INTO a VALUES (7)")

        async def receive() -> mq.Message:
            async with server.connect() as client:
                return await client.receive(f"{shop.schema}-a", group="cli", timeout=60)

        message = asyncio.run(receive())
        assert Envelope.decode(message.body).after == {"k": 7}
        assert (message.tag, list(message.keys)) == ("c", ["7"])
        status, out, error = started.stop(signal.SIGINT)
    assert (status, out) == (0, ""), error
    assert os.environ.get("AEROBEE_MYSQL_PASSWORD") is None
