"""An Aerobee slave follows an Apache master, and an Apache slave an Aerobee master: their logs are
the same bytes, whatever ends in between, and the slave's messages are the master's.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.interop.apache import DirectClient, Jars
from tests.interop.features.ground import Ground
from tests.interop.features.waiting import TooLong, until
from tests.interop.replication import metadata
from tests.interop.replication.brokers import AEROBEE, APACHE, SLAVE, Broker, Pair
from tests.interop.replication.conftest import StartProgram
from tests.interop.replication.log_bytes import log_files, wait_until_equal
from tests.interop.replication.traffic import QUEUES, check_same_messages, fill, stream
from tests.wire_client import WireClient

pytestmark = pytest.mark.java

TOPIC, JAVA_TOPIC, SHORT_LIVED, GROUP = "Followed", "FollowedJava", "ShortLived", "readers"
LARGE = "long enough to be compressed; " * 400
GROWTH_BYTES = 2 << 20
SECONDS_MAX = 90
METADATA_SECONDS_MAX = 100
"""Apache's slave copies 60 s after its start for the first time, then once a minute."""
_COMMIT, _DELETE_GROUP, _DELETE_TOPIC = 15, 207, 215
_ENDS = {"stopped": Broker.stop, "killed": Broker.kill}


@pytest.fixture(scope="module")
def pair(pair: Pair) -> Pair:
    """The pair, with topics and a group."""
    ground = Ground(pair.master)
    for topic in (TOPIC, JAVA_TOPIC, SHORT_LIVED):
        ground.create_topic(topic, QUEUES)
    ground.create_group(GROUP, retries=7)
    ground.create_group(SHORT_LIVED, retries=3)
    return pair


def following(pair: Pair) -> Pair:
    """The pair, with equal logs."""
    if not pair.slave.is_running:
        pair.slave.start()
    wait_until_equal(pair.master, pair.slave)
    return pair


def wait_for_growth(broker: Broker, size: int = GROWTH_BYTES) -> None:
    wanted = broker.log_end() + size
    until(lambda: broker.log_end() >= wanted, SECONDS_MAX, f"the log reaches {wanted}")


def test_an_empty_slave_copies_all_log_files_from_the_first_byte_on(pair: Pair) -> None:
    count = fill(pair.master, TOPIC, 5 << 20, seed=1)
    assert len(log_files(pair.master)) > 5
    pair.slave.start()
    wait_until_equal(pair.master, pair.slave)
    assert log_files(pair.slave) == log_files(pair.master)
    assert log_files(pair.slave)[0] == 0
    assert check_same_messages(pair.master, pair.slave, TOPIC) == count


def test_a_slave_has_whatever_java_clients_send(
    pair: Pair, start_program: StartProgram, tmp_path: Path
) -> None:
    following(pair)
    program = start_program(pair.name_server)
    fields = {"tags": "red", "keys": "k1 k2", "colour": "teal"}
    program.send("sync", JAVA_TOPIC, "plain", "Grüße 订单", LARGE, **fields)
    program.send("async", JAVA_TOPIC, *(f"async {number}" for number in range(500)))
    program.send("batch", JAVA_TOPIC, *(f"batch {number}" for number in range(50)))
    program.send("ordered", JAVA_TOPIC, *(f"ordered {number}" for number in range(9)), shard="s")
    program.send("oneway", JAVA_TOPIC, "nobody answers")
    program.send("sync", JAVA_TOPIC, "later", level=1)
    for outcome in ("commit", "rollback"):
        transaction = {"outcome": outcome, "check": outcome, "group": "transacting"}
        program.send("transaction", JAVA_TOPIC, f"{outcome} it", **transaction)
    stored = Ground(pair.master).stored_all(JAVA_TOPIC, 3 + 500 + 50 + 9 + 1 + 1 + 1, SECONDS_MAX)
    assert {b"later", b"commit it"} <= {message.body for message in stored}
    wait_until_equal(pair.master, pair.slave)
    check_same_messages(pair.master, pair.slave, JAVA_TOPIC)
    theirs, ours = (_java_reads(pair, broker, tmp_path) for broker in (pair.master, pair.slave))
    assert ours == theirs
    assert sum(answer["count"] for answer in theirs[:QUEUES]) == len(stored)


def _java_reads(pair: Pair, broker: Broker, folder: Path) -> list[dict[str, Any]]:
    client = DirectClient(pair.jars, folder, broker.address)
    asked = {"topic": JAVA_TOPIC, "key": "k1", "max": 32, "begin": 0, "end": 1 << 60}
    queues = [{"ask": "dump", "topic": JAVA_TOPIC, "queueId": one} for one in range(QUEUES)]
    answers = client.ask([*queues, {"ask": "key", **asked}])
    answers[-1]["ids"].sort()  # brokers find the newest first, or the oldest
    return answers


def test_a_slave_has_the_topics_groups_and_offsets_of_its_master(pair: Pair) -> None:
    following(pair)
    wait_for_same_metadata(pair)
    assert {TOPIC, SHORT_LIVED} <= metadata.topics(pair.slave).keys()
    assert metadata.groups(pair.slave)[GROUP]["retryMaxTimes"] == 7

    ground = Ground(pair.master)
    for level in ("1", "2", "1"):
        ground.send(TOPIC, 0, "later", DELAY=level)
    ground.create_topic("Younger", queues=3)
    ground.create_group(GROUP, retries=8)
    with WireClient(pair.master.broker_port) as master:
        committed = {"consumerGroup": GROUP, "topic": TOPIC, "queueId": "2", "commitOffset": "9"}
        for code, fields in (
            (_COMMIT, committed),
            (_DELETE_TOPIC, {"topic": SHORT_LIVED}),
            (_DELETE_GROUP, {"groupName": SHORT_LIVED, "cleanOffset": "true"}),
        ):
            assert master.ask(code, fields).code == 0
    until(
        lambda: metadata.delay_offsets(pair.master) == {"1": 3, "2": 1},
        SECONDS_MAX,
        f"offsets of delivered levels: {metadata.delay_offsets(pair.master)}",
    )
    wait_for_same_metadata(pair)
    assert metadata.topics(pair.slave)["Younger"]["readQueueNums"] == 3
    assert SHORT_LIVED not in metadata.topics(pair.slave).keys() | metadata.groups(pair.slave)
    assert metadata.groups(pair.slave)[GROUP]["retryMaxTimes"] == 8
    assert metadata.consumer_offsets(pair.slave)[f"{TOPIC}@{GROUP}"] == {"2": 9}
    assert metadata.delay_offsets(pair.slave) == {"1": 3, "2": 1}


def wait_for_same_metadata(pair: Pair) -> None:
    def differences() -> dict[str, object]:
        tables = (
            metadata.topics,
            metadata.groups,
            metadata.consumer_offsets,
            metadata.delay_offsets,
        )
        both = [(table.__name__, table(pair.master), table(pair.slave)) for table in tables]
        return {
            f"{name} {key}": (theirs.get(key), ours.get(key))
            for name, theirs, ours in both
            for key in theirs.keys() | ours.keys()
            if theirs.get(key) != ours.get(key)
        }

    try:
        until(lambda: not differences(), METADATA_SECONDS_MAX, "metadata")
    except TooLong:
        raise TooLong(f"master's and slave's still differ: {differences()}") from None


@pytest.mark.parametrize("end", _ENDS)
def test_a_slave_goes_on_where_it_ended(pair: Pair, end: str) -> None:
    following(pair)
    with stream(pair.master, TOPIC):
        wait_for_growth(pair.slave)
        _ENDS[end](pair.slave)
        wait_for_growth(pair.master)
        pair.slave.start()
        wait_for_growth(pair.slave)
    wait_until_equal(pair.master, pair.slave)
    check_same_messages(pair.master, pair.slave, TOPIC)


@pytest.mark.parametrize("end", _ENDS)
def test_a_slave_follows_a_master_that_is_back(pair: Pair, end: str) -> None:
    following(pair)
    with stream(pair.master, TOPIC):
        wait_for_growth(pair.slave)
        _ENDS[end](pair.master)
    pair.master.start()
    with stream(pair.master, TOPIC):
        wait_for_growth(pair.slave)
    wait_until_equal(pair.master, pair.slave)
    check_same_messages(pair.master, pair.slave, TOPIC)


def test_an_empty_slave_begins_at_the_oldest_file_that_its_master_has(
    pair: Pair, tmp_path: Path
) -> None:
    following(pair)
    fill(pair.master, TOPIC, 4 << 20, seed=2)
    pair.master.stop()
    oldest, begin = log_files(pair.master)[:3], log_files(pair.master)[3]
    for offset in oldest:
        (pair.master.store / "commitlog" / f"{offset:020}").unlink()
    pair.master.start()
    assert pair.master.log_begin() == begin
    with pair.broker(pair.slave.make, "second", {**SLAVE, "brokerId": 2}) as second:
        second.start()
        wait_until_equal(pair.master, second)
        assert log_files(second)[0] == begin
        until(lambda: TOPIC in metadata.topics(second), SECONDS_MAX, "the slave knows the topic")
        asked = [{"ask": "dump", "topic": TOPIC, "queueId": one} for one in range(QUEUES)]
        theirs, ours = (
            DirectClient(pair.jars, tmp_path, broker.address).ask(asked)
            for broker in (pair.master, second)
        )
        assert ours == theirs


@pytest.mark.parametrize(
    "makes", [(APACHE, AEROBEE, AEROBEE), (AEROBEE, APACHE, APACHE)], ids=["aerobee", "apache"]
)
def test_a_slave_finds_its_master_through_a_name_server_of_its_own_make(
    makes: tuple[str, str, str], tmp_path: Path, jars: Jars
) -> None:
    with Pair(makes, tmp_path, jars) as pair:
        pair.slave.start()  # first: its master is not known yet
        pair.master.start()
        Ground(pair.master).create_topic(TOPIC, QUEUES)
        fill(pair.master, TOPIC, 3 << 20, seed=3)
        wait_until_equal(pair.master, pair.slave)
