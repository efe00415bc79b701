from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.server import Server


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One for all tests: what one of them leaves behind is the next one's world."""
    folder: Path = tmp_path_factory.mktemp("server")
    one = Server(folder)
    yield one
    if one.is_alive():
        assert one.stop() == 0, one.log()[-4000:]
