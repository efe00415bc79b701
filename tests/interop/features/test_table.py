"""The table of clients says what was seen, and nothing that was not."""

from tests.interop.features.offers import APACHE_FAILS, CLIENTS, FEATURES, NOT_OFFERED
from tests.interop.features.table import Seen, render


def rows(seen: Seen) -> dict[str, dict[str, str]]:
    """Feature → client → cell."""
    table = [line for line in render(seen).splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table[1:]]
    assert [row[0] for row in cells] == list(FEATURES.values())
    return {
        feature: dict(zip(CLIENTS, row[1:], strict=True))
        for feature, row in zip(FEATURES, cells, strict=True)
    }


def test_what_did_not_run_is_not_claimed() -> None:
    assert rows({})["sync"] == dict.fromkeys(CLIENTS, "not run")


def test_a_cell_says_yes_when_both_servers_do_it() -> None:
    seen: Seen = {("aerobee", "go", "sync"): "passed", ("apache", "go", "sync"): "passed"}
    assert rows(seen)["sync"]["go"] == "yes"


def test_a_difference_between_the_servers_shows() -> None:
    seen: Seen = {("aerobee", "go", "sync"): "failed", ("apache", "go", "sync"): "passed"}
    assert rows(seen)["sync"]["go"] == "**no**; Apache: yes"


def test_a_fault_of_apaches_is_explained() -> None:
    (client, feature), reason = next(iter(APACHE_FAILS.items()))
    seen: Seen = {("aerobee", client, feature): "passed", ("apache", client, feature): "failed"}
    cell = rows(seen)[feature][client]
    assert cell.startswith("yes; Apache: **no** [")
    number = cell.rpartition("[")[2].rstrip("]")
    assert f"{number}. {reason}" in render(seen).splitlines()


def test_what_a_client_does_not_offer_is_explained() -> None:
    for (client, feature), reason in NOT_OFFERED.items():
        cell = rows({})[feature][client]
        assert cell.startswith("not offered [")
        number = cell.rpartition("[")[2].rstrip("]")
        assert f"{number}. {reason}" in render({}).splitlines()
