from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.server import Proxy, Server


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One for all tests: what one of them leaves behind is the next one's world."""
    folder: Path = tmp_path_factory.mktemp("server")
    one = Server(folder)
    yield one
    if one.is_alive():
        assert one.stop() == 0, one.log()[-4000:]


@pytest.fixture(scope="package")
def proxy(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    one = Proxy(tmp_path_factory.mktemp("proxy"), server)
    yield one
    if one.is_alive():
        assert one.stop() == 0, one.log()[-4000:]
