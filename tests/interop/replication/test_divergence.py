"""A slave has records that its master never had: an Aerobee slave cuts them off and saves them, an
Apache slave is refused by an Aerobee master, which says so.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop.apache import Jars
from tests.interop.features.ground import Ground
from tests.interop.features.waiting import until
from tests.interop.replication.brokers import AEROBEE, APACHE, MASTER, SLAVE, Broker, Pair
from tests.interop.replication.log_bytes import wait_until_equal
from tests.interop.replication.traffic import QUEUES, check_same_messages, fill

pytestmark = pytest.mark.java

TOPIC = "Parted"
SECONDS_MAX = 90
ELSEWHERE = {**MASTER, "brokerName": "broker-elsewhere"}
BACK = {**SLAVE, "brokerName": "broker-a"}


def stray(pair: Pair) -> int:
    """Let the slave be a master under another name for a while; the end of the common log."""
    slave = pair.slave
    if not slave.is_running:
        slave.start()
    wait_until_equal(pair.master, slave)
    slave.stop()
    end = pair.master.log_end()
    slave.starts_as(ELSEWHERE)
    slave.start()
    Ground(slave).create_topic(TOPIC, QUEUES)
    fill(slave, TOPIC, 2 << 20, seed=7)
    slave.stop()
    slave.starts_as(BACK)
    return end


@pytest.fixture(scope="module")
def apaches(tmp_path_factory: pytest.TempPathFactory, jars: Jars) -> Iterator[Pair]:
    """Apache's master, which has messages, and Aerobee's slave."""
    with Pair((APACHE, AEROBEE, AEROBEE), tmp_path_factory.mktemp("pair"), jars) as made:
        made.master.start()
        Ground(made.master).create_topic(TOPIC, QUEUES)
        fill(made.master, TOPIC, 3 << 20, seed=1)
        yield made


@pytest.mark.parametrize("size", [1, 3 << 20], ids=["is behind", "is ahead"])
def test_an_aerobee_slave_cuts_off_what_its_apache_master_never_had(
    apaches: Pair, size: int
) -> None:
    master, slave = apaches.master, apaches.slave
    common = stray(apaches)
    tail = _log_bytes(slave, common)
    fill(master, TOPIC, size, seed=8)
    slave.start()
    assert wait_until_equal(master, slave) > common
    saved = [file for file in sorted((slave.store / "diverged").rglob("*")) if file.is_file()]
    assert tail in b"".join(file.read_bytes() for file in saved)
    check_same_messages(master, slave, TOPIC)


def _log_bytes(broker: Broker, begin: int) -> bytes:
    """The log of a stopped broker from an offset to the end of that file."""
    file = max(
        (one for one in (broker.store / "commitlog").iterdir() if int(one.name) <= begin),
        key=lambda one: int(one.name),
    )
    return file.read_bytes()[begin - int(file.name) :].rstrip(b"\0")


def test_an_aerobee_master_refuses_an_apache_slave_that_has_more(
    tmp_path: Path, jars: Jars
) -> None:
    with Pair((AEROBEE, APACHE, AEROBEE), tmp_path, jars) as pair:
        pair.master.start()
        Ground(pair.master).create_topic(TOPIC, QUEUES)
        fill(pair.master, TOPIC, 3 << 20, seed=1)
        common = stray(pair)
        stored = pair.slave.start().log_end()
        assert stored > common
        until(lambda: "the log ends at" in pair.master.said(), SECONDS_MAX, "the master refuses")
        assert "empty the store of an Apache slave" in pair.master.said()
        assert pair.slave.log_end() == stored
