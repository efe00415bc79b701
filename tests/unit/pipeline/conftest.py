"""One server for the tests of this folder."""

from collections.abc import Iterator

import pytest

from aerobee.pipeline.spark.worker_client import close_kept
from tests.server_kit import Server, running_server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("pipeline")) as server:
        yield server
        close_kept()
