from typing import Any

from tests.cli_kit import OnTerminal, aerobee
from tests.server_kit import Server


def _ready(server: Server, name: str) -> None:
    aerobee(server, "topic", "create", name, "--queues", "2")
    server.send(name, [b"x"] * 8)
    aerobee(server, "group", "create", name)


def _at(server: Server, name: str) -> list[int]:
    shown = aerobee(server, "offset", "show", name, "-o", "json").records
    return [one["at"] for one in shown]


def test_what_would_happen_is_what_happens(server: Server) -> None:
    _ready(server, "CliReset")
    reset = ("group", "reset", "CliReset", "CliReset", "-o", "json")
    dry: Any = aerobee(server, *reset, "--to", "3", "--dry-run").records
    assert [(one["at"], one["to"], one["left_out"]) for one in dry] == [(None, 3, 3)] * 2
    assert _at(server, "CliReset") == []
    assert aerobee(server, *reset, "--to", "3", "--yes").records == dry
    assert _at(server, "CliReset") == [3, 3]
    back = aerobee(server, *reset, "--to", "1h", "--yes").records
    assert [(one["at"], one["to"], one["again"]) for one in back] == [(3, 0, 3)] * 2
    assert _at(server, "CliReset") == [0, 0]


def test_an_offset_stays_within_the_queue_and_a_queue_can_be_chosen(server: Server) -> None:
    _ready(server, "CliResetOne")
    reset = ("group", "reset", "CliResetOne", "CliResetOne", "--yes", "-o", "json")
    (one,) = aerobee(server, *reset, "--to", "999", "--queue", "broker-a:1").records
    assert (one["queue"], one["to"]) == (1, 4)
    assert aerobee(server, *reset, "--to", "1", "--queue", "broker-a:7").status == 3
    assert aerobee(server, *reset, "--to", "1", "--queue", "x").status == 2


def test_what_would_happen_is_shown_before_it_is_asked_about(server: Server) -> None:
    _ready(server, "CliResetAsk")
    words = ("group", "reset", "CliResetAsk", "CliResetAsk", "--to", "latest")
    screen = OnTerminal(*words, "-n", server.name_server)
    screen.wait_for("Go on?")
    screen.type("n\n")
    status, lines = screen.end()
    assert status == 1
    assert lines[0].split() == ["BROKER", "QUEUE", "AT", "TO", "AGAIN", "LEFT", "OUT"]
    assert lines[1].split() == ["broker-a", "0", "-", "4", "0", "4"]
    assert _at(server, "CliResetAsk") == []


def test_a_place_that_is_none_is_wrong_use(server: Server) -> None:
    said = aerobee(server, "group", "reset", "g", "t", "--to", "soon", "--yes")
    assert said.status == 2
    assert "'soon'" in said.error
    assert aerobee(server, "group", "reset", "g", "t", "--yes").status == 2


def test_a_topic_that_is_not_there_is_not_found(server: Server) -> None:
    aerobee(server, "group", "create", "CliResetNowhere")
    words = ("reset", "CliResetNowhere", "CliResetNowhere", "--to", "latest", "--yes")
    assert aerobee(server, "group", *words).status == 3
