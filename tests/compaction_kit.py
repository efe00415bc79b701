"""A store with compacted topics: keys and values in, what readers see out.

kit = CompactionKit()                 opens a store, and compacts `Prices`
kit.put("gold", b"40")                the newest message of a key; b"" deletes the key
kit.fill()                            other messages, until the log has a new file
kit.compact()                         time passes, and everything due is done
seen(kit.store)                       (offset, key, body) of all that a reader gets
"""

from dataclasses import replace
from typing import NamedTuple

from aerobee.model.message import StoredMessage
from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.storage.config import StorageConfig
from aerobee.storage.retain.retention import CLOCK_SETTLE_MS
from aerobee.storage.store import Store
from tests.store_kit import EVERYTHING, ROOT, SMALL, StoreKit, draft, messages_of, properties

TOPIC = b"Prices"
FOLDER = f"{ROOT}/compacted/Prices/0"
INTERVAL_MS = 100_000
CONFIG = replace(
    SMALL,
    compaction_interval_ms=INTERVAL_MS,
    disk_free_bytes_min=1,
    delete_interval_ms=0,
    index_enabled=False,
)


class Seen(NamedTuple):
    offset: int
    key: str
    body: bytes


class CompactionKit(StoreKit):
    def __init__(
        self,
        disk: SimDisk | None = None,
        config: StorageConfig = CONFIG,
        *,
        clock: SimClock | None = None,
        topics: tuple[bytes, ...] = (TOPIC,),
    ) -> None:
        super().__init__(disk, config, clock=clock)
        for topic in topics:
            self.store.compaction.set(topic, True)

    def put(self, key: str, body: bytes, topic: bytes = TOPIC, queue_id: int = 0) -> int:
        """Store the newest message of a key; its log offset."""
        text = properties(KEYS=key, TAGS=f"tag{len(body) % 2}") if key else b""
        return self.append(draft(topic, queue_id, body, text))

    def fill(self) -> None:
        """Begin a new log file, with messages of a topic that is not compacted."""
        file_bytes = self.config.log_file_bytes
        file = self.store.end_offset // file_bytes
        while self.store.end_offset // file_bytes == file:
            self.append(draft(b"Filler", 0, bytes(300)))
        self.settle()

    def compact(self, ms: int = INTERVAL_MS) -> None:
        """Wait until it is time, and go on until nothing is left to do."""
        self.settle()
        self.step(ms)
        for _ in range(60):
            self.worker.run_all()
            self.step()

    def grow_old(self) -> None:
        """Wait until all log files but the newest are gone."""
        self.step()
        self.step(CLOCK_SETTLE_MS)
        self.compact(self.config.retention_ms)

    def opened_again(self, disk: SimDisk | None = None) -> "CompactionKit":
        """Stop cleanly, or open what a crash left."""
        if disk is None:
            self.store.close()
        clock = SimClock(self.clock.now().wall_ms)
        return CompactionKit(disk or self.disk, self.config, clock=clock)


def seen(store: Store, topic: bytes = TOPIC, queue_id: int = 0, count_max: int = 3) -> list[Seen]:
    """All that a reader gets who begins at 0."""
    queue = store.queue(topic, queue_id)
    found: list[Seen] = []
    offset = 0
    while queue is not None and offset < queue.max_offset:
        read = store.read(topic, queue_id, offset, count_max, EVERYTHING)
        if read.is_cold:
            store.verify(read)
        assert read.next_offset > offset, "a read inside a queue goes on"
        found += map(_seen, messages_of(read))
        offset = read.next_offset
    return found


def _seen(message: StoredMessage) -> Seen:
    return Seen(message.queue_offset, message.properties.get("KEYS", ""), message.body)
