"""The same question to both sides: what messages does this store hold?

Apache's broker answers through the Java client, our own store by reading. Both answers have one
shape, that of java/StoreDump.java, so that `==` compares them.

The whole-record checksum is left out: Apache shows it as a property, we keep it to ourselves.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from aerobee.model.message import StoredMessage
from aerobee.protocol.message.stored_message import client_messages
from aerobee.storage.config import StorageConfig
from aerobee.storage.store import Store
from tests.interop.apache import Broker
from tests.interop.seed_store import CONFIG, Message, Queue, opened

CRC_PROPERTY = "__CRC32#"


def apache_reads(broker: Broker, queues: Iterable[Queue]) -> dict[Queue, list[Message]]:
    """What the Java client pulls from these queues, from the first offset to the last."""
    names = list(queues)
    answers = broker.ask(
        [{"ask": "dump", "topic": topic, "queueId": queue_id} for topic, queue_id in names]
    )
    found = {}
    for name, answer in zip(names, answers, strict=True):
        assert answer["maxOffset"] - answer["minOffset"] == answer["count"]
        for message in answer["messages"]:
            message["properties"].pop(CRC_PROPERTY, None)
        found[name] = answer["messages"]
    return found


def we_read(root: Path, config: StorageConfig = CONFIG) -> dict[Queue, list[Message]]:
    """Everything in a store that we open, by queue, and close again."""
    with opened(root, config) as store:
        return {
            (queue.topic.decode(), queue.queue_id): [
                _described(message) for message in _messages(store, queue.topic, queue.queue_id)
            ]
            for queue in store.queues()
            if queue.max_offset > queue.min_offset
        }


def _messages(store: Store, topic: bytes, queue_id: int) -> list[StoredMessage]:
    queue = store.queue(topic, queue_id)
    assert queue is not None
    messages: list[StoredMessage] = []
    offset = queue.min_offset
    while offset < queue.max_offset:
        read = store.read(topic, queue_id, offset, 1000, 1 << 30)
        store.verify(read)
        messages += client_messages(b"".join(read.slices))
        assert read.next_offset > offset
        offset = read.next_offset
    return messages


def _described(message: StoredMessage) -> Message:
    described: dict[str, Any] = {
        "queueOffset": message.queue_offset,
        "commitLogOffset": message.log_offset,
        "storeSize": message.store_size,
        "storeTimestamp": message.store_timestamp,
        "bornTimestamp": message.born_timestamp,
        "msgId": message.message_id,
        "offsetMsgId": message.offset_message_id,
        "sysFlag": message.sys_flag,
        "flag": message.flag,
        "reconsumeTimes": message.reconsume_times,
        "preparedTransactionOffset": message.prepared_offset,
        "tags": message.properties.get("TAGS"),
        "keys": message.properties.get("KEYS"),
        "properties": message.properties,
        "bodyCRC": message.body_crc,
        "bodySize": len(message.body),
        "bodySha256": hashlib.sha256(message.body).hexdigest(),
    }
    return described


def files_below(root: Path, *folders: str) -> dict[str, bytes]:
    """Every file in these folders of a store, by its path."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for folder in folders
        for path in sorted((root / folder).rglob("*"))
        if path.is_file()
    }


def index_files(root: Path) -> list[bytes]:
    """The key index, oldest file first. Names are times of creation: not to be compared."""
    return [path.read_bytes() for path in sorted((root / "index").iterdir())]
