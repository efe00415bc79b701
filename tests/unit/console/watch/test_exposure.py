"""Servers that are open to other machines though nobody is asked who it is."""

from pathlib import Path

import pytest

from aerobee.console.watch.exposure import is_exposed
from tests.console_kit import ConsoleClient, insecure_console

OPEN = {"insecure": "true", "bindAddress": "0.0.0.0"}


def test_a_server_that_is_open_and_asks_nobody_is_exposed() -> None:
    assert is_exposed(OPEN)
    assert is_exposed({**OPEN, "authenticationEnabled": "false", "tlsMode": "enforcing"})


@pytest.mark.parametrize(
    "guard",
    [
        {"insecure": "false"},
        {"bindAddress": "127.0.0.1"},
        {"bindAddress": "localhost"},
        {"authenticationEnabled": "true"},
        {"tlsMode": "enforcing", "tlsClientCertificates": "require"},
    ],
    ids=lambda guard: "-".join(guard),
)
def test_a_server_that_is_closed_or_asks_is_not(guard: dict[str, str]) -> None:
    assert not is_exposed({**OPEN, **guard})


def test_a_server_of_rocketmq_has_no_such_setting() -> None:
    assert not is_exposed({"bindAddress": "0.0.0.0"})


def test_the_console_tells_which_servers_of_its_cluster_are_open(
    console: ConsoleClient, tmp_path: Path
) -> None:
    assert console.get("/api/insecure") == {"servers": []}
    with insecure_console(tmp_path) as insecure:
        servers = insecure.get("/api/insecure")["servers"]
    assert servers == [insecure.name_server, "broker-a"]
