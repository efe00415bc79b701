"""The README shows what happens."""

import asyncio
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import aerobee as mq
from tests.cli_kit import aerobee
from tests.server_kit import Server, running_server

README = (Path(__file__).resolve().parents[2] / "README.md").read_text("utf-8")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("readme")) as server:
        yield server


def test_the_commands_of_the_first_message_work_one_after_the_other(server: Server) -> None:
    (block,) = re.findall(r"```shell\n(.*?)```", README, re.DOTALL)
    said = [aerobee(server, *shlex.split(line)[1:]) for line in block.splitlines()]
    assert [one.status for one in said] == [0] * 4, [one.error for one in said]
    assert said[2].out.rstrip().endswith('created  o-1  {"id": 1}')


def test_the_example_sends_and_consumes(server: Server) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert "localhost:9876" in example

    async def make_topic() -> None:
        async with mq.admin(server.name_server) as admin:
            await admin.topics.create("orders", queues=1)

    asyncio.run(make_topic())
    run = subprocess.run(
        [sys.executable, "-c", example.replace("localhost:9876", server.name_server)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    first, *_, last = run.stdout.splitlines()
    assert first == "stored in orders@broker-a:0"
    assert last == "created {'id': 2}"
