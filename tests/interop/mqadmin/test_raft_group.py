"""Sub-commands of controller mode of mqadmin 5.5.0 on a Raft group of ours, which is its own
controller: they show it, or say why not, and our mqadmin says the same.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.fault.raft.raft_group import RaftGroup
from tests.fault.replication.group import NAME, Broker, Mode
from tests.fault.replication.network import Loopback
from tests.interop.apache import Jars
from tests.interop.features.waiting import until
from tests.interop.mqadmin.admin import Admin
from tests.interop.mqadmin.cases import Case
from tests.interop.mqadmin.judge import Outcome, judge
from tests.interop.mqadmin.pairs import BothFail, Pair
from tests.interop.mqadmin.side_by_side import SideBySide
from tests.mqadmin_kit import Place

pytestmark = [pytest.mark.java, pytest.mark.timeout(600)]

SECONDS_MAX = 30
TRIES = 3
_MEMBER = (
    r"ReplicaIdentity\{{brokerName='{name}', brokerId={id}, brokerAddress='{at}', alive=true\}}"
)


def _said(words: str) -> str:
    return rf"(?<=DESC: )[^\n]*{words}[^\n]*"


REFUSED = (
    Case("getControllerConfig -a {leader}", (), reason=_said("aerobee broker config get")),
    Case(
        "updateControllerConfig -a {leader} -k key -v value",
        (),
        reason=_said("aerobee broker config set"),
    ),
    Case(
        f"cleanBrokerMetadata -a {{leader}} -bn {NAME} -c DefaultCluster",
        (),
        reason=_said("aerobee broker members remove"),
    ),
)
BESIDE = (
    Pair("getControllerMetaData -a {address}", is_fixed_order=True),
    Pair(f"getSyncStateSet -a {{address}} -b {NAME}", is_fixed_order=True),
    Pair("getSyncStateSet -a {address} -c DefaultCluster", is_fixed_order=True),
    Pair(f"getBrokerEpoch -b {NAME}", is_moving=True, is_fixed_order=True),
    BothFail(f"electMaster -a {{address}} -b 9 -bn {NAME} -c DefaultCluster", "no other voter"),
    BothFail("getControllerConfig -a {address}", "no process is a controller"),
)


class Watched:
    def __init__(self, group: RaftGroup, admin: Admin, folder: Path) -> None:
        self.group = group
        self.admin = admin
        self.folder = folder

    def addresses(self) -> list[str]:
        return [one.address for one in self.group.brokers]

    def leads(self, broker: Broker) -> bool:
        return self.group.find_leader() is broker

    def theirs(self, command: str) -> str:
        """What mqadmin prints."""
        words = [*command.split(), "-n", self.group.name_server]
        return self.admin.run(words, SECONDS_MAX).text

    def ours(self, command: str) -> str:
        """What ours prints."""
        return Place(self.group.name_server, "", self.folder).run(command).out


@pytest.fixture(scope="module")
def watched(jars: Jars, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("group")
    network = Loopback(3)
    try:
        group = RaftGroup(folder, network, Mode(slaves=2, copies=2))
        group.until_followed()
        with Admin(folder / "admin", group.name_server) as admin:
            yield Watched(group, admin, folder)
        group.close()
    finally:
        network.close()


def test_any_member_tells_who_leads(watched: Watched) -> None:
    leader = watched.group.leader()
    for address in watched.addresses():
        text = watched.theirs(f"getControllerMetaData -a {address}")
        assert f"#ControllerLeaderId\tn{leader.number}" in text
        assert f"#ControllerLeaderAddress\t{leader.address}" in text
        assert text.count("#Peer:") == 3


def test_members_are_in_the_sync_state_set(watched: Watched) -> None:
    leader = watched.group.leader()
    for address in watched.addresses():
        shows = [
            rf"#MasterAddr\s+{leader.address}",
            r"#SyncStateSetNums\s+3",
            *(
                _MEMBER.format(name=NAME, id=one.number + 1, at=one.address)
                for one in watched.group.brokers
            ),
        ]
        case = Case(f"getSyncStateSet -a {address} -b {NAME}", tuple(shows))
        words = [*case.command.split(), "-n", watched.group.name_server]
        verdict = judge(case, watched.admin.run(words, SECONDS_MAX))
        assert verdict.outcome is Outcome.WORKS, verdict.why


def test_the_member_that_is_elected_leads(watched: Watched) -> None:
    group = watched.group
    said = []
    for elect in (watched.theirs, watched.ours):
        leader = group.leader()
        chosen = next(one for one in group.brokers if one is not leader)
        command = f"electMaster -a {leader.address} -b {chosen.number + 1} -bn {NAME}"
        text = elect(f"{command} -c DefaultCluster")
        assert f"#BrokerMasterAddr\t{chosen.address}" in text, text
        until(partial(watched.leads, chosen), SECONDS_MAX, "the chosen one leads")
        group.until_followed()
        said.append([line.rpartition("\t")[0] for line in text.splitlines()])
    assert said[0] == said[1]


@pytest.mark.parametrize("case", REFUSED, ids=[case.command.split()[0] for case in REFUSED])
def test_what_has_no_meaning_is_refused_with_what_to_do(watched: Watched, case: Case) -> None:
    filled = case.filled({"leader": watched.group.leader().address})
    words = [*filled.command.split(), "-n", watched.group.name_server]
    verdict = judge(filled, watched.admin.run(words, SECONDS_MAX))
    assert verdict.outcome is Outcome.REFUSES, verdict.why


def test_our_mqadmin_says_the_same(watched: Watched) -> None:
    """A busy machine may elect another leader between the two: then they are asked again."""
    group = watched.group
    faults: list[str] = []
    for _ in range(TRIES):
        address = group.leader().address
        both = SideBySide(watched.admin, group.name_server, address, watched.folder)
        both.go(BESIDE)
        faults = [one.fault for one in both.found.values() if one.fault]
        if group.leader().address == address:
            break
    assert not faults, "\n".join(faults)
