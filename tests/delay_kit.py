"""A store with delay levels over it, on a pretended disk and clock.

kit = DelayKit()
kit.send(b"hi", level=1)    stored for later, in Orders, queue 0
kit.run(1000)               time passes, tick by tick; the disk does its work
kit.bodies()                what was delivered to Orders, queue 0
kit = kit.killed()          the process died; another goes on with what it left
"""

from dataclasses import replace

from aerobee.model.message import Host, StoredMessage
from aerobee.model.message_queue import LogOffset, QueueId, QueueOffset
from aerobee.model.properties import DELAY
from aerobee.service.broker.delay.delay_levels import DelayLevels
from aerobee.service.broker.log_access.message_writer import MessageWriter, StoredAt
from aerobee.service.broker.log_access.safe_answers import SafeAnswers
from aerobee.service.broker.state.delay_offsets import DelayOffsets
from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.storage.config import FlushMode, StorageConfig
from aerobee.storage.metadata.config_file import ConfigFile
from tests.store_kit import ROOT, SMALL, StoreKit, read_all

OFFSETS_PATH = f"{ROOT}/config/delayOffset.json"
LEVELS_MS = (1_000, 5_000, 60_000)
CONFIG = replace(SMALL, log_file_bytes=16_384, delay_levels_ms=LEVELS_MS)
CONFIG_SYNC = replace(CONFIG, flush_mode=FlushMode.SYNC)
TICK_MS = 5


def message(
    body: bytes = b"a body", topic: str = "Orders", queue_id: int = 0, **properties: str
) -> StoredMessage:
    """A message as a handler makes it, to be stored."""
    return StoredMessage(
        topic=topic,
        queue_id=QueueId(queue_id),
        queue_offset=QueueOffset(0),
        log_offset=LogOffset(0),
        body=body,
        properties=properties,
        born_timestamp=1_699_999_999_000,
        born_host=Host("10.0.0.9", 40_000),
        store_timestamp=0,
        store_host=Host("127.0.0.1", 10_911),
    )


class DelayKit:
    def __init__(
        self,
        disk: SimDisk | None = None,
        config: StorageConfig = CONFIG,
        clock: SimClock | None = None,
    ) -> None:
        self.config = config
        self.kit = StoreKit(disk, config, clock=clock)
        self.disk, self.store, self.clock = self.kit.disk, self.kit.store, self.kit.clock
        self.worker = self.kit.worker
        self.intake = MessageWriter(
            self.store, SafeAnswers(self.store, lambda: 5_000), len(config.delay_levels_ms)
        )
        self.offsets = DelayOffsets(ConfigFile(self.disk, OFFSETS_PATH), self.worker)
        self.levels = DelayLevels(
            self.store,
            self.intake,
            self.offsets,
            self.worker,
            config.delay_levels_ms,
            self.clock.now(),
        )

    def send(self, body: bytes, level: int, topic: str = "Orders", queue_id: int = 0) -> StoredAt:
        return self.intake.put(
            message(body, topic, queue_id, **{DELAY: str(level)}), self.clock.now()
        )

    def tick(self, ms: int = TICK_MS) -> int:
        """One tick of a broker, the disk left alone; how many messages it delivered."""
        now = self.clock.advance(ms)
        before = self.levels.delivered
        self.store.step(now)
        self.levels.on_tick(now)
        self.store.dispatch()
        return self.levels.delivered - before

    def run(self, ms: int) -> None:
        """Ticks, and a disk that keeps up."""
        for _ in range(0, ms, TICK_MS):
            self.worker.run_all()
            self.tick()

    def messages(self, topic: str = "Orders", queue_id: int = 0) -> list[StoredMessage]:
        return read_all(self.store, topic.encode(), queue_id)

    def bodies(self, topic: str = "Orders", queue_id: int = 0) -> list[bytes]:
        return [one.body for one in self.messages(topic, queue_id)]

    def stopped(self) -> "DelayKit":
        """Stop cleanly, and the next process."""
        self.levels.stop(self.clock.now())
        self.store.close()
        return DelayKit(self.disk, self.config, self.clock)

    def killed(self) -> "DelayKit":
        return DelayKit(self.disk.kill(), self.config, self.clock)
