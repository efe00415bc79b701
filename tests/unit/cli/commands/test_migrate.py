import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli_kit import aerobee
from tests.process_kit import Started, files_under
from tests.server_kit import Server, running_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("old")) as running:
        running.send("orders", [b"one", b"two"])
        yield running


def migration(server: Server, home: Path, *words: str) -> Started:
    flags = ("--store", str(home / "new"), "--port", "0", "-n", server.name_server)
    return Started(home, "migrate", "broker-a", *flags, *words)


def test_a_rehearsal_says_what_it_saw_and_makes_nothing(server: Server, tmp_path: Path) -> None:
    words = ("migrate", "broker-a", "--store", str(tmp_path / "new"), "--port", "0", "--dry-run")
    said = aerobee(server, *words)
    assert (said.status, files_under(tmp_path)) == (0, [])
    assert "ok   cluster  broker-a: Aerobee" in said.out
    records = aerobee(server, *words, "-o", "json").records
    assert {one["area"] for one in records} == {"cluster", "settings", "features", "here"}
    assert {one["level"] for one in records} == {"ok"}


def test_a_reason_not_to_begin_is_status_4_and_nothing_is_made(
    server: Server, tmp_path: Path
) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = str(taken.getsockname()[1])
        words = ("--store", str(tmp_path / "new"), "--port", port, "--yes")
        said = aerobee(server, "migrate", "broker-a", *words)
    assert (said.status, files_under(tmp_path)) == (4, [])
    assert f"bad  here     port {port}" in said.out
    assert "nothing was changed" in said.error


def test_a_broker_that_is_not_there_is_status_3(server: Server, tmp_path: Path) -> None:
    said = aerobee(server, "migrate", "broker-z", "--store", str(tmp_path / "new"))
    assert (said.status, "there are: broker-a" in said.error) == (3, True)


def test_nobody_is_replaced_before_somebody_agrees(server: Server, tmp_path: Path) -> None:
    words = ("--store", str(tmp_path / "new"), "--port", "0")
    said = aerobee(server, "migrate", "broker-a", *words, stdin="")
    assert (said.status, "--yes or --dry-run" in said.error) == (2, True)
    assert files_under(tmp_path) == []


def test_a_broker_that_is_no_slave_takes_nothing_over(server: Server) -> None:
    said = aerobee(server, "migrate", "broker-a", "--to", "127.0.0.1:1", "--yes")
    assert (said.status, "no slave of broker-a is registered" in said.error) == (1, True)


def test_a_migration_has_one_goal(server: Server) -> None:
    for words in ((), ("--store", "new", "--to", "127.0.0.1:1")):
        assert aerobee(server, "migrate", "broker-a", *words).status == 2


def test_a_run_that_follows_is_continued_by_one_that_takes_over_and_serves(
    server: Server, tmp_path: Path
) -> None:
    with migration(server, tmp_path, "--follow", "--yes") as first:
        first.until("without --follow")
        assert first.stop()[0] == 0
    server.send("orders", [b"three"])
    with migration(server, tmp_path, "--yes", "--compare", "all") as second:
        said = second.until("next time")
        assert "is from an earlier run, which goes on" in said
        assert "with 3 messages are equal" in said
        assert "gap: " in said
        server.send("orders", [b"four"])
        records = aerobee(server, "broker", "replicas", "-o", "json").records
        assert [one["role"] for one in records] == ["ASYNC_MASTER", "SLAVE"]
        old = next(one["address"] for one in records if one["role"] == "SLAVE")
        back = aerobee(server, "migrate", "broker-a", "--to", str(old), "--dry-run")
        assert (back.status, f"{old} lacks " in back.out) == (0, True)
        back = aerobee(server, "migrate", "broker-a", "--to", str(old), stdin="")
        assert (back.status, "--yes or --dry-run" in back.error) == (2, True)
        assert second.stop()[0] == 0
    again = aerobee(server, "migrate", "broker-a", "--store", str(tmp_path / "new"), "--dry-run")
    assert again.status == 3  # the old master is a slave now
