import pytest

from tests.cli_kit import NOWHERE, aerobee
from tests.server_kit import Server


def test_brokers_are_listed_and_tell_their_figures(server: Server) -> None:
    (broker,) = aerobee(server, "broker", "list", "-o", "json").records
    assert broker["broker"] == "broker-a"
    figures = aerobee(server, "broker", "stats", "broker-a", "-o", "json").records
    names = {one["figure"] for one in figures}
    assert {"bootTimestamp", "putTps", "commitLogMaxOffset"} <= names
    some = aerobee(server, "broker", "stats", "--filter", "puttps", "-o", "json").records
    assert [one["figure"] for one in some] == ["putTps"]
    assert "no figure has 'x1x'" in aerobee(server, "broker", "stats", "--filter", "x1x").out


def test_settings_of_a_running_broker_are_read_and_changed(server: Server) -> None:
    get = ("broker", "config", "get", "fileReservedTime", "-o", "json")
    before = {"broker": "broker-a", "key": "fileReservedTime", "value": "72"}
    assert aerobee(server, *get).records == [before]
    change = ("broker", "config", "set", "fileReservedTime=48")
    dry = aerobee(server, *change, "--dry-run")
    assert dry.out == "would set fileReservedTime from 72 to 48 in broker-a\n"
    assert aerobee(server, *change, stdin="").status == 2
    assert aerobee(server, *get).records == [before]
    assert aerobee(server, *change, "--yes", "--on", "broker-a").status == 0
    assert [one["value"] for one in aerobee(server, *get).records] == ["48"]


def test_what_a_broker_does_not_take_is_refused(server: Server) -> None:
    for pair in ("fileReservedTime=x", "storePathRootDir=/tmp", "nonsense=1"):
        said = aerobee(server, "broker", "config", "set", pair, "--yes")
        assert said.status == 1
        assert "nothing was changed" in said.error
        assert pair.partition("=")[0] in said.error


def test_a_setting_that_there_is_not_is_answered_with_the_one_that_was_meant(
    server: Server,
) -> None:
    for verb in (("get", "fileReservdTime"), ("set", "fileReservdTime=48", "--dry-run")):
        said = aerobee(server, "broker", "config", *verb)
        assert said.status == 3
        assert "did you mean fileReservedTime?" in said.error


def test_producers_leave_a_broker_and_come_back(server: Server) -> None:
    aerobee(server, "topic", "create", "CliDrained")
    route = ("topic", "route", "CliDrained", "-o", "json")
    assert (
        "would have producers leave"
        in aerobee(server, "broker", "drain", "broker-a", "--dry-run").out
    )
    assert aerobee(server, "broker", "drain", "broker-a", "--yes").status == 0
    try:
        assert [one["permission"] for one in aerobee(server, *route).records] == ["R-"]
    finally:
        assert aerobee(server, "broker", "undrain", "broker-a", "--yes").status == 0
    assert [one["permission"] for one in aerobee(server, *route).records] == ["RW"]


@pytest.mark.parametrize("what", ["unused-topics", "expired-queues", "expired-log"])
def test_brokers_clean_up_when_told_to(server: Server, what: str) -> None:
    assert (
        "would delete in all brokers" in aerobee(server, "broker", "clean", what, "--dry-run").out
    )
    assert aerobee(server, "broker", "clean", what, "--yes").status == 0
    assert aerobee(server, "broker", "clean", "everything").status == 2


@pytest.mark.parametrize(
    "words",
    [
        ("stats", "broker-z"),
        ("config", "get", "nonsense"),
        ("config", "get", "--on", "broker-z"),
        ("config", "set", "fileReservedTime=1", "--yes", "--on", "broker-z"),
        ("drain", "broker-z", "--yes"),
        ("clean", "expired-log", "--yes", "--on", "broker-z"),
    ],
)
def test_a_broker_or_setting_that_is_not_there_is_not_found(
    server: Server, words: tuple[str, ...]
) -> None:
    assert aerobee(server, "broker", *words).status == 3
    assert aerobee(NOWHERE, "broker", *words).status == 1
