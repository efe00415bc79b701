"""One server for the tests of commands that ask one."""

from collections.abc import Iterator

import pytest

from tests.server_kit import Server, running_server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("cli")) as server:
        yield server
