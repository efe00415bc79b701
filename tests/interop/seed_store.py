"""A store that we write, of every kind of record, and what any reader must find in it.

What is expected is worked out from what was sent, in the shape of java/StoreDump.java's answers,
and not by reading the store back: a fault in writer and reader alike must not hide itself.

Run as a program, with a folder, a time to begin at and the time between checkpoints (in ms), it is
a writer to be killed: it seeds the store, says so, and sends a burst, one line for each message.
"""

import hashlib
import itertools
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from aerobee.model.properties import decode_properties
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.text.json_text import Key, Value
from aerobee.storage.config import MIB, StorageConfig
from aerobee.storage.metadata.config_file import ConfigFile
from aerobee.storage.store import Store
from aerobee.system.clock import SystemClock
from aerobee.system.disk import MappedDisk
from aerobee.system.disk_worker import ThreadDiskWorker

CONFIG = StorageConfig(
    log_file_bytes=MIB,
    queue_file_units=1000,
    index_slots=500,
    index_units=1000,
    disk_used_ratio_clean=1.0,
    disk_used_ratio_full=1.0,
)
# The same sizes in the words of Apache's configuration.
SETTINGS = {
    "mappedFileSizeCommitLog": MIB,
    "mappedFileSizeConsumeQueue": 20_000,
    "maxHashSlotNum": 500,
    "maxIndexNum": 1000,
}

# The name makes version 2 records: over 127 bytes. Only retry topics may be so long.
LONG_TOPIC = "%RETRY%" + "a-group-with-a-long-name-" * 5 + "_SeedPlain"
DELAY_TOPIC = "SCHEDULE_TOPIC_XXXX"
TOPICS = {
    "SeedPlain": 4,
    "SeedRoll": 1,
    "SeedBatch": 2,
    "SeedZip": 1,
    "SeedTransaction": 1,
    "SeedBurst": 2,
    "ApacheSingle": 2,
    "ApacheBatch": 1,
    LONG_TOPIC: 1,
}

_IP_V4_HOST = bytes((192, 0, 2, 7)) + (40_000).to_bytes(4, "big")
_IP_V6_HOST = bytes.fromhex("20010db8000000000000000000000007") + (40_000).to_bytes(4, "big")
_ZLIB = 0x301
_BORN_HOST_V6 = 0x10
_PREPARED, _COMMITTED, _ROLLED_BACK = 0x4, 0x8, 0xC

Queue = tuple[str, int]
Message = dict[str, Any]


@dataclass(frozen=True)
class Sent:
    """One message on its way in. `text` is its properties text as the client sends it."""

    topic: str
    queue_id: int
    body: bytes
    text: bytes = b""
    flag: int = 0
    sys_flag: int = 0
    plain_body: bytes | None = None
    """The body before it was compressed, if it was."""

    @classmethod
    def with_properties(
        cls, topic: str, queue_id: int, body: bytes, properties: dict[str, str], **more: Any
    ) -> Self:
        text = "".join(f"{name}\x01{value}\x02" for name, value in properties.items())
        return cls(topic, queue_id, body, text.encode(), **more)

    @property
    def is_queued(self) -> bool:
        return not self.sys_flag & _PREPARED

    def stored_size(self) -> int:
        text = len(self.text)
        separator = 1 if text and not self.text.endswith(b"\x02") else 0
        topic_bytes = len(self.topic.encode())
        topic = topic_bytes + (2 if topic_bytes > 127 else 1)
        born_host = 20 if self.sys_flag & _BORN_HOST_V6 else 8
        return 82 + born_host + len(self.body) + topic + text + separator + 20


@dataclass
class Seeded:
    """What is in a store, queue by queue, and the store time of every message."""

    queues: dict[Queue, list[Message]] = field(default_factory=dict)

    def add(self, sent: Sent, log_offset: int, store_timestamp: int) -> None:
        if not sent.is_queued:
            return
        messages = self.queues.setdefault((sent.topic, sent.queue_id), [])
        messages.append(_expected(sent, len(messages), log_offset, store_timestamp))

    @property
    def messages(self) -> list[tuple[Queue, Message]]:
        return [(queue, message) for queue, found in self.queues.items() for message in found]


def _expected(sent: Sent, queue_offset: int, log_offset: int, store_timestamp: int) -> Message:
    properties = decode_properties(sent.text)
    body = sent.body if sent.plain_body is None else sent.plain_body
    offset_id = (CONFIG.store_host + log_offset.to_bytes(8, "big")).hex().upper()
    return {
        "queueOffset": queue_offset,
        "commitLogOffset": log_offset,
        "storeSize": sent.stored_size(),
        "storeTimestamp": store_timestamp,
        "bornTimestamp": store_timestamp - 5,
        "msgId": properties.get("UNIQ_KEY", offset_id),
        "offsetMsgId": offset_id,
        # The client takes the compressed bit off once it has expanded the body.
        "sysFlag": sent.sys_flag & ~1,
        "flag": sent.flag,
        "reconsumeTimes": 0,
        "preparedTransactionOffset": 0,
        "tags": properties.get("TAGS"),
        "keys": properties.get("KEYS"),
        "properties": properties,
        "bodyCRC": zlib.crc32(sent.body) & 0x7FFFFFFF,
        "bodySize": len(body),
        "bodySha256": hashlib.sha256(body).hexdigest(),
    }


class SeedWriter:
    """Appends to an open store and notes what must be found there."""

    def __init__(self, store: Store, start_ms: int) -> None:
        self.seeded = Seeded()
        self._store = store
        self._clock = SystemClock()
        self._wall_ms = start_ms

    def send(self, *batch: Sent) -> None:
        """One message, or several of one queue as a batch. Store times are all different."""
        self._wall_ms += 2
        draft = _draft(batch, self._wall_ms - 5)
        log_offset = self._store.append(draft, self._wall_ms)
        for sent in batch:
            self.seeded.add(sent, log_offset, self._wall_ms)
            log_offset += sent.stored_size()
        assert log_offset == self._store.end_offset
        self._store.step(self._clock.now())


def _draft(batch: tuple[Sent, ...], born_timestamp: int) -> MessageDraft:
    first = batch[0]
    draft = MessageDraft()
    draft.topic = first.topic.encode()
    draft.queue_id = first.queue_id
    draft.sys_flag = first.sys_flag
    draft.born_timestamp = born_timestamp
    draft.born_host = _IP_V6_HOST if first.sys_flag & _BORN_HOST_V6 else _IP_V4_HOST
    if len(batch) == 1:
        draft.flag = first.flag
        draft.set_properties(first.text)
        draft.set_body(memoryview(first.body))
    else:
        draft.is_batch = True
        draft.set_body(memoryview(b"".join(map(_batch_entry, batch))))
    return draft


def _batch_entry(sent: Sent) -> bytes:
    """As java/MessageDecoder.encodeMessage writes it: size, magic, CRC, flag, body, properties."""
    parts = [bytes(8), sent.flag.to_bytes(4, "big"), len(sent.body).to_bytes(4, "big"), sent.body]
    rest = b"".join([*parts, len(sent.text).to_bytes(2, "big"), sent.text])
    return (len(rest) + 4).to_bytes(4, "big") + rest


def seed_messages() -> Iterable[tuple[Sent, ...]]:
    """Everything that a record can be, in some 3,000 messages over several log files."""
    yield from _plain_messages()
    yield from _odd_messages()
    for number in range(10):
        batch = [
            _numbered("SeedBatch", number % 2, f"batch-{number}-{index}") for index in range(8)
        ]
        yield tuple(batch)
    # What a 4.x client sends: properties without their last 0x02, and none at all.
    yield (
        Sent("SeedBatch", 0, b"old client", b"KEYS\x01old-1\x02TAGS\x01old"),
        Sent("SeedBatch", 0, b"no properties"),
        Sent("SeedBatch", 0, b"old client", b"KEYS\x01old-2"),
    )
    for number in range(2300):
        yield (_numbered("SeedRoll", 0, f"roll-{number}", b"." * (number % 1100)),)


def _plain_messages() -> Iterable[tuple[Sent, ...]]:
    for number in range(400):
        yield (_numbered("SeedPlain", number % 4, f"plain-{number}", flag=number % 5),)


def _odd_messages() -> Iterable[tuple[Sent, ...]]:
    yield (Sent("SeedPlain", 0, b"x"),)
    yield (Sent("SeedPlain", 1, b"no last separator", b"KEYS\x01k\x02a\x01b"),)
    yield (
        Sent.with_properties(
            "SeedPlain", 2, "тело 本文 😀".encode(), {"TAGS": "метка", "KEYS": "ключ 鍵😀"}
        ),
    )
    yield (_numbered("SeedPlain", 3, "ipv6", sys_flag=_BORN_HOST_V6),)
    yield (_numbered(LONG_TOPIC, 0, "long"),)
    for flag in (_PREPARED, _ROLLED_BACK, _COMMITTED, 0):
        yield (_numbered("SeedTransaction", 0, f"transaction-{flag}", sys_flag=flag),)
    plain = b"a body that compresses well; " * 300
    yield (
        Sent(
            "SeedZip",
            0,
            zlib.compress(plain),
            b"UNIQ_KEY\x01" + b"5EED" * 8 + b"\x02",
            sys_flag=_ZLIB,
            plain_body=plain,
        ),
    )
    delay = {"DELAY": "18", "REAL_TOPIC": "SeedPlain", "REAL_QID": "0", "UNIQ_KEY": "DE1A" * 8}
    yield (Sent.with_properties(DELAY_TOPIC, 17, b"in two hours", delay),)


def _numbered(topic: str, queue_id: int, name: str, more: bytes = b"", **rest: Any) -> Sent:
    """A message as an application sends it: unique id, keys of its own and a shared one, a tag."""
    unique_id = hashlib.md5(name.encode()).hexdigest().upper()
    properties = {
        "KEYS": f"{name} shared",
        "UNIQ_KEY": unique_id,
        "TAGS": f"tag-{len(name) % 3}",
        "colour": "blue",
    }
    return Sent.with_properties(topic, queue_id, name.encode() + more, properties, **rest)


def burst_body(number: int) -> bytes:
    return b"burst %d" % number


@contextmanager
def opened(root: Path, config: StorageConfig = CONFIG) -> Iterator[Store]:
    """Our own store on a real disk, stopped cleanly at the end."""
    worker = ThreadDiskWorker()
    try:
        store = Store.open(MappedDisk(), str(root), config, worker)
        try:
            yield store
        finally:
            store.close()
    finally:
        worker.close()


def seed(root: Path, start_ms: int) -> Seeded:
    """Write the store, stop it cleanly, and say what is in it."""
    with opened(root) as store:
        writer = SeedWriter(store, start_ms)
        for batch in seed_messages():
            writer.send(*batch)
    write_topics(root)
    return writer.seeded


def write_topics(root: Path) -> None:
    """`config/topics.json`, without which Apache refuses to serve a topic."""
    table: dict[Key, Value] = {
        topic: {
            "attributes": {},
            "order": False,
            "perm": 6,
            "readQueueNums": queues,
            "topicFilterType": "SINGLE_TAG",
            "topicName": topic,
            "topicSysFlag": 0,
            "writeQueueNums": queues,
        }
        for topic, queues in TOPICS.items()
    }
    version: dict[Key, Value] = {"counter": 1, "stateVersion": 0, "timestamp": 0}
    file = ConfigFile(MappedDisk(), f"{root}/config/topics.json")
    file.store({"dataVersion": version, "topicConfigTable": table})


def write_until_killed(root: Path, start_ms: int, checkpoint_interval_ms: int) -> None:
    """Everything, and then a burst that ends when the process does."""
    config = replace(
        CONFIG,
        checkpoint_interval_ms=checkpoint_interval_ms,
        # A checkpoint counts once the log that it points into is on the disk.
        flush_interval_ms=min(checkpoint_interval_ms, CONFIG.flush_interval_ms),
        mark_interval_ms=1,
    )
    write_topics(root)
    with opened(root, config) as store:
        writer = SeedWriter(store, start_ms)
        for batch in seed_messages():
            writer.send(*batch)
        print("seeded", flush=True)
        for number in itertools.count():
            writer.send(Sent("SeedBurst", number % 2, burst_body(number)))
            print(number, flush=True)


if __name__ == "__main__":
    write_until_killed(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
