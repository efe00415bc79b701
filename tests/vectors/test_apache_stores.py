"""Whole stores that Apache RocketMQ 5.5.0 wrote, opened by ours on a real disk.

Every message that Apache's own client saw is found, by queue, by key and by time; a store that was
stopped cleanly is left byte for byte as it was; what is derived comes back with Apache's own bytes.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aerobee.model.message import StoredMessage
from aerobee.protocol.message.stored_message import client_messages, decode_record
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.config import HOUR_MS, MINUTE_MS, StorageConfig
from aerobee.storage.index.batch_consume_queue import UNIT_BYTES
from aerobee.storage.index.batch_consume_queues import BatchConsumeQueues
from aerobee.storage.read.queue_read import ReadStatus
from aerobee.storage.read.time_search import Boundary
from aerobee.storage.store import Store
from aerobee.system.disk import MappedDisk
from tests.fixture_store import (
    BATCH_CONSUME_QUEUE_FILE_BYTES,
    BATCH_QUEUE_TOPIC,
    COMMIT_LOG_FILE_BYTES,
    CONSUME_QUEUE_FILE_BYTES,
    DELAY_LEVELS,
    INDEX_SLOTS,
    INDEX_UNITS,
    STORES,
    acked,
    expected,
    expected_messages,
    unpack,
)
from tests.store_kit import draft
from tests.vectors.test_apache_records import seen_by_a_client

_UNIT_MS = {"s": 1000, "m": MINUTE_MS, "h": HOUR_MS}
CONFIG = StorageConfig(
    log_file_bytes=COMMIT_LOG_FILE_BYTES,
    queue_file_units=CONSUME_QUEUE_FILE_BYTES // 20,
    index_slots=INDEX_SLOTS,
    index_units=INDEX_UNITS,
    delay_levels_ms=tuple(int(text[:-1]) * _UNIT_MS[text[-1]] for text in DELAY_LEVELS.split()),
)
EVER = 1 << 60
DELETED_TOPIC = "FixDeleted"
# What no stop leaves as it was: whose store it is, and how far it is on the disk.
OURS = {"checkpoint", "durable_mark", "lock", "abort"}


def opened(root: Path) -> Store:
    return Store.open(MappedDisk(), str(root), CONFIG, SimDiskWorker(inline=True))


@pytest.fixture(params=STORES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def store(name: str, tmp_path: Path) -> Iterator[Store]:
    """A fixture, open."""
    made = opened(unpack(name, tmp_path))
    yield made
    made.close()


def images(root: Path) -> dict[str, bytes]:
    """Every file but the timer wheel, which nobody here looks at, by path."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and path.name != "timerwheel"
    }


def described_queues(name: str) -> Iterator[tuple[str, int, dict[str, Any]]]:
    for topic, described in expected(name)["topics"].items():
        for queue_id, queue in described["queues"].items():
            yield topic, int(queue_id), queue


def pulled(store: Store, topic: str, queue_id: int) -> list[StoredMessage]:
    """A queue from its first offset to its last, as a client hands it over."""
    messages: list[StoredMessage] = []
    read = store.read(topic.encode(), queue_id, 0, 32, EVER)
    while read.status == ReadStatus.FOUND:
        messages += client_messages(b"".join(read.slices))
        read = store.read(topic.encode(), queue_id, read.next_offset, 32, EVER)
    assert read.status == ReadStatus.OFFSET_OVERFLOW_ONE
    return messages


def test_the_sizes_are_those_that_apache_was_given() -> None:
    assert CONFIG.queue_file_units * UNIT_BYTES == BATCH_CONSUME_QUEUE_FILE_BYTES
    assert len(CONFIG.delay_levels_ms) == 18


def test_the_log_begins_and_ends_where_apache_says(name: str, store: Store) -> None:
    log = expected(name)["commitLog"]
    assert store.min_offset == log["commitLogMinOffset"]
    assert store.end_offset == log["commitLogMaxOffset"]


def test_every_queue_has_the_offsets_and_messages_that_apaches_client_saw(
    name: str, store: Store
) -> None:
    count = 0
    for topic, queue_id, described in described_queues(name):
        if topic == BATCH_QUEUE_TOPIC:
            continue
        queue = store.queue(topic.encode(), queue_id)
        assert queue is not None, topic
        bounds = (queue.min_offset, queue.max_offset, queue.next_offset)
        assert bounds == (described["minOffset"], described["maxOffset"], described["maxOffset"])
        found = [seen_by_a_client(message) for message in pulled(store, topic, queue_id)]
        assert found == described["messages"], (topic, queue_id)
        count += len(found)
    assert count == {"clean": 2823, "killed": 4362}[name]


def test_no_topic_has_messages_that_apaches_client_did_not_see(name: str, store: Store) -> None:
    known = {(topic.encode(), queue_id) for topic, queue_id, _ in described_queues(name)}
    found = {(queue.topic, queue.queue_id) for queue in store.queues() if queue.max_offset > 0}
    # A crash makes Apache, too, dispatch again from a file that still holds the deleted topic.
    came_back = {(DELETED_TOPIC.encode(), 0)} if name == "killed" else set()
    assert found == known - {(BATCH_QUEUE_TOPIC.encode(), 0)} | came_back


def test_every_message_of_the_batch_queue_is_found_and_split_as_the_client_does(
    name: str, store: Store, tmp_path: Path
) -> None:
    queues = BatchConsumeQueues(
        MappedDisk(), str(tmp_path / name / "batchconsumequeue"), CONFIG.queue_file_units
    )
    queues.load(is_torn=False)
    described = dict(expected(name)["topics"][BATCH_QUEUE_TOPIC]["queues"]["00"])
    queue = queues.find(BATCH_QUEUE_TOPIC.encode(), 0)
    assert queue is not None
    assert (queue.min_offset, queue.max_offset) == (described["minOffset"], described["maxOffset"])
    for wanted in described["messages"]:
        unit = queue.find(wanted["queueOffset"])
        assert unit is not None
        record = store.record_at(unit.log_offset)
        assert record is not None
        (seen,) = (
            message
            for message in client_messages(bytes(record))
            if message.queue_offset == wanted["queueOffset"]
        )
        assert seen_by_a_client(seen) == wanted


def test_every_acknowledged_message_of_the_burst_is_there(tmp_path: Path) -> None:
    store = opened(unpack("killed", tmp_path))
    by_place: dict[tuple[int, int], StoredMessage] = {
        (queue_id, message.queue_offset): message
        for queue_id in (0, 1)
        for message in pulled(store, "FixBurst", queue_id)
    }
    assert len(by_place) == 1539
    for known in acked():
        message = by_place[known.queue_id, known.queue_offset]
        assert message.unique_id == known.unique_id
        assert message.offset_message_id == known.offset_message_id
    store.close()


# Queries.


def messages_by_key(name: str) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """The messages of each topic and key, unique ids among them, newest first."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for topic, _, message in expected_messages(name):
        if topic != BATCH_QUEUE_TOPIC:
            unique = message["properties"].get("UNIQ_KEY")
            for key in {*(message["keys"] or "").split(), *([unique] if unique else [])}:
                found.setdefault((topic, key), []).append(message)
    for messages in found.values():
        messages.sort(key=lambda message: -int(message["commitLogOffset"]))
    return found


def has_key(message: StoredMessage, key: str) -> bool:
    return key in message.keys or message.unique_id == key


def test_every_key_and_unique_id_finds_its_messages_newest_first(name: str, store: Store) -> None:
    by_key = messages_by_key(name)
    assert len(by_key) > 2500
    for (topic, key), wanted in by_key.items():
        records = store.records_by_key(topic.encode(), key.encode(), 0, EVER, 64)
        found = [decode_record(bytes(record)) for record in records]
        offsets = [message.log_offset for message in found if has_key(message, key)]
        assert offsets == [message["commitLogOffset"] for message in wanted[:64]], (topic, key)


def test_a_key_is_found_in_its_time_and_not_in_another(name: str, store: Store) -> None:
    for (topic, key), wanted in list(messages_by_key(name).items())[::50]:
        stamps = sorted({message["storeTimestamp"] for message in wanted})
        for stamp in stamps:
            records = store.records_by_key(topic.encode(), key.encode(), stamp, stamp, 64)
            found = {decode_record(bytes(record)).log_offset for record in records}
            expected_offsets = {
                message["commitLogOffset"]
                for message in wanted
                if message["storeTimestamp"] == stamp
            }
            assert expected_offsets <= found, (topic, key)
        assert store.records_by_key(topic.encode(), key.encode(), 0, stamps[0] - 2000, 64) == []
        after = stamps[-1] + 2000
        assert store.records_by_key(topic.encode(), key.encode(), after, EVER, 64) == []


def test_a_time_is_found_in_every_queue_as_a_scan_finds_it(name: str, store: Store) -> None:
    for topic, queue_id, described in described_queues(name):
        queue = store.queue(topic.encode(), queue_id)
        if topic == BATCH_QUEUE_TOPIC or queue is None:
            continue
        stamps = [message["storeTimestamp"] for message in described["messages"]]
        chosen = {stamps[0], stamps[len(stamps) // 3], stamps[len(stamps) // 2], stamps[-1]}
        for time_ms in sorted({stamp + step for stamp in chosen for step in (-1, 0, 1)}):
            lower = sum(1 for stamp in stamps if stamp < time_ms)
            upper = max(sum(1 for stamp in stamps if stamp <= time_ms) - 1, 0)
            assert store.offset_by_time(queue, time_ms, Boundary.LOWER) == lower, (topic, time_ms)
            assert store.offset_by_time(queue, time_ms, Boundary.UPPER) == upper, (topic, time_ms)


# Files.


def test_a_clean_store_is_left_as_it_was(tmp_path: Path) -> None:
    root = unpack("clean", tmp_path)
    before = images(root)
    opened(root).close()
    after = images(root)
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    assert changed <= OURS
    opened(root).close()
    again = images(root)
    assert {path for path in again if again[path] != after.get(path)} <= OURS


def index_contents(image: dict[str, bytes]) -> list[bytes]:
    """In order of their names, which Apache takes from its clock and we from the records."""
    return [content for path, content in sorted(image.items()) if path.startswith("index/")]


@pytest.mark.parametrize("was_ours", [False, True])
def test_queues_and_index_that_were_removed_come_back_with_apaches_own_bytes(
    tmp_path: Path, was_ours: bool
) -> None:
    root = unpack("clean", tmp_path)
    before = images(root)
    if was_ours:
        opened(root).close()
    shutil.rmtree(root / "consumequeue")
    shutil.rmtree(root / "index")
    opened(root).close()
    after = images(root)
    assert index_contents(after) == index_contents(before)
    queues = {path for path in after if path.startswith("consumequeue/")}
    theirs = {path for path in before if path.startswith("consumequeue/")}
    # Only Apache knew that this topic had been deleted.
    assert queues - theirs == {f"consumequeue/{DELETED_TOPIC}/0/{0:020}"}
    for path in before:
        if not path.startswith("index/") and path not in OURS:
            assert after[path] == before[path], path


def test_a_killed_store_opens_the_same_way_twice(tmp_path: Path) -> None:
    root = unpack("killed", tmp_path)
    opened(root).close()
    first = images(root)
    opened(root).close()
    second = images(root)
    assert {path for path in first if first[path] != second.get(path)} <= OURS
    assert first.keys() == second.keys()


def test_appends_go_on_behind_the_last_message_of_apache(name: str, store: Store) -> None:
    queue = store.queue(b"FixPlain", 1)
    assert queue is not None
    next_offset = queue.next_offset
    offset = store.append(draft(b"FixPlain", 1, b"ours"), 0)
    assert offset == expected(name)["commitLog"]["commitLogMaxOffset"]
    store.dispatch()
    read = store.read(b"FixPlain", 1, next_offset - 1, 2, EVER)
    theirs, ours = client_messages(b"".join(read.slices))
    assert (theirs.queue_offset, ours.queue_offset) == (next_offset - 1, next_offset)
    assert (ours.log_offset, ours.body) == (offset, b"ours")
    assert ours.store_timestamp >= theirs.store_timestamp
