import json
import re
import shlex
from pathlib import Path

import pytest

import aerobee as mq
from aerobee.app.explaining.facts import GroupFacts, MessageFacts
from aerobee.app.explaining.findings import Cause
from aerobee.app.explaining.group_causes import explain_group
from aerobee.app.explaining.message_causes import explain_message
from aerobee.app.explaining.replica_causes import explain_replicas
from aerobee.cli.main import parser_for
from aerobee.cli.mqadmin import catalog
from aerobee.cli.mqadmin.options import read
from aerobee.model.replica_status import DIVERGED
from tests.cli_kit import aerobee
from tests.replica_script import ReplicaScript, master, slave
from tests.server_kit import Server

TOPIC, GROUP = "CliExplained", "cli-explaining"
PAGE = Path(__file__).parents[4] / "docs" / "explain.md"


def _consume(server: Server, count: int) -> None:
    with (
        mq.connect_sync(server.name_server) as client,
        client.consumer(TOPIC, group=GROUP, start="earliest") as consumer,
    ):
        for message in consumer:
            message.ack()
            count -= 1
            if not count:
                break


@pytest.fixture(scope="module")
def explained(server: Server) -> str:
    """The id of a message that a group has consumed, with one more that it has not."""
    server.create(TOPIC, queues=1)
    (first,) = server.send(TOPIC, [b"x"], tag="a", keys=["k-1"])
    _consume(server, 1)
    server.send(TOPIC, [b"y"])
    return first.message_id


def test_a_message_is_explained_to_people_and_to_programs(server: Server, explained: str) -> None:
    said = aerobee(server, "explain", "message", explained)
    assert said.status == 0, said.error
    assert "TOPIC" in said.out
    assert f"{GROUP}: CONSUMED: the group is past it: at 1 of {TOPIC}@broker-a:0" in said.out
    assert f"  next: aerobee message trace {explained}\n" in said.out
    told = json.loads(aerobee(server, "explain", "message", explained, "-o", "json").out)
    assert told["topic"] == TOPIC
    assert (told["queue"], told["offset"], told["tag"]) == ("broker-a:0", 0, "a")
    (finding,) = told["findings"]
    assert finding["cause"] == "consumed"
    assert finding["group"] == GROUP


def test_a_group_is_explained_queue_by_queue(server: Server, explained: str) -> None:
    said = aerobee(server, "explain", "group", GROUP)
    assert said.status == 0, said.error
    assert f"{GROUP}: NO MEMBERS: nobody of the group is online" in said.out
    assert f"{GROUP}: BEHIND: 1 behind in {TOPIC}" in said.out
    told = json.loads(aerobee(server, "explain", "group", GROUP, "-o", "json").out)
    (queue,) = [one for one in told["queues"] if one["topic"] == TOPIC]
    assert (queue["lag"], queue["at"], queue["owner"]) == (1, 1, None)
    assert {one["cause"] for one in told["findings"]} == {"no members", "behind"}


def test_what_is_not_there_has_the_status_of_it(server: Server, explained: str) -> None:
    said = aerobee(server, "explain", "message", "nonsense", "--topic", TOPIC)
    assert said.status == 3
    assert "NOT FOUND: no message of this id is in CliExplained" in said.out
    said = aerobee(server, "explain", "group", "cli-unheard-of")
    assert said.status == 3
    assert "NO GROUP" in said.out


def test_nobody_at_the_address_is_a_failure() -> None:
    said = aerobee(Server("127.0.0.1:1"), "explain", "group", GROUP)
    assert said.status == 1
    assert "127.0.0.1:1" in said.error


def test_no_line_is_wider_than_a_terminal_of_80_columns(server: Server, explained: str) -> None:
    for words in (("group", GROUP), ("message", explained)):
        lines = aerobee(server, "explain", *words).out.splitlines()
        assert max(len(line) for line in lines if "next: " not in line) <= 80


def test_the_page_has_every_cause_and_its_commands_exist() -> None:
    page = PAGE.read_text()
    causes = re.findall(r"^\| ([a-z ]+) \| (?:message|group|both|broker) \|", page, re.MULTILINE)
    assert causes == [cause.value for cause in Cause]
    for line in page.splitlines():
        if line.startswith("aerobee "):
            parser_for(["explain"]).parse_args(shlex.split(line)[1:])


def test_a_master_and_its_slaves_are_explained_to_people_and_to_programs() -> None:
    with ReplicaScript(master(), slave(1, why="refused")).running() as script:
        place = Server(script.name_server)
        said = aerobee(place, "explain", "broker", "broker-a")
        assert said.status == 0, said.error
        assert "NOT FOLLOWING: no slave of broker-a is connected" in said.out
        assert "  next: aerobee broker replicas broker-a\n" in said.out
        facts = aerobee(place, "explain", "broker", "broker-a", "-o", "json").records
        assert [one["id"] for one in facts["replicas"]] == [0, 1]
        assert [one["cause"] for one in facts["findings"]] == ["not following"] * 2
        missing = aerobee(place, "explain", "broker", "broker-z")
        assert (missing.status, "there are: broker-a" in missing.error) == (3, True)


def _next_commands() -> list[str]:
    """One of each shape that the findings give, names filled in."""
    from tests.unit.app.explaining import (
        test_group_causes,
        test_message_causes,
        test_replica_causes,
    )

    group = test_group_causes.GROUP
    copy, facts = test_message_causes.copy, test_message_causes.facts
    replicas = test_replica_causes
    found = [
        *explain_group(group),
        *explain_group(GroupFacts("g", 0, is_enabled=False, forbidden=("T",), dead_letters=1)),
        *explain_group(GroupFacts("g", 0, is_known=False)),
        *explain_message(MessageFacts("ID", "T"), []),
        *explain_message(MessageFacts("ID", "T", has_route=False), []),
        *explain_message(facts(copy("T")), [test_message_causes.group(9)]),
        *explain_message(facts(copy("T")), [test_message_causes.group(2)]),
        *explain_message(facts(copy("T"), copy("%DLQ%g")), [test_message_causes.group(2)]),
        *explain_replicas(replicas.group(replicas.slave(state=DIVERGED))),
        *explain_replicas(replicas.group(replicas.master(role="SYNC_MASTER"))),
        *explain_replicas(replicas.group(replicas.master(replicas.IN_SYNC, copies=3))),
    ]
    return sorted({one.next for one in found})


@pytest.mark.parametrize("command", _next_commands())
def test_the_next_command_is_one_that_exists(command: str) -> None:
    program, noun, *words = shlex.split(command)
    assert program == "aerobee"
    if noun == "mqadmin":
        known = catalog.find(words[0])
        assert known is not None
        read(known.options, words[1:])
    else:
        parser_for([noun]).parse_args([noun, *words])
