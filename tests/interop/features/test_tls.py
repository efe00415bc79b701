"""Unmodified clients that speak TLS, on Apache's server and on ours."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from aerobee import connect_sync
from tests.interop.apache import Jars
from tests.interop.features import install
from tests.interop.features.conftest import check_tools
from tests.interop.features.guarded import AerobeeTls, ApacheTls, start_tls, stored
from tests.interop.features.offers import REMOTING
from tests.interop.features.program import Program, ProgramError, bodies
from tests.tls_kit import certificates

pytestmark = [pytest.mark.java, pytest.mark.timeout(600)]

SPEAKING_TLS = [client for client in REMOTING.clients if REMOTING.is_offered(client, "tls")]


@pytest.fixture(scope="module", params=["apache", "aerobee"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, jars: Jars
) -> Iterator[ApacheTls | AerobeeTls]:
    with start_tls(request.param, tmp_path_factory.mktemp(request.param), jars) as started:
        yield started


def trusting(authority: str) -> str:
    """The options of a JVM whose clients believe an authority."""
    said = {
        "tls.enable": "true",
        "tls.test.mode.enable": "false",
        "tls.client.authServer": "true",
        "tls.client.trustCertPath": authority,
    }
    return " ".join(f"-D{name}={value}" for name, value in said.items())


@pytest.mark.row("tls")
@pytest.mark.parametrize("client", SPEAKING_TLS)
def test_a_client_that_trusts_the_servers_authority_sends_and_receives_and_no_other(
    client: str, server: ApacheTls | AerobeeTls, tmp_path: Path
) -> None:
    check_tools(client, install.missing(client))
    topic = f"tls-{client}".replace(".", "-")
    with connect_sync(server.target) as ours:
        ours.admin.topics.create(topic, queues=4)
    command = install.install(client)(server.name_server, "p", tmp_path)
    trusted = {"JAVA_TOOL_OPTIONS": trusting(certificates().authority)}
    program = Program(command, tmp_path / "trusting", **trusted)
    try:
        sent = program.send("sync", topic, "first", "second")
        assert [event["status"] for event in sent] == ["SEND_OK"] * 2
        program.subscribe("one", f"group-{topic}", topic)
        received = program.receive("one", lambda events: len(events) >= 2)
        assert sorted(bodies(received)) == ["first", "second"]
    finally:
        program.kill()
    for options in (trusting(certificates().other_authority), "-Dtls.enable=false"):
        other = Program(command, tmp_path / "other", JAVA_TOOL_OPTIONS=options)
        try:
            with pytest.raises(ProgramError):
                other.send("sync", topic, "third")
        finally:
            other.kill()
    assert stored(server, topic) == 2
