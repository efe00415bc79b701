import asyncio
from typing import Any

import pytest

from tests.cli_kit import NOWHERE, Said, aerobee
from tests.server_kit import Server


def _consume(server: Server, topic: str, group: str, count: int) -> None:
    async def receive() -> None:
        async with server.connect() as client:
            for _ in range(count):
                await client.receive(topic, group=group, timeout=60)

    asyncio.run(receive())


def test_a_group_is_seen_with_its_lag_and_sent_elsewhere(server: Server) -> None:
    server.send("CliGroups", [b"x"] * 8)
    _consume(server, "CliGroups", "cli-billing", 8)
    listed = aerobee(server, "group", "list", "-o", "json").records
    (mine,) = [one for one in listed if one["group"] == "cli-billing"]
    assert (mine["topics"], mine["members"]) == (["CliGroups"], 0)
    assert not any(one["group"].startswith("CID_") for one in listed)
    assert any(
        one["group"].startswith("CID_")
        for one in aerobee(server, "group", "list", "--all", "-o", "json").records
    )
    reset = ("group", "reset", "cli-billing", "CliGroups", "--to", "earliest")
    assert aerobee(server, *reset, "--yes").status == 0
    facts = aerobee(server, "group", "describe", "cli-billing", "-o", "json").records
    of_topic = [one for one in facts["queues"] if one["topic"] == "CliGroups"]
    assert facts["lag"] == sum(one["lag"] for one in of_topic) == 8
    assert [one["at"] for one in of_topic] == [0, 0, 0, 0]
    assert facts["state"] == "nobody is connected"
    dry = aerobee(server, "group", "delete", "cli-billing", "--dry-run")
    assert dry.out.startswith("would delete the group cli-billing, where it was")
    assert aerobee(server, "group", "delete", "cli-billing", "--yes").status == 0
    assert aerobee(server, "group", "describe", "cli-billing").status == 3


def _while_consuming(
    server: Server, topic: str, group: str, tags: tuple[str, ...], *words: str
) -> Said:
    """What a command says while members want these tags, each another one."""

    async def ask() -> Said:
        async with server.connect() as one, server.connect() as two:
            consumers = [
                client.consumer(topic, group=group, tags=tag, start="earliest")
                for client, tag in zip((one, two), tags, strict=False)
            ]
            async with consumers[0]:
                if len(consumers) == 1:
                    return await asyncio.to_thread(_run, server, words)
                async with consumers[1]:
                    return await asyncio.to_thread(_run, server, words)

    return asyncio.run(ask())


def _run(server: Server, words: tuple[str, ...]) -> Said:
    return aerobee(server, *words, stdin="")


def test_members_are_seen_with_the_queues_they_have(server: Server) -> None:
    aerobee(server, "topic", "create", "CliMembers", "--queues", "3")
    words = ("group", "describe", "cli-members", "-o", "json")
    facts: Any = _while_consuming(server, "CliMembers", "cli-members", ("*",), *words).records
    assert (facts["state"], facts["members"], facts["mismatches"]) == ("online", 1, [])
    assert facts["manner"] == "clustering"
    words = ("group", "members", "cli-members", "-o", "json")
    (member,) = _while_consuming(server, "CliMembers", "cli-members", ("*",), *words).records
    assert member["address"].startswith("127.0.0.1:")
    assert "no member of cli-members" in aerobee(server, "group", "members", "cli-members").out


def test_members_that_want_different_things_are_unhealthy(server: Server) -> None:
    aerobee(server, "topic", "create", "CliMismatch", "--queues", "1")
    words = ("group", "subscriptions", "cli-mismatch", "-o", "json")
    agreed = _while_consuming(server, "CliMismatch", "cli-mismatch", ("a",), *words)
    assert agreed.status == 0
    assert [one["expression"] for one in agreed.records if one["topic"] == "CliMismatch"] == ["a"]
    said = _while_consuming(server, "CliMismatch", "cli-mismatch", ("a", "b"), *words)
    assert said.status == 4
    mine = [one for one in said.records if one["topic"] == "CliMismatch"]
    assert {one["expression"] for one in mine} == {"a", "b"}
    assert not any(one["is_agreed"] for one in mine)


def test_a_group_is_made_and_changed(server: Server) -> None:
    assert aerobee(server, "group", "create", "cli-made", "--retries", "3").status == 0
    assert aerobee(server, "group", "create", "cli-made").status == 1
    assert aerobee(server, "group", "update", "cli-made", "--no-enable", "--order").status == 0
    facts = aerobee(server, "group", "describe", "cli-made", "-o", "json").records
    assert (facts["retries_max"], facts["is_enabled"], facts["is_ordered"]) == (3, False, True)
    assert aerobee(server, "group", "update", "cli-made", "--enable").status == 0
    facts = aerobee(server, "group", "describe", "cli-made", "-o", "json").records
    assert (facts["retries_max"], facts["is_enabled"]) == (3, True)
    assert aerobee(server, "group", "update", "cli-made").status == 2
    assert aerobee(server, "group", "update", "cli-made", "--retries", "-7").status == 2
    listed = aerobee(server, "group", "list", "-o", "json").records
    assert [one["lag"] for one in listed if one["group"] == "cli-made"] == [0]


@pytest.mark.parametrize(
    "words",
    [
        ("describe", "cli-nobody"),
        ("members", "cli-nobody"),
        ("subscriptions", "cli-nobody"),
        ("update", "cli-nobody", "--retries", "1"),
        ("delete", "cli-nobody", "--yes"),
        ("reset", "cli-nobody", "t", "--to", "earliest", "--yes"),
    ],
)
def test_a_group_that_is_not_there_is_not_found(server: Server, words: tuple[str, ...]) -> None:
    said = aerobee(server, "group", *words)
    assert said.status == 3
    assert "'cli-nobody'" in said.error
    assert aerobee(NOWHERE, "group", *words).status == 1


def test_a_priority_factor_is_set_shown_and_left_alone(server: Server) -> None:
    def shown() -> object:
        said = aerobee(server, "group", "describe", "cli-ranked", "-o", "json")
        return said.records["priority_factor"]

    assert aerobee(server, "group", "create", "cli-ranked").status == 0
    assert shown() == 100
    assert aerobee(server, "group", "update", "cli-ranked", "--priority-factor", "30").status == 0
    assert aerobee(server, "group", "update", "cli-ranked", "--retries", "3").status == 0
    assert shown() == 30
    assert aerobee(server, "group", "update", "cli-ranked", "--priority-factor", "101").status != 0
