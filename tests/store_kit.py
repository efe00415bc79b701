"""A small store on a pretended disk, and the few things that tests do with one.

    kit = StoreKit()                        opens `store/` on a new SimDisk
    kit.append(draft(b"Orders", 0, b"hi"))  one message; `append_many`, `batch_draft` for more
    kit.settle()                            everything due is done, everything is on the disk
    read_all(kit.store, b"Orders", 0)       all messages of a queue
    after = StoreKit(kit.disk.kill())       the process died; another opens what it left

Files are tiny, so that a handful of messages rolls every kind of them. Disk work happens only when
a test says so (`step`, `settle`, or `worker.run_next` for one job at a time).
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from aerobee.model.message import StoredMessage
from aerobee.protocol.message.message_batch import BatchMessage, encode_batch
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.message.stored_message import decode_records
from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.config import FlushMode, StorageConfig
from aerobee.storage.defects import NO_DEFECTS, Defects
from aerobee.storage.index.consume_queue import ConsumeQueue
from aerobee.storage.read.queue_read import QueueRead
from aerobee.storage.store import StepResult, Store

ROOT = "store"
SMALL = StorageConfig(log_file_bytes=4096, queue_file_units=8, index_slots=16, index_units=32)
SMALL_SYNC = replace(SMALL, flush_mode=FlushMode.SYNC)
EVERYTHING = 1 << 40  # a limit that limits nothing

PREPARED = 0x4
COMMITTED = 0x8
ROLLED_BACK = 0xC
INNER_BATCH = 0x80


def properties(**values: str) -> bytes:
    """Properties text: properties(TAGS="a", KEYS="k1 k2")."""
    return b"".join(f"{name}\x01{value}\x02".encode() for name, value in values.items())


def draft(
    topic: bytes = b"Orders",
    queue_id: int = 0,
    body: bytes = b"a body",
    text: bytes = b"",
    *,
    sys_flag: int = 0,
) -> MessageDraft:
    """A single message; `text` is its properties text."""
    made = MessageDraft()
    made.topic = topic
    made.queue_id = queue_id
    made.sys_flag = sys_flag
    made.born_timestamp = 1_699_999_999_000
    made.born_host = bytes((10, 0, 0, 9)) + (40_000).to_bytes(4, "big")
    made.set_body(memoryview(body))
    made.set_properties(text)
    return made


def batch_draft(
    topic: bytes, queue_id: int, bodies: Iterable[bytes], tags: str = "", keys: str = ""
) -> MessageDraft:
    """A batch: one append, as many records."""
    named = {name: value for name, value in (("TAGS", tags), ("KEYS", keys)) if value}
    made = draft(topic, queue_id, encode_batch([BatchMessage(body, named) for body in bodies]))
    made.is_batch = True
    return made


class StoreKit:
    """An open store, and the disk, worker and clock that it runs on."""

    def __init__(
        self,
        disk: SimDisk | None = None,
        config: StorageConfig = SMALL,
        *,
        clock: SimClock | None = None,
        defects: Defects = NO_DEFECTS,
    ) -> None:
        self.disk = SimDisk() if disk is None else disk
        self.config = config
        self.clock = SimClock() if clock is None else clock
        self.worker = SimDiskWorker()
        self.store = Store.open(self.disk, ROOT, config, self.worker, defects=defects)

    def append(self, message: MessageDraft) -> int:
        """Store it now; its log offset."""
        return self.store.append(message, self.clock.now().wall_ms)

    def append_many(self, count: int, topic: bytes = b"Orders", queue_id: int = 0) -> list[int]:
        """So many messages with bodies `0`, `1`, ... and a tag and a key each; their offsets."""
        return [
            self.append(
                draft(
                    topic,
                    queue_id,
                    str(number).encode(),
                    properties(TAGS=f"tag{number % 3}", KEYS=f"key{number}"),
                )
            )
            for number in range(count)
        ]

    def step(self, ms: int = 1) -> StepResult:
        """Time passes and the store does what is due; the disk does nothing by itself."""
        return self.store.step(self.clock.advance(ms))

    def settle(self) -> list[object]:
        """Step and run the disk until all is on it; the tickets that were released meanwhile."""
        durable: list[object] = []
        for _ in range(4):
            durable += self.step(self.config.checkpoint_interval_ms).safe
            self.worker.run_all()
        durable += self.step().safe
        return durable

    def reopen(self, **changes: Any) -> "StoreKit":
        """Stop cleanly and open again, perhaps configured otherwise."""
        self.store.close()
        return StoreKit(self.disk, replace(self.config, **changes), clock=self.clock)


def read_all(store: Store, topic: bytes, queue_id: int) -> list[StoredMessage]:
    """Every message of a queue, from its first offset to its last."""
    queue = store.queue(topic, queue_id)
    messages: list[StoredMessage] = []
    if queue is not None:
        offset = queue.min_offset
        while offset < queue.max_offset:
            read = store.read(topic, queue_id, offset, 100, EVERYTHING)
            messages += messages_of(read)
            assert read.next_offset > offset, "a read inside a queue goes on"
            offset = read.next_offset
    return messages


def messages_of(read: QueueRead) -> list[StoredMessage]:
    return decode_records(b"".join(read.slices))


def bodies_of(store: Store, topic: bytes = b"Orders", queue_id: int = 0) -> list[bytes]:
    return [message.body for message in read_all(store, topic, queue_id)]


def offsets_of(queue: ConsumeQueue | None) -> tuple[int, int, int]:
    """Minimum, maximum and next offset."""
    assert queue is not None
    return queue.min_offset, queue.max_offset, queue.next_offset


def contents(disk: SimDisk, folder: str = ROOT) -> dict[str, bytes]:
    """Every file below a folder, by path."""
    found: dict[str, bytes] = {}
    for name in disk.list_directory(folder):
        path = f"{folder}/{name}"
        try:
            found.update(contents(disk, path))
        except NotADirectoryError:
            found[path] = disk.read(path)
    return found
