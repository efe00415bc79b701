"""Golden bytes (golden.json says where each comes from): what others compute, we compute."""

import json
import zlib
from pathlib import Path
from typing import Any

import pytest

from aerobee.model.message import Host, StoredMessage
from aerobee.model.message_id import OffsetMessageId, parse_offset_message_id
from aerobee.model.message_queue import LogOffset, QueueId, QueueOffset
from aerobee.protocol.message.message_batch import BatchMessage, decode_batch, encode_batch
from aerobee.protocol.message.recall_handle import (
    RecallHandle,
    decode_recall_handle,
    encode_recall_handle,
)
from aerobee.protocol.message.stored_message import decode_record, encode_record
from aerobee.protocol.primitives.ack_bits import decode_ack_bits, encode_ack_bits
from aerobee.protocol.primitives.java_hash import tag_code
from aerobee.protocol.remoting.signature import SIGNATURE, sign, signed_text

GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parent / "golden.json").read_text(encoding="utf-8")
)
SEEN: dict[str, Any] = GOLDEN["seen"]


def golden_message() -> StoredMessage:
    golden = GOLDEN["record"]
    return StoredMessage(
        topic=golden["topic"],
        queue_id=QueueId(golden["queue_id"]),
        queue_offset=QueueOffset(golden["queue_offset"]),
        log_offset=LogOffset(golden["log_offset"]),
        body=golden["body"].encode(),
        properties=golden["properties"],
        born_timestamp=golden["born_timestamp"],
        born_host=Host(*golden["born_host"]),
        store_timestamp=golden["store_timestamp"],
        store_host=Host(*golden["store_host"]),
        flag=golden["flag"],
        sys_flag=golden["sys_flag"],
        store_size=134,
        body_crc=GOLDEN["body_crc"]["crc"],
    )


@pytest.mark.parametrize("golden", GOLDEN["tag_hash"], ids=lambda golden: golden["tag"])
def test_a_tag_has_javas_hash(golden: dict[str, Any]) -> None:
    assert tag_code(golden["tag"].encode()) == golden["code"]


def test_the_checksum_of_a_body() -> None:
    golden = GOLDEN["body_crc"]
    assert zlib.crc32(golden["body"].encode()) & 0x7FFFFFFF == golden["crc"]
    assert decode_record(encode_record(golden_message())).body_crc == golden["crc"]


def test_an_offset_message_id() -> None:
    golden = GOLDEN["offset_message_id"]
    message_id = OffsetMessageId(golden["address"], golden["port"], LogOffset(golden["log_offset"]))
    assert str(message_id) == golden["text"]
    assert parse_offset_message_id(golden["text"]) == message_id


def test_a_record() -> None:
    record = bytes.fromhex("".join(GOLDEN["record"]["hex"]))
    assert len(record) == 134
    assert encode_record(golden_message()) == record
    assert decode_record(record) == golden_message()


def test_a_record_with_its_own_checksum() -> None:
    golden = GOLDEN["record_crc"]
    record = bytes.fromhex(golden["hex"])
    assert f"{golden['crc']:010d}"[::-1].encode() == record[-11:-1]
    assert encode_record(golden_message(), with_crc=True) == record
    assert decode_record(record).properties == golden_message().properties


def test_a_batch_entry() -> None:
    golden = GOLDEN["batch_entry"]
    entry = BatchMessage(golden["body"].encode(), golden["properties"], golden["flag"])
    assert encode_batch([entry]) == bytes.fromhex(golden["hex"])
    assert decode_batch(bytes.fromhex(golden["hex"])) == [entry]


def test_a_signature() -> None:
    golden = GOLDEN["signature"]
    text = signed_text(golden["fields"], golden["body"].encode())
    assert text == golden["signed"].encode()
    assert sign(text, golden["secret_key"]) == golden["signature"]


def test_acknowledged_messages_as_bits() -> None:
    golden = GOLDEN["ack_bits"]
    assert encode_ack_bits(golden["indexes"]) == golden["base64"]
    assert decode_ack_bits(golden["base64"]) == golden["indexes"]


def test_a_recall_handle() -> None:
    golden = dict(GOLDEN["recall_handle"])
    text = golden.pop("handle")
    assert encode_recall_handle(RecallHandle(**golden)) == text
    assert decode_recall_handle(text) == RecallHandle(**golden)


@pytest.mark.parametrize("seen", SEEN["signatures"])
def test_what_a_java_client_signed_is_signed_by_its_key(seen: dict[str, Any]) -> None:
    text = signed_text(seen["fields"], seen["body"].encode())
    assert sign(text, seen["secret_key"]) == seen["fields"][SIGNATURE]


@pytest.mark.parametrize("seen", SEEN["recall_handles"])
def test_a_handle_that_apache_gave_out(seen: dict[str, Any]) -> None:
    handle = decode_recall_handle(seen["handle"])
    assert (handle.topic, handle.broker_name) == ("Tim550", "broker-a")
    assert handle.unique_id == seen["unique_id"]
    assert encode_recall_handle(handle) == seen["handle"]


@pytest.mark.parametrize("seen", SEEN["batches"], ids=lambda seen: seen["client"])
def test_a_batch_that_a_java_client_sent(seen: dict[str, Any]) -> None:
    batch = bytes.fromhex(seen["hex"])
    messages = decode_batch(batch)
    assert [message.body.decode() for message in messages] == seen["bodies"]
    assert [message.properties["KEYS"] for message in messages] == seen["keys"]
    # 4.9.8 leaves out the last separator of the properties; we write it, as 5.x does.
    assert (encode_batch(messages) == batch) is (seen["client"] == "5.5.0")
