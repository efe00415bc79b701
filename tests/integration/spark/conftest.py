"""One server for the Spark tests of this folder, in a process of its own."""

from collections.abc import Iterator

import pytest

from tests.server_kit import Server, running_server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("spark-server")) as server:
        yield server
