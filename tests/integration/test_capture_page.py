"""The commands of docs/capture.md, in its order, on a real database and a real broker."""

import contextlib
import io
import re
import shlex
import signal
from pathlib import Path

from tests.mariadb_kit import Database
from tests.process_kit import Started
from tests.server_kit import running_server

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "capture.md").read_text("utf-8")


def _blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)


def _commands() -> list[list[str]]:
    lines = "".join(_blocks("sh")).splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("aerobee ")]


def test_the_page_can_be_followed(database: Database, tmp_path: Path) -> None:
    for block in _blocks("sql"):
        database.run(*filter(str.strip, block.replace("'%'", "'127.0.0.1'").split(";")))
    database.run(
        "CREATE DATABASE shop",
        "CREATE TABLE shop.orders (id INT PRIMARY KEY, state TEXT, total DECIMAL(9,2))",
        "INSERT INTO shop.orders VALUES (7, 'new', 12.5)",
    )
    try:
        with running_server(tmp_path) as server:
            for command in _commands():
                _follow(command, database, server.name_server, tmp_path)
            (example,) = _blocks("python")
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(example.replace("localhost:9876", server.name_server), {})
    finally:
        database.run("DROP DATABASE shop", "DROP USER replica@'127.0.0.1'")
    assert printed.getvalue() == "[{'id': 7, 'state': 'paid', 'total': '12.50'}]\n"


def _follow(command: list[str], database: Database, name_server: str, home: Path) -> None:
    if "mysql" in command:
        command = [*command, "--port", str(database.server.port)]
    environment = {"AEROBEE_MYSQL_PASSWORD": "secret", "AEROBEE_NAME_SERVER": name_server}
    with Started(home, *command, **environment) as started:
        if "mysql" in command and "--once" not in command:
            assert started.process.stdout is not None
            assert started.process.stdout.readline().startswith("ready: shop.*"), started.end()
            database.run("UPDATE shop.orders SET state = 'paid'")
            status, _, error = started.stop(signal.SIGINT)
        else:
            status, _, error = started.end()
    assert status == 0, f"{command}: {error}"


def test_every_flag_of_the_page_is_known_and_the_other_way_round() -> None:
    from aerobee.cli.main import parser_for

    with contextlib.redirect_stdout(io.StringIO()) as shown, contextlib.suppress(SystemExit):
        parser_for(["capture"]).parse_args(["capture", "mysql", "--help"])
    said, named = (set(re.findall(r"--[a-z][a-z-]*", text)) for text in (shown.getvalue(), PAGE))
    assert named <= said
    everywhere = {"--help", "--output", "--wide", "--name-server", "--context"}
    assert said - named <= {*everywhere, "--port"}
