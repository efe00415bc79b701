"""Promises of static topics, on three brokers of a real process; `tests/interop` runs the same
programs against Apache's.
"""

from collections.abc import Iterator

import pytest

from tests.server_kit import Server, running_server
from tests.static_topic_program import PROGRAMS, Program, run


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("static"), "--brokers", "3") as started:
        yield started


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_it_is_as_rocketmqs_own_tests_expect(server: Server, program: Program) -> None:
    run(program, server.name_server)
