"""Delayed, retried and dead messages as Apache RocketMQ 5.5.0 left them, made again by ours.

The stores hold both ends: what waited in the schedule topic and what Apache's broker delivered of
it; what a consumer got and what Apache stored when it was handed back.
"""

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from aerobee.model.group import GroupConfig
from aerobee.model.message import StoredMessage
from aerobee.ports.clock import Now
from aerobee.protocol.message.stored_message import encode_record
from aerobee.service.broker.delay.delay_levels import DelayLevels
from aerobee.service.broker.log_access.message_writer import MessageWriter
from aerobee.service.broker.log_access.redelivery import Redelivery
from aerobee.service.broker.log_access.retry_destination import copy_to_return, place_to_return
from aerobee.service.broker.log_access.safe_answers import SafeAnswers
from aerobee.service.broker.state.delay_offsets import DelayOffsets
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.metadata.config_file import ConfigFile
from aerobee.storage.store import Store
from aerobee.system.disk import MappedDisk
from tests.delay_kit import CONFIG as SMALL_CONFIG
from tests.fixture_store import STORES, files, unpack
from tests.store_kit import StoreKit, read_all
from tests.vectors.test_apache_stores import CONFIG, opened

SCHEDULE = b"SCHEDULE_TOPIC_XXXX"
PATH = "config/delayOffset.json"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = opened(unpack("clean", tmp_path))
    yield made
    made.close()


def all_of(store: Store, topic: bytes) -> list[StoredMessage]:
    return [
        message
        for queue in store.queues()
        if queue.topic == topic
        for message in read_all(store, topic, queue.queue_id)
    ]


def meaning(message: StoredMessage) -> dict[str, object]:
    """Without what a record has of its place in the log."""
    places = ("queue_offset", "log_offset", "store_timestamp", "store_host", "store_size")
    return {
        field.name: getattr(message, field.name)
        for field in fields(message)
        if field.name not in places
    }


def delivered(waiting: StoredMessage) -> StoredMessage:
    kit = StoreKit(config=SMALL_CONFIG)
    redelivery = Redelivery(kit.store.appender)
    redelivery.read(memoryview(encode_record(waiting)))
    redelivery.put(b"", 1_900_000_000_000)
    kit.store.dispatch()
    (queue,) = kit.store.queues()
    (found,) = read_all(kit.store, queue.topic, queue.queue_id)
    return found


def test_what_we_deliver_is_what_apaches_broker_delivered(store: Store) -> None:
    copies = {
        (copy.unique_id, copy.reconsume_times): copy
        for topic in (b"FixDelay", b"%RETRY%fix-retry")
        for copy in all_of(store, topic)
        if "DELAY" in copy.properties
    }
    compared = 0
    for waiting in all_of(store, SCHEDULE):
        copy = copies.get((waiting.unique_id, waiting.reconsume_times))
        if copy is None:
            assert waiting.queue_id == 17, "only what waits for a day was not delivered"
            continue
        assert meaning(delivered(waiting)) == meaning(copy)
        compared += 1
    assert compared == len(copies) == 6


@pytest.mark.parametrize("name", STORES)
def test_apaches_offsets_are_taken_over_and_nothing_is_delivered_again(
    name: str, tmp_path: Path
) -> None:
    store = opened(unpack(name, tmp_path))
    worker = SimDiskWorker(inline=True)
    offsets = DelayOffsets(ConfigFile(MappedDisk(), str(tmp_path / name / PATH)), worker)
    assert offsets.saved == {1: 1, 2: 1, 3: 4, 18: 0}
    newest = max(one.store_timestamp for one in all_of(store, SCHEDULE))
    start = Now(newest + 1_000, 0)
    intake = MessageWriter(store, SafeAnswers(store, lambda: 5_000), len(CONFIG.delay_levels_ms))
    levels = DelayLevels(store, intake, offsets, worker, CONFIG.delay_levels_ms, start)
    assert levels.progress() == {1: (1, 1), 2: (1, 1), 3: (4, 4), 18: (0, 1)}
    levels.on_tick(start)
    assert levels.delivered == 0
    day = CONFIG.delay_levels_ms[17]
    levels.on_tick(Now(start.wall_ms + day, day))
    assert levels.delivered == 1
    store.close()


def test_our_file_is_apaches_file_byte_for_byte() -> None:
    (content,) = (packed.content() for packed in files("clean") if packed.path == PATH)
    disk, worker = SimDisk(), SimDiskWorker()
    disk.replace(PATH, content.replace(b"3:4", b"3:3").replace(b'"counter":6', b'"counter":5'))
    offsets = DelayOffsets(ConfigFile(disk, PATH), worker)
    offsets.save({3: 4}, 1_794_734_482_075)
    worker.run_all()
    assert disk.read(PATH) == content


def stored(message: StoredMessage) -> StoredMessage:
    """What becomes of a message that is put into a broker of 18 levels."""
    kit = StoreKit(config=SMALL_CONFIG)
    MessageWriter(kit.store, SafeAnswers(kit.store, lambda: 5_000), 18).put(
        message, kit.clock.now()
    )
    kit.store.dispatch()
    (queue,) = kit.store.queues()
    (found,) = read_all(kit.store, queue.topic, queue.queue_id)
    return found


def test_what_is_handed_back_is_stored_as_apaches_broker_stored_it(store: Store) -> None:
    """The consumer wanted each message once more, and handed it back twice."""
    group = GroupConfig("fix-retry")
    stored_again = {
        (copy.unique_id, copy.reconsume_times): copy
        for topic in (SCHEDULE, b"%DLQ%fix-retry")
        for copy in all_of(store, topic)
        if copy.reconsume_times
    }
    handed_back = all_of(store, b"FixRetry") + all_of(store, b"%RETRY%fix-retry")
    assert len(handed_back) == len(stored_again) == 8
    for message in handed_back:
        place = place_to_return(group, message.reconsume_times, 1, 0)
        ours = stored(copy_to_return(message, place, 0))
        assert meaning(ours) == meaning(
            stored_again[message.unique_id, message.reconsume_times + 1]
        )
