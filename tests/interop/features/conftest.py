"""Every feature with every client that offers it, on Apache's server and on ours.

A test that wants `server` and `client` gets all pairs. Clients are grouped: one server and one
client program live through all the features of a pair. A pair needs Java if either side is Java
(marker `java`); the others are `quick` and belong to every run, but for those that only wait for
the client (`night`).

Without the client's tools a test is skipped; with REQUIRE_CLIENTS=1 (REQUIRE_JAVA=1 for Java) it
fails. INTEROP_TABLE=1 writes what was seen into docs/clients.md.
"""

import contextlib
import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.interop import apache
from tests.interop.features import install, table
from tests.interop.features.catalogue import Catalogue
from tests.interop.features.ground import Ground
from tests.interop.features.grpc_offers import GRPC
from tests.interop.features.offers import REMOTING
from tests.interop.features.program import Program, ProgramError
from tests.interop.features.servers import AerobeeServer, ApacheServer, Server

SERVERS = ("apache", "aerobee")
CATALOGUES = (REMOTING, GRPC)

_seen: table.Seen = {}


def pytest_configure(config: pytest.Config) -> None:
    for marker in (
        "quick: needs the tools of another language's client, and seconds (part of every run)",
        "feature(name): a test of all pairs of servers and clients, and the row of the table of "
        "clients that it fills (docs/clients.md)",
        "row(name): the row of a test that has servers and clients of its own",
    ):
        config.addinivalue_line("markers", marker)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    feature = _feature(metafunc.definition)
    if feature is None:
        return
    catalogue = next(one for one in CATALOGUES if feature in one.features)
    pairs = [
        pytest.param(
            server,
            client,
            # The first test of a client builds it, which takes a busy machine long.
            marks=[
                pytest.mark.timeout(func_only=True),
                *_marks(catalogue, server, client, feature),
            ],
            id=f"{server}-{client}",
        )
        for server, client in itertools.product(SERVERS, catalogue.clients)
        if catalogue.is_offered(client, feature)
    ]
    metafunc.parametrize(("server", "programs"), pairs, indirect=True, scope="session")


def _feature(item: pytest.Item) -> str | None:
    marker = item.get_closest_marker("feature")
    return marker.args[0] if marker else None


def _marks(
    catalogue: Catalogue, server: str, client: str, feature: str
) -> list[pytest.MarkDecorator]:
    reason = catalogue.apache_fails.get((client, feature))
    if server == "apache" and reason is not None:
        return [pytest.mark.java, pytest.mark.xfail(reason=reason, strict=True)]
    if server == "apache" or install.language(client) == "java":
        return [pytest.mark.java]
    return [pytest.mark.night if (client, feature) in catalogue.slow else pytest.mark.quick]


@pytest.fixture(scope="session")
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A name server and a broker, for all clients."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "aerobee":
        started: Server = AerobeeServer(folder)
    else:
        check_tools("apache", apache.missing())
        started = ApacheServer(folder, apache.install())
    with started:
        yield started


class Programs:
    """The one program of a client that runs; a new one where the last has ended."""

    def __init__(self, client: str, server: Server, folder: Path) -> None:
        self.client = client
        self._command = install.install(client)
        self._server = server
        self._folder = folder
        self._numbers = itertools.count(1)
        self._running: list[Program] = []

    def current(self) -> Program:
        self._running = [program for program in self._running if program.is_running]
        return self._running[0] if self._running else self.start()

    def start(self) -> Program:
        """One more, as on another machine."""
        name = f"{install.language(self.client)}{os.getpid()}-{next(self._numbers)}"
        folder = self._folder / name
        program = Program(self._command(self._address(), name, folder), folder)
        self._running.append(program)
        return program

    def _address(self) -> str:
        """The one that this client is told."""
        is_grpc = self.client in GRPC.clients
        return self._server.grpc_address() if is_grpc else self._server.name_server

    def end(self) -> None:
        for program in self._running:
            program.kill()


@pytest.fixture(scope="session")
def programs(
    request: pytest.FixtureRequest, server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Programs]:
    check_tools(request.param, install.missing(request.param))
    started = Programs(request.param, server, tmp_path_factory.mktemp(request.param))
    yield started
    started.end()


def check_tools(what: str, reason: str | None) -> None:
    if reason is None:
        return
    variable = "REQUIRE_JAVA" if what.startswith(("java", "apache")) else "REQUIRE_CLIENTS"
    if os.environ.get(variable) == "1":
        pytest.fail(f"{what}: {reason}")
    pytest.skip(f"{what}: {reason}")


@dataclass(frozen=True)
class Names:
    """Of a topic, a group and consumers that no other test uses."""

    topic: str
    group: str
    one: str
    two: str


@pytest.fixture
def names(request: pytest.FixtureRequest, programs: Programs) -> Names:
    stem = f"{_feature(request.node)}-{programs.client}".replace(".", "-")
    return Names(stem, f"group-{stem}", f"{stem}-one", f"{stem}-two")


@pytest.fixture
def ground(server: Server, names: Names) -> Ground:
    return Ground(server)


@pytest.fixture
def client(programs: Programs, names: Names) -> Iterator[Program]:
    program = programs.current()
    yield program
    # Whoever is left in a group would take part in nothing, but take its time.
    try:
        program.close_all()
    except (ProgramError, OSError):
        with contextlib.suppress(OSError):
            program.kill()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report: pytest.TestReport = yield  # type: ignore[assignment]
    row = item.get_closest_marker("feature") or item.get_closest_marker("row")
    if row is not None and isinstance(item, pytest.Function):
        pair = item.callspec.params
        cell = (str(pair["server"]), str(pair.get("programs") or pair["client"]), row.args[0])
        if report.when == "call" or not report.passed:
            # An expected failure is reported as skipped.
            _seen[cell] = "failed" if hasattr(report, "wasxfail") else report.outcome
    return report  # type: ignore[return-value]


def pytest_sessionfinish() -> None:
    if os.environ.get("INTEROP_TABLE") == "1":
        tried = {feature for _, _, feature in _seen}
        for catalogue in CATALOGUES:
            if tried & catalogue.features.keys():
                table.write(catalogue, _seen)
