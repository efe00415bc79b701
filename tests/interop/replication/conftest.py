"""Pairs of a master and a slave, one of Aerobee and one of Apache, and the Java client.

A pair lives as long as the tests of a module with it: a JVM takes seconds to start. Tests of a pair
leave both brokers running.
"""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from tests.interop.apache import Jars
from tests.interop.features.conftest import check_tools
from tests.interop.features.install import install, missing
from tests.interop.features.program import Program
from tests.interop.replication.brokers import AEROBEE, APACHE, Pair

CLIENT = "java-5.5.0"
BOTH_WAYS = [
    pytest.param((APACHE, AEROBEE, APACHE), id="aerobee-follows-apache"),
    pytest.param((AEROBEE, APACHE, AEROBEE), id="apache-follows-aerobee"),
]
"""Makes of the master, the slave and the name server."""


class StartProgram(Protocol):
    """Starts a client, which is told a name server."""

    def __call__(self, name_server: str, client: str = CLIENT) -> Program: ...


@pytest.fixture(scope="module", params=BOTH_WAYS)
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, jars: Jars
) -> Iterator[Pair]:
    """A master that runs, and its slave, which has never been started."""
    with Pair(request.param, tmp_path_factory.mktemp("pair"), jars) as made:
        made.master.start()
        yield made


@pytest.fixture
def start_program(tmp_path: Path) -> Iterator[StartProgram]:
    """Clients are killed at the end."""
    numbers = itertools.count(1)
    programs: list[Program] = []

    def start(name_server: str, client: str = CLIENT) -> Program:
        check_tools(client, missing(client))
        folder = tmp_path / f"client-{next(numbers)}"
        command = install(client)(name_server, folder.name, folder)
        programs.append(Program(command, folder))
        return programs[-1]

    yield start
    for program in programs:
        program.kill()
