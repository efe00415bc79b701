"""One browser and one cluster with live traffic for all tests of the pages.

Both run until the last test of the process: `make test` has these tests last in their part.
"""

import contextlib
from collections.abc import Iterator

import pytest

from tests.console_kit import ConsoleClient, guarded_console, running_console
from tools.browser.chromium import find_program
from tools.browser.devtools import Browser


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(find_program(), tmp_path_factory.mktemp("browser") / "profile") as opened:
        yield opened


@pytest.fixture(scope="session")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleClient]:
    with running_console(tmp_path_factory.mktemp("cluster"), "--demo", "--slaves", "1") as console:
        _wait_for_traffic(console)
        yield console


@pytest.fixture(scope="session")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleClient]:
    """Of a cluster with users, who log in to it."""
    with guarded_console(tmp_path_factory.mktemp("guarded")) as console:
        yield console


def _wait_for_traffic(console: ConsoleClient) -> None:
    with contextlib.closing(console.events("/api/live?series=cluster.out")) as events:
        for name, data in events:
            if name == "sample" and data["values"].get("cluster.out"):
                return
