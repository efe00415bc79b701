import asyncio
import json
import time
from pathlib import Path

import pytest

from tests.cli_kit import NOWHERE, aerobee
from tests.server_kit import Server


@pytest.fixture(scope="module")
def given_up(server: Server) -> str:
    """A group that has given up three messages."""

    async def give_up() -> None:
        async with server.connect() as client:
            await client.admin.topics.create("CliDead", queues=1)
            for number, tag in enumerate(("a", "b", "b")):
                await client.send("CliDead", b"%d" % number, tag=tag, keys=[f"k-{number}"])
            consumer = client.consumer("CliDead", group="cli-dead", start="earliest")
            async with consumer:
                for _ in range(3):
                    await (await anext(aiter(consumer))).reject(reason="no")

    asyncio.run(give_up())
    listed: list[dict[str, object]] = []
    while {"group": "cli-dead", "dead_letters": 3} not in listed:
        listed = aerobee(server, "dlq", "list", "-o", "json").records
    return "cli-dead"


def test_dead_letters_are_shown_by_what_they_have(server: Server, given_up: str) -> None:
    show = ("dlq", "show", given_up, "-o", "json")
    found = aerobee(server, *show).records
    assert sorted(one["body"] for one in found) == ["0", "1", "2"]
    for words, bodies in (
        (("--tag", "b"), ["1", "2"]),
        (("--key", "k-1"), ["1"]),
        (("--topic", "CliDead"), ["0", "1", "2"]),
        (("--topic", "Other"), []),
        (("--until", "1h"), []),
        (("--from", "1h", "--limit", "1"), ["0"]),
    ):
        some = aerobee(server, *show, *words).records
        assert sorted(one["body"] for one in some) == bodies, words
    one = aerobee(server, "dlq", "show", given_up, found[0]["id"])
    assert "BORN HOST" in one.out
    assert aerobee(server, "dlq", "show", given_up, "C0FFEE").status == 3


def test_dead_letters_are_exported_one_a_line(
    server: Server, given_up: str, tmp_path: Path
) -> None:
    lines = aerobee(server, "dlq", "export", given_up, "--tag", "b").out.splitlines()
    assert [json.loads(line)["origin"] for line in lines] == ["CliDead", "CliDead"]
    file = tmp_path / "dead.ndjson"
    export = ("dlq", "export", given_up, "--file", str(file))
    assert f"3 dead letters are in {file}" in aerobee(server, *export).out
    assert len(file.read_text().splitlines()) == 3
    again = aerobee(server, *export)
    assert again.status == 1
    assert "is there already" in again.error
    assert aerobee(server, "dlq", "export", given_up, "--file", str(tmp_path)).status == 1


def test_those_that_are_meant_are_sent_again_no_faster_than_they_may(
    server: Server, given_up: str
) -> None:
    resend = ("dlq", "resend", given_up)
    assert aerobee(server, *resend).status == 2
    assert aerobee(server, *resend, "--all", "--rate", "0").status == 2
    assert aerobee(server, *resend, "--all", stdin="").status == 2
    dry = aerobee(server, *resend, "--tag", "b", "--dry-run")
    assert dry.out == "would send 2 dead letters again to the group cli-dead, 100 a second\n"
    aerobee(server, "topic", "create", "CliRisen", "--queues", "1")
    begun = time.monotonic()
    all_again = aerobee(server, *resend, "--all", "--yes", "--rate", "10", "--to", "CliRisen")
    assert all_again.out == "3 dead letters are sent again to CliRisen\n"
    assert time.monotonic() - begun >= 0.2
    risen = ("message", "get", "CliRisen", "--from", "1h", "-o", "json")
    assert [one["body"] for one in aerobee(server, *risen).records] == ["0", "1", "2"]
    assert aerobee(server, *resend, "--key", "k-1", "--yes").status == 0

    async def receive() -> bytes:
        async with server.connect() as client:
            return (await client.receive("CliDead", group=given_up, timeout=60)).body

    assert asyncio.run(receive()) == b"1"


@pytest.mark.parametrize(
    "words",
    [
        ("show", "cli-nobody"),
        ("export", "cli-nobody"),
        ("resend", "cli-nobody", "--all", "--yes"),
        ("resend", "cli-dead", "C0FFEE", "--yes"),
        ("resend", "cli-dead", "--all", "--yes", "--to", "CliNowhere"),
    ],
)
def test_what_is_not_there_is_not_found(
    server: Server, given_up: str, words: tuple[str, ...]
) -> None:
    said = aerobee(server, "dlq", *words)
    assert said.status in (1, 3)
    assert "code: NotFound" in said.error or "0 of 3 were sent again, then" in said.error
    assert aerobee(NOWHERE, "dlq", *words).status == 1
    assert aerobee(server, "dlq", "show", given_up, "--from", "soon").status == 2
