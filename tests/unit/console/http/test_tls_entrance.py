"""A console that speaks HTTPS: its certificates, those who come without TLS, with an old one, or
with the wrong authority.
"""

import contextlib
import http.client
import shutil
import socket
import ssl
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from aerobee.app.authority import Authority
from aerobee.app.process.lifecycle import CannotStart
from aerobee.console.http.tls_entrance import PLAIN_ANSWER
from aerobee.console.settings import ConsoleConfig
from aerobee.net.tls_config import Asked
from aerobee.net.tls_context import client_context
from tests.console_kit import ConsoleClient, served_console
from tests.process_kit import SECONDS_MAX
from tests.tls_kit import HOSTS, Pair, certificates, old_client_context, server_config


class Served(NamedTuple):
    console: ConsoleClient
    pair: Pair
    """The files that it shows."""

    @property
    def at(self) -> tuple[str, int]:
        host, _, port = self.console.address.rpartition(":")
        return host, int(port)


def ours(**shown: str) -> ssl.SSLContext:
    return client_context(certificates().authority, **shown)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("https")
    pair = Pair(str(folder / "host.crt"), str(folder / "host.key"))
    for source, to in zip(certificates().host, pair, strict=True):
        shutil.copy(source, to)
    # Of a cluster that is not there: pages are served all the same.
    config = ConsoleConfig(0, name_servers="127.0.0.1:1", folder=str(folder / "data"))
    with served_console(with_tls(config, pair), ours()) as console:
        yield Served(console, pair)


def with_tls(config: ConsoleConfig, pair: Pair, asked: Asked = Asked.NONE) -> ConsoleConfig:
    return replace(config, tls=server_config(pair, asks_clients=asked, is_outgoing=False))


def test_pages_are_served_by_https_and_browsers_are_told_to_come_so_again(served: Served) -> None:
    told = served.console.ask("GET", "/api")
    assert told.status == 200
    assert "strict-transport-security" in told.headers


def test_a_browser_that_could_speak_http_2_is_not_told_that_it_may(served: Served) -> None:
    context = ours()
    context.set_alpn_protocols(["h2", "http/1.1"])
    with (
        socket.create_connection(served.at, SECONDS_MAX) as raw,
        context.wrap_socket(raw, server_hostname="localhost") as one,
    ):
        assert one.selected_alpn_protocol() == "http/1.1"


def test_new_certificates_are_shown_without_a_restart(served: Served) -> None:
    def serial() -> str:
        with (
            socket.create_connection(served.at, SECONDS_MAX) as raw,
            ours().wrap_socket(raw, server_hostname="localhost") as shown,
        ):
            return str((shown.getpeercert() or {})["serialNumber"])

    authority = Authority(str(Path(certificates().authority).parent))
    before = serial()
    kept = http.client.HTTPSConnection(*served.at, context=ours(), timeout=SECONDS_MAX)
    kept.connect()
    for source, to in zip(authority.issue("console", HOSTS), served.pair, strict=True):
        shutil.copy(source, to)
    while serial() == before:
        pass
    kept.request("GET", "/api")  # it keeps the certificate that it was shown
    assert kept.getresponse().status == 200
    kept.close()


def test_plain_http_is_answered_with_what_to_do(served: Served) -> None:
    plain = http.client.HTTPConnection(*served.at, timeout=SECONDS_MAX)
    plain.request("GET", "/api")
    answer = plain.getresponse()
    assert (answer.status, b"https://" in answer.read()) == (400, True)
    plain.close()
    assert b"https://" in PLAIN_ANSWER


@pytest.mark.parametrize("way", ["an old TLS", "another authority", "another host"])
def test_a_wrong_way_in_gets_nothing(served: Served, way: str) -> None:
    contexts = {
        "an old TLS": old_client_context(),
        "another authority": client_context(certificates().other_authority),
        "another host": ours(),
    }
    host = "elsewhere.example" if way == "another host" else "localhost"
    with (
        socket.create_connection(served.at, SECONDS_MAX) as raw,
        pytest.raises((ssl.SSLError, ConnectionError)),
    ):
        contexts[way].wrap_socket(raw, server_hostname=host)


def test_a_console_may_ask_browsers_for_a_certificate(tmp_path: Path) -> None:
    made = certificates()
    config = ConsoleConfig(0, name_servers="127.0.0.1:1", folder=str(tmp_path))
    client = dict(zip(("certificate", "key"), made.client, strict=True))
    with served_console(with_tls(config, made.host, Asked.REQUIRE), ours(**client)) as console:
        assert console.ask("GET", "/api").status == 200
        nobody = ConsoleClient(console.address, tls=ours())
        with contextlib.suppress(ConnectionError), pytest.raises(ssl.SSLError):
            nobody.ask("GET", "/api")


def test_files_that_cannot_be_used_are_told_at_the_start(tmp_path: Path) -> None:
    config = ConsoleConfig(0, name_servers="127.0.0.1:1", folder=str(tmp_path))
    pair = Pair(certificates().host.certificate, certificates().client.key)
    with (
        pytest.raises(CannotStart, match="the key is not the certificate's"),
        served_console(with_tls(config, pair)),
    ):
        pass
