"""Unmodified clients with right, wrong and missing credentials, on Apache's server and on ours: the
same get in.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from aerobee import connect_sync
from aerobee.model.access import Rule
from tests.interop.apache import Jars
from tests.interop.features import install
from tests.interop.features.conftest import check_tools
from tests.interop.features.guarded import Guarded, make_user, secret_of, start_guarded, stored
from tests.interop.features.offers import CLIENTS
from tests.interop.features.program import Program, ProgramError, bodies

pytestmark = [pytest.mark.java, pytest.mark.timeout(600)]

QUEUES = 4
RULES = (Rule("Topic:*", ("Pub", "Sub")), Rule("Group:*", ("Sub",)))


@pytest.fixture(scope="module", params=["apache", "aerobee"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, jars: Jars
) -> Iterator[Guarded]:
    with start_guarded(request.param, tmp_path_factory.mktemp(request.param), jars) as started:
        make_user(started, "alice", *RULES)
        make_user(started, "bob")
        yield started


def start(client: str, server: Guarded, folder: Path, name: str, secret: str) -> Program:
    """A program of the client that signs; with an empty name it does not."""
    login = {"ACCESS_KEY": name, "SECRET_KEY": secret} if name else {}
    place = folder / (name or "nobody")
    return Program(install.install(client)(server.name_server, f"p-{name}", place), place, **login)


@pytest.mark.row("access")
@pytest.mark.parametrize("client", CLIENTS)
def test_only_clients_with_the_right_credentials_send_and_receive(
    client: str, server: Guarded, tmp_path: Path
) -> None:
    check_tools(client, install.missing(client))
    topic = f"guarded-{client}".replace(".", "-")
    with connect_sync(server.target) as root:
        root.admin.topics.create(topic, queues=QUEUES)
    alice = start(client, server, tmp_path, "alice", secret_of("alice"))
    try:
        sent = alice.send("sync", topic, "first", "second")
        assert [event["status"] for event in sent] == ["SEND_OK"] * 2
        alice.subscribe("one", f"group-{topic}", topic)
        received = alice.receive("one", lambda events: len(events) >= 2)
        assert sorted(bodies(received)) == ["first", "second"]
    finally:
        alice.kill()
    for name, secret in (
        ("alice", "guess"),
        ("stranger", "guess"),
        ("bob", secret_of("bob")),
        ("", ""),
    ):
        other = start(client, server, tmp_path / "others", name, secret)
        try:
            with pytest.raises(ProgramError):
                other.send("sync", topic, f"of {name}")
        finally:
            other.kill()
    assert stored(server, topic) == 2
