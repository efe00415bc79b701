import asyncio

import aerobee as mq
from tests.cli_kit import aerobee
from tests.server_kit import Server


def _consume(server: Server, group: str, count: int) -> None:
    async def receive() -> None:
        async with mq.connect(server.name_server) as client:
            for _ in range(count):
                await client.receive("CliGroups", group=group, timeout=20)

    asyncio.run(receive())


def test_a_group_is_seen_with_its_lag_and_sent_elsewhere(server: Server) -> None:
    server.send("CliGroups", [b"x"] * 8)
    _consume(server, "cli-billing", 8)
    listed = aerobee(server, "group", "list", "-o", "json").records
    (mine,) = [one for one in listed if one["group"] == "cli-billing"]
    assert mine["topics"] == ["CliGroups"]
    assert not any(one["group"].startswith("CID_") for one in listed)
    assert any(
        one["group"].startswith("CID_")
        for one in aerobee(server, "group", "list", "--all", "-o", "json").records
    )
    reset = ("group", "reset", "cli-billing", "CliGroups", "--to", "earliest")
    assert "would send" in aerobee(server, *reset, "--dry-run").out
    assert aerobee(server, *reset, "--yes").status == 0
    shown = aerobee(server, "group", "show", "cli-billing", "-o", "json").records
    of_topic = [one for one in shown if one["topic"] == "CliGroups"]
    assert sum(one["lag"] for one in of_topic) == 8
    assert [one["at"] for one in of_topic] == [0, 0, 0, 0]
    assert aerobee(server, "group", "delete", "cli-billing", "--yes").status == 0


def test_who_is_not_there_is_said_to_be_nobody(server: Server) -> None:
    assert "no member of cli-nobody" in aerobee(server, "group", "members", "cli-nobody").out


def test_a_time_that_is_none_is_wrong_use(server: Server) -> None:
    said = aerobee(server, "group", "reset", "g", "t", "--to", "soon", "--yes")
    assert said.status == 2
    assert "'soon'" in said.error
