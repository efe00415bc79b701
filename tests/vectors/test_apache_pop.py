"""Popped messages as Apache RocketMQ 5.5.0 left them: its checkpoints and acknowledgements read by
ours, and what it brought back brought back again.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from aerobee.model.message import StoredMessage, unpack_host
from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.revive_records import (
    decode_ack,
    decode_checkpoint,
    encode_ack,
    encode_checkpoint,
)
from aerobee.service.broker.log_access.message_writer import MessageWriter
from aerobee.service.broker.log_access.safe_answers import SafeAnswers
from aerobee.service.broker.pop.revive.in_flight import InFlight
from aerobee.service.broker.pop.revive.retry_copy import Origin
from aerobee.service.broker.pop.revive.retry_writer import RetryTables, RetryWriter
from aerobee.service.broker.pop.revive.revive_queue import ReviveQueue
from aerobee.service.broker.state.consumer_offsets import ConsumerOffsets
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.store import Store
from tests.fixture_store import unpack
from tests.store_kit import read_all
from tests.tables_kit import TablesKit
from tests.vectors.test_apache_delays import meaning
from tests.vectors.test_apache_stores import opened

REVIVE = b"rmq_sys_REVIVE_LOG_DefaultCluster"
LONG_AFTER = 1_900_000_000_000


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = opened(unpack("clean", tmp_path))
    yield made
    made.close()


def records(store: Store) -> list[StoredMessage]:
    return [one for queue_id in range(8) for one in read_all(store, REVIVE, queue_id)]


def test_records_of_apache_are_written_again_byte_for_byte(store: Store) -> None:
    found = records(store)
    assert {one.tag for one in found} == {"ck", "ack"}
    for one in found:
        if one.tag == "ck":
            assert encode_checkpoint(decode_checkpoint(one.body)) == one.body
        else:
            assert encode_ack(decode_ack(one.body)) == one.body


def test_what_apache_brought_back_is_brought_back_and_nothing_else(store: Store) -> None:
    """From the beginning: as if Apache had never looked at its revive queues."""
    (apaches,) = [
        message
        for queue in store.queues()
        if queue.topic.startswith(b"%RETRY%group-long") and b"_FixPopLong" in queue.topic
        for message in read_all(store, queue.topic, 0)
    ]
    group = apaches.properties["ORIGIN_GROUP"]
    tables, offsets = TablesKit(), ConsumerOffsets()
    now = tables.clock.now()
    topics = [TopicConfig(name, 2, 2) for name in ("FixPop", "FixPopLong", apaches.topic)]
    tables.topics.put(topics, now, tables.told.append)
    for name in ("fix-pop", group):
        tables.groups.ensure(name, now)
    tables.finish()
    intake = MessageWriter(store, SafeAnswers(store, lambda: 5_000), 18)
    retrying = RetryWriter(
        store,
        SimDiskWorker(inline=True),
        intake,
        RetryTables(tables.topics, tables.groups, offsets, lambda: False),
        Origin(unpack_host(store.config.store_host), False),
    )
    late = now._replace(wall_ms=LONG_AFTER)
    for queue_id in range(8):
        queue = ReviveQueue(store, offsets, REVIVE, queue_id, InFlight(), retrying)
        queue.step(late, LONG_AFTER, 100)
    store.dispatch()
    _, ours = read_all(store, apaches.topic.encode(), 0)
    without = ("born_host",)
    assert {name: value for name, value in meaning(ours).items() if name not in without} == {
        name: value for name, value in meaning(apaches).items() if name not in without
    }
    assert ours.born_host == unpack_host(store.config.store_host)
    assert retrying.revived == 1
