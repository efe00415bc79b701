"""Two brokers of one cluster, and servers of both makes side by side.

Clients spread over both brokers; one is killed, and the rest carry on. A broker of ours is found
through Apache's name server, and Apache's through ours.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop import apache
from tests.interop.features.conftest import Programs, check_tools
from tests.interop.features.ground import Ground
from tests.interop.features.install import language, missing
from tests.interop.features.offers import CLIENTS
from tests.interop.features.program import Program, ProgramError, bodies
from tests.interop.features.servers import AerobeeServer, ApacheServer, Server, ServerProcess
from tests.interop.features.waiting import until

TOPIC = "shared"


class SecondBroker(AerobeeServer):
    """One more broker, at the name server of the first."""

    def __init__(self, folder: Path, first: Server) -> None:
        self._first = first
        super().__init__(folder, {"brokerName": "broker-b"})

    @property
    def name_server(self) -> str:
        return self._first.name_server

    def _start_name_server(self) -> ServerProcess:
        return ServerProcess(
            "none", self._folder, ["sh", "-c", "echo ready; exec sleep 1000"], "ready"
        )


class OursAtApaches(AerobeeServer):
    """A broker of ours at a name server of Apache's."""

    def __init__(self, folder: Path) -> None:
        self._apache = ApacheNameServer(folder / "apache")
        super().__init__(folder)

    @property
    def name_server(self) -> str:
        return self._apache.name_server

    def _start_name_server(self) -> ServerProcess:
        return self._apache.start()


class ApachesAtOurs(ApacheServer):
    """A broker of Apache's at a name server of ours."""

    @property
    def name_server(self) -> str:
        return self._name_server.ready_line.rpartition(" ")[2]

    def _start_name_server(self) -> ServerProcess:
        return AerobeeServer._start(self, "nameserver", "--port", "0")  # type: ignore[arg-type]


class ApacheNameServer(ApacheServer):
    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._folder = folder
        self._jars = apache.install()
        self._name_server_port = apache.free_port()

    def start(self) -> ServerProcess:
        return self._start_name_server()


@contextlib.contextmanager
def program_of(client: str, server: Server, folder: Path) -> Iterator[Program]:
    check_tools(client, missing(client))
    programs = Programs(client, server, folder)
    try:
        yield programs.start()
    finally:
        programs.end()


def of_every_client() -> list[object]:
    """The quickest in every run, the others where all are tried."""
    return [
        pytest.param(
            client,
            marks=pytest.mark.quick
            if client == "cpp"
            else pytest.mark.java
            if language(client) == "java"
            else pytest.mark.night,
        )
        for client in CLIENTS
    ]


@pytest.mark.parametrize("client", of_every_client())
def test_one_of_two_brokers_dies_and_the_rest_carry_on(client: str, tmp_path: Path) -> None:
    with (
        AerobeeServer(tmp_path / "a") as first,
        SecondBroker(tmp_path / "b", first) as second,
        program_of(client, first, tmp_path / "client") as program,
    ):
        grounds = [Ground(first), Ground(second)]
        for ground in grounds:
            ground.create_topic(TOPIC)
        until(lambda: _brokers(grounds[0]) == 2, 10, "the route does not name both brokers")
        # A client's first look for a route may run out of its time on a busy machine.
        until(lambda: _is_sent(program, "first"), 30, "the client finds no route")
        sent = [f"before {number}" for number in range(40)]
        program.send("sync", TOPIC, *sent)
        sent.append("first")
        kept = [bodies_of(ground) for ground in grounds]
        assert sorted(kept[0] + kept[1]) == sorted(sent)
        assert kept[0], "nothing went to the first broker"
        assert kept[1], "nothing went to the second broker"
        program.subscribe("consumer", "group", TOPIC)
        program.receive("consumer", lambda events: set(sent) <= set(bodies(events)))

        second.kill_broker()
        until(lambda: _brokers(grounds[0]) == 1, 10, "the route still names the dead broker")
        later = [f"after {number}" for number in range(40)]
        taken = [body for body in later if _is_sent(program, body)]
        assert len(taken) >= len(later) // 2, "the client does not find the broker that lives"
        program.receive("consumer", lambda events: set(taken) <= set(bodies(events)), 60)


@pytest.mark.java
@pytest.mark.parametrize("make", ["ours at Apache's", "Apache's at ours"])
def test_a_broker_is_found_through_the_other_makes_name_server(make: str, tmp_path: Path) -> None:
    check_tools("apache", apache.missing())
    if make == "ours at Apache's":
        server: Server = OursAtApaches(tmp_path / "server")
    else:
        server = ApachesAtOurs(tmp_path / "server", apache.install())
    with server, program_of("java-5.5.0", server, tmp_path / "client") as program:
        ground = Ground(server)
        ground.create_topic(TOPIC)
        sent = [f"body {number}" for number in range(20)]
        program.send("sync", TOPIC, *sent)
        program.subscribe("consumer", "group", TOPIC)
        received = program.receive("consumer", lambda events: len(events) >= len(sent))
        assert sorted(bodies(received)) == sorted(sent)
        # The name server learns of its end, too.
        server.kill_broker()
        until(lambda: not ground.has_topic(TOPIC), 30, "the route outlives its broker")


def bodies_of(ground: Ground) -> list[str]:
    return [message.body.decode() for message in ground.stored(TOPIC)]


def _brokers(ground: Ground) -> int:
    return len(ground.brokers_of(TOPIC))


def _is_sent(program: Program, body: str) -> bool:
    """A client may choose the dead broker until it has heard of its end."""
    try:
        program.send("sync", TOPIC, body)
    except ProgramError:
        return False
    return True
