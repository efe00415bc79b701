"""A capture that outlives its database and its broker."""

import asyncio
import contextlib
from pathlib import Path

import pytest

from aerobee.errors import Unreachable
from aerobee.pipeline.capture.errors import DatabaseGone, Unfit
from aerobee.pipeline.capture.meter import Meter
from aerobee.pipeline.capture.position import Phase
from aerobee.pipeline.capture.supervision import (
    WAIT_SECONDS_MAX,
    keep_capturing,
    wait_seconds,
)
from tests.capture_kit import Shop
from tests.mariadb_kit import Database, running_database
from tests.process_kit import Started
from tests.server_kit import Server


def test_waits_grow_up_to_a_bound() -> None:
    assert [wait_seconds(failures) for failures in (0, 1, 2)] == [0.5, 1.0, 2.0]
    assert wait_seconds(1000) == WAIT_SECONDS_MAX


def test_a_database_that_was_away_is_captured_on(server: Server, tmp_path: Path) -> None:
    with running_database(tmp_path, "--sync-binlog=1") as database:
        shop = Shop(database, server)
        shop.run("CREATE TABLE a (k INT PRIMARY KEY)")
        meter, notes = Meter(), list[str]()

        async def run() -> None:
            stop = asyncio.Event()
            options = shop.options(is_once=False, idle_seconds=0.02)
            task = asyncio.create_task(
                keep_capturing(server.name_server, options, meter, notes.append, stop)
            )

            async def seen(rows: int) -> None:
                while meter.rows_all < rows or meter.phase is not Phase.STREAMING:
                    assert not task.done(), task.exception()
                    await asyncio.wait([task], timeout=0.01)

            await seen(0)
            await asyncio.to_thread(shop.run, "INSERT INTO a VALUES (1)")
            await seen(1)
            await asyncio.to_thread(database.server.kill)
            await asyncio.to_thread(database.server.start)
            await asyncio.to_thread(shop.run, "INSERT INTO a VALUES (2)")
            await seen(2)
            stop.set()
            await task

        asyncio.run(run())
        assert meter.restarts >= 1
        assert "trying again in" in notes[0]
        assert sorted(row["k"] for row in shop.replica("a")) == [1, 2]


def test_a_broker_that_was_killed_is_captured_into_again(
    database: Database, tmp_path: Path
) -> None:
    flags = ["up", "--store", str(tmp_path / "data")]
    servers = contextlib.ExitStack()
    first = servers.enter_context(
        Started(tmp_path, *flags, "--port", "0", "--nameserver-port", "0")
    )
    ports = first.ports()
    flags += ["--port", str(ports["broker"]), "--nameserver-port", str(ports["nameserver"])]
    shop = Shop(database, Server(f"127.0.0.1:{ports['nameserver']}"))
    shop.run("CREATE TABLE a (k INT PRIMARY KEY)", "INSERT INTO a SELECT seq FROM seq_1_to_500")
    meter, notes = Meter(), list[str]()

    def again() -> None:
        first.process.kill()
        first.end()
        shop.run("INSERT INTO a SELECT seq FROM seq_501_to_1000", "DELETE FROM a WHERE k % 7 = 0")
        servers.enter_context(Started(tmp_path, *flags)).ports()

    def keys() -> list[int]:
        return sorted(row["k"] for row in shop.replica("a"))

    async def run() -> None:
        stop = asyncio.Event()
        options = shop.options(is_once=False, idle_seconds=0.02)
        target = shop.server.name_server
        task = asyncio.create_task(keep_capturing(target, options, meter, notes.append, stop))

        while meter.phase is not Phase.STREAMING:
            assert not task.done(), task.exception()
            await asyncio.wait([task], timeout=0.01)
        await asyncio.to_thread(again)
        while await asyncio.to_thread(keys) != [k for k in range(1, 1001) if k % 7]:
            assert not task.done(), task.exception()
        stop.set()
        await task

    with servers:
        asyncio.run(run())
        assert meter.restarts >= 1, notes
        assert shop.capture().rows == {}


def test_what_never_ran_is_not_tried_again(shop: Shop) -> None:
    shop.run("CREATE TABLE a (k INT PRIMARY KEY)")

    def run(target: str, shop: Shop) -> None:
        options = shop.options(is_once=False)
        asyncio.run(keep_capturing(target, options, Meter(), print, asyncio.Event()))

    with pytest.raises(Unreachable):
        run("127.0.0.1:1", shop)
    shop.run("DROP TABLE a")
    with pytest.raises(Unfit):
        run(shop.server.name_server, shop)


def test_a_single_run_ends_with_its_first_error(server: Server, tmp_path: Path) -> None:
    with running_database(tmp_path) as database:
        shop = Shop(database, server)
        database.server.stop()
        with pytest.raises(DatabaseGone):
            asyncio.run(
                keep_capturing(server.name_server, shop.options(), Meter(), print, asyncio.Event())
            )
