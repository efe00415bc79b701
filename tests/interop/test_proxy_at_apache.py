"""Our proxy in front of Apache's broker: RocketMQ's official gRPC client does there what it does at
a broker of ours.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from aerobee import connect_sync
from aerobee.model.access import Rights, Rule, User
from tests.grpc_official import TOLD, Official, make_topics, stories
from tests.interop.apache import Jars
from tests.interop.features.servers import ApacheServer, ServerProcess
from tests.process_kit import Started

pytestmark = [pytest.mark.java, pytest.mark.timeout(600)]


class ApacheBroker(ApacheServer):
    """Apache's broker with a name server of ours: one JVM."""

    def _start_name_server(self) -> ServerProcess:
        words = ("nameserver", "start", "--port", str(self._name_server_port))
        command = [sys.executable, "-m", "aerobee.cli.main", *words]
        return ServerProcess("nameserver", self._folder, command, "ready: nameserver ")


class GuardedBroker(ApacheBroker):
    """One that asks who it is."""

    @property
    def target(self) -> str:
        return f"rmq://root:hidden@{self.name_server}"


@pytest.fixture(scope="module")
def server(jars: Jars, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheBroker]:
    with ApacheBroker(tmp_path_factory.mktemp("apache"), jars) as started:
        yield started


def test_the_official_client_does_at_apaches_broker_what_it_does_at_ours(
    server: ApacheBroker, tmp_path: Path
) -> None:
    with connect_sync(server.target, timeout=20) as client:
        make_topics(client)
    words = ("proxy", "start", "-n", server.name_server, "--port", "0")
    with Started(tmp_path, *words) as proxy:
        told = stories(tmp_path, proxy.ports()["proxy"])
        assert proxy.stop()[0] == 0
    assert told == TOLD


def test_callers_have_the_rights_that_apaches_broker_gives_them(jars: Jars, tmp_path: Path) -> None:
    login = {
        "initAuthenticationUser": '{"username":"root","password":"hidden"}',
        "innerClientAuthenticationCredentials": '{"accessKey":"inner","secretKey":"too"}',
        "authenticationEnabled": "true",
        "authorizationEnabled": "true",
    }
    auth = "org.apache.rocketmq.auth"
    providers = {
        f"{kind}MetadataProvider": f"{auth}.{kind}.provider.Local{kind.title()}MetadataProvider"
        for kind in ("authentication", "authorization")
    }
    with GuardedBroker(tmp_path / "apache", jars, {**login, **providers}) as server:
        with connect_sync(server.target, timeout=20) as client:
            client.admin.topics.create("normal", attributes={"message.type": "NORMAL"})
            rules = [Rule(one, ("Pub", "Sub")) for one in ("Topic:normal", "Group:normal")]
            for name in ("alice", "bob"):
                client.admin.access.create_user(User(name, "its own"))
            client.admin.access.create_rights(Rights("User:alice", tuple(rules)))
        config = tmp_path / "proxy.conf"
        config.write_text("".join(f"{key}={value}\n" for key, value in login.items()))
        words = ("proxy", "start", "-n", server.name_server, "--port", "0", "-c", str(config))
        with Started(tmp_path, *words) as proxy:
            port = proxy.ports()["proxy"]

            def outcome(user: str) -> str:
                said = {"AEROBEE_GRPC_USER": user, "AEROBEE_GRPC_SECRET": "its own"}
                with Official(tmp_path, port, "send", **said) as program:
                    return program.hear()

            assert outcome("alice") == "there"
            assert outcome("bob").startswith("refused: ")
            assert proxy.stop()[0] == 0
