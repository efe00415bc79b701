"""Wrong ways of TLS, at every port of real processes and by every process that connects to others.

The eight of them: a certificate of an unknown authority, an expired one, a self-signed one, one of
another host, none at all; an old TLS; plain text to a port for TLS, and TLS to a plain one. All of
them are closed without a byte of an answer or of a request, and the reason is told.
"""

import contextlib
import socket
import ssl
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from aerobee.net.tls_config import Asked
from aerobee.net.tls_context import client_context
from aerobee.net.tls_faults import HELLO_TO_PLAIN, explained_tls
from tests.cli_kit import aerobee_here
from tests.fleet_kit import PORTS, PREFIXES, Fleet, greeting, running_fleet, stopped
from tests.hostile.raw import rest_of
from tests.hostile.server import Running
from tests.interop.replication.brokers import steady_port
from tests.process_kit import SECONDS_MAX
from tests.tls_kit import Pair, certificates, old_client_context, server_config, settings_text

QUIET = ("console",)
"""Servers whose log has warnings alone."""


def tls_settings(name: str) -> dict[str, str]:
    """TLS alone, and everybody shows a certificate."""
    return settings_text("", server_config(asks_clients=Asked.REQUIRE))


def trusted(pair: str = "host") -> ssl.SSLContext:
    return client_context(certificates().authority, *(getattr(certificates(), pair, ())))


def target(port: int) -> str:
    made = certificates()
    files = {"ca": made.authority, "cert": made.client.certificate, "key": made.client.key}
    said = "&".join(f"{name}={quote(path)}" for name, path in files.items())
    return f"rmqs://127.0.0.1:{port}?{said}"


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    folder = tmp_path_factory.mktemp("encrypted")
    with running_fleet(folder, tls_settings, target) as fleet:
        # So that the HA port has something to send.
        sent = ("message", "send", "anything", "x", "-n", target(fleet.ports["name server"]))
        assert aerobee_here("topic", "create", "anything", *sent[-2:]).status == 0
        assert aerobee_here(*sent).status == 0
        yield fleet


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    folder = tmp_path_factory.mktemp("plain")
    with running_fleet(folder, lambda name: {}, lambda port: f"127.0.0.1:{port}") as fleet:
        yield fleet


def heard(at: int, said: bytes, context: ssl.SSLContext) -> tuple[bytes, str]:
    """The first bytes of an answer, and why there are none."""
    raw = socket.create_connection(("127.0.0.1", at), SECONDS_MAX)
    try:
        with context.wrap_socket(raw, server_hostname="localhost") as one:
            one.sendall(said)
            return one.recv(1000), ""
    except (ssl.SSLError, ConnectionError) as error:
        return b"", explained_tls(error)
    finally:
        raw.close()


WAYS: dict[str, tuple[Callable[[], ssl.SSLContext], str]] = {
    "old TLS": (old_client_context, "an older TLS than 1.2"),
    "no certificate": (lambda: trusted(""), "showed no certificate"),
    "an unknown authority's": (lambda: trusted("stranger"), "authority that is not known"),
    "an expired one": (lambda: trusted("expired"), "has expired"),
    "a self-signed one": (lambda: trusted("self_signed"), "signed by itself"),
}


@pytest.mark.parametrize("port", PORTS)
@pytest.mark.parametrize("way", WAYS)
def test_a_port_answers_nobody_who_comes_by_a_wrong_way(
    encrypted: Fleet, port: str, way: str
) -> None:
    context, reason = WAYS[way]
    at, before = encrypted.ports[port], encrypted.log(port).count(reason)
    assert heard(at, greeting(port), trusted())[0], encrypted.log(port)[-2000:]
    answer, told = heard(at, greeting(port), context())
    assert (answer, bool(told)) == (b"", True)
    if port not in QUIET:
        until(lambda: encrypted.log(port).count(reason) > before)


@pytest.mark.parametrize("port", PORTS)
def test_plain_text_to_a_port_for_tls_is_told(encrypted: Fleet, port: str) -> None:
    reason = "plain text on a port that speaks TLS only"
    before = encrypted.log(port).count(reason)
    with socket.create_connection(("127.0.0.1", encrypted.ports[port]), SECONDS_MAX) as one:
        one.sendall(greeting(port))
        answer = rest_of(one)
    if port == "console":
        assert b"this port speaks HTTPS" in answer
    else:
        assert answer == b""
        until(lambda: encrypted.log(port).count(reason) > before)


@pytest.mark.parametrize("port", PORTS)
def test_tls_to_a_plain_port_is_told(plain: Fleet, port: str) -> None:
    before = plain.log(port).count(HELLO_TO_PLAIN)
    answer, told = heard(plain.ports[port], greeting(port), trusted())
    assert answer == b""
    assert "does not speak TLS" in told or "hung up in the middle of a handshake" in told
    if port not in QUIET:
        until(lambda: plain.log(port).count(HELLO_TO_PLAIN) > before)


@pytest.mark.parametrize("port", ["HA", "Raft"])
def test_the_certificate_of_a_client_copies_no_log(encrypted: Fleet, port: str) -> None:
    at, reason = encrypted.ports[port], "names no host: it is a client's"
    before = encrypted.log(port).count(reason)
    assert heard(at, greeting(port), trusted("client"))[0] == b""
    until(lambda: encrypted.log(port).count(reason) > before)


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS_MAX
    pause = threading.Event()
    while not is_so():
        assert time.monotonic() < end
        pause.wait(0.02)


class Impostor:
    """A server that is not believed, and whatever is said to it nevertheless."""

    def __init__(self, way: str) -> None:
        self._way = way
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.visits = 0
        self.said = b""
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def _serve(self) -> None:
        while True:
            try:
                raw, _ = self._listener.accept()
            except OSError:
                return
            raw.settimeout(10)
            with raw, contextlib.suppress(OSError):
                self._receive(raw)
            self.visits += 1

    def _receive(self, raw: socket.socket) -> None:
        if self._way == "no TLS":
            hello = raw.recv(5)
            assert hello[:2] in (b"\x16\x03", b""), hello
            raw.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            size = int.from_bytes(hello[3:], "big")
            while size > 0:
                size -= len(raw.recv(size))
            alert = raw.recv(1000)
            self.said += b"" if alert[:1] == b"\x15" else alert
            return
        with impostor_context(self._way).wrap_socket(raw, server_side=True) as one:
            self.said += one.recv(1000)


IMPOSTORS = {
    "unknown authority": "stranger",
    "expired": "expired",
    "self-signed": "self_signed",
    "another host": "elsewhere",
    "old TLS": "host",
    "no TLS": "host",
}


def impostor_context(way: str) -> ssl.SSLContext:
    pair: Pair = getattr(certificates(), IMPOSTORS[way])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if way == "old TLS":
        context.set_ciphers("ALL:@SECLEVEL=0")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            context.minimum_version = ssl.TLSVersion.TLSv1
            context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.load_cert_chain(*pair)
    return context


@contextlib.contextmanager
def impostors() -> Iterator[dict[str, Impostor]]:
    made = {way: Impostor(way) for way in IMPOSTORS}
    try:
        yield made
    finally:
        for one in made.values():
            one.close()


def dialed(name: str, folder: Path, ports: list[int]) -> Running:
    """A process that connects to all of these ports; a slave to the first."""
    store = ("--store", str(folder / name / "store"))
    settings = tls_settings(name)
    servers = ("-n", ";".join(f"127.0.0.1:{port}" for port in ports))
    words: tuple[str, ...] = ("broker", "start", *store, *servers)
    if name == "member":
        at = steady_port()
        peers = [at + 1, *ports]
        settings |= {
            "ENABLE_DLEGER_COMMIT_LOG": "true",
            "D_LEGER_PEERS": ";".join(f"n{n}-127.0.0.1:{port}" for n, port in enumerate(peers)),
            "D_LEGER_SELF_ID": "n0",
        }
        words = ("broker", "start", *store, "--port", str(at))
    elif name == "slave":
        settings |= {"BROKER_ROLE": "SLAVE", "BROKER_ID": "1"}
        settings["HA_MASTER_ADDRESS"] = f"127.0.0.1:{ports[0]}"
        words = ("broker", "start", *store)
    told = {PREFIXES["broker"] + key: text for key, text in settings.items()}
    return Running(folder / name, *words, **told)


@pytest.mark.parametrize("name", ["broker", "member"])
def test_a_server_says_nothing_to_a_server_that_it_does_not_believe(
    name: str, tmp_path: Path
) -> None:
    with impostors() as made:
        ports = [one.port for one in made.values()]
        with stopped(dialed(name, tmp_path, ports)):
            until(lambda: all(one.visits for one in made.values()))
    assert {way: one.said for way, one in made.items()} == dict.fromkeys(made, b"")


def test_a_slave_says_nothing_to_a_master_that_it_does_not_believe(tmp_path: Path) -> None:
    with impostors() as made, contextlib.ExitStack() as stack:
        ports = [one.port for one in made.values()]
        for port in ports:
            folder = tmp_path / str(port)
            folder.mkdir()
            stack.enter_context(stopped(dialed("slave", folder, [port])))
        until(lambda: all(one.visits for one in made.values()))
    assert {way: one.said for way, one in made.items()} == dict.fromkeys(made, b"")


def test_a_client_says_nothing_to_a_server_that_it_does_not_believe() -> None:
    with impostors() as made:
        for way, one in made.items():
            answer = aerobee_here("topic", "list", "-n", target(one.port))
            assert answer.status != 0, way
        until(lambda: all(one.visits for one in made.values()))
    assert {way: one.said for way, one in made.items()} == dict.fromkeys(made, b"")
