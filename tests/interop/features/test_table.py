"""The table of clients says what was seen, and nothing that was not."""

import pytest

from tests.interop.features.catalogue import Catalogue
from tests.interop.features.grpc_offers import GRPC
from tests.interop.features.offers import REMOTING
from tests.interop.features.table import Seen, render


def rows(seen: Seen, catalogue: Catalogue = REMOTING) -> dict[str, dict[str, str]]:
    """Feature → client → cell."""
    table = [line for line in render(catalogue, seen).splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table[1:]]
    assert [row[0] for row in cells] == list(catalogue.features.values())
    return {
        feature: dict(zip(catalogue.clients, row[1:], strict=True))
        for feature, row in zip(catalogue.features, cells, strict=True)
    }


def test_what_did_not_run_is_not_claimed() -> None:
    assert rows({})["sync"] == dict.fromkeys(REMOTING.clients, "not run")


def test_a_cell_says_yes_when_both_servers_do_it() -> None:
    seen: Seen = {("aerobee", "go", "sync"): "passed", ("apache", "go", "sync"): "passed"}
    assert rows(seen)["sync"]["go"] == "yes"


def test_a_difference_between_the_servers_shows() -> None:
    seen: Seen = {("aerobee", "go", "sync"): "failed", ("apache", "go", "sync"): "passed"}
    assert rows(seen)["sync"]["go"] == "**no**; Apache: yes"


def test_a_fault_of_apaches_is_explained() -> None:
    (client, feature), reason = next(iter(REMOTING.apache_fails.items()))
    seen: Seen = {("aerobee", client, feature): "passed", ("apache", client, feature): "failed"}
    cell = rows(seen)[feature][client]
    assert cell.startswith("yes; Apache: **no** [")
    number = cell.rpartition("[")[2].rstrip("]")
    assert f"{number}. {reason}" in render(REMOTING, seen).splitlines()


@pytest.mark.parametrize("catalogue", [REMOTING, GRPC], ids=lambda one: str(one.name))
def test_what_a_client_does_not_offer_is_explained(catalogue: Catalogue) -> None:
    for (client, feature), reason in catalogue.not_offered.items():
        cell = rows({}, catalogue)[feature][client]
        assert cell.startswith("not offered [")
        number = cell.rpartition("[")[2].rstrip("]")
        assert f"{number}. {reason}" in render(catalogue, {}).splitlines()
