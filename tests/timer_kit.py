"""A store with a timer over it, on a pretended disk and clock.

kit = TimerKit()
kit.send(b"hi", 2_500)      stored for later, in Orders, queue 0
kit.run(3_000)              time passes, tick by tick; the disk does its work
kit.bodies()                what was delivered to Orders, queue 0
kit = kit.killed()          the process died; another goes on with what it left

The wheel has 64 slots and is used for 20 seconds ahead; files of the log hold 5 units.
"""

from dataclasses import replace

from aerobee.model.message import StoredMessage
from aerobee.model.properties import (
    TIMER_DELETE_UNIQUE_KEY,
    TIMER_DELIVER_MS,
    UNIQUE_KEY,
)
from aerobee.service.broker.config import SETTINGS, BrokerConfig
from aerobee.service.broker.log_access.message_writer import MessageWriter, StoredAt
from aerobee.service.broker.log_access.safe_answers import SafeAnswers
from aerobee.service.broker.state.tables import Ground
from aerobee.service.broker.timer.timers import Timers
from aerobee.service.live_config import ChangesFile, LiveConfig
from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.storage.config import FlushMode, StorageConfig
from tests.delay_kit import message
from tests.store_kit import ROOT, SMALL, StoreKit, read_all

TICK_MS = 20
PRECISION_MS = 1_000
WINDOW_MS = 20_000
STORAGE = replace(SMALL, log_file_bytes=1 << 16, queue_file_units=200)
STORAGE_SYNC = replace(STORAGE, flush_mode=FlushMode.SYNC)
TOLD = BrokerConfig(
    timer_wheel_slots=64,
    timer_window_slots=WINDOW_MS // PRECISION_MS,
    timer_delay_ms_max=100_000,
    timer_log_file_bytes=5 * 52 + 20,
)
TIMER_TOPIC = "rmq_sys_wheel_timer"
CHECK_PATH = f"{ROOT}/config/timercheck"
WHEEL_PATH = f"{ROOT}/timerwheel"
LOG_PATH = f"{ROOT}/timerlog"


def message_with(
    properties: dict[str, str], body: bytes = b"a body", topic: str = "Orders", queue_id: int = 0
) -> StoredMessage:
    return replace(message(body, topic, queue_id), properties=properties)


class TimerKit:
    def __init__(
        self,
        disk: SimDisk | None = None,
        storage: StorageConfig = STORAGE,
        told: BrokerConfig = TOLD,
        clock: SimClock | None = None,
    ) -> None:
        self.told = told
        self.kit = StoreKit(disk, storage, clock=clock)
        self.disk, self.store, self.clock = self.kit.disk, self.kit.store, self.kit.clock
        self.worker = self.kit.worker
        self.intake = MessageWriter(
            self.store, SafeAnswers(self.store, lambda: 5_000), len(storage.delay_levels_ms)
        )
        changes = ChangesFile(self.disk, f"{ROOT}/config/changes", {})
        self.timers = Timers(
            Ground(self.store, self.disk, self.worker),
            self.intake,
            LiveConfig(told, SETTINGS, changes, self.worker, {}),
            self.clock.now(),
        )
        self.intake.divert_to(self.timers.acceptance)

    # Messages.

    def send(
        self, body: bytes, delay_ms: int, topic: str = "Orders", **properties: str
    ) -> StoredAt:
        """For so long from now on; its unique id is its body."""
        return self.send_at(body, self.clock.now().wall_ms + delay_ms, topic, **properties)

    def send_at(
        self, body: bytes, deliver_ms: int, topic: str = "Orders", **properties: str
    ) -> StoredAt:
        named = {UNIQUE_KEY: body.decode(), TIMER_DELIVER_MS: str(deliver_ms), **properties}
        return self.intake.put(message_with(named, body, topic), self.clock.now())

    def take_back(self, body: bytes, deliver_ms: int, topic: str = "Orders") -> StoredAt:
        named = {TIMER_DELETE_UNIQUE_KEY: f"{topic}+{body.decode()}"}
        return self.send_at(b"back " + body, deliver_ms, topic, **named)

    # Time.

    def tick(self, ms: int = TICK_MS) -> int:
        """One tick of a broker, the disk left alone; how many messages it delivered."""
        now = self.clock.advance(ms)
        before = self.timers.delivered
        self.store.step(now)
        self.timers.on_tick(now)
        self.store.dispatch()
        return self.timers.delivered - before

    def run(self, ms: int, tick_ms: int = TICK_MS) -> None:
        """Ticks, and a disk that keeps up."""
        for _ in range(0, ms, tick_ms):
            self.worker.run_all()
            self.tick(tick_ms)

    def run_to_tick(self, ahead_ms: int = 0) -> None:
        """To the next whole tick of the timer, less so much."""
        wall_ms = self.clock.now().wall_ms
        self.clock.advance(PRECISION_MS - wall_ms % PRECISION_MS - ahead_ms)

    def messages(self, topic: str = "Orders", queue_id: int = 0) -> list[StoredMessage]:
        return read_all(self.store, topic.encode(), queue_id)

    def bodies(self, topic: str = "Orders", queue_id: int = 0) -> list[bytes]:
        return [one.body for one in self.messages(topic, queue_id)]

    # Other processes.

    def stopped(self, told: BrokerConfig | None = None) -> "TimerKit":
        """Stop cleanly, and the next process."""
        self.stop()
        return TimerKit(self.disk, self.store.config, told or self.told, self.clock)

    def stop(self) -> None:
        self.timers.stop(self.clock.now())
        self.store.close()

    def killed(self) -> "TimerKit":
        return self.on(self.disk.kill())

    def on(self, disk: SimDisk) -> "TimerKit":
        """Another process on what was left."""
        return TimerKit(disk, self.store.config, self.told, self.clock)
