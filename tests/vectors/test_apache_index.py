"""The key index and batch consume queue of Apache 5.5.0, made again from its commit log."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from aerobee.protocol.message.record import FILLER, WHOLE, Record
from aerobee.sim.disk import SimDisk
from aerobee.storage.index.batch_consume_queue import UNIT_BYTES, BatchConsumeQueue
from aerobee.storage.index.key_index import KeyIndex, KeyIndexConfig, index_names
from tests.fixture_store import (
    BATCH_CONSUME_QUEUE_FILE_BYTES,
    BATCH_QUEUE_TOPIC,
    INDEX_SLOTS,
    INDEX_UNITS,
    STORES,
    expected_messages,
    files,
)

CONFIG = KeyIndexConfig(INDEX_SLOTS, INDEX_UNITS)
ROLLED_BACK = 12
FOREVER = 1 << 60
KILLED_END = 3_137_177  # Apache was killed before it had indexed the last record of this log


class Logged(NamedTuple):
    """What the indexes want to know of a record."""

    topic: bytes
    log_offset: int
    size: int
    store_timestamp: int
    queue_id: int
    transaction: int
    properties: dict[bytes, bytes]


def logged_records(name: str) -> Iterator[Logged]:
    record = Record()
    for file in contents_below(name, "commitlog/"):
        view = memoryview(file)
        position = 0
        while (found := record.read_from(view, position)) == WHOLE:
            start = record.properties_start
            text = bytes(view[start : start + record.properties_size])
            yield Logged(
                bytes(view[record.topic_start : record.topic_start + record.topic_size]),
                record.log_offset,
                record.size,
                record.store_timestamp,
                record.queue_id,
                record.sys_flag & 12,
                dict(properties_in(text)),
            )
            position += record.size
        if found != FILLER:
            return


def properties_in(text: bytes) -> Iterator[tuple[bytes, bytes]]:
    for item in text.split(b"\2"):
        name, separator, value = item.partition(b"\1")
        if separator:
            yield name, value


def contents_below(name: str, folder: str) -> list[bytes]:
    found = sorted(file for file in files(name) if file.path.startswith(folder))
    return [file.content() for file in found]


def put_log(index: KeyIndex, name: str, end: int) -> None:
    """Put the keys of every record of a store's log that begins before `end`."""
    for record in logged_records(name):
        if record.log_offset < end and record.transaction != ROLLED_BACK:
            index.put_keys(
                record.topic,
                record.properties.get(b"UNIQ_KEY", b""),
                record.properties.get(b"KEYS", b""),
                record.properties.get(b"TAGS", b""),
                record.log_offset,
                record.store_timestamp,
            )


@pytest.mark.parametrize(
    ("name", "end", "file_count"), [("clean", FOREVER, 8), ("killed", KILLED_END, 12)]
)
def test_the_log_of_apache_gives_its_index_byte_for_byte(
    name: str, end: int, file_count: int
) -> None:
    disk = SimDisk()
    index = KeyIndex.open(disk, "index", CONFIG)
    put_log(index, name, end)
    theirs = contents_below(name, "index/")
    assert len(index.paths) == len(theirs) == file_count
    for path, content in zip(index.paths, theirs, strict=True):
        assert disk.read(path) == content, path


def unpacked_index(name: str) -> SimDisk:
    disk = SimDisk()
    for file in files(name):
        if file.path.startswith("index/"):
            disk.replace(file.path, file.content())
    return disk


@pytest.mark.parametrize("name", STORES)
def test_every_message_is_found_by_its_ids_and_keys_in_the_files_of_apache(name: str) -> None:
    index = KeyIndex.open(unpacked_index(name), "index", CONFIG)
    end = index.end_offset
    assert end > 2_000_000
    for topic, _, message in expected_messages(name):
        offset = message["commitLogOffset"]
        if offset > end or topic == BATCH_QUEUE_TOPIC:
            continue
        unique = message["properties"].get("UNIQ_KEY", "")
        keys = [key for key in (message["keys"] or "").split(" ") if key]
        for key in [unique, *keys] if unique else keys:
            stored = message["storeTimestamp"]
            found = index.find(topic.encode(), key.encode(), stored, stored, 64)
            assert offset in found, (topic, key)


def test_an_index_of_apache_goes_on_as_if_it_were_ours() -> None:
    """What Apache left is opened, and the log that it wrote later is put on top."""
    disk = unpacked_index("clean")
    index = KeyIndex.open(disk, "index", CONFIG)
    theirs = index_names(disk, "index")
    put_log(index, "killed", KILLED_END)
    assert [disk.read(path) for path in index.paths] == contents_below("killed", "index/")
    assert index_names(disk, "index")[: len(theirs)] == theirs


def test_the_log_of_apache_gives_its_batch_consume_queue_byte_for_byte() -> None:
    disk = SimDisk()
    queue = BatchConsumeQueue(
        disk, "bcq", BATCH_QUEUE_TOPIC.encode(), 0, BATCH_CONSUME_QUEUE_FILE_BYTES // UNIT_BYTES
    )
    for record in logged_records("clean"):
        if record.topic == queue.topic:
            assert queue.append(
                record.log_offset,
                record.size,
                0,
                record.store_timestamp,
                int(record.properties[b"INNER_BASE"]),
                int(record.properties[b"INNER_NUM"]),
            )
    assert [disk.read(f"bcq/{name}") for name in disk.list_directory("bcq")] == contents_below(
        "clean", "batchconsumequeue/"
    )
    assert (queue.min_offset, queue.max_offset) == (0, 20)
