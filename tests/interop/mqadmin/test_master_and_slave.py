"""Sub-commands of mqadmin 5.5.0 about replication, on an Apache master with its slave and on ours:
they show the same, and so does our mqadmin.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from aerobee.protocol.bodies.topic_route import decode_member_group
from tests.interop.apache import Jars
from tests.interop.features.ground import Ground
from tests.interop.mqadmin.admin import Admin, Printed
from tests.interop.mqadmin.cases import BROKER, CLUSTER, Case
from tests.interop.mqadmin.judge import Outcome, judge
from tests.interop.mqadmin.pairs import BothFail, Pair
from tests.interop.mqadmin.side_by_side import SideBySide, masked
from tests.interop.replication import brokers
from tests.interop.replication.brokers import AEROBEE, APACHE, MAKES
from tests.interop.replication.log_bytes import wait_until_equal
from tests.interop.replication.traffic import fill
from tests.wire_client import WireClient

pytestmark = [pytest.mark.java, pytest.mark.timeout(600)]

TOPIC = "Watched"
SECONDS_MAX = 30
PATIENCE_TRIES = 40
_MEMBERS = 901

_ROW = r"^127\.0\.0\.1:\d+\s+{end}\s+0\s+[\d.]+\s+OK\s+{end}$"
_OF_MASTER = (r"^#MasterCommitLogMaxOffset\s+{end}$", r"^#SlaveNum\s+1$", r"^#InSyncSlaveNum\s+1$")
_CONTROLLER = r"(?<=DESC: )[^\n]*only for controllerMode[^\n]*"
_NOT_SERVED = r"(?<=DESC: )[^\n]*(not supported|does not serve)[^\n]*"
CASES = (
    Case("haStatus -b {master}", (*_OF_MASTER, _ROW), is_patient=True),
    Case("haStatus -c {cluster}", (*_OF_MASTER, _ROW)),
    Case(
        "haStatus -b {slave}",
        (
            r"^#MasterAddr\s+{ha}$",
            r"^#CommitLogMaxOffset\s+{end}$",
            r"^#LastReadTime\s+\d{4}-",
            r"^#LastWriteTime\s+\d{4}-",
        ),
    ),
    Case("resetMasterFlushOffset -b {slave} -o 7", ("reset master flush offset to 7 success",)),
    Case("resetMasterFlushOffset -b {master} -o 7", ("reset master flush offset to 7 success",)),
    Case(
        "clusterList",
        (rf"{CLUSTER}\s+{BROKER}\s+0\s+{{master}}", rf"{CLUSTER}\s+{BROKER}\s+1\s+{{slave}}"),
    ),
    Case("topicRoute -t {topic} -l", (rf"{BROKER}\s+\{{0={{master}}, 1={{slave}}\}}\s+4\s+4\s+6",)),
    Case("brokerStatus -b {slave}", (r"^commitLogMaxOffset\s*: {end}", "brokerVersionDesc")),
    Case("getBrokerConfig -b {slave}", (r"^brokerRole\s*=\s*SLAVE", r"^brokerId\s*=\s*1")),
    Case("getBrokerEpoch -b {broker}", (), reason=_CONTROLLER, apache_reason=_CONTROLLER),
    Case("getSyncStateSet -a {nameserver} -b {broker}", (), reason=_NOT_SERVED),
)
SAME = ("haStatus -b {master}", "haStatus -b {slave}", "haStatus -c {cluster}", "clusterList")
"""Both makes print the same lines, but for numbers."""

BESIDE = (
    Pair("haStatus -b {address}", is_moving=True, is_fixed_order=True),
    Pair("resetMasterFlushOffset -b {address} -o 7"),
    BothFail("getBrokerEpoch -b broker-a", "only for controllerMode"),
)


class Watched:
    """A master and its slave of one make, with equal logs, and mqadmin beside them."""

    def __init__(self, made: brokers.Pair, admin: Admin, folder: Path) -> None:
        self.made = made
        self.admin = admin
        self.folder = folder
        made.master.start()
        made.slave.start()
        Ground(made.master).create_topic(TOPIC)
        fill(made.master, TOPIC, 2 << 20, seed=5)
        end = wait_until_equal(made.master, made.slave)
        self._words = {
            "master": made.master.address,
            "slave": made.slave.address,
            "ha": f"127.0.0.1:{made.master.broker_port + 1}",
            "cluster": CLUSTER,
            "broker": BROKER,
            "topic": TOPIC,
            "nameserver": made.name_server,
            "end": str(end),
        }

    def run(self, case: Case) -> tuple[Case, Printed]:
        """The case with its names filled in, and what was printed. A slave reports its offset, and
        registers, some seconds after it has what its master has."""
        filled = case.filled(self._words)
        words = [*filled.command.split(), "-n", self.made.name_server]
        for _ in range(PATIENCE_TRIES):
            printed = self.admin.run(words, SECONDS_MAX)
            if judge(filled, printed).outcome is not Outcome.FAILS:
                break
        return filled, printed


@pytest.fixture(scope="module")
def watched(jars: Jars, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Watched]]:
    apache, ours = (tmp_path_factory.mktemp(make) for make in (APACHE, AEROBEE))
    with (
        brokers.Pair((APACHE, APACHE, APACHE), apache, jars) as at_apache,
        brokers.Pair((AEROBEE, AEROBEE, AEROBEE), ours, jars) as here,
        Admin(apache / "admin", at_apache.name_server) as apache_admin,
        Admin(ours / "admin", here.name_server) as our_admin,
    ):
        yield {
            APACHE: Watched(at_apache, apache_admin, apache),
            AEROBEE: Watched(here, our_admin, ours),
        }


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("case", CASES, ids=[case.command for case in CASES])
def test_a_command_shows_the_replicas_of_a_broker_or_says_why_not(
    watched: dict[str, Watched], make: str, case: Case
) -> None:
    filled, printed = watched[make].run(case)
    verdict = judge(filled, printed)
    assert verdict.outcome is (Outcome.REFUSES if case.reason else Outcome.WORKS), verdict.why


@pytest.mark.parametrize("command", SAME)
def test_both_makes_print_the_same_lines(watched: dict[str, Watched], command: str) -> None:
    case = next(one for one in CASES if one.command == command)
    pair = Pair(command, is_moving=True, is_fixed_order=True)
    theirs, ours = (masked(watched[make].run(case)[1].text, pair) for make in MAKES)
    assert ours == theirs


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("role", ["master", "slave"])
def test_our_mqadmin_says_the_same_as_theirs(
    watched: dict[str, Watched], make: str, role: str
) -> None:
    seen = watched[make]
    broker = seen.made.master if role == "master" else seen.made.slave
    both = SideBySide(seen.admin, seen.made.name_server, broker.address, seen.folder)
    both.go(BESIDE)
    assert [one.fault for one in both.found.values()] == [""] * len(BESIDE)


@pytest.mark.parametrize("make", MAKES)
def test_a_name_server_tells_the_members_of_a_broker_name(
    watched: dict[str, Watched], make: str
) -> None:
    made = watched[make].made
    host, _, port = made.name_server.rpartition(":")
    with WireClient(int(port), host) as name_server:
        answer = name_server.ask(_MEMBERS, {"clusterName": CLUSTER, "brokerName": BROKER})
    found = decode_member_group(bytes(answer.body))
    assert found.addresses == {0: made.master.address, 1: made.slave.address}
