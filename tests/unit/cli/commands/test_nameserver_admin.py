import pytest

from tests.cli_kit import NOWHERE, aerobee
from tests.server_kit import Server


def test_name_servers_answer_or_are_unhealthy(server: Server) -> None:
    said = aerobee(server, "nameserver", "list", "-o", "json")
    assert said.status == 0
    assert said.records == [{"name_server": server.name_server, "is_well": True, "fault": None}]
    both = aerobee(Server(f"{server.name_server};127.0.0.1:1"), "nameserver", "list")
    assert both.status == 4


def test_values_are_kept_shown_and_forgotten(server: Server) -> None:
    kv = ("nameserver", "kv")
    assert aerobee(server, *kv, "put", "cli", "colour", "red").status == 0
    assert aerobee(server, *kv, "list", "cli", "-o", "json").records == [
        {"key": "colour", "value": "red"}
    ]
    assert aerobee(server, *kv, "get", "cli", "colour", "-o", "csv").out.split() == [
        "key,value",
        "colour,red",
    ]
    dry = aerobee(server, *kv, "delete", "cli", "colour", "--dry-run")
    assert dry.out == "would forget colour, which is 'red', in cli\n"
    assert aerobee(server, *kv, "delete", "cli", "colour", stdin="").status == 2
    assert aerobee(server, *kv, "delete", "cli", "colour", "--yes").status == 0
    assert aerobee(server, *kv, "get", "cli", "colour").status == 3
    assert aerobee(server, *kv, "delete", "cli", "colour", "--yes").status == 3
    assert "nothing is kept in cli" in aerobee(server, *kv, "list", "cli").out


def test_settings_are_read_and_changed(server: Server) -> None:
    get = ("nameserver", "config", "get", "enableTopicList", "-o", "json")
    assert [one["value"] for one in aerobee(server, *get).records] == ["true"]
    change = ("nameserver", "config", "set", "enableTopicList=true")
    assert "from true to true" in aerobee(server, *change, "--dry-run").out
    assert aerobee(server, *change, "--yes").status == 0
    assert aerobee(server, "nameserver", "config", "set", "enableTopicList=x", "--yes").status == 1
    assert aerobee(server, "nameserver", "config", "get", "nonsense").status == 3
    assert aerobee(server, "nameserver", "config", "set", "nonsense", "--yes").status == 2
    assert aerobee(server, "nameserver", "config", "set", "enableTopcList=x", "--yes").status == 3


@pytest.mark.parametrize(
    "words", [("kv", "list", "a"), ("kv", "put", "a", "b", "c"), ("config", "get")]
)
def test_where_nobody_is_nothing_is_found_out(words: tuple[str, ...]) -> None:
    assert aerobee(NOWHERE, "nameserver", *words).status == 1
