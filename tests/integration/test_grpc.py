"""RocketMQ's official gRPC client, unmodified, against a broker as people run it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import pytest

import aerobee
from aerobee.model.group import GroupConfig
from tests.process_kit import SECONDS_MAX, Started
from tests.tls_kit import certificates, server_config, settings_text

TOPICS = {
    "normal": "NORMAL",
    "sql": "NORMAL",
    "pushed": "NORMAL",
    "mixed": "NORMAL",
    "fifo": "FIFO",
    "delay": "DELAY",
    "tx": "TRANSACTION",
}
ACCESS = {
    "AUTHENTICATION_ENABLED": "true",
    "AUTHORIZATION_ENABLED": "true",
    "INIT_AUTHENTICATION_USER": '{"username":"root","password":"hidden"}',
    "INNER_CLIENT_AUTHENTICATION_CREDENTIALS": '{"accessKey":"inner","secretKey":"too"}',
}
QUICK_CHECKS = {
    "AEROBEE_BROKER_TRANSACTION_TIME_OUT": "500",
    "AEROBEE_BROKER_TRANSACTION_CHECK_INTERVAL": "500",
}


class Official:
    """The program of the official client."""

    def __init__(self, home: Path, port: int, *words: str, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.grpc_program", str(port), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "HOME": str(home), **environment},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self.process:  # its pipes are closed, also those of one that has ended by itself
            if self.process.poll() is None:
                self.process.kill()

    def hear(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def ask(self, line: str) -> str:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.hear()

    def end(self) -> int:
        self.process.communicate(timeout=SECONDS_MAX)
        return self.process.returncode


class Cluster:
    """A name server and a broker that can be started again on the same ports."""

    def __init__(self, folder: Path, target: str = "{}", **settings: str) -> None:
        """`target` has a place for the name server's address."""
        self.folder = folder
        self._target = target
        self._settings = settings
        self.ports = {"nameserver": 0, "broker": 0, "gRPC": 0}
        self.start()

    def start(self) -> None:
        port, nameserver = str(self.ports["broker"]), str(self.ports["nameserver"])
        words = ("--store", f"{self.folder}/data", "--port", port, "--nameserver-port", nameserver)
        grpc = {"AEROBEE_BROKER_GRPC_SERVER_PORT": str(self.ports["gRPC"])}
        self.process = Started(self.folder, "up", *words, **self._settings, **grpc)
        self.ports = self.process.ports()

    def restart(self) -> None:
        status, _, said = self.process.stop()
        assert status == 0, said
        self.start()

    def connect(self) -> aerobee.SyncClient:
        address = f"127.0.0.1:{self.ports['nameserver']}"
        return aerobee.connect_sync(self._target.format(address), timeout=20)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    made = Cluster(tmp_path_factory.mktemp("grpc"), **QUICK_CHECKS)
    try:
        with made.connect() as client:
            for topic, kind in TOPICS.items():
                client.admin.topics.create(topic, queues=2, attributes={"message.type": kind})
            client.admin.groups.put(GroupConfig("fifo", is_orderly=True, retries_max=1))
        yield made
    finally:
        made.process.__exit__()


@pytest.fixture(scope="module")
def stories(cluster: Cluster) -> dict[str, Any]:
    with Official(cluster.folder, cluster.ports["gRPC"], "stories") as program:
        told: dict[str, Any] = json.loads(program.hear())
        assert program.end() == 0
    return told


def test_a_simple_consumer_gets_acknowledges_and_postpones(stories: dict[str, Any]) -> None:
    assert stories["normal"] == {
        "first": ["first", "A", ["k1"], {"color": "red"}],
        "is_id_kept": True,
        "attempts": [1, 2],
        "second": "second",
    }


def test_an_sql_expression_chooses(stories: dict[str, Any]) -> None:
    assert stories["sql"] == "size 5"


def test_a_push_consumer_gets_a_message_that_it_failed_again(stories: dict[str, Any]) -> None:
    assert stories["pushed"] == [["bad", 1], ["bad", 2], ["better", 1], ["good", 1]]


def test_messages_of_a_group_keep_their_order_and_one_that_fails_is_a_dead_letter(
    stories: dict[str, Any], cluster: Cluster
) -> None:
    bodies = [body for body, _ in stories["fifo"]]
    assert bodies == ["f0", "f1", "bad", "bad", "f2", "f3"]
    with cluster.connect() as client:
        assert client.receive("%DLQ%fifo", group="dead", timeout=SECONDS_MAX).body == b"bad"


def test_a_delayed_message_comes_in_time_and_a_recalled_one_never(stories: dict[str, Any]) -> None:
    assert stories["delay"] == ["late", False]


def test_a_transaction_without_an_end_is_asked_about(stories: dict[str, Any]) -> None:
    assert stories["transaction"] == [["committed", "orphaned"], ["orphaned"]]


def test_members_of_both_protocols_share_a_group_and_a_restart_is_survived(
    cluster: Cluster,
) -> None:
    with Official(cluster.folder, cluster.ports["gRPC"], "talk") as program:
        assert program.hear() == "ready"
        _share_a_group(program, cluster)
        cluster.restart()
        assert program.ask("send after") == "seen"
        assert program.end() == 0


def test_a_proxy_of_its_own_serves_the_same_cluster(cluster: Cluster) -> None:
    words = ("-n", f"127.0.0.1:{cluster.ports['nameserver']}", "--port", "0")
    with Started(cluster.folder, "proxy", "start", *words) as proxy:
        port = proxy.ports()["proxy"]
        with Official(cluster.folder, port, "send") as program:
            assert program.hear() == "there"
        assert proxy.stop()[0] == 0


def _share_a_group(program: Official, cluster: Cluster) -> None:
    with cluster.connect() as client:
        for number in range(6):
            client.send("mixed", f"m{number}".encode(), headers={"n": str(number)})
        first = json.loads(program.ask("take 3"))
        with client.consumer("mixed", group="mixed", mode="pop") as member:
            second = []
            for message in member:
                second.append(message.body.decode())
                message.ack()
                if len(second) == 3:
                    break
            members = client.admin.connections.consumers("mixed")
    assert sorted([body for body, _ in first] + second) == [f"m{number}" for number in range(6)]
    assert all(properties == {"n": body[1:]} for body, properties in first)
    assert len(members.clients) == 2


def test_users_sign_their_calls_over_tls(tmp_path: Path) -> None:
    authority = certificates().authority
    settings = {
        f"AEROBEE_{part}_{name}": text
        for part in ("BROKER", "NAMESRV")
        for name, text in {**ACCESS, **settings_text("", server_config())}.items()
    }
    target = f"rmqs://root:hidden@{{}}?ca={quote(authority)}"
    cluster = Cluster(tmp_path, target, **settings)
    try:
        with cluster.connect() as client:
            client.admin.topics.create("normal", attributes={"message.type": "NORMAL"})
        known = {"AEROBEE_GRPC_USER": "root", "AEROBEE_GRPC_TLS": "on"}
        known["GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"] = authority

        def outcome(secret: str) -> str:
            port = cluster.ports["gRPC"]
            with Official(tmp_path, port, "send", AEROBEE_GRPC_SECRET=secret, **known) as program:
                return program.hear()

        assert outcome("hidden") == "there"
        assert outcome("wrong").startswith("refused: ")
        assert cluster.process.is_running
    finally:
        cluster.process.__exit__()
