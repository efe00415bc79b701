"""Sends that wait for a copy, with a master of one make and a slave of the other, as Java's client
sees them: an acknowledged message is on the slave, and without the slave nothing is acknowledged.
"""

from collections.abc import Iterator

import pytest

from tests.interop.apache import Jars
from tests.interop.features.ground import Ground
from tests.interop.features.program import Event, Program, ProgramError
from tests.interop.features.waiting import until
from tests.interop.replication.brokers import AEROBEE, Pair
from tests.interop.replication.conftest import BOTH_WAYS, StartProgram
from tests.interop.replication.log_bytes import record_end, wait_until_equal

pytestmark = pytest.mark.java

TOPIC = "Copied"
SECONDS_MAX = 90
TWO_COPIES = {"brokerRole": "SYNC_MASTER", "inSyncReplicas": 2, "totalReplicas": 2}
SLAVE_TIMEOUT_MS = 1_500
OK, TOO_LATE, NO_SLAVE = "SEND_OK", "FLUSH_SLAVE_TIMEOUT", "SLAVE_NOT_AVAILABLE"


@pytest.fixture(scope="module", params=BOTH_WAYS)
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, jars: Jars
) -> Iterator[Pair]:
    """A master that wants a second copy of everything; its slave is not running."""
    settings = {"slaveTimeout": SLAVE_TIMEOUT_MS}
    with Pair(request.param, tmp_path_factory.mktemp("pair"), jars, settings) as made:
        made.master.starts_as(TWO_COPIES)
        made.master.start()
        Ground(made.master).create_topic(TOPIC)
        yield made


@pytest.fixture
def client(pair: Pair, start_program: StartProgram) -> Program:
    return start_program(pair.name_server)


def in_sync(pair: Pair, client: Program) -> None:
    """Wait until sends are acknowledged."""
    if not pair.slave.is_running:
        pair.slave.start()
    until(lambda: status(client) == OK, SECONDS_MAX, "the master has a second copy")


def status(client: Program, body: str = "asked") -> str:
    """What becomes of one send; the error, if it has failed."""
    try:
        [sent] = sent_of(client.send("async", TOPIC, body))
    except ProgramError as error:
        return str(error)
    return str(sent["status"])


def sent_of(events: list[Event]) -> list[Event]:
    return [event for event in events if event["event"] == "sent"]


def test_without_a_slave_no_send_is_acknowledged(pair: Pair, client: Program) -> None:
    in_sync(pair, client)
    pair.slave.kill()
    end = wait_for_loss(pair, client)
    if pair.master.make == AEROBEE:
        assert "in-sync replicas not enough" in status(client, "refused")
        assert pair.master.log_end() == end, "a refused message is not stored"
    else:
        assert status(client, "late") == TOO_LATE
        assert pair.master.log_end() > end, "what nobody waits for any more is stored"
    in_sync(pair, client)
    wait_until_equal(pair.master, pair.slave)


def wait_for_loss(pair: Pair, client: Program) -> int:
    """Wait until the master knows that its slave is gone; the end of its log."""
    until(lambda: status(client) != OK, SECONDS_MAX, "the master misses its slave")
    return pair.master.log_end()


def test_the_slave_has_what_was_acknowledged_before_its_master_is_killed(
    pair: Pair, client: Program
) -> None:
    in_sync(pair, client)
    texts = [f"{number} {'x' * (number % 2_000)}" for number in range(4_000)]
    sends = client.begin("send", how="async", window=100, topic=TOPIC, body=texts)
    client.events_of(sends, lambda events: len(events) >= 700, SECONDS_MAX)
    pair.master.kill()
    acknowledged = [one for one in sent_of(client.finish(sends)) if one["status"] == OK]
    end = pair.slave.log_end()
    pair.master.start()
    assert 700 <= len(acknowledged) < len(texts)
    for sent in acknowledged:
        offset = int(sent["offsetMsgId"][-16:], 16)
        assert offset < record_end(pair.master, offset) <= end, f"the slave lacks {sent}"
    in_sync(pair, client)
    wait_until_equal(pair.master, pair.slave)


def test_a_send_whose_copy_comes_late_is_answered_so_and_kept(pair: Pair, client: Program) -> None:
    in_sync(pair, client)
    wait_until_equal(pair.master, pair.slave)
    pair.slave.freeze()
    try:
        assert status(client, "late") == TOO_LATE
        if pair.master.make == AEROBEE:
            assert "late" not in stored(pair), "consumers see what two brokers have"
        else:
            until(lambda: "late" in stored(pair), SECONDS_MAX, "Apache shows what it alone has")
    finally:
        pair.slave.thaw()
    wait_until_equal(pair.master, pair.slave)
    until(lambda: "late" in stored(pair), SECONDS_MAX, "consumers see it now")
    in_sync(pair, client)


def stored(pair: Pair) -> set[str]:
    return {message.body.decode() for message in Ground(pair.master).stored(TOPIC)}


def test_a_send_whose_slave_leaves_meanwhile_is_not_acknowledged(
    pair: Pair, client: Program
) -> None:
    in_sync(pair, client)
    pair.slave.freeze()
    before = pair.master.log_end()
    sent = client.begin("send", how="async", topic=TOPIC, body=["left alone"])
    until(lambda: pair.master.log_end() > before, SECONDS_MAX, "it is stored")
    pair.slave.kill()
    told = NO_SLAVE if pair.master.make == AEROBEE else TOO_LATE
    assert [one["status"] for one in sent_of(client.finish(sent))] == [told]
    in_sync(pair, client)
    wait_until_equal(pair.master, pair.slave)
