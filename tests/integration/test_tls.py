"""A cluster that speaks TLS only: a name server, a master and its slave in one process, as people
run them, on every port.
"""

import asyncio
import contextlib
import shutil
import socket
import ssl
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

import aerobee
from aerobee.app.authority import Authority
from aerobee.net.tls_context import client_context
from tests.cli_kit import aerobee_here
from tests.process_kit import SECONDS_MAX, Started, listening_ports
from tests.tls_kit import (
    HOSTS,
    Pair,
    certificates,
    old_client_context,
    server_config,
    settings_text,
)

IDLE_CONNECTIONS = 300
IDLE_BYTES_MAX = 48 << 10


class Cluster:
    def __init__(self, started: Started, folder: Path) -> None:
        self.started = started
        self.folder = folder
        said = started.until("metrics")
        ready = next(line for line in said.splitlines() if line.startswith("ready: "))
        ports = [int(word.rstrip(",").rpartition(":")[2]) for word in ready.split()[2::2]]
        self.nameserver, self.broker, self.metrics = ports[:3]
        self.target = f"rmqs://127.0.0.1:{self.nameserver}?ca={quote(certificates().authority)}"

    @property
    def ports(self) -> dict[str, int]:
        fast, links = self.broker - 2, self.broker + 1
        return {
            "name server": self.nameserver,
            "broker": self.broker,
            "fast port": fast,
            "HA": links,
            "metrics": self.metrics,
        }


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("tls")
    pair = Pair(str(folder / "host.crt"), str(folder / "host.key"))
    for source, to in zip(certificates().host, pair, strict=True):
        shutil.copy(source, to)
    config = server_config(pair)
    environment = {
        **settings_text("AEROBEE_BROKER_", config),
        **settings_text("AEROBEE_NAMESRV_", config),
    }
    arguments = ("up", "--store", str(folder / "data"), "--port", "0", "--nameserver-port", "0")
    while True:
        with Started(
            folder, *arguments, "--slaves", "1", "--replication", "sync", **environment
        ) as started:
            made = Cluster(started, folder)
            # If another process has the port after the broker's, slaves are served on any.
            if made.ports["HA"] in listening_ports(started.process.pid):
                yield made
                return


def test_messages_are_sent_and_received_and_a_slave_has_them(cluster: Cluster) -> None:
    made = aerobee_here("topic", "create", "orders", "-n", cluster.target)
    assert made.status == 0, made.error
    with aerobee.connect_sync(cluster.target) as client:
        for number in range(20):
            client.send("orders", f"order {number}")
        received = {client.receive("orders", group="g").body for _ in range(20)}
        assert received == {f"order {number}".encode() for number in range(20)}
    replicas = aerobee_here("broker", "replicas", "-n", cluster.target, "-o", "json").records
    assert [one["lag_bytes"] for one in replicas if one["role"] == "SLAVE"] == [0]
    listed = aerobee_here("mqadmin", "topicList", "-n", cluster.target)
    assert "orders" in listed.out


@pytest.mark.parametrize("port", ["name server", "broker", "fast port", "HA", "metrics"])
def test_no_port_answers_plain_text_or_an_old_tls(cluster: Cluster, port: str) -> None:
    at = ("127.0.0.1", cluster.ports[port])
    with socket.create_connection(at, SECONDS_MAX) as plain:
        plain.sendall(b"GET /metrics HTTP/1.1\r\n\r\n" + bytes(200))
        with contextlib.suppress(ConnectionError):
            assert plain.recv(100) == b""
    for context in (old_client_context(), client_context(certificates().other_authority)):
        with (
            socket.create_connection(at, SECONDS_MAX) as raw,
            pytest.raises((ssl.SSLError, ConnectionError)),
        ):
            context.wrap_socket(raw, server_hostname="localhost")


def test_a_client_says_what_is_wrong_with_what_it_was_told(cluster: Cluster) -> None:
    plain = aerobee_here("topic", "list", "-n", f"127.0.0.1:{cluster.nameserver}")
    assert plain.status != 0
    assert "rmqs://" in plain.error
    other = quote(certificates().other_authority)
    wrong = aerobee_here("topic", "list", "-n", f"rmqs://127.0.0.1:{cluster.nameserver}?ca={other}")
    assert "authority that is not known" in wrong.error
    checked = aerobee_here(
        *("tls", "check", f"localhost:{cluster.broker}", "--ca", certificates().authority)
    )
    assert "TLSv1.3" in checked.out


def test_certificates_are_replaced_under_load_without_an_error(cluster: Cluster) -> None:
    made = certificates()
    authority = Authority(str(Path(made.authority).parent))

    def serial() -> str:
        context = client_context(made.authority)
        with (
            socket.create_connection(("127.0.0.1", cluster.broker)) as raw,
            context.wrap_socket(raw, server_hostname="localhost") as shown,
        ):
            return str((shown.getpeercert() or {})["serialNumber"])

    async def test() -> None:
        is_over = False

        async def send_on() -> int:
            count = 0
            async with aerobee.connect(cluster.target) as client:
                while not is_over:
                    await client.send("load", f"{count}")
                    count += 1
            return count

        async def come_and_go() -> int:
            count = 0
            while not is_over:
                async with aerobee.connect(cluster.target) as client:
                    await client.send("load", "x")
                count += 1
            return count

        async with asyncio.timeout(SECONDS_MAX):
            running = [asyncio.ensure_future(one) for one in (send_on(), come_and_go())]
            for name in ("second", "third"):
                before = await asyncio.to_thread(serial)
                for source, to in zip(authority.issue(name, HOSTS), ("crt", "key"), strict=True):
                    shutil.copy(source, cluster.folder / f"host.{to}")
                while await asyncio.to_thread(serial) == before:
                    pass
            is_over = True
            assert min(await asyncio.gather(*running)) > 0

    assert aerobee_here("topic", "create", "load", "-n", cluster.target).status == 0
    asyncio.run(test())


def test_an_idle_connection_takes_little_memory_and_half_open_ones_disturb_nobody(
    cluster: Cluster,
) -> None:
    pid = cluster.started.process.pid

    def resident() -> int:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096

    context = client_context(certificates().authority)

    def shake() -> ssl.SSLSocket:
        raw = socket.create_connection(("127.0.0.1", cluster.broker))
        return context.wrap_socket(raw, server_hostname="localhost")

    with contextlib.ExitStack() as stack:
        for _ in range(20):
            stack.enter_context(shake())
        before = resident()
        for _ in range(IDLE_CONNECTIONS):
            stack.enter_context(shake())
        each = (resident() - before) / IDLE_CONNECTIONS
        assert each < IDLE_BYTES_MAX, each
        for _ in range(200):
            half = stack.enter_context(socket.create_connection(("127.0.0.1", cluster.broker)))
            half.sendall(b"\x16\x03\x01\x02")
        with aerobee.connect_sync(cluster.target) as client:
            began = time.monotonic()
            for number in range(50):
                client.send("load", str(number))
            assert time.monotonic() - began < SECONDS_MAX / 10
