"""Our mqadmin and RocketMQ's, on our broker and on Apache's: columns and values are the same.

One JVM for each server. What differs on purpose says why, and the rest of it is the same.
INTEROP_TABLE=1 writes what was seen into docs/mqadmin-ours.md.
"""

import os
from pathlib import Path

import pytest

from aerobee.cli.mqadmin import catalog
from tests.interop.apache import Jars
from tests.interop.features.servers import AerobeeServer
from tests.interop.mqadmin import our_page
from tests.interop.mqadmin.admin import Admin
from tests.interop.mqadmin.day import SETTINGS, admin_at_apache
from tests.interop.mqadmin.pairs import (
    AT_APACHE,
    BY_CONTROLLER,
    GROUP,
    HERE,
    TOPIC,
    BothFail,
    Pair,
)
from tests.interop.mqadmin.side_by_side import SideBySide
from tests.mqadmin_kit import Place
from tests.unit.cli.mqadmin.test_access import FLAGS as ACCESS_FLAGS

pytestmark = [pytest.mark.java, pytest.mark.timeout(900)]

COMPARED_HERE = [one for one in HERE if isinstance(one, Pair | BothFail)]
COMPARED_AT_APACHE = [one for one in AT_APACHE if isinstance(one, Pair | BothFail)]
REFUSED_BY_BROKER = {
    "updateColdDataFlowCtrGroupConfig": "-g g -v 1",
    "removeColdDataFlowCtrGroupConfig": "-g g",
    "setCommitLogReadAheadMode": "-m 0",
    "switchTimerEngine": "-e F",
    **ACCESS_FLAGS,
}


class Seen:
    """What was found, and why our broker refuses what it refuses."""

    def __init__(self, here: SideBySide, apache: SideBySide, refusals: dict[str, str]) -> None:
        self.here = here.found
        self.apache = apache.found
        self.explained = apache.explained
        self.refusals = refusals


@pytest.fixture(scope="session")
def seen(jars: Jars, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    here, refusals = _here(tmp_path_factory.mktemp("ours-here"))
    found = Seen(here, _at_apache(tmp_path_factory.mktemp("ours-apache")), refusals)
    if os.environ.get("INTEROP_TABLE") == "1":
        our_page.write(found.here, found.apache, found.refusals)
    return found


def _here(folder: Path) -> tuple[SideBySide, dict[str, str]]:
    with (
        AerobeeServer(folder / "server", SETTINGS) as server,
        Admin(folder, server.name_server) as admin,
    ):
        address = f"127.0.0.1:{server.broker_port}"
        both = SideBySide(admin, server.name_server, address, folder)
        both.prepare()
        both.go(HERE)
        return both, _refusals(Place(server.name_server, address, folder))


def _refusals(place: Place) -> dict[str, str]:
    """By sub-command, the reason that is given."""
    found = {}
    controlled = {command.split()[0]: command for command in BY_CONTROLLER}
    for name in catalog.names():
        command = catalog.find(name)
        assert command is not None
        if command.run is None:
            words = name
        elif name in ("copyUser", "copyAcl"):
            words = f"{name} -f {{address}} -t {{address}}"
        elif name == "getBrokerEpoch":
            words = f"{name} -c DefaultCluster"
        elif name in controlled:
            words = controlled[name]
        elif name in REFUSED_BY_BROKER:
            words = f"{name} -b {{address}} {REFUSED_BY_BROKER[name]}"
        else:
            continue
        said = place.run(words)
        assert said.status != 0, name
        found[name] = said.error.splitlines()[0].removeprefix("aerobee: ").rpartition("): ")[2]
    return found


def _at_apache(folder: Path) -> SideBySide:
    with admin_at_apache(folder) as (admin, name_server, port):
        both = SideBySide(admin, name_server, f"127.0.0.1:{port}", folder)
        both.prepare()
        both.go(AT_APACHE)
        both.explain()
        return both


@pytest.mark.parametrize("one", COMPARED_HERE, ids=[one.command for one in COMPARED_HERE])
def test_both_say_the_same_of_our_broker(seen: Seen, one: Pair | BothFail) -> None:
    compared = seen.here[one]
    assert not compared.fault, f"{compared.fault}\n\n{compared.theirs}\n\n{compared.ours}"


@pytest.mark.parametrize("one", COMPARED_AT_APACHE, ids=[one.command for one in COMPARED_AT_APACHE])
def test_both_say_the_same_of_apaches(seen: Seen, one: Pair | BothFail) -> None:
    compared = seen.apache[one]
    assert not compared.fault, f"{compared.fault}\n\n{compared.theirs}\n\n{compared.ours}"


def test_every_sub_command_is_compared_or_refused(seen: Seen) -> None:
    compared = {one.name for one in COMPARED_HERE if isinstance(one, Pair)}
    assert compared | seen.refusals.keys() == set(catalog.names())


def test_a_message_and_a_group_are_explained_on_apaches_too(seen: Seen) -> None:
    message, group = seen.explained
    assert message["topic"] == TOPIC
    assert [one["cause"] for one in message["findings"]] == ["consumed"]
    assert group["members"] == [f"127.0.0.1@{GROUP}"]
    assert {one["owner"] for one in group["queues"] if one["topic"] == TOPIC} == {
        f"127.0.0.1@{GROUP}"
    }
    assert [one["cause"] for one in group["findings"]] == ["well"]
