import pytest

from tests.cli_kit import NOWHERE, aerobee
from tests.server_kit import Server


def test_offsets_are_shown_put_elsewhere_skipped_and_cloned(server: Server) -> None:
    aerobee(server, "topic", "create", "CliOffsets", "--queues", "1")
    server.send("CliOffsets", [b"x"] * 5)
    aerobee(server, "group", "create", "cli-offsets")
    assert "nothing yet" in aerobee(server, "offset", "show", "cli-offsets").out
    reset = ("offset", "reset", "cli-offsets", "CliOffsets", "--to", "2", "--yes")
    assert aerobee(server, *reset).status == 0
    shown = ("offset", "show", "cli-offsets", "--topic", "CliOffsets", "-o", "json")
    assert aerobee(server, *shown).records == [
        {
            "topic": "CliOffsets",
            "broker": "broker-a",
            "queue": 0,
            "first": 0,
            "at": 2,
            "next": 5,
            "lag": 3,
        }
    ]
    clone = ("offset", "clone", "cli-offsets", "cli-cloned")
    assert aerobee(server, *clone, stdin="").status == 2
    assert "would begin cli-cloned where" in aerobee(server, *clone, "--dry-run").out
    assert aerobee(server, *clone, "--yes").status == 0
    assert aerobee(server, "offset", "skip", "cli-offsets", "CliOffsets", "--yes").status == 0
    assert [one["lag"] for one in aerobee(server, *shown).records] == [0]
    cloned = aerobee(server, "offset", "show", "cli-cloned", "-o", "json").records
    assert [one["at"] for one in cloned] == [2]


@pytest.mark.parametrize(
    "words",
    [
        ("show", "cli-nobody"),
        ("skip", "cli-nobody", "CliOffsets", "--yes"),
        ("clone", "cli-nobody", "cli-other", "--yes"),
        ("reset", "cli-nobody", "CliOffsets", "--to", "1", "--yes"),
    ],
)
def test_a_group_that_is_not_there_is_not_found(server: Server, words: tuple[str, ...]) -> None:
    assert aerobee(server, "offset", *words).status == 3
    assert aerobee(NOWHERE, "offset", *words).status == 1


def test_a_topic_that_is_not_there_is_not_found(server: Server) -> None:
    aerobee(server, "group", "create", "cli-offsets-two")
    said = aerobee(server, "offset", "show", "cli-offsets-two", "--topic", "CliNowhere")
    assert said.status == 3
