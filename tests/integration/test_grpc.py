"""RocketMQ's official gRPC client, unmodified, against a broker as people run it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import aerobee
from aerobee.model.access import Rights, Rule, User
from tests.grpc_caller import code_of_priority
from tests.grpc_official import TOLD, Official, make_topics, stories
from tests.process_kit import SECONDS_MAX, Started
from tests.tls_kit import certificates, server_config, settings_text

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
            make_topics(client)
        yield made
    finally:
        made.process.__exit__()


@pytest.fixture(scope="module")
def told(cluster: Cluster) -> dict[str, Any]:
    return stories(cluster.folder, cluster.ports["gRPC"])


@pytest.mark.parametrize("story", TOLD)
def test_the_official_client_does_what_it_can(story: str, told: dict[str, Any]) -> None:
    assert told[story] == TOLD[story]


def test_a_message_of_a_group_that_fails_is_a_dead_letter(
    told: dict[str, Any], cluster: Cluster
) -> None:
    assert "fifo" in told
    with cluster.connect() as client:
        assert client.receive("%DLQ%fifo", group="dead", timeout=SECONDS_MAX).body == b"bad"


@pytest.mark.parametrize(("priority", "code"), [(-1, 40000), (0, 20000), (2**31 - 1, 20000)])
def test_a_priority_below_0_is_refused_as_the_callers_fault(
    cluster: Cluster, priority: int, code: int
) -> None:
    assert code_of_priority(f"127.0.0.1:{cluster.ports['gRPC']}", "refusals", priority) == code


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
        for part in ("BROKER", "NAMESRV", "PROXY")
        for name, text in {**ACCESS, **settings_text("", server_config())}.items()
    }
    target = f"rmqs://root:hidden@{{}}?ca={quote(authority)}"
    cluster = Cluster(tmp_path, target, **settings)
    try:
        with cluster.connect() as client:
            client.admin.topics.create("normal", attributes={"message.type": "NORMAL"})
            client.admin.access.create_user(User("alice", "its own"))
            rules = [Rule(one, ("Pub", "Sub")) for one in ("Topic:normal", "Group:normal")]
            client.admin.access.create_rights(Rights("User:alice", tuple(rules)))
        known = {"AEROBEE_GRPC_TLS": "on"}
        known["GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"] = authority

        def outcome(secret: str, port: int, user: str = "root") -> str:
            said = {**known, "AEROBEE_GRPC_USER": user, "AEROBEE_GRPC_SECRET": secret}
            with Official(tmp_path, port, "send", **said) as program:
                return program.hear()

        assert outcome("hidden", cluster.ports["gRPC"]) == "there"
        assert outcome("wrong", cluster.ports["gRPC"]).startswith("refused: ")
        words = ("-n", f"127.0.0.1:{cluster.ports['nameserver']}", "--port", "0")
        with Started(tmp_path, "proxy", "start", *words, **settings) as proxy:
            port = proxy.ports()["proxy"]
            assert outcome("its own", port, user="alice") == "there"
            assert outcome("wrong", port, user="alice").startswith("refused: ")
            assert proxy.stop()[0] == 0
        assert '"user":"alice"' in (tmp_path / "proxy/audit/audit.jsonl").read_text()
        assert cluster.process.is_running
    finally:
        cluster.process.__exit__()
