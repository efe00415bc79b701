"""Every record that Apache 5.5.0 wrote, against what its own client saw of it."""

import hashlib
import struct
from collections.abc import Iterator
from typing import Any

import pytest

from aerobee.model.message import StoredMessage
from aerobee.protocol.message.stored_message import client_messages, decode_record, encode_record
from tests.fixture_store import (
    BATCH_QUEUE_TOPIC,
    STORES,
    acked,
    expected,
    expected_messages,
    files,
)

MAGIC_FILLER = 0xCBD43194
MAGIC_V2 = 0xDAA320AB


def records(name: str) -> Iterator[tuple[int, bytes]]:
    """Log offset and bytes of each record: a walk that knows sizes and fillers, no more."""
    logs = sorted(
        (file for file in files(name) if file.path.startswith("commitlog/")),
        key=lambda file: file.path,
    )
    for file in logs:
        start = int(file.path.rpartition("/")[2])
        content = file.content()
        position = 0
        while True:
            size, magic = struct.unpack_from(">iI", content, position)
            if magic == MAGIC_FILLER:
                assert position + size == len(content)
                break
            if size == 0:
                assert not any(content[position:]), "something lies behind the end of the log"
                assert file is logs[-1]
                return
            yield start + position, content[position : position + size]
            position += size


def seen_by_a_client(message: StoredMessage) -> dict[str, Any]:
    """A message in the words of the expectation."""
    is_in_batch = message.topic == BATCH_QUEUE_TOPIC
    return {
        "queueOffset": message.queue_offset,
        "commitLogOffset": message.log_offset,
        "storeSize": message.store_size,
        "storeTimestamp": message.store_timestamp,
        "bornTimestamp": message.born_timestamp,
        "msgId": message.message_id,
        "offsetMsgId": None if is_in_batch else message.offset_message_id,
        "sysFlag": message.sys_flag,
        "flag": message.flag,
        "reconsumeTimes": message.reconsume_times,
        "preparedTransactionOffset": message.prepared_offset,
        "tags": message.tag or None,
        "keys": message.properties.get("KEYS"),
        "properties": message.properties,
        "bodyCRC": message.body_crc,
        "bodySize": len(message.body),
        "bodySha256": hashlib.sha256(message.body).hexdigest(),
    }


@pytest.mark.parametrize("name", STORES)
def test_every_message_is_found_in_the_log_as_apaches_own_client_saw_it(name: str) -> None:
    found: dict[tuple[str, int, int], dict[str, Any]] = {
        (message.topic, message.queue_id, message.queue_offset): seen_by_a_client(message)
        for _, record in records(name)
        for message in client_messages(record)
        # Its topic was deleted: no client can see it any more.
        if message.topic != "FixDeleted"
    }
    wanted = {
        (topic, queue_id, message["queueOffset"]): message
        for topic, queue_id, message in expected_messages(name)
    }
    assert found.keys() == wanted.keys()
    for place, message in wanted.items():
        assert found[place] == message, place


@pytest.mark.parametrize("name", STORES)
def test_every_record_is_written_back_byte_for_byte(name: str) -> None:
    count = 0
    for log_offset, record in records(name):
        message = decode_record(record)
        assert message.log_offset == log_offset
        assert encode_record(message) == record, log_offset
        count += 1
    assert count == {"clean": 2829, "killed": 4368}[name]


@pytest.mark.parametrize("name", STORES)
def test_the_log_ends_where_apache_says_it_does(name: str) -> None:
    log_offset, record = list(records(name))[-1]
    assert log_offset + len(record) == expected(name)["commitLog"]["commitLogMaxOffset"]


@pytest.mark.parametrize("name", STORES)
def test_one_record_is_of_version_2_and_five_are_inner_batches(name: str) -> None:
    all_records = [record for _, record in records(name)]
    versions_2 = [record for record in all_records if record[4:8] == MAGIC_V2.to_bytes(4, "big")]
    assert [len(decode_record(record).topic) for record in versions_2] == [137]
    batches = [record for record in all_records if decode_record(record).sys_flag & 0xC0 == 0xC0]
    assert [len(client_messages(record)) for record in batches] == [4] * 5


def test_every_acknowledged_message_of_the_burst_is_in_the_killed_log() -> None:
    found = {
        (message.unique_id, message.offset_message_id, message.queue_id, message.queue_offset)
        for _, record in records("killed")
        if (message := decode_record(record)).topic == "FixBurst"
    }
    assert len(acked()) == 1538
    for known in acked():
        assert known[1:] in found
