"""A cluster that is open to everybody is shouted on every page."""

from collections.abc import Iterator

import pytest

from tests.browser_kit import DESKTOP, PHONE, Look, breaches, follow, open_page
from tests.console_kit import ConsoleClient, insecure_console
from tools.browser.devtools import Browser

PAGES = ("/topics", "/users", "/brokers/broker-a", "/nothing")
_BANNER = "document.querySelector('.insecure[role=alert]')?.innerText ?? ''"


@pytest.fixture(scope="module")
def insecure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleClient]:
    with insecure_console(tmp_path_factory.mktemp("insecure")) as console:
        yield console


@pytest.mark.parametrize("look", [DESKTOP, PHONE], ids=["desktop, light", "phone, dark"])
def test_a_cluster_that_is_open_to_everybody_is_shouted_on_every_page(
    browser: Browser, insecure: ConsoleClient, look: Look
) -> None:
    page = open_page(browser, insecure, "/", look)
    for path in PAGES:
        page.wait(f"({_BANNER}).includes('broker-a')")
        assert "INSECURE" in str(page.evaluate(_BANNER))
        assert breaches(page, insecure, ()) == []
        page.troubles.clear()
        follow(page, path)
    page.wait(f"({_BANNER}).includes('broker-a')")


def test_a_cluster_that_is_closed_has_no_such_banner(
    browser: Browser, console: ConsoleClient
) -> None:
    page = open_page(browser, console, "/", DESKTOP)
    page.wait("performance.getEntriesByName(location.origin + '/api/insecure').length > 0")
    assert page.evaluate(_BANNER) == ""
