import pytest

from aerobee.cli.commands.topic import shown_permission
from tests.cli_kit import NOWHERE, aerobee
from tests.server_kit import Server


def test_a_topic_is_made_looked_at_and_deleted(server: Server) -> None:
    assert aerobee(server, "topic", "create", "CliTopic", "--queues", "3").status == 0
    listed = aerobee(server, "topic", "list", "-o", "json").records
    mine = {"topic": "CliTopic", "type": "NORMAL", "brokers": 1, "queues": 3, "permission": "RW"}
    assert mine in listed
    assert not any(one["topic"].startswith(("%", "TBW102", "RMQ_SYS")) for one in listed)
    everything = aerobee(server, "topic", "list", "--all", "-o", "json").records
    assert any(one["topic"] == "TBW102" for one in everything)
    server.send("CliTopic", [b"x"] * 3)
    shown = aerobee(server, "topic", "status", "CliTopic", "-o", "json").records
    assert [one["queue"] for one in shown] == [0, 1, 2]
    assert sum(one["messages"] for one in shown) == 3
    (route,) = aerobee(server, "topic", "route", "CliTopic", "-o", "json").records
    assert (route["broker"], route["read"], route["write"]) == ("broker-a", 3, 3)
    assert (route["cluster"], len(route["addresses"])) == ("DefaultCluster", 1)
    dry = aerobee(server, "topic", "delete", "CliTopic", "--dry-run")
    assert dry.out == "would delete the topic CliTopic and its 3 messages on every broker\n"
    assert aerobee(server, "topic", "delete", "CliTopic", "--yes").status == 0
    assert aerobee(server, "topic", "route", "CliTopic").status == 3


def test_a_topic_is_described(server: Server) -> None:
    aerobee(server, "topic", "create", "CliDescribed", "--type", "FIFO", "--queues", "2")
    server.send("CliDescribed", [b"x"] * 2, order_by="a")
    facts = aerobee(server, "topic", "describe", "CliDescribed", "-o", "json").records
    assert (facts["type"], facts["messages"], facts["groups"]) == ("FIFO", 2, [])
    assert facts["brokers"] == [
        {"broker": "broker-a", "read_queues": 2, "write_queues": 2, "permission": "RW"}
    ]
    assert facts["last_stored"].startswith("20")


def test_one_that_is_there_is_not_made_again(server: Server) -> None:
    aerobee(server, "topic", "create", "CliOnce", "--queues", "1")
    again = aerobee(server, "topic", "create", "CliOnce", "--queues", "4")
    assert again.status == 1
    assert "topic update" in again.error
    assert aerobee(server, "topic", "create", "CliOnce", "--if-missing").status == 0
    assert len(aerobee(server, "topic", "status", "CliOnce", "-o", "json").records) == 1


def test_what_is_not_named_stays_and_what_is_lost_is_asked_about(server: Server) -> None:
    aerobee(server, "topic", "create", "CliChanged", "--queues", "4", "--type", "DELAY")
    assert aerobee(server, "topic", "update", "CliChanged", "--write-queues", "6").status == 0
    lost = aerobee(server, "topic", "update", "CliChanged", "--permission", "R", stdin="")
    assert lost.status == 2
    assert "nobody may send to it any more" in lost.error
    dry = aerobee(server, "topic", "update", "CliChanged", "--queues", "2", "--dry-run")
    assert "queues from 2 on take no more messages" in dry.out
    assert "from 2 on can no longer be read" in dry.out
    changed = aerobee(server, "topic", "update", "CliChanged", "--permission", "R", "--yes")
    assert changed.status == 0
    facts = aerobee(server, "topic", "describe", "CliChanged", "-o", "json").records
    assert facts["type"] == "DELAY"
    assert facts["brokers"] == [
        {"broker": "broker-a", "read_queues": 4, "write_queues": 6, "permission": "R-"}
    ]
    assert aerobee(server, "topic", "update", "CliChanged").status == 2
    assert aerobee(server, "topic", "update", "CliChanged", "--set", "x", "--yes").status == 2


def test_nothing_is_deleted_without_being_asked(server: Server) -> None:
    aerobee(server, "topic", "create", "CliKept")
    unasked = aerobee(server, "topic", "delete", "CliKept", stdin="")
    assert unasked.status == 2
    assert "--yes" in unasked.error
    assert aerobee(server, "topic", "route", "CliKept").status == 0


@pytest.mark.parametrize(
    "words",
    [
        ("status", "CliNowhere"),
        ("describe", "CliNowhere"),
        ("route", "CliNowhere"),
        ("delete", "CliNowhere", "--yes"),
        ("update", "CliNowhere", "--queues", "9"),
        ("create", "CliSomewhere", "--on", "broker-z"),
    ],
)
def test_what_is_not_there_is_not_found(server: Server, words: tuple[str, ...]) -> None:
    said = aerobee(server, "topic", *words)
    assert said.status == 3
    assert "CliNowhere" in said.error or "'broker-z'" in said.error


def test_what_a_broker_refuses_is_said(server: Server) -> None:
    said = aerobee(server, "topic", "create", "no spaces")
    assert said.status == 1
    assert "code: Refused" in said.error
    assert aerobee(server, "topic", "create", "CliTypo", "--type", "FUFU").status == 2


def test_where_nobody_is_nothing_is_found_out() -> None:
    for words in (("list",), ("create", "t"), ("delete", "t", "--yes")):
        said = aerobee(NOWHERE, "topic", *words)
        assert said.status == 1
        assert "aerobee up" in said.error


def test_permissions_are_read() -> None:
    assert [shown_permission(one) for one in (6, 4, 2, 0)] == ["RW", "R-", "-W", "--"]


def test_a_topic_without_queues_is_not_made(server: Server) -> None:
    made = aerobee(server, "topic", "create", "CliNoQueues", "--queues", "0")
    assert (made.status, "from 1 on" in made.error) == (2, True)
    assert aerobee(server, "topic", "route", "CliNoQueues").status == 3


def test_a_static_topic_is_made_grown_moved_and_deleted(server: Server) -> None:
    made = aerobee(server, "topic", "create", "CliStatic", "--static", "--queues", "2")
    assert made.out == "CliStatic has 2 queues on all brokers together\n"
    server.send("CliStatic", [b"x"] * 2)
    shown = aerobee(server, "topic", "status", "CliStatic", "-o", "json").records
    assert [one["messages"] for one in shown if one["broker"] == "__syslo__global__"] == [1, 1]
    facts = aerobee(server, "topic", "describe", "CliStatic", "-o", "json").records
    assert (facts["messages"], facts["static"]) == (2, "2 logical queues")
    assert aerobee(server, "topic", "update", "CliStatic", "--queues", "3").status == 0
    wrong = aerobee(server, "topic", "update", "CliStatic", "--queues", "4", "--permission", "R")
    assert (wrong.status, "takes --queues alone" in wrong.error) == (2, True)
    dry = aerobee(server, "topic", "move", "CliStatic", "--on", "broker-a", "--dry-run")
    assert dry.out.startswith("would move no queue of CliStatic")
    assert aerobee(server, "topic", "move", "CliStatic", "--on", "broker-z").status == 3
    assert aerobee(server, "topic", "move", "CliStatic", "--on", "broker-a", "--yes").status == 0
    assert aerobee(server, "topic", "delete", "CliStatic", "--yes").status == 0
    wrong = aerobee(server, "topic", "create", "CliStatic", "--static", "--type", "FIFO")
    assert wrong.status == 2
