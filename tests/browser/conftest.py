"""One browser and one cluster with live traffic for all tests of the pages.

Whatever a test is about, it fails if one of its pages had an error on its console, a report of the
content security policy, a frame, a dialog or another window, or asked another machine for anything:
a test that has a page refused something says so (`page.expect`).

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
    folder = tmp_path_factory.mktemp("browser") / "profile"
    # Other sites are this machine, too.
    with Browser(find_program(), folder, ["--host-resolver-rules=MAP *.test 127.0.0.1"]) as opened:
        yield opened


@pytest.fixture(autouse=True)
def nothing_goes_wrong_in_a_page(browser: Browser) -> Iterator[None]:
    yield
    assert browser.close_pages() == []


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
