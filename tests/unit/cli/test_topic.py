from tests.cli_kit import aerobee
from tests.server_kit import Server


def test_a_topic_is_made_looked_at_and_deleted(server: Server) -> None:
    assert aerobee(server, "topic", "create", "CliTopic", "--queues", "3").status == 0
    listed = aerobee(server, "topic", "list", "-o", "json").records
    assert {"topic": "CliTopic", "brokers": 1, "queues": 3, "type": "NORMAL"} in listed
    assert not any(one["topic"].startswith(("%", "TBW102", "RMQ_SYS")) for one in listed)
    everything = aerobee(server, "topic", "list", "--all", "-o", "json").records
    assert any(one["topic"] == "TBW102" for one in everything)
    server.send("CliTopic", [b"x"] * 3)
    shown = aerobee(server, "topic", "show", "CliTopic", "-o", "json").records
    assert [one["queue"] for one in shown] == [0, 1, 2]
    assert sum(one["messages"] for one in shown) == 3
    (route,) = aerobee(server, "topic", "route", "CliTopic", "-o", "json").records
    assert (route["broker"], route["read"], route["write"]) == ("broker-a", 3, 3)
    assert aerobee(server, "topic", "delete", "CliTopic", "--yes").status == 0
    assert aerobee(server, "topic", "route", "CliTopic").status == 3


def test_a_topic_has_a_type(server: Server) -> None:
    aerobee(server, "topic", "create", "CliSeats", "--type", "FIFO")
    listed = aerobee(server, "topic", "list", "-o", "json").records
    assert [one["type"] for one in listed if one["topic"] == "CliSeats"] == ["FIFO"]


def test_nothing_is_deleted_without_being_asked(server: Server) -> None:
    aerobee(server, "topic", "create", "CliKept")
    unasked = aerobee(server, "topic", "delete", "CliKept", stdin="")
    assert unasked.status == 2
    assert "--yes" in unasked.error
    dry = aerobee(server, "topic", "delete", "CliKept", "--dry-run")
    assert dry.status == 0
    assert "would delete" in dry.out
    assert aerobee(server, "topic", "route", "CliKept").status == 0


def test_what_is_not_there_is_not_found(server: Server) -> None:
    for verb in ("show", "route"):
        said = aerobee(server, "topic", verb, "CliNowhere")
        assert said.status == 3
        assert "CliNowhere" in said.error
    assert aerobee(server, "topic", "delete", "CliNowhere", "--yes").status == 3
