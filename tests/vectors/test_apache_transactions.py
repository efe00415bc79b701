"""Transactions as Apache RocketMQ 5.5.0 left them, and conversations about them, taken up by ours.

The stores hold both ends: half messages and what Apache's broker committed of them, the op record
that it wrote, and three halves of which nobody ever said what became of them.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from aerobee.model.message import Host, StoredMessage
from aerobee.ports.clock import Now
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.broker.log_access.message_writer import MessageWriter
from aerobee.service.broker.log_access.safe_answers import SafeAnswers
from aerobee.service.broker.state.consumer_offsets import ConsumerOffsets
from aerobee.service.broker.transaction.half_message import committed
from aerobee.service.broker.transaction.half_timing import HalfTiming
from aerobee.service.broker.transaction.ledger import Ledger
from aerobee.service.broker.transaction.op_record import offsets_over, op_message
from aerobee.service.broker.transaction.open_half_recovery import find_open
from aerobee.storage.metadata.config_file import ConfigFile
from aerobee.storage.store import Store
from aerobee.system.disk import MappedDisk
from tests.broker_replay import Replay
from tests.conversation import conversations
from tests.fixture_store import STORES, unpack
from tests.store_kit import read_all
from tests.transaction_kit import HALF, OFFSETS_GROUP, OP, over
from tests.vectors.test_apache_delays import all_of, meaning
from tests.vectors.test_apache_stores import CONFIG, opened

OPEN = ["UNKNOW-0", "UNKNOW-1", "UNKNOW-2"]
CONVERSATIONS = ["java-4.9.8-transaction", "java-5.5.0-transaction"]


@pytest.fixture(params=STORES)
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return unpack(str(request.param), tmp_path)


@pytest.fixture
def store(root: Path) -> Iterator[Store]:
    made = opened(root)
    yield made
    made.close()


def apaches_offsets(store: Store, root: Path) -> ConsumerOffsets:
    """As its file has them."""
    offsets = ConsumerOffsets()
    loaded = ConfigFile(MappedDisk(), str(root / "config/consumerOffset.json")).load()
    assert loaded is not None

    def end_of(topic: str, queue_id: int) -> int:
        queue = store.queue(topic.encode(), queue_id)
        return queue.max_offset if queue is not None else 0

    offsets.load(loaded.value, end_of, lambda topic: 0)
    return offsets


def halves_of(store: Store) -> list[StoredMessage]:
    return read_all(store, HALF.encode(), 0)


def test_what_we_commit_is_what_apaches_broker_committed(store: Store) -> None:
    theirs = {message.unique_id: message for message in all_of(store, b"FixTrans")}
    assert len(theirs) == 3
    for half in halves_of(store)[:3]:
        ours = committed(half)
        assert ours is not None
        assert meaning(ours) == meaning(theirs[half.unique_id])


def test_what_we_write_down_is_what_apaches_broker_wrote_down(store: Store) -> None:
    (theirs,) = read_all(store, OP.encode(), 0)
    assert offsets_over(theirs) == [0, 1, 2, 3, 4, 5]
    ours = op_message(offsets_over(theirs), theirs.store_host, Now(theirs.born_timestamp, 0))
    assert (ours.body, ours.properties) == (theirs.body, theirs.properties)
    assert (ours.born_host, ours.sys_flag, ours.flag) == (
        theirs.born_host,
        theirs.sys_flag,
        theirs.flag,
    )


@pytest.mark.parametrize("with_offsets", [True, False])
def test_what_apaches_broker_left_open_is_open(
    store: Store, root: Path, with_offsets: bool
) -> None:
    offsets = apaches_offsets(store, root) if with_offsets else ConsumerOffsets()
    if with_offsets:
        assert offsets.find(OFFSETS_GROUP, HALF, 0) >= 0, "the file has them"
    found = find_open(store, offsets)
    keys = {int(half.queue_offset): half.properties["KEYS"] for half in halves_of(store)}
    assert [keys[half.offset] for half in found.halves] == OPEN
    assert {half.group for half in found.halves} == {"fix-trans"}


def test_a_transaction_that_apaches_broker_began_ends_with_ours(store: Store, root: Path) -> None:
    offsets = apaches_offsets(store, root)
    newest = halves_of(store)[-1]
    now = Now(newest.store_timestamp + 1_000, 0)
    ledger = Ledger(
        store,
        MessageWriter(store, SafeAnswers(store, lambda: 5_000), 18),
        offsets,
        HalfTiming(BrokerConfig, CONFIG.retention_ms),
        Host("127.0.0.1", 50_961),
        now,
    )
    before = len(all_of(store, b"FixTrans"))
    told: list[bool] = []
    for half, ends in zip(list(ledger.halves), (True, False, True), strict=True):
        message = ledger.read(half)
        assert message is not None
        if ends:
            ledger.commit(half, message, now, told.append)
        else:
            ledger.roll_back(half, told.append)
    ledger.stop(now)
    store.dispatch()
    assert told == [True] * 3
    keys = [message.properties["KEYS"] for message in all_of(store, b"FixTrans")]
    assert sorted(keys)[-2:] == ["UNKNOW-0", "UNKNOW-2"]
    assert len(keys) == before + 2
    assert find_open(store, offsets).halves == []


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_after_a_recorded_conversation_what_was_committed_is_seen_and_nothing_else(
    name: str,
) -> None:
    """The producer committed one, rolled one back, and said of two more only when it was asked."""
    replay = Replay(conversations()[name])
    (topic,) = (topic for topic in replay.past.topics if topic.startswith("Trans"))
    seen = [
        message.body
        for queue in replay.kit.store.queues()
        if queue.topic == topic.encode()
        for message in read_all(replay.kit.store, queue.topic, queue.queue_id)
        if message.body != b"unknown"
    ]
    assert sorted(seen) == [b"commit", b"unknown, then commit"]
    settled = sorted(int(text) for body in over(replay.kit) for text in body.split(b",") if text)
    assert settled == list(range(settled[0], settled[0] + 6))
