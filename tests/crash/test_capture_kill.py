"""A capture is killed again and again, at its beginning, in its snapshot, in its streaming.

The database goes on changing between the kills: rows, keys, columns, whole tables. Every process is
killed when a few more messages are stored than when it began, so that kills fall on every step; in
the end topics applied by key are what the tables are.
"""

import asyncio
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

import aerobee
from aerobee.errors import TopicNotFound
from tests.capture_kit import Shop, check_states
from tests.mariadb_kit import Database
from tests.process_kit import Started
from tests.server_kit import Server, running_server

KILLS = 4
KILLS_NIGHT = 150
ROWS = 400


@pytest.fixture
def shop(database: Database, tmp_path: Path) -> Iterator[Shop]:
    with running_server(tmp_path) as server:
        shop = Shop(database, server)
        shop.run(
            "CREATE TABLE a (k INT PRIMARY KEY, v VARCHAR(30))",
            "CREATE TABLE b (x INT, y VARCHAR(9), v INT, PRIMARY KEY (y, x))",
            f"INSERT INTO a SELECT seq, 'first' FROM seq_1_to_{ROWS}",
            f"INSERT INTO b SELECT seq, CONCAT('y', seq % 7), 0 FROM seq_1_to_{ROWS}",
        )
        yield shop


def _change(shop: Shop, choice: random.Random, number: int) -> None:
    """Some transactions, with everything that may happen to rows."""
    some = choice.randrange(5, 20)
    shop.run(
        f"UPDATE a SET v = 'v{number}' WHERE k % {some} = 0",
        f"DELETE FROM a WHERE k % 31 = {number % 31}",
        "BEGIN",
        f"UPDATE a SET k = k + {100_000 + number * 1_000} WHERE k < {some}",
        f"UPDATE b SET v = v + 1 WHERE x % {some} = 1",
        f"INSERT INTO a (k, v) VALUES ({-number - 1}, 'new')",
        "COMMIT",
    )
    match number % 5:
        case 1:
            shop.run(f"ALTER TABLE b ADD COLUMN c{number} INT, ALGORITHM = COPY")
            shop.run(f"UPDATE b SET c{number} = x")
        case 2:
            shop.run("FLUSH BINARY LOGS")
        case 3:
            shop.run("TRUNCATE b", f"INSERT INTO b (x, y, v) VALUES ({number}, 'z', 9)")
            shop.run(f"INSERT INTO b (x, y, v) SELECT seq, 'q', 1 FROM seq_1_to_{ROWS}")


async def _stored(admin: aerobee.Admin, topics: list[str]) -> int:
    total = 0
    for topic in topics:
        try:
            stats = await admin.topics.stats(topic)
        except TopicNotFound:
            continue
        total += sum(queue.max_offset for queue in stats.queues.values())
    return total


def _kill_after(shop: Shop, server: Server, home: Path, messages: int) -> bool:
    """Whether the process was killed before it had come to the end of everything."""
    at = shop.address
    flags = f"--host {at.host} --port {at.port} --user {at.user} --name {shop.schema}".split()
    flags += ["--tables", f"{shop.schema}.*", "--queues", "4", "--chunk-rows", "25"]
    flags += ["--save-interval", "0", "--once", "-n", server.name_server]
    state = f"aerobee-capture-{shop.schema}"
    topics = [f"{shop.schema}-a", f"{shop.schema}-b", state]

    async def watch(started: Started) -> None:
        async with aerobee.admin(server.name_server) as admin:
            end = await _stored(admin, topics) + messages
            ended = asyncio.create_task(asyncio.to_thread(started.process.wait))
            while not ended.done() and await _stored(admin, topics) < end:
                await asyncio.wait([ended], timeout=0.005)
            started.process.kill()
            await ended

    environment = {"AEROBEE_MYSQL_PASSWORD": at.password}
    with Started(home, "capture", "mysql", *flags, **environment) as started:
        asyncio.run(watch(started))
        return started.end()[0] < 0


def _crash(shop: Shop, home: Path, kills: int) -> None:
    choice = random.Random(7)
    killed = 0
    for number in range(kills):
        killed += _kill_after(shop, shop.server, home, choice.randrange(0, 120))
        _change(shop, choice, number)
    assert killed > kills // 2
    shop.capture()
    for table, keys in (("a", ("k",)), ("b", ("y", "x"))):
        replica = {tuple(row[key] for key in keys): row for row in shop.replica(table)}
        columns = [row[0] for row in shop.database.rows(f"SHOW COLUMNS FROM {shop.schema}.{table}")]
        for row in shop.rows(table):
            found = dict(zip(columns, row, strict=True))
            known = replica.pop(tuple(found[key] for key in keys))
            assert {name: known.get(name) for name in columns} == found
        assert not replica
    assert check_states(shop, ("a", "b")) > kills


def test_no_change_is_lost_whenever_a_capture_is_killed(shop: Shop, tmp_path: Path) -> None:
    _crash(shop, tmp_path, KILLS)


@pytest.mark.night
@pytest.mark.timeout(1800)
def test_no_change_is_lost_however_often_a_capture_is_killed(shop: Shop, tmp_path: Path) -> None:
    _crash(shop, tmp_path, KILLS_NIGHT)
